#include "net/http.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

const struct slice *http_head_field(const struct http_head *head, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < head->field_count; i++) {
        const struct http_field *field = &head->fields[i];
        if (field->name.len == len && slice_ieq_str(field->name, name))
            return &field->value;
    }
    return NULL;
}

bool http_head_is_type(const struct http_head *head, const char *type)
{
    const struct slice *value = http_head_field(head, "content-type");

    if (!value)
        return false;
    return slice_ieq_str(slice_trim(slice_of(value->ptr, slice_index(*value, ';'))), type);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte that %XX at s[at] stands for, or -EINVAL for a bad escape or NUL. */
static int escape_at(struct slice s, size_t at)
{
    int high, low;

    if (s.len - at < 3)
        return -EINVAL;
    high = hex_digit(s.ptr[at + 1]);
    low = hex_digit(s.ptr[at + 2]);
    if (high < 0 || low < 0 || high + low == 0)
        return -EINVAL;
    return high * 16 + low;
}

int http_path_decode(struct slice part, char *out, size_t cap)
{
    size_t len = 0;

    for (size_t i = 0; i < part.len; i++) {
        int c = (unsigned char)part.ptr[i];
        if (c == '%') {
            c = escape_at(part, i);
            if (c < 0)
                return c;
            i += 2;
        }
        if (len + 1 >= cap)
            return -EMSGSIZE;
        out[len++] = (char)c;
    }
    if (cap == 0)
        return -EMSGSIZE;
    out[len] = '\0';
    return (int)len;
}

static int form_decode(struct slice text, struct buf *out)
{
    int rc = 0;

    buf_reset(out);
    for (size_t i = 0; rc == 0 && i < text.len; i++) {
        int c = (unsigned char)text.ptr[i];
        if (c == '%') {
            c = escape_at(text, i);
            if (c < 0)
                return c;
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        rc = buf_add_char(out, (char)c);
    }
    return rc;
}

int http_query_get(struct slice query, const char *name, struct buf *out)
{
    struct slice pair;
    struct buf key;
    int rc = -ENOENT;

    buf_init(&key, HTTP_HEAD_MAX_BYTES);
    while (rc == -ENOENT && slice_split(&query, '&', &pair)) {
        size_t eq = slice_index(pair, '=');
        int key_rc = form_decode(slice_of(pair.ptr, eq), &key);
        if (key_rc == 0 && slice_eq_str(buf_slice(&key), name))
            rc = form_decode(slice_skip(pair, eq + 1), out);
    }
    buf_fini(&key);
    return rc;
}

/* ---- parameters and lists inside field values ---- */

/* Takes `name=value` off the front of *rest (behind a ';'). 0, or -EINVAL. */
static int param_next(struct slice *rest, struct slice *out_name, struct buf *out)
{
    size_t eq = slice_index(*rest, '=');
    struct slice name = slice_trim(slice_of(rest->ptr, eq));
    size_t at = eq + 1;

    buf_reset(out);
    if (eq >= rest->len || !http_is_token(name))
        return -EINVAL;
    if (at >= rest->len || rest->ptr[at] != '"') {
        struct slice value = slice_skip(*rest, at);
        size_t end = slice_index(value, ';');
        *out_name = name;
        *rest = slice_skip(value, end);
        value = slice_trim(slice_of(value.ptr, end));
        if (!http_is_token(value))
            return -EINVAL;
        return buf_add_slice(out, value);
    }
    for (at++; at < rest->len && rest->ptr[at] != '"'; at++) {
        int rc;
        /* Browsers send a backslash of a Windows path as it is, and %22 for a quote. */
        if (rest->ptr[at] == '\\' && at + 1 < rest->len &&
            (rest->ptr[at + 1] == '"' || rest->ptr[at + 1] == '\\'))
            at++;
        rc = buf_add_char(out, rest->ptr[at]);
        if (rc != 0)
            return rc;
    }
    if (at >= rest->len)
        return -EINVAL;
    *out_name = name;
    *rest = slice_trim(slice_skip(*rest, at + 1));
    return rest->len && rest->ptr[0] != ';' ? -EINVAL : 0;
}

int http_param_get(struct slice value, const char *name, struct buf *out)
{
    struct slice rest = slice_trim(slice_skip(value, slice_index(value, ';')));
    struct slice found;
    struct buf text;
    bool is_found = false;
    int rc = 0;

    buf_init(&text, out->max);
    while (rc == 0 && rest.len) {
        rest = slice_trim(slice_skip(rest, 1)); /* the ';' */
        if (!rest.len)
            break;
        rc = param_next(&rest, &found, &text);
        if (rc != 0 || !slice_ieq_str(found, name))
            continue;
        if (is_found) {
            rc = -EINVAL;
            break;
        }
        is_found = true;
        buf_reset(out);
        rc = buf_add_slice(out, buf_slice(&text));
    }
    buf_fini(&text);
    if (rc != 0)
        return rc;
    return is_found ? 0 : -ENOENT;
}

bool http_list_has(struct slice value, const char *token)
{
    struct slice part;

    while (slice_split(&value, ',', &part)) {
        if (slice_ieq_str(slice_trim(part), token))
            return true;
    }
    return false;
}

/* tchar of RFC 9110 section 5.6.2, one bit a byte: this is asked for every byte of a name. */
static bool is_tchar(unsigned char c)
{
    static const uint64_t bits[4] = {
        0x03ff6cfa00000000, /* !#$%&'*+-. 0-9 */
        0x57ffffffc7fffffe, /* A-Z ^_` a-z |~ */
        0,
        0,
    };

    return bits[c >> 6] >> (c & 63) & 1;
}

bool http_is_token(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_tchar((unsigned char)text.ptr[i]))
            return false;
    }
    return text.len > 0;
}

/* ---- names ---- */

enum http_method http_method_of(struct slice text)
{
    static const struct {
        const char *name;
        enum http_method method;
    } methods[] = {
        {"GET", HTTP_METHOD_GET},       {"POST", HTTP_METHOD_POST},
        {"HEAD", HTTP_METHOD_HEAD},     {"PUT", HTTP_METHOD_PUT},
        {"DELETE", HTTP_METHOD_DELETE}, {"OPTIONS", HTTP_METHOD_OPTIONS},
        {"PATCH", HTTP_METHOD_PATCH},
    };

    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (slice_eq_str(text, methods[i].name)) /* methods are case-sensitive */
            return methods[i].method;
    }
    return HTTP_METHOD_OTHER;
}

static const struct {
    int status;
    const char *text;
} status_texts[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *http_status_text(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(status_texts); i++) {
        if (status_texts[i].status == status)
            return status_texts[i].text;
    }
    return "Status";
}

void http_date(int64_t wall_ms, char out[HTTP_DATE_LEN + 1])
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)(wall_ms / 1000);
    char text[64];
    struct tm tm;

    (void)gmtime_r(&seconds, &tm); /* fails only for years beyond int */
    (void)snprintf(text, sizeof(text), "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                   days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900,
                   tm.tm_hour, tm.tm_min, tm.tm_sec);
    memcpy(out, text, HTTP_DATE_LEN);
    out[HTTP_DATE_LEN] = '\0';
}
