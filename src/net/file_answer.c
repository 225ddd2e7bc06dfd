#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "net/conn.h"

#define FILE_PIECE_BYTES (256u << 10)

/* A file on its way out. On the heap, as the pool thread may outlive the exchange. */
struct file_answer {
    struct exchange *ex; /* NULL once it is over */
    int fd;
    off_t at, end;
    bool is_reading;
    ssize_t got; /* of the last read, or a negative errno */
    char piece[FILE_PIECE_BYTES];
};

struct file_range {
    uint64_t from, to; /* bytes, `to` is behind the last one */
    int status;        /* 200, 206 or 416 */
};

static void file_answer_free(struct file_answer *file)
{
    (void)close(file->fd); /* it was only read */
    mem_free(file);
}

static void file_over_cb(void *data)
{
    struct file_answer *file = data;

    file->ex = NULL;
    if (!file->is_reading)
        file_answer_free(file);
}

static void file_gone_cb(void *data)
{
    (void)data; /* file_over_cb does the work */
}

static void file_read_work(void *data)
{
    struct file_answer *file = data;
    off_t left = file->end - file->at;
    size_t want = left < (off_t)sizeof(file->piece) ? (size_t)left : sizeof(file->piece);

    do {
        file->got = pread(file->fd, file->piece, want, file->at);
    } while (file->got < 0 && errno == EINTR);
}

static void file_next(struct file_answer *file);

static void file_read_cb(void *data)
{
    struct file_answer *file = data;
    int rc;

    file->is_reading = false;
    if (!file->ex) {
        file_answer_free(file);
        return;
    }
    if (file->got <= 0) { /* it shrank or the disk failed: the client must not take it for whole */
        exchange_abort(file->ex);
        return;
    }
    file->at += file->got;
    rc = exchange_write(file->ex, slice_of(file->piece, (size_t)file->got));
    if (rc == 0)
        file_next(file);
    else if (rc < 0)
        exchange_abort(file->ex);
    /* 1: file_drained_cb goes on */
}

static void file_next(struct file_answer *file)
{
    if (file->at >= file->end) {
        exchange_end(file->ex);
        return;
    }
    file->is_reading = true;
    if (loop_offload(exchange_loop(file->ex), file_read_work, file_read_cb, file) != 0) {
        file->is_reading = false;
        exchange_abort(file->ex);
    }
}

static void file_drained_cb(void *data)
{
    file_next(data);
}

/* ---- ranges and validators ---- */

/* "bytes=a-b", "bytes=a-" or "bytes=-n"; anything else (several ranges, too) means the whole. */
static struct file_range range_parse(struct slice text, uint64_t size)
{
    const struct file_range whole = {0, size, 200};
    struct file_range range = {0, size, 206};
    struct slice first;
    uint64_t value;

    if (!slice_starts_with(text, "bytes="))
        return whole;
    text = slice_skip(text, strlen("bytes="));
    if (!slice_split(&text, '-', &first) || !text.ptr)
        return whole;
    if (first.len == 0) {
        if (num_parse_u64(text, INT64_MAX, &value) != 0)
            return whole;
        range.from = value < size ? size - value : 0;
        range.status = value && size ? 206 : 416;
        return range;
    }
    if (num_parse_u64(first, INT64_MAX, &range.from) != 0)
        return whole;
    if (text.len) {
        if (num_parse_u64(text, INT64_MAX - 1, &value) != 0 || value < range.from)
            return whole;
        range.to = value + 1 < size ? value + 1 : size;
    }
    if (range.from >= size)
        range.status = 416;
    return range;
}

static bool etag_matches(struct slice list, const char *etag)
{
    struct slice part;

    while (slice_split(&list, ',', &part)) {
        part = slice_trim(part);
        if (slice_starts_with(part, "W/"))
            part = slice_skip(part, 2);
        if (slice_eq_str(part, "*") || slice_eq_str(part, etag))
            return true;
    }
    return false;
}

static struct file_range file_range_of(const struct http_head *head, const char *etag,
                                       uint64_t size)
{
    const struct slice *range = http_head_field(head, "range");
    const struct slice *if_range = http_head_field(head, "if-range");

    if (!range || (head->method != HTTP_METHOD_GET && head->method != HTTP_METHOD_HEAD) ||
        (if_range && !slice_eq_str(*if_range, etag)))
        return (struct file_range){0, size, 200};
    return range_parse(*range, size);
}

