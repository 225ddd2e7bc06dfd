/* port: who listens on a TCP port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/proc.h"

/* A socket bound to a free loopback port; -1 when the family is not there. */
static int bind_port(int family, uint16_t *out_port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *addr = family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six;
    socklen_t len = family == AF_INET ? sizeof(four) : sizeof(six);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, addr, len) != 0 || getsockname(fd, addr, &len) != 0)
        return -1;
    *out_port = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
    return fd;
}

static void test_the_listener_is_found_as_long_as_it_listens(void **state)
{
    uint16_t port = 0;
    int fd = bind_port(AF_INET, &port);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(proc_port_holder(port), 0); /* bound is not listening */
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(proc_port_holder(port), getpid());
    (void)close(fd);
    assert_int_equal(proc_port_holder(port), 0);
}

static void test_a_listener_on_ipv6_is_found_too(void **state)
{
    uint16_t port = 0;
    int fd = bind_port(AF_INET6, &port);

    (void)state;
    if (fd < 0)
        skip();
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(proc_port_holder(port), getpid());
    (void)close(fd);
}

static void test_the_other_end_of_a_connection_is_no_holder(void **state)
{
    struct sockaddr_in addr = {0};
    socklen_t len = sizeof(addr);
    uint16_t port = 0;
    int listener = bind_port(AF_INET, &port);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    assert_true(listener >= 0 && client >= 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&addr, len), 0);
    assert_int_equal(getsockname(client, (struct sockaddr *)&addr, &len), 0);
    assert_int_equal(proc_port_holder(ntohs(addr.sin_port)), 0);
    (void)close(client);
    (void)close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_listener_is_found_as_long_as_it_listens),
        cmocka_unit_test(test_a_listener_on_ipv6_is_found_too),
        cmocka_unit_test(test_the_other_end_of_a_connection_is_no_holder),
    };

    return cmocka_run_group_tests_name("os/port", tests, NULL, NULL);
}
