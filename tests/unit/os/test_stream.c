#include "os/stream.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_MS 5000 /* a test that waits longer has failed */

/* One side of a connection and what it heard. */
struct side {
    struct stream *stream;
    char got[1024];
    size_t len;
    size_t total;
    unsigned ends, drains;
    int status;
    bool frees_itself;
};

static struct loop *loop;
static struct timer *limit;
static struct side ours, theirs;
static unsigned connects;

static void limit_cb(void *data)
{
    (void)data;
    fail_msg("nothing happened for %d ms", LIMIT_MS);
}

static void data_cb(void *data, struct slice bytes)
{
    struct side *side = data;
    size_t room = sizeof(side->got) - 1 - side->len;
    size_t len = bytes.len < room ? bytes.len : room;

    memcpy(side->got + side->len, bytes.ptr, len);
    side->len += len;
    side->total += bytes.len;
    if (side->frees_itself) {
        stream_free(side->stream);
        side->stream = NULL;
    }
    loop_stop(loop);
}

static void end_cb(void *data, int status)
{
    struct side *side = data;

    side->ends++;
    side->status = status;
    loop_stop(loop);
}

static void drain_cb(void *data)
{
    struct side *side = data;

    side->drains++;
    loop_stop(loop);
}

static const struct stream_events events = {data_cb, end_cb, drain_cb};

static void adopt(struct side *side, struct stream *stream)
{
    side->stream = stream;
    stream_listen(stream, &events, side);
}

static int set_up(void **state)
{
    (void)state;
    memset(&ours, 0, sizeof(ours));
    memset(&theirs, 0, sizeof(theirs));
    connects = 0;
    loop = loop_new();
    limit = timer_new(loop, limit_cb, NULL);
    timer_start(limit, LIMIT_MS);
    return 0;
}

static int set_up_pair(void **state)
{
    int fds[2];

    (void)set_up(state);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    adopt(&ours, stream_open_fd(loop, fds[0]));
    adopt(&theirs, stream_open_fd(loop, fds[1]));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    stream_free(ours.stream);
    stream_free(theirs.stream);
    timer_free(limit);
    loop_free(loop);
    return 0;
}

static void write_arrives(void **state)
{
    (void)state;
    stream_read_start(theirs.stream);
    assert_int_equal(stream_write(ours.stream, "hello", 5), 0);
    while (theirs.len < 5)
        loop_run(loop);
    assert_string_equal(theirs.got, "hello");
}

static void high_water_mark_is_told_and_drained(void **state)
{
    static char piece[65536];
    size_t sent = 0;
    int rc = 0;

    (void)state;
    while (rc == 0) {
        rc = stream_write(ours.stream, piece, sizeof(piece));
        sent += sizeof(piece);
        assert_true(sent < 16u << 20);
    }
    assert_int_equal(rc, 1);
    assert_true(stream_queued(ours.stream) > STREAM_HIGH_WATER_BYTES);
    stream_read_start(theirs.stream);
    while (!ours.drains)
        loop_run(loop);
    assert_true(stream_queued(ours.stream) <= STREAM_HIGH_WATER_BYTES / 2);
    while (theirs.total < sent)
        loop_run(loop);
    assert_int_equal(ours.drains, 1);
}

static void end_of_file_leaves_the_other_direction_open(void **state)
{
    (void)state;
    stream_read_start(ours.stream);
    stream_read_start(theirs.stream);
    stream_shutdown(ours.stream);
    while (!theirs.ends)
        loop_run(loop);
    assert_int_equal(theirs.status, 0);
    assert_int_equal(stream_write(ours.stream, "x", 1), -EPIPE);
    assert_int_equal(stream_write(theirs.stream, "late", 4), 0);
    while (ours.len < 4)
        loop_run(loop);
    assert_string_equal(ours.got, "late");
    assert_int_equal(theirs.ends, 1);
}

static void shutdown_comes_behind_what_is_queued(void **state)
{
    static char bytes[1u << 20];

    (void)state;
    assert_int_equal(stream_write(ours.stream, bytes, sizeof(bytes)), 1);
    stream_shutdown(ours.stream);
    stream_read_start(theirs.stream);
    while (!theirs.ends)
        loop_run(loop);
    assert_int_equal(theirs.total, sizeof(bytes));
}

static void writing_to_a_gone_peer_fails(void **state)
{
    (void)state;
    stream_free(theirs.stream);
    theirs.stream = NULL;
    stream_read_start(ours.stream);
    while (!ours.ends)
        loop_run(loop);
    assert_true(stream_write(ours.stream, "x", 1) < 0);
    assert_int_equal(ours.ends, 1);
}

static void stopped_reading_leaves_bytes_in_the_kernel(void **state)
{
    (void)state;
    stream_read_start(theirs.stream);
    stream_read_stop(theirs.stream);
    assert_int_equal(stream_write(ours.stream, "x", 1), 0);
    timer_free(limit);
    limit = timer_new(loop, drain_cb, &ours);
    timer_start(limit, 20);
    loop_run(loop);
    assert_int_equal(theirs.total, 0);
    stream_read_start(theirs.stream);
    while (!theirs.total)
        loop_run(loop);
}

static void callback_may_free_its_stream(void **state)
{
    (void)state;
    theirs.frees_itself = true;
    stream_read_start(theirs.stream);
    assert_int_equal(stream_write(ours.stream, "hello", 5), 0);
    while (!theirs.total)
        loop_run(loop);
    assert_null(theirs.stream);
}

