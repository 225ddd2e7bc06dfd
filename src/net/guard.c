#include "net/guard.h"

#include <errno.h>
#include <stdbool.h>

#include "net/http.h"

/* ---- heads ---- */

static bool is_target(struct slice target)
{
    for (size_t i = 0; i < target.len; i++) {
        unsigned char c = (unsigned char)target.ptr[i];
        if (c <= 0x20 || c >= 0x7f || c == '#')
            return false;
    }
    return target.len > 0;
}

/* "HTTP/d.d" */
static bool is_http_version(struct slice text)
{
    return text.len == 8 && memcmp(text.ptr, "HTTP/", 5) == 0 && text.ptr[5] >= '0' &&
           text.ptr[5] <= '9' && text.ptr[6] == '.' && text.ptr[7] >= '0' && text.ptr[7] <= '9';
}

static int check_request_line(struct slice line, const char **out_why)
{
    struct slice method, target;

    *out_why = "the request line is malformed";
    if (!slice_split(&line, ' ', &method) || !http_is_token(method))
        return -EBADMSG;
    if (!slice_split(&line, ' ', &target) || !is_target(target))
        return -EBADMSG;
    if (!line.ptr || !is_http_version(line))
        return -EBADMSG;
    if (slice_eq_str(line, "HTTP/1.1") || slice_eq_str(line, "HTTP/1.0"))
        return 0;
    *out_why = "only HTTP/1.1 and HTTP/1.0 are spoken here";
    return -EPROTONOSUPPORT;
}

static int check_field_line(struct slice line, const char **out_why)
{
    if (line.ptr[0] == ' ' || line.ptr[0] == '\t') {
        *out_why = "a header field is folded over several lines";
        return -EBADMSG;
    }
    if (!http_is_token(slice_of(line.ptr, slice_index(line, ':')))) {
        *out_why = "a header field has no valid name before its colon";
        return -EBADMSG;
    }
    if (slice_index(line, ':') == line.len) {
        *out_why = "a header field has no colon";
        return -EBADMSG;
    }
    return 0;
}

/* A complete line (without its CRLF). 1 = the empty line, 0, or a negative errno. */
static int check_line(struct guard_head *guard, struct slice line, const char **out_why)
{
    unsigned number = guard->lines++;

    if (number == 0)
        return check_request_line(line, out_why);
    if (line.len == 0)
        return 1;
    if (number > HTTP_FIELDS_MAX) {
        *out_why = "the request has too many header fields";
        return -EMSGSIZE;
    }
    return check_field_line(line, out_why);
}

static bool is_text(unsigned char c)
{
    return (c >= 0x20 && c != 0x7f) || c == '\t';
}

int guard_head_scan(struct guard_head *guard, struct slice bytes, const char **out_why)
{
    size_t len = bytes.len < HTTP_HEAD_MAX_BYTES ? bytes.len : HTTP_HEAD_MAX_BYTES;
    size_t at = guard->checked;

    for (; at < len; at++) {
        size_t start = guard->line_start;
        int rc;
        if (is_text((unsigned char)bytes.ptr[at]))
            continue;
        if (bytes.ptr[at] == '\r' && at + 1 == len)
            break; /* its LF is still to come */
        if (bytes.ptr[at] != '\r' || bytes.ptr[at + 1] != '\n') {
            *out_why = "the request head holds a control byte or a line that does not end in CRLF";
            return -EBADMSG;
        }
        guard->line_start = at + 2;
        rc = check_line(guard, slice_of(bytes.ptr + start, at - start), out_why);
        if (rc < 0)
            return rc;
        at++;
        if (rc == 1)
            return (int)at + 1;
    }
    guard->checked = at;
    if (bytes.len < HTTP_HEAD_MAX_BYTES)
        return 0;
    *out_why = "the request head is over 16 KiB";
    return -EMSGSIZE;
}

/* ---- chunked bodies ---- */

enum chunk_state {
    CHUNK_SIZE = 0,
    CHUNK_EXT = 1,
    CHUNK_SIZE_LF = 2,
    CHUNK_DATA = 3,
    CHUNK_DATA_CR = 4,
    CHUNK_DATA_LF = 5,
    CHUNK_TRAILER_START = 6,
    CHUNK_TRAILER_NAME = 7,
    CHUNK_TRAILER_VALUE = 8,
    CHUNK_TRAILER_LF = 9,
    CHUNK_END_LF = 10,
    CHUNK_END = 11,
};

