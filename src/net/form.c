#include "net/form.h"

#include <errno.h>
#include <unistd.h>

#include "net/conn.h"
#include "net/multipart.h"
#include "net/spool.h"

#define FORM_FIELD_MAX_BYTES  (1u << 20) /* of one plain field, and of an urlencoded body */
#define FORM_FIELDS_MAX_BYTES (4u << 20) /* of all plain fields together */

struct form_reader {
    struct exchange *ex;
    struct form_limits limits;
    void (*done)(void *data, int status, const struct form *form);
    void *data;
    struct multipart *mp;
    struct form form;
    struct form_part parts[MULTIPART_PARTS_MAX];
    struct spool *spools[MULTIPART_PARTS_MAX]; /* of file parts that are not closed yet */
    unsigned closing;                          /* spools that are being closed */
    bool is_ended;                             /* the body is complete */
    struct buf value;                          /* of the plain field that arrives */
    size_t values_len;
    int status; /* the first failure */
    struct err err;
};

static struct form_part *current_part(struct form_reader *reader)
{
    return &reader->parts[reader->form.count - 1];
}

static struct slice dup_slice(struct slice s)
{
    return slice_of(slice_dup(s), s.len);
}

static void free_slice(struct slice s)
{
    mem_free((char *)(uintptr_t)s.ptr); /* made by dup_slice */
}

static void form_release_cb(void *data)
{
    struct form_reader *reader = data;

    for (size_t i = 0; i < reader->form.count; i++) {
        struct form_part *part = &reader->parts[i];
        spool_discard(reader->spools[i]);
        if (part->path)
            (void)unlink(part->path); /* gone already when it was renamed away */
        mem_free((char *)(uintptr_t)part->path);
        free_slice(part->name);
        free_slice(part->filename);
        free_slice(part->content_type);
        free_slice(part->value);
    }
    multipart_free(reader->mp);
    buf_fini(&reader->value);
}

/* ---- the end ---- */

static int form_http_status(int status)
{
    switch (status) {
    case -EBADMSG:
    case -EINVAL:
        return 400;
    case -EMSGSIZE:
        return 413;
    case -EMEDIUMTYPE:
        return 415;
    case -ENOSPC:
    case -EDQUOT:
        return 507;
    default:
        return 500;
    }
}

static void form_fail(struct form_reader *reader, int status)
{
    struct exchange *ex = reader->ex;
    int http_status = form_http_status(status);
    const char *detail = reader->err.code ? reader->err.msg : "the upload could not be stored";

    if (http_status == 507)
        detail = "no space is left on the disk for the upload";
    answer_error(ex, http_status, detail);
    reader->done(reader->data, status, NULL);
    exchange_finish(ex);
}

static void form_deliver(struct form_reader *reader)
{
    if (!reader->is_ended || reader->closing)
        return;
    reader->ex->on_gone_inner = (struct exchange_callback){NULL, NULL};
    reader->form.parts = reader->parts;
    if (reader->status != 0)
        form_fail(reader, reader->status);
    else
        reader->done(reader->data, 0, &reader->form);
}

static void form_gone_cb(void *data)
{
    struct form_reader *reader = data;

    reader->done(reader->data, -ECONNRESET, NULL);
}

/* ---- multipart events ---- */

static void part_drained_cb(void *data)
{
    struct form_reader *reader = data;

    exchange_resume_body(reader->ex);
}

static int part_begin_cb(void *data, struct slice name, const struct slice *filename,
                         struct slice content_type)
{
    struct form_reader *reader = data;
    struct form_part *part = &reader->parts[reader->form.count++];
    int rc = 0;

    part->name = dup_slice(name);
    part->content_type = dup_slice(content_type);
    if (!filename)
        return 0;
    part->filename = dup_slice(*filename);
    part->path = reader->limits.make_path(reader->limits.path_data);
    reader->spools[reader->form.count - 1] = spool_open(exchange_loop(reader->ex), part->path,
                                                        part_drained_cb, reader, &rc);
    return rc;
}

static int part_data_cb(void *data, struct slice bytes)
{
    struct form_reader *reader = data;
    struct form_part *part = current_part(reader);

    part->len += bytes.len;
    if (part->path)
        return spool_write(reader->spools[reader->form.count - 1], bytes);
    reader->values_len += bytes.len;
    if (reader->values_len > FORM_FIELDS_MAX_BYTES || buf_add_slice(&reader->value, bytes) != 0)
        return err_set(&reader->err, -EMSGSIZE,
                       "the form field \"%.*s\" is over %u bytes; send it as a file",
                       SLICE_ARG(part->name), FORM_FIELD_MAX_BYTES);
    return 0;
}

struct part_close {
    struct form_reader *reader;
    size_t index;
};

static void part_closed_cb(void *data, int status)
{
    struct part_close *close = data;
    struct form_reader *reader = close->reader;
    struct conn *conn = reader->ex->conn;

    conn_enter(conn);
    reader->spools[close->index] = NULL;
    reader->closing--;
    if (status != 0 && reader->status == 0)
        reader->status = status;
    form_deliver(reader);
    conn_leave(conn);
}

