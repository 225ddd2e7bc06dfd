#include "net/head.h"

#include <errno.h>
#include <llhttp.h>
#include <strings.h>

#include "base/num.h"

#define HEAD_METHOD_UNKNOWN 501

struct head_build {
    struct http_head *head;
    struct slice name, value;
    bool is_complete;
    bool is_overfull;
};

/* llhttp gives a span in pieces only where it changes state inside; they are contiguous. */
static void span_extend(struct slice *span, const char *at, size_t len)
{
    if (span->ptr && span->ptr + span->len == at)
        span->len += len;
    else
        *span = slice_of(at, len);
}

static int on_url(llhttp_t *parser, const char *at, size_t len)
{
    struct head_build *build = parser->data;

    span_extend(&build->head->target, at, len);
    return 0;
}

static int on_name(llhttp_t *parser, const char *at, size_t len)
{
    struct head_build *build = parser->data;

    span_extend(&build->name, at, len);
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t len)
{
    struct head_build *build = parser->data;

    span_extend(&build->value, at, len);
    return 0;
}

static int on_field_end(llhttp_t *parser)
{
    struct head_build *build = parser->data;
    struct http_head *head = build->head;

    if (head->field_count == HTTP_FIELDS_MAX) {
        build->is_overfull = true;
        return -1;
    }
    head->fields[head->field_count].name = build->name;
    head->fields[head->field_count++].value = build->value.ptr ? slice_trim(build->value)
                                                               : slice_str("");
    build->name = build->value = slice_of(NULL, 0);
    return 0;
}

static int on_head_end(llhttp_t *parser)
{
    struct head_build *build = parser->data;

    build->is_complete = true;
    return 0;
}

static const llhttp_settings_t head_settings = {
    .on_url = on_url,
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_header_value_complete = on_field_end,
    .on_headers_complete = on_head_end,
};

static int refuse(const char **out_why, int status, const char *why)
{
    *out_why = why;
    return status;
}

static int head_tokenize(struct slice bytes, struct http_head *head, const char **out_why)
{
    struct head_build build = {.head = head};
    llhttp_errno_t rc;
    llhttp_t parser;

    llhttp_init(&parser, HTTP_REQUEST, &head_settings);
    parser.data = &build;
    rc = llhttp_execute(&parser, bytes.ptr, bytes.len);
    if (rc == HPE_INVALID_METHOD)
        return refuse(out_why, HEAD_METHOD_UNKNOWN, "the request method is not known here");
    if (build.is_overfull)
        return refuse(out_why, 431, "the request has too many header fields");
    if (!build.is_complete)
        return refuse(out_why, 400, "the request head is malformed");
    head->method_text = slice_of(bytes.ptr, slice_index(bytes, ' '));
    head->method = http_method_of(head->method_text);
    head->minor = parser.http_minor;
    return 0;
}

/* ---- the target ---- */

static int target_split(struct http_head *head, struct slice path, const char **out_why)
{
    size_t mark = slice_index(path, '?');

    head->query = slice_skip(path, mark + 1);
    head->raw_path = head->path = slice_of(path.ptr, mark);
    if (mark == 0)
        head->raw_path = head->path = slice_str("/"); /* http://host?query */
    if (slice_index(head->raw_path, '%') < head->raw_path.len) {
        int len = http_path_decode(head->raw_path, head->decoded, sizeof(head->decoded));
        if (len < 0)
            return refuse(out_why, 400, "the path holds a broken %-escape or %00");
        head->path = slice_of(head->decoded, (size_t)len);
    }
    return 0;
}

/* Visible ASCII without /\@,?#"<>{}|^` — one bit a byte, as every request is asked. */
static bool is_authority(struct slice text)
{
    static const uint64_t bits[4] = {0x2fff6ff200000000, 0x47fffffeaffffffe, 0, 0};

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (!(bits[c >> 6] >> (c & 63) & 1))
            return false;
    }
    return true;
}