/* What frames, routes or guards a message has no business behind its body (RFC 9110 6.5.1). */
static bool is_forbidden_trailer(const struct guard_chunk *chunk)
{
    static const char *const names[] = {
        "transfer-encoding",
        "content-length",
        "content-type",
        "content-encoding",
        "content-range",
        "host",
        "connection",
        "trailer",
        "te",
        "expect",
        "upgrade",
        "authorization",
        "x-modly-token",
        "origin",
        "cookie",
    };
    struct slice name = slice_of(chunk->name, chunk->name_len);

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (slice_eq_str(name, names[i]))
            return true;
    }
    return false;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *step_size(struct guard_chunk *chunk, char c)
{
    int value = hex_value(c);

    if (value >= 0) {
        if (++chunk->digits > GUARD_CHUNK_DIGITS_MAX)
            return "a chunk size has over 16 digits";
        chunk->left = chunk->left << 4 | (unsigned)value;
        return NULL;
    }
    if (chunk->digits == 0 || (c != '\r' && c != ';'))
        return "a chunk size is not a plain hexadecimal number";
    chunk->state = c == ';' ? CHUNK_EXT : CHUNK_SIZE_LF;
    chunk->ext_len = 0;
    return NULL;
}

static const char *step_ext(struct guard_chunk *chunk, char c)
{
    if (c == '\r')
        chunk->state = CHUNK_SIZE_LF;
    else if (!is_text((unsigned char)c))
        return "a chunk extension holds a control byte";
    else if (++chunk->ext_len > GUARD_CHUNK_EXT_MAX)
        return "a chunk extension is over 256 bytes";
    return NULL;
}

static const char *step_trailer_name(struct guard_chunk *chunk, char c)
{
    if (c == ':') {
        if (chunk->name_len == 0 || is_forbidden_trailer(chunk))
            return "a trailer field is not allowed there";
        chunk->state = CHUNK_TRAILER_VALUE;
        return NULL;
    }
    if (!http_is_token(slice_of(&c, 1)))
        return "a trailer field has no valid name";
    /* A name longer than the storage is none of the forbidden ones: it stays at full length. */
    if (chunk->name_len < sizeof(chunk->name))
        chunk->name[chunk->name_len++] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    return NULL;
}

static const char *step_trailer(struct guard_chunk *chunk, char c)
{
    if (++chunk->trailer_len > GUARD_TRAILER_MAX)
        return "the trailer fields are over 4 KiB";
    if (chunk->state == CHUNK_TRAILER_START) {
        chunk->name_len = 0;
        if (c == '\r') {
            chunk->state = CHUNK_END_LF;
            return NULL;
        }
        chunk->state = CHUNK_TRAILER_NAME;
    }
    if (chunk->state == CHUNK_TRAILER_NAME)
        return step_trailer_name(chunk, c);
    if (c == '\r')
        chunk->state = CHUNK_TRAILER_LF;
    else if (!is_text((unsigned char)c))
        return "a trailer field holds a control byte";
    return NULL;
}

static const char *expect(struct guard_chunk *chunk, char c, char wanted, enum chunk_state next)
{
    if (c != wanted)
        return "a chunk does not end in CRLF";
    chunk->state = (int)next;
    return NULL;
}

/* One byte of framing. NULL, or why it is refused. */
static const char *step_byte(struct guard_chunk *chunk, char c)
{
    switch ((enum chunk_state)chunk->state) {
    case CHUNK_SIZE:
        return step_size(chunk, c);
    case CHUNK_EXT:
        return step_ext(chunk, c);
    case CHUNK_SIZE_LF:
        return expect(chunk, c, '\n', chunk->left ? CHUNK_DATA : CHUNK_TRAILER_START);
    case CHUNK_DATA_CR:
        return expect(chunk, c, '\r', CHUNK_DATA_LF);
    case CHUNK_DATA_LF:
        chunk->digits = 0;
        return expect(chunk, c, '\n', CHUNK_SIZE);
    case CHUNK_TRAILER_START:
    case CHUNK_TRAILER_NAME:
    case CHUNK_TRAILER_VALUE:
        return step_trailer(chunk, c);
    case CHUNK_TRAILER_LF:
        return expect(chunk, c, '\n', CHUNK_TRAILER_START);
    case CHUNK_END_LF:
        return expect(chunk, c, '\n', CHUNK_END);
    case CHUNK_DATA:
    case CHUNK_END:
    default:
        return "bytes came behind the last chunk"; /* our bug: the caller went on */
    }
}

int guard_chunk_step(struct guard_chunk *chunk, struct slice in, size_t *out_used,
                     struct slice *out_data, const char **out_why)
{
    size_t at = 0;

    *out_data = slice_of(in.ptr, 0);
    *out_used = 0;
    while (at < in.len && chunk->state != CHUNK_DATA && chunk->state != CHUNK_END) {
        const char *why = step_byte(chunk, in.ptr[at++]);
        if (why) {
            *out_why = why;
            return -EBADMSG;
        }
    }
    if (chunk->state == CHUNK_DATA && at < in.len) {
        size_t len = in.len - at < chunk->left ? in.len - at : (size_t)chunk->left;
        *out_data = slice_of(in.ptr + at, len);
        at += len;
        chunk->left -= len;
        if (chunk->left == 0)
            chunk->state = CHUNK_DATA_CR;
    }
    *out_used = at;
    return chunk->state == CHUNK_END;
}
