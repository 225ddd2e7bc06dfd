#include "net/server.h"

#include "net/conn.h"

#define SERVER_SWEEP_MS      500u
#define SERVER_REFUSED_MAX   32 /* connections that are being told 503 */
#define SERVER_OUT_MAX_BYTES ((64u << 10) + EXCHANGE_HEADERS_MAX_BYTES + (16u << 10))

static uint64_t sweep_interval(const struct server *server)
{
    const struct server_options *o = &server->options;
    uint64_t least = SERVER_SWEEP_MS * 2;
    const uint64_t all[] = {o->head_timeout_ms, o->idle_timeout_ms, o->body_timeout_ms,
                            o->write_timeout_ms};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        least = all[i] < least ? all[i] : least;
    return least / 2 + 1;
}

/* Closing runs callbacks that may close others: take the nodes off a private list. */
static void sweep_cb(void *data)
{
    struct server *server = data;
    uint64_t now_ms = loop_now_ms(server->loop);
    struct list todo;

    server->is_kicked = false;
    list_init(&todo);
    while (!list_is_empty(&server->conns)) {
        struct list *node = list_first(&server->conns);
        list_del(node);
        list_add_tail(&todo, node);
    }
    while (!list_is_empty(&todo)) {
        struct list *node = list_first(&todo);
        list_del(node);
        list_add_tail(&server->conns, node);
        conn_sweep(list_entry(node, struct conn, node), now_ms);
    }
    if (server->conn_count)
        timer_start(server->sweep, server->is_kicked ? 0 : sweep_interval(server));
}

void server_kick(struct server *server)
{
    server->is_kicked = true;
    timer_start(server->sweep, 0);
}

static void accept_cb(void *data, struct stream *stream)
{
    struct server *server = data;
    unsigned max = server->options.max_connections;

    if (server->conn_count >= max + SERVER_REFUSED_MAX) {
        stream_free(stream);
        return;
    }
    if (server->conn_count++ == 0)
        timer_start(server->sweep, sweep_interval(server));
    conn_open(server, stream, server->conn_count > max);
}

static void stopped_cb(void *data)
{
    struct server *server = data;

    server->stop_is_due = true;
    while (!list_is_empty(&server->conns)) /* time is up */
        conn_close(list_entry(list_first(&server->conns), struct conn, node));
    server->on_stopped(server->stop_data); /* may free the server */
}

void server_conn_closed(struct server *server)
{
    if (--server->conn_count != 0)
        return;
    timer_stop(server->sweep);
    if (server->is_stopping && !server->stop_is_due) {
        server->stop_is_due = true;
        timer_start(server->stop_timer, 0);
    }
}

static void set_defaults(struct server_options *options)
{
    if (!options->max_connections)
        options->max_connections = SERVER_MAX_CONNECTIONS;
    if (!options->head_timeout_ms)
        options->head_timeout_ms = SERVER_HEAD_TIMEOUT_MS;
    if (!options->idle_timeout_ms)
        options->idle_timeout_ms = SERVER_IDLE_TIMEOUT_MS;
    if (!options->body_timeout_ms)
        options->body_timeout_ms = SERVER_BODY_TIMEOUT_MS;
    if (!options->write_timeout_ms)
        options->write_timeout_ms = SERVER_WRITE_TIMEOUT_MS;
}

struct server *server_open(struct loop *loop, const struct server_options *options, struct err *err)
{
    struct server *server = mem_new(1, sizeof(*server));

    server->loop = loop;
    server->options = *options;
    set_defaults(&server->options);
    list_init(&server->conns);
    buf_init(&server->out, SERVER_OUT_MAX_BYTES);
    server->date_second = -1;
    server->sweep = timer_new(loop, sweep_cb, server);
    server->stop_timer = timer_new(loop, stopped_cb, server);
    server->listener = listener_open_tcp(loop, options->host, options->port, accept_cb, server,
                                         err);
    if (server->listener)
        return server;
    server_free(server);
    return NULL;
}

uint16_t server_port(const struct server *server)
{
    return server->listener ? listener_port(server->listener) : 0;
}

unsigned server_connections(const struct server *server)
{
    return server->conn_count;
}

const char *server_date(struct server *server)
{
    uint64_t turn_ms = loop_now_ms(server->loop);
    int64_t now_ms;

    if (turn_ms == server->date_turn_ms && server->date[0])
        return server->date; /* the wall clock is asked once in a loop's millisecond */
    server->date_turn_ms = turn_ms;
    now_ms = loop_wall_ms();
    if (now_ms / 1000 != server->date_second) {
        server->date_second = now_ms / 1000;
        http_date(now_ms, server->date);
    }
    return server->date;
}

void server_stop(struct server *server, uint64_t within_ms, void (*done)(void *data), void *data)
{
    server->is_stopping = true;
    server->on_stopped = done;
    server->stop_data = data;
    listener_free(server->listener);
    server->listener = NULL;
    server->stop_is_due = server->conn_count == 0;
    timer_start(server->stop_timer, server->stop_is_due ? 0 : within_ms);
    server_kick(server); /* the sweep closes idle connections */
}

void server_free(struct server *server)
{
    if (!server)
        return;
    listener_free(server->listener);
    server->is_stopping = server->stop_is_due = true; /* no callback any more */
    while (!list_is_empty(&server->conns))
        conn_close(list_entry(list_first(&server->conns), struct conn, node));
    timer_free(server->sweep);
    timer_free(server->stop_timer);
    buf_fini(&server->out);
    mem_free(server);
}
