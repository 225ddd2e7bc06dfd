/* socket_floor: what the kernel alone charges for a GET over TCP: epoll, recv, and send of a
 * constant answer, and nothing else: no parsing, no limits, no clock. No server on plain sockets is
 * cheaper.
 *
 * usage: bench-socket-floor BODY — prints its port on 127.0.0.1 and serves until it is ended. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX  1024
#define BACKLOG     511
#define ANSWER_MAX  4096
#define REQUEST_MAX 65536

static int floor_listen(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&addr, len) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&addr, &len) != 0)
        return -1;
    printf("%u\n", ntohs(addr.sin_port));
    return fflush(stdout) == 0 ? fd : -1;
}

static void floor_accept(int epoll, int listener)
{
    struct epoll_event event = {.events = EPOLLIN};
    int one = 1;

    event.data.fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (event.data.fd < 0)
        return;
    (void)setsockopt(event.data.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event) != 0)
        (void)close(event.data.fd);
}

/* One read is one request: the load generator sends each in one piece and waits. */
static void floor_answer(int fd, const char *answer, size_t len)
{
    static char request[REQUEST_MAX];
    ssize_t got = recv(fd, request, sizeof(request), 0);

    if (got > 0)
        got = send(fd, answer, len, MSG_NOSIGNAL);
    if (got == 0 || (got < 0 && errno != EAGAIN))
        (void)close(fd);
}

static void floor_serve(int epoll, int listener, const char *answer, size_t len)
{
    static struct epoll_event events[EVENTS_MAX];

    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                floor_accept(epoll, listener);
            else
                floor_answer(events[i].data.fd, answer, len);
        }
    }
}

int main(int argc, char **argv)
{
    struct epoll_event event = {.events = EPOLLIN};
    char answer[ANSWER_MAX];
    int len, epoll;

    if (argc != 2) {
        fputs("usage: bench-socket-floor BODY\n", stderr);
        return 2;
    }
    len = snprintf(answer, sizeof(answer),
                   "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
                   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                   strlen(argv[1]), argv[1]);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    event.data.fd = floor_listen();
    if (len < 0 || (size_t)len >= sizeof(answer) || event.data.fd < 0 || epoll < 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event) != 0) {
        perror("bench-socket-floor");
        return 1;
    }
    floor_serve(epoll, event.data.fd, answer, (size_t)len);
}