static void flushed_stream_sends_its_queue(void **state)
{
    static char bytes[1u << 20];

    (void)state;
    assert_int_equal(stream_write(ours.stream, bytes, sizeof(bytes)), 1);
    stream_free_flushed(ours.stream, LIMIT_MS);
    ours.stream = NULL;
    stream_read_start(theirs.stream);
    while (!theirs.ends)
        loop_run(loop);
    assert_int_equal(theirs.total, sizeof(bytes));
}

static void flushing_ends_in_time(void **state)
{
    static char bytes[1u << 20];

    (void)state;
    assert_int_equal(stream_write(ours.stream, bytes, sizeof(bytes)), 1);
    stream_free_flushed(ours.stream, 20); /* the peer does not read */
    ours.stream = NULL;
    timer_stop(limit);
    loop_run(loop); /* ends, as nothing is left to wait for */
    assert_int_equal(theirs.total, 0);
}

static void flushing_after_the_peers_end_still_sends(void **state)
{
    static char bytes[1u << 20];

    (void)state;
    stream_read_start(ours.stream);
    stream_shutdown(theirs.stream);
    while (!ours.ends)
        loop_run(loop);
    assert_int_equal(stream_write(ours.stream, bytes, sizeof(bytes)), 1);
    stream_free_flushed(ours.stream, LIMIT_MS);
    ours.stream = NULL;
    stream_read_start(theirs.stream);
    while (!theirs.ends)
        loop_run(loop);
    assert_int_equal(theirs.total, sizeof(bytes));
}

/* ---- listeners ---- */

static void accept_cb(void *data, struct stream *stream)
{
    (void)data;
    adopt(&theirs, stream);
    stream_read_start(stream);
}

static void connect_cb(void *data, int status)
{
    (void)data;
    connects++;
    ours.status = status;
    loop_stop(loop);
}

static void tcp_connects_and_names_the_peer(void **state)
{
    struct err err = {0};
    struct listener *listener = listener_open_tcp(loop, "127.0.0.1", 0, accept_cb, NULL, &err);
    uint16_t port = 0;

    (void)state;
    assert_non_null(listener);
    assert_true(listener_port(listener) != 0);
    adopt(&ours, stream_connect_tcp(loop, "127.0.0.1", listener_port(listener), connect_cb, NULL));
    while (!connects || !theirs.stream)
        loop_run(loop);
    assert_int_equal(ours.status, 0);
    assert_string_equal(stream_peer(theirs.stream, &port), "127.0.0.1");
    assert_true(port != 0 && port != listener_port(listener));
    assert_int_equal(stream_write(ours.stream, "hi", 2), 0);
    while (theirs.len < 2)
        loop_run(loop);
    listener_free(listener);
}

static void refused_connection_is_told_once(void **state)
{
    struct err err = {0};
    struct listener *listener = listener_open_tcp(loop, "127.0.0.1", 0, accept_cb, NULL, &err);
    uint16_t port = listener_port(listener);

    (void)state;
    listener_free(listener);
    ours.stream = stream_connect_tcp(loop, "127.0.0.1", port, connect_cb, NULL);
    while (!connects)
        loop_run(loop);
    assert_int_equal(ours.status, -ECONNREFUSED);
}

static void port_in_use_is_an_error(void **state)
{
    struct err err = {0};
    struct listener *listener = listener_open_tcp(loop, "127.0.0.1", 0, accept_cb, NULL, &err);

    (void)state;
    assert_null(
        listener_open_tcp(loop, "127.0.0.1", listener_port(listener), accept_cb, NULL, &err));
    assert_int_equal(err.code, -EADDRINUSE);
    assert_null(listener_open_tcp(loop, "name.example", 0, accept_cb, NULL, &err));
    assert_int_equal(err.code, -EINVAL);
    listener_free(listener);
}

static void unix_socket_accepts(void **state)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct err err = {0};
    struct listener *listener;

    (void)state;
    (void)snprintf(addr.sun_path, sizeof(addr.sun_path), "/tmp/hotbunk-os-%ld", (long)getpid());
    listener = listener_open_unix(loop, addr.sun_path, accept_cb, NULL, &err);
    assert_non_null(listener);
    assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    assert_int_equal(write(fd, "hello", 5), 5);
    while (theirs.len < 5)
        loop_run(loop);
    assert_string_equal(stream_peer(theirs.stream, NULL), "unix");
    listener_free(listener);
    (void)close(fd);
    (void)unlink(addr.sun_path);
}

#define TEST(name)      cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST_PAIR(name) cmocka_unit_test_setup_teardown(name, set_up_pair, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_PAIR(write_arrives),
        TEST_PAIR(high_water_mark_is_told_and_drained),
        TEST_PAIR(end_of_file_leaves_the_other_direction_open),
        TEST_PAIR(shutdown_comes_behind_what_is_queued),
        TEST_PAIR(writing_to_a_gone_peer_fails),
        TEST_PAIR(stopped_reading_leaves_bytes_in_the_kernel),
        TEST_PAIR(callback_may_free_its_stream),
        TEST_PAIR(flushed_stream_sends_its_queue),
        TEST_PAIR(flushing_ends_in_time),
        TEST_PAIR(flushing_after_the_peers_end_still_sends),
        TEST(tcp_connects_and_names_the_peer),
        TEST(refused_connection_is_told_once),
        TEST(port_in_use_is_an_error),
        TEST(unix_socket_accepts),
    };

    (void)signal(SIGPIPE, SIG_IGN); /* as every program with a loop does */
    return cmocka_run_group_tests_name("os/stream", tests, NULL, NULL);
}