static int part_end_cb(void *data)
{
    struct form_reader *reader = data;
    struct form_part *part = current_part(reader);

    if (part->path) {
        struct part_close *close = exchange_scratch(reader->ex, sizeof(*close));
        close->reader = reader;
        close->index = reader->form.count - 1;
        reader->closing++;
        spool_close(reader->spools[close->index], part_closed_cb, close);
        return 0;
    }
    part->value = dup_slice(buf_slice(&reader->value));
    buf_reset(&reader->value);
    return 0;
}

static const struct multipart_events form_events = {part_begin_cb, part_data_cb, part_end_cb};

static int form_bytes_cb(void *data, struct slice bytes)
{
    struct form_reader *reader = data;

    if (!reader->mp)
        return -EMEDIUMTYPE; /* err tells what to send */
    return multipart_feed(reader->mp, bytes, &reader->err);
}

static void form_end_cb(void *data, int status, bool is_over)
{
    struct form_reader *reader = data;

    if (is_over) {
        reader->done(reader->data, status, NULL);
        return;
    }
    if (status == 0 && !reader->mp)
        status = -EMEDIUMTYPE; /* a chunked body without bytes */
    if (status == 0)
        status = multipart_finish(reader->mp, &reader->err);
    if (status != 0) { /* spools are discarded with the exchange */
        form_fail(reader, status);
        return;
    }
    reader->is_ended = true;
    reader->ex->on_gone_inner = (struct exchange_callback){form_gone_cb, reader};
    form_deliver(reader);
}

/* ---- urlencoded ---- */

static int pair_decode(struct form_reader *reader, struct slice pair)
{
    struct form_part *part = &reader->parts[reader->form.count];
    struct slice name = slice_of(pair.ptr, slice_index(pair, '='));
    struct buf key, value;
    char *as_value = mem_printf("n=%.*s", SLICE_ARG(name));
    char *as_pair = mem_printf("v=%.*s", SLICE_ARG(slice_skip(pair, name.len + 1)));
    int rc;

    buf_init(&key, MULTIPART_NAME_MAX);
    buf_init(&value, FORM_FIELD_MAX_BYTES);
    rc = http_query_get(slice_str(as_value), "n", &key);
    if (rc == 0)
        rc = http_query_get(slice_str(as_pair), "v", &value);
    if (rc == 0) {
        reader->form.count++;
        part->name = dup_slice(buf_slice(&key));
        part->content_type = dup_slice(slice_str(""));
        part->value = dup_slice(buf_slice(&value));
        part->len = value.len;
    }
    mem_free(as_value);
    mem_free(as_pair);
    buf_fini(&key);
    buf_fini(&value);
    return rc;
}

static void pairs_cb(void *data, int status, const struct body *body)
{
    struct form_reader *reader = data;
    struct slice rest, pair;
    int rc = 0;

    if (status != 0) {
        reader->done(reader->data, status, NULL);
        return;
    }
    rest = body->bytes.len ? body->bytes : slice_of(NULL, 0);
    while (rc == 0 && slice_split(&rest, '&', &pair)) {
        if (reader->form.count == MULTIPART_PARTS_MAX)
            rc = err_set(&reader->err, -EMSGSIZE, "the form has over %d fields",
                         MULTIPART_PARTS_MAX);
        else if (pair.len)
            rc = pair_decode(reader, pair);
    }
    if (rc == -EINVAL)
        (void)err_set(&reader->err, rc, "the form holds a broken %%-escape or %%00");
    reader->is_ended = true;
    reader->status = rc;
    form_deliver(reader);
}

/* ---- entry ---- */

void form_read(struct exchange *ex, const struct form_limits *limits,
               void (*done)(void *data, int status, const struct form *form), void *data)
{
    static const struct body_sink sink = {form_bytes_cb, form_end_cb};
    const struct http_head *head = exchange_head(ex);
    const struct slice *type = http_head_field(head, "content-type");
    struct form_reader *reader = exchange_scratch(ex, sizeof(*reader));
    struct body_limits small = {.max_bytes = FORM_FIELD_MAX_BYTES};

    reader->ex = ex;
    reader->limits = *limits;
    reader->done = done;
    reader->data = data;
    buf_init(&reader->value, FORM_FIELD_MAX_BYTES);
    exchange_defer(ex, form_release_cb, reader);
    if (!head->has_body || http_head_is_type(head, "application/x-www-form-urlencoded")) {
        exchange_read_body(ex, &small, pairs_cb, reader);
        return;
    }
    reader->mp = multipart_new(type ? *type : slice_str(""), &form_events, reader, &reader->err);
    exchange_stream_body(ex, limits->max_bytes, &sink, reader);
}

const struct form_part *form_get(const struct form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++) {
        if (slice_eq_str(form->parts[i].name, name))
            return &form->parts[i];
    }
    return NULL;
}

const char *form_text(const struct form *form, const char *name)
{
    const struct form_part *part = form_get(form, name);

    return part && !part->path ? part->value.ptr : NULL;
}
