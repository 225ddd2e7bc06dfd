/* http: what both sides of HTTP/1.1 share: the parsed request head, field and query look-ups,
 * status texts, dates. Pure. All slices of a head point into the bytes it was parsed from (or
 * into `decoded`) and live as long as they do. */
#ifndef HOTBUNK_NET_HTTP_H
#define HOTBUNK_NET_HTTP_H

#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

#define HTTP_HEAD_MAX_BYTES (16u << 10)
#define HTTP_FIELDS_MAX     100
#define HTTP_DATE_LEN       29 /* "Sun, 06 Nov 1994 08:49:37 GMT" */

enum http_method {
    HTTP_METHOD_OTHER = 0,
    HTTP_METHOD_GET = 1,
    HTTP_METHOD_HEAD = 2,
    HTTP_METHOD_POST = 3,
    HTTP_METHOD_PUT = 4,
    HTTP_METHOD_DELETE = 5,
    HTTP_METHOD_OPTIONS = 6,
    HTTP_METHOD_PATCH = 7,
};

struct http_field {
    struct slice name;  /* as sent; compared without case */
    struct slice value; /* without surrounding spaces */
};

struct http_head {
    enum http_method method;
    struct slice method_text;
    struct slice target;   /* as sent */
    struct slice raw_path; /* of the target, still percent-encoded */
    struct slice path;     /* percent-decoded once; never holds NUL; "*" for OPTIONS * */
    struct slice query;    /* behind the '?', still encoded; empty when there is none */
    struct slice host;     /* the Host field; ptr NULL when absent (HTTP/1.0) */
    int minor;             /* HTTP/1.minor */
    bool keep_alive;
    bool is_chunked;
    bool has_body; /* is_chunked or content_length > 0 */
    bool expects_continue;
    uint64_t content_length; /* 0 when absent or chunked */
    size_t field_count;
    struct http_field fields[HTTP_FIELDS_MAX];
    char decoded[HTTP_HEAD_MAX_BYTES]; /* storage of `path` when it held escapes; uninitialised */
};

/* The first field of that name; NULL when there is none. */
const struct slice *http_head_field(const struct http_head *head, const char *name);

/* The media type of Content-Type without its parameters is `type` (no case). */
bool http_head_is_type(const struct http_head *head, const char *type);

/* Form-decodes ('+' and %XX) the first value of `name` in a query or an urlencoded body into
 * `out` (replaced). 0, -ENOENT, -EINVAL (bad escape, NUL) or -EMSGSIZE (over out->max). */
int http_query_get(struct slice query, const char *name, struct buf *out) MUSTCHECK;

/* Decodes %XX of a path part into out[cap]; slashes stay. Length, or -EINVAL for a bad escape or
 * %00, or -EMSGSIZE. Writes a NUL behind the result. */
int http_path_decode(struct slice part, char *out, size_t cap) MUSTCHECK;

/* A ';'-parameter of a field value ("form-data; name=\"x\""), unquoted into `out` (replaced).
 * 0, -ENOENT, -EINVAL (quoting is broken or the parameter is there twice) or -EMSGSIZE. */
int http_param_get(struct slice value, const char *name, struct buf *out) MUSTCHECK;

/* One of the comma-separated parts of `value` is `token` (no case). */
bool http_list_has(struct slice value, const char *token);

bool http_is_token(struct slice text);

enum http_method http_method_of(struct slice text);

/* "Not Found"; "Status" for a number that has no text. */
const char *http_status_text(int status);

/* IMF-fixdate of a wall clock time, NUL-terminated. */
void http_date(int64_t wall_ms, char out[HTTP_DATE_LEN + 1]);

#endif
