#include "base/slice.h"

#include <strings.h>

#include "base/mem.h"

bool slice_eq(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool slice_eq_str(struct slice a, const char *str)
{
    return slice_eq(a, slice_str(str));
}

bool slice_ieq_str(struct slice a, const char *str)
{
    size_t len = strlen(str);

    return a.len == len && (len == 0 || strncasecmp(a.ptr, str, len) == 0);
}

bool slice_starts_with(struct slice s, const char *prefix)
{
    size_t len = strlen(prefix);

    return s.len >= len && (len == 0 || memcmp(s.ptr, prefix, len) == 0);
}

bool slice_ends_with(struct slice s, const char *suffix)
{
    size_t len = strlen(suffix);

    return s.len >= len && (len == 0 || memcmp(s.ptr + s.len - len, suffix, len) == 0);
}

size_t slice_index(struct slice s, char c)
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;

    return at ? (size_t)(at - s.ptr) : s.len;
}

size_t slice_find(struct slice s, struct slice needle)
{
    const char *at;

    if (needle.len == 0)
        return 0;
    if (needle.len > s.len)
        return s.len;
    at = memmem(s.ptr, s.len, needle.ptr, needle.len);
    return at ? (size_t)(at - s.ptr) : s.len;
}

struct slice slice_skip(struct slice s, size_t from)
{
    if (from >= s.len)
        return (struct slice){s.ptr ? s.ptr + s.len : NULL, 0};
    return (struct slice){s.ptr + from, s.len - from};
}

struct slice slice_trim(struct slice s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = slice_skip(s, 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

bool slice_split(struct slice *s, char sep, struct slice *out_part)
{
    size_t at;

    if (!s->ptr)
        return false;
    at = slice_index(*s, sep);
    *out_part = slice_of(s->ptr, at);
    *s = at < s->len ? slice_of(s->ptr + at + 1, s->len - at - 1) : (struct slice){NULL, 0};
    return true;
}

char *slice_dup(struct slice s)
{
    return mem_strndup(s.ptr ? s.ptr : "", s.len);
}
