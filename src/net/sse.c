#include "net/sse.h"

#include <errno.h>

#define SSE_EVENT_MAX_BYTES (1u << 20)

struct sse {
    struct exchange *ex; /* NULL once the client is gone */
    struct timer *timer; /* keep-alive; or, when it is dead, tells on_gone */
    bool is_dead;
    void (*on_gone)(void *data);
    void *data;
    struct buf out;
};

static void sse_free(struct sse *sse)
{
    timer_free(sse->timer);
    buf_fini(&sse->out);
    mem_free(sse);
}

static void sse_gone_cb(void *data)
{
    struct sse *sse = data;

    sse->ex = NULL;
    sse->on_gone(sse->data);
    sse_free(sse);
}

/* The client gets no more; on_gone is called from the loop. */
static int sse_drop(struct sse *sse, int status)
{
    sse->is_dead = true;
    timer_start(sse->timer, 0);
    return status;
}

static int sse_send_raw(struct sse *sse, struct slice bytes)
{
    int rc = exchange_write(sse->ex, bytes);

    if (rc < 0)
        return sse_drop(sse, rc);
    if (exchange_queued(sse->ex) > SSE_QUEUE_MAX_BYTES)
        return sse_drop(sse, -ENOBUFS);
    timer_start(sse->timer, SSE_KEEPALIVE_MS);
    return 0;
}

static void sse_timer_cb(void *data)
{
    struct sse *sse = data;

    if (!sse->is_dead) {
        (void)sse_send_raw(sse, slice_str(":\n\n")); /* a failure starts the timer again */
        return;
    }
    exchange_abort(sse->ex);
    sse_gone_cb(sse);
}

struct sse *sse_open(struct exchange *ex, void (*on_gone)(void *data), void *data)
{
    struct sse *sse = mem_new(1, sizeof(*sse));

    sse->ex = ex;
    sse->on_gone = on_gone;
    sse->data = data;
    buf_init(&sse->out, SSE_EVENT_MAX_BYTES);
    sse->timer = timer_new(exchange_loop(ex), sse_timer_cb, sse);
    timer_start(sse->timer, SSE_KEEPALIVE_MS);
    exchange_on_gone(ex, sse_gone_cb, sse);
    (void)!exchange_add_header(ex, "Cache-Control", "no-store"); /* valid and short */
    (void)!exchange_add_header(ex, "X-Accel-Buffering", "no");
    exchange_begin(ex, 200, "text/event-stream");
    return sse;
}

/* One data line; a CR inside would end it for the reader, so it ends it here, too. */
static int event_line(struct buf *out, struct slice line)
{
    struct slice part;
    int rc = 0;

    if (slice_ends_with(line, "\r"))
        line.len--;
    if (!line.len)
        return buf_add_str(out, "data: \n");
    while (rc == 0 && slice_split(&line, '\r', &part)) {
        rc = buf_add_str(out, "data: ");
        if (rc == 0)
            rc = buf_add_slice(out, part);
        if (rc == 0)
            rc = buf_add_char(out, '\n');
    }
    return rc;
}

static int event_build(struct buf *out, uint64_t id, const char *event, struct slice data)
{
    struct slice line;
    int rc = 0;

    buf_reset(out);
    if (id)
        rc = buf_printf(out, "id: %llu\n", (unsigned long long)id);
    if (rc == 0 && event)
        rc = buf_printf(out, "event: %s\n", event);
    while (rc == 0 && slice_split(&data, '\n', &line))
        rc = event_line(out, line);
    return rc == 0 ? buf_add_char(out, '\n') : rc;
}

int sse_send(struct sse *sse, uint64_t id, const char *event, struct slice data)
{
    int rc;

    if (sse->is_dead)
        return -EPIPE;
    rc = event_build(&sse->out, id, event, data);
    return rc == 0 ? sse_send_raw(sse, buf_slice(&sse->out)) : rc;
}

void sse_close(struct sse *sse)
{
    if (!sse)
        return;
    if (sse->is_dead)
        exchange_abort(sse->ex);
    else
        exchange_end(sse->ex);
    sse_free(sse);
}