/* RFC 6266 with RFC 8187: an ASCII name for all, the real one for those who can. */
static void add_disposition(struct exchange *ex, const char *name)
{
    struct buf plain, coded;
    char *value;
    int rc = 0;

    buf_init(&plain, 512);
    buf_init(&coded, 1536);
    for (const char *at = name; *at && rc == 0; at++) {
        unsigned char c = (unsigned char)*at;
        bool is_plain = http_is_token(slice_of(at, 1)) && !strchr("*'%", c);
        rc = is_plain ? buf_add_char(&coded, *at) : buf_printf(&coded, "%%%02X", c);
        if (rc == 0)
            rc = buf_add_char(&plain, c < 0x20 || c >= 0x7f || c == '"' || c == '\\' ? '_' : *at);
    }
    value = rc == 0 ? mem_printf("attachment; filename=\"%s\"; filename*=UTF-8''%s",
                                 buf_str(&plain), buf_str(&coded))
                    : mem_strdup("attachment");
    (void)!exchange_add_header(ex, "Content-Disposition", value); /* bounded above */
    mem_free(value);
    buf_fini(&plain);
    buf_fini(&coded);
}

static void add_validators(struct exchange *ex, const struct stat *st, char *etag, size_t cap)
{
    char date[HTTP_DATE_LEN + 1];

    (void)snprintf(etag, cap, "\"%llx-%llx-%llx\"", (unsigned long long)st->st_ino,
                   (unsigned long long)st->st_size,
                   (unsigned long long)st->st_mtim.tv_sec * 1000000000ull +
                       (unsigned long long)st->st_mtim.tv_nsec);
    http_date((int64_t)st->st_mtim.tv_sec * 1000, date);
    (void)!exchange_add_header(ex, "ETag", etag); /* valid and short */
    (void)!exchange_add_header(ex, "Last-Modified", date);
    (void)!exchange_add_header(ex, "Accept-Ranges", "bytes");
}

static void add_content_range(struct exchange *ex, const struct file_range *range, uint64_t size)
{
    char text[96];

    if (range->status == 416)
        (void)snprintf(text, sizeof(text), "bytes */%llu", (unsigned long long)size);
    else
        (void)snprintf(text, sizeof(text), "bytes %llu-%llu/%llu", (unsigned long long)range->from,
                       (unsigned long long)range->to - 1, (unsigned long long)size);
    (void)!exchange_add_header(ex, "Content-Range", text); /* valid and short */
}

/* ---- sending ---- */

static void file_send(struct exchange *ex, int fd, const struct file_range *range,
                      const char *content_type)
{
    struct file_answer *file = mem_new(1, sizeof(*file));

    file->ex = ex;
    file->fd = fd;
    file->at = (off_t)range->from;
    file->end = (off_t)range->to;
    exchange_defer(ex, file_over_cb, file);
    ex->on_gone_inner = (struct exchange_callback){file_gone_cb, file};
    exchange_on_drain(ex, file_drained_cb, file);
    ex->answer = ANSWER_BEGUN;
    if (ex->conn->server) {
        answer_head(ex, range->status, content_type, (int64_t)(range->to - range->from));
        conn_write(ex->conn, buf_slice(&ex->conn->server->out));
        buf_reset(&ex->conn->server->out);
    }
    if (ex->head.method == HTTP_METHOD_HEAD)
        file->at = file->end;
    file_next(file);
}

void exchange_respond_file(struct exchange *ex, int fd_take, const char *content_type,
                           const char *download_name)
{
    const struct slice *if_none = http_head_field(&ex->head, "if-none-match");
    struct file_range range;
    char etag[64];
    struct stat st;

    if (fstat(fd_take, &st) != 0 || !S_ISREG(st.st_mode)) {
        (void)close(fd_take); /* it was not even read */
        exchange_error(ex, 404, "there is no such file");
        return;
    }
    add_validators(ex, &st, etag, sizeof(etag));
    if (if_none && etag_matches(*if_none, etag)) {
        (void)close(fd_take);
        exchange_respond(ex, 304, NULL, slice_str(""));
        return;
    }
    range = file_range_of(&ex->head, etag, (uint64_t)st.st_size);
    if (range.status != 200)
        add_content_range(ex, &range, (uint64_t)st.st_size);
    if (range.status == 416) {
        (void)close(fd_take);
        exchange_error(ex, 416, "the range is outside of the file's %llu bytes",
                       (unsigned long long)st.st_size);
        return;
    }
    if (download_name)
        add_disposition(ex, download_name);
    file_send(ex, fd_take, &range, content_type);
}