static bool slice_ieq(struct slice a, struct slice b)
{
    return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

static int target_absolute(struct http_head *head, const char **out_why)
{
    size_t scheme = slice_index(head->target, ':') + 3;
    struct slice rest = slice_skip(head->target, scheme);
    struct slice authority = rest;

    for (size_t i = 0; i < rest.len; i++) {
        if (rest.ptr[i] == '/' || rest.ptr[i] == '?') {
            authority.len = i;
            break;
        }
    }
    if (!authority.len || !is_authority(authority))
        return refuse(out_why, 400, "the request target has no valid host");
    if (head->host.ptr && !slice_ieq(head->host, authority))
        return refuse(out_why, 400, "Host differs from the host of the request target");
    head->host = authority;
    return target_split(head, slice_skip(rest, authority.len), out_why);
}

static int head_target(struct http_head *head, const char **out_why)
{
    struct slice target = head->target;

    if (target.len && target.ptr[0] == '/')
        return target_split(head, target, out_why);
    if (slice_eq_str(target, "*") && head->method == HTTP_METHOD_OPTIONS)
        return target_split(head, target, out_why);
    if ((target.len > 7 && strncasecmp(target.ptr, "http://", 7) == 0) ||
        (target.len > 8 && strncasecmp(target.ptr, "https://", 8) == 0))
        return target_absolute(head, out_why);
    return refuse(out_why, 400, "the request target is no path (this server is no proxy)");
}

/* ---- framing ---- */

/* Counts the fields of that name; *out is the last one. */
static unsigned field_count(const struct http_head *head, const char *name, struct slice *out)
{
    unsigned count = 0;
    size_t len = strlen(name);

    for (size_t i = 0; i < head->field_count; i++) {
        if (head->fields[i].name.len != len || !slice_ieq_str(head->fields[i].name, name))
            continue;
        *out = head->fields[i].value;
        count++;
    }
    return count;
}

static int head_host(struct http_head *head, const char **out_why)
{
    unsigned count = field_count(head, "host", &head->host);

    if (count > 1)
        return refuse(out_why, 400, "the request has more than one Host");
    if (count == 0 && head->minor >= 1)
        return refuse(out_why, 400, "the request has no Host");
    if (!is_authority(head->host))
        return refuse(out_why, 400, "Host is malformed");
    return 0;
}

static int head_length(struct http_head *head, const char **out_why)
{
    struct slice length, coding;
    unsigned lengths = field_count(head, "content-length", &length);
    unsigned codings = field_count(head, "transfer-encoding", &coding);

    if (lengths && codings)
        return refuse(out_why, 400, "the request has Content-Length and Transfer-Encoding");
    if (lengths > 1)
        return refuse(out_why, 400, "the request has more than one Content-Length");
    if (lengths && num_parse_u64(length, INT64_MAX, &head->content_length) != 0)
        return refuse(out_why, 400, "Content-Length is not a plain decimal number");
    if (codings && head->minor == 0)
        return refuse(out_why, 400, "Transfer-Encoding is not allowed in HTTP/1.0");
    if (codings > 1 || (codings && !slice_ieq_str(coding, "chunked")))
        return refuse(out_why, 400, "Transfer-Encoding can only be chunked");
    head->is_chunked = codings == 1;
    head->has_body = head->is_chunked || head->content_length > 0;
    return 0;
}

static int head_connection(struct http_head *head, const char **out_why)
{
    const struct slice *expect = http_head_field(head, "expect");

    head->keep_alive = head->minor >= 1;
    for (size_t i = 0; i < head->field_count; i++) {
        const struct http_field *field = &head->fields[i];
        if (field->name.len != strlen("connection") || !slice_ieq_str(field->name, "connection"))
            continue;
        if (http_list_has(field->value, "close")) {
            head->keep_alive = false;
            break;
        }
        if (http_list_has(field->value, "keep-alive"))
            head->keep_alive = true;
    }
    if (!expect || head->minor == 0)
        return 0;
    if (!slice_ieq_str(*expect, "100-continue"))
        return refuse(out_why, 417, "Expect can only be 100-continue");
    head->expects_continue = head->has_body;
    return 0;
}

static void head_clear(struct http_head *head)
{
    /* Not the whole struct: 19 KiB of it are storage. */
    head->target = head->query = head->host = slice_of(NULL, 0);
    head->raw_path = head->path = head->method_text = slice_of(NULL, 0);
    head->field_count = 0;
    head->content_length = 0;
    head->keep_alive = head->is_chunked = head->has_body = head->expects_continue = false;
}

int head_parse(struct slice bytes, struct http_head *out_head, const char **out_why)
{
    int status;

    head_clear(out_head);
    status = head_tokenize(bytes, out_head, out_why);
    if (status == 0)
        status = head_host(out_head, out_why);
    if (status == 0)
        status = head_target(out_head, out_why);
    if (status == 0)
        status = head_length(out_head, out_why);
    if (status == 0)
        status = head_connection(out_head, out_why);
    return status;
}
