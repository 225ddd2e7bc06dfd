#include "fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/file.h"

static void limit_cb(void *data)
{
    (void)data;
    fail_msg("nothing happened for %d ms", FIXTURE_LIMIT_MS);
}

static void pause_cb(void *data)
{
    struct fixture *fx = data;

    loop_stop(fx->loop);
}

void fixture_open(struct fixture *fx, struct server_options *options)
{
    struct err err = {0};

    (void)signal(SIGPIPE, SIG_IGN); /* as every program with a loop does */
    memset(fx, 0, sizeof(*fx));
    (void)snprintf(fx->dir, sizeof(fx->dir), "/tmp/hotbunk-net-XXXXXX");
    assert_non_null(mkdtemp(fx->dir));
    buf_init(&fx->answer, 32u << 20);
    fx->loop = loop_new();
    fx->limit = timer_new(fx->loop, limit_cb, fx);
    options->host = "127.0.0.1";
    options->data = fx;
    fx->server = server_open(fx->loop, options, &err);
    assert_non_null(fx->server);
}

void fixture_close(struct fixture *fx)
{
    stream_free(fx->client);
    server_free(fx->server);
    timer_free(fx->limit);
    loop_free(fx->loop);
    buf_fini(&fx->answer);
    assert_int_equal(file_remove_tree(fx->dir), 0);
}

static void data_cb(void *data, struct slice bytes)
{
    struct fixture *fx = data;

    assert_int_equal(buf_add_slice(&fx->answer, bytes), 0);
}

static void end_cb(void *data, int status)
{
    struct fixture *fx = data;

    (void)status;
    fx->is_closed = true;
    loop_stop(fx->loop);
}

static const struct stream_events client_events = {data_cb, end_cb, NULL};

static void connected_cb(void *data, int status)
{
    struct fixture *fx = data;

    assert_int_equal(status, 0);
    loop_stop(fx->loop);
}

void fixture_send(struct fixture *fx, struct slice bytes)
{
    stream_free(fx->client);
    buf_reset(&fx->answer);
    fx->is_closed = false;
    timer_start(fx->limit, FIXTURE_LIMIT_MS);
    fx->client = stream_connect_tcp(fx->loop, "127.0.0.1", server_port(fx->server), connected_cb,
                                    fx);
    assert_non_null(fx->client);
    loop_run(fx->loop);
    stream_listen(fx->client, &client_events, fx);
    stream_read_start(fx->client);
    assert_true(stream_write(fx->client, bytes.ptr, bytes.len) >= 0);
    timer_stop(fx->limit);
}

const char *fixture_read_all(struct fixture *fx)
{
    timer_start(fx->limit, FIXTURE_LIMIT_MS);
    while (!fx->is_closed)
        loop_run(fx->loop);
    timer_stop(fx->limit);
    return buf_str(&fx->answer);
}

const char *fixture_ask(struct fixture *fx, const char *text)
{
    fixture_send(fx, slice_str(text));
    return fixture_read_all(fx);
}

void fixture_run_ms(struct fixture *fx, uint64_t ms)
{
    struct timer *timer = timer_new(fx->loop, pause_cb, fx);

    timer_start(timer, ms);
    loop_run(fx->loop);
    timer_free(timer);
}

char *fixture_path(void *fixture)
{
    struct fixture *fx = fixture;

    return mem_printf("%s/f%u", fx->dir, fx->serial++);
}

unsigned fixture_files(struct fixture *fx)
{
    unsigned count = 0;
    DIR *dir = opendir(fx->dir);
    const struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}
