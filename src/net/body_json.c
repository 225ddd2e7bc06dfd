#include <errno.h>
#include <stdio.h>

#include "net/conn.h"

/* One exchange_read_json. On the heap, as the pool thread may outlive the exchange. */
struct json_read {
    struct exchange *ex; /* NULL once it is over */
    void (*done)(void *data, int status, struct json_object *root);
    void *data;
    char *text;
    size_t len;
    bool is_parsing;
    struct json_object *root;
    int rc;
    struct err err;
};

static void json_read_free(struct json_read *read)
{
    json_object_put(read->root);
    mem_free(read->text);
    mem_free(read);
}

static void json_over_cb(void *data)
{
    struct json_read *read = data;

    read->ex = NULL;
    if (!read->is_parsing)
        json_read_free(read);
}

static void json_gone_cb(void *data)
{
    struct json_read *read = data;

    read->done(read->data, -ECONNRESET, NULL);
}

/* Hands the tree over, or answers 400. */
static void json_deliver(struct json_read *read)
{
    struct exchange *ex = read->ex;
    char detail[ERR_MSG_MAX + 64];

    if (read->rc == 0) {
        read->done(read->data, 0, read->root);
        return;
    }
    (void)snprintf(detail, sizeof(detail), "the request body must be a JSON object: %s",
                   read->err.msg);
    answer_error(ex, 400, detail);
    read->done(read->data, read->rc, NULL);
    exchange_finish(ex);
}

static void json_parse_work(void *data)
{
    struct json_read *read = data;

    read->rc = json_parse_object(slice_of(read->text, read->len), &read->root, &read->err);
}

static void json_parsed_cb(void *data)
{
    struct json_read *read = data;
    struct conn *conn;

    read->is_parsing = false;
    if (!read->ex) {
        json_read_free(read);
        return;
    }
    conn = read->ex->conn;
    conn_enter(conn);
    read->ex->on_gone_inner = (struct exchange_callback){NULL, NULL};
    json_deliver(read);
    conn_leave(conn);
}

static void json_body_cb(void *data, int status, const struct body *body)
{
    struct json_read *read = data;
    struct slice text = body ? slice_trim(body->bytes) : slice_str("");

    if (status != 0) {
        read->done(read->data, status, NULL);
        return;
    }
    if (text.len <= EXCHANGE_MEMORY_BYTES) {
        read->rc = json_parse_object(text.len ? text : slice_str("{}"), &read->root, &read->err);
        json_deliver(read);
        return;
    }
    read->text = slice_dup(text);
    read->len = text.len;
    read->is_parsing = true;
    read->ex->on_gone_inner = (struct exchange_callback){json_gone_cb, read};
    if (loop_offload(exchange_loop(read->ex), json_parse_work, json_parsed_cb, read) != 0) {
        json_parse_work(read); /* no pool thread: here, then */
        json_parsed_cb(read);
    }
}

void exchange_read_json(struct exchange *ex, size_t max_bytes,
                        void (*done)(void *data, int status, struct json_object *root), void *data)
{
    struct body_limits limits = {.max_bytes = max_bytes};
    struct json_read *read = mem_new(1, sizeof(*read));

    read->ex = ex;
    read->done = done;
    read->data = data;
    exchange_defer(ex, json_over_cb, read);
    exchange_read_body(ex, &limits, json_body_cb, read);
}
