/* slice: a borrowed run of bytes, not NUL-terminated. Pure, any thread. */
#ifndef HOTBUNK_BASE_SLICE_H
#define HOTBUNK_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *ptr;
    size_t len;
};

/* For printf("%.*s", SLICE_ARG(s)). */
#define SLICE_ARG(s) (int)(s).len, (s).ptr

static inline struct slice slice_of(const char *ptr, size_t len)
{
    return (struct slice){ptr, len};
}

static inline struct slice slice_str(const char *str)
{
    return (struct slice){str, str ? strlen(str) : 0};
}

bool slice_eq(struct slice a, struct slice b);
bool slice_eq_str(struct slice a, const char *str);

/* ASCII case is ignored. */
bool slice_ieq_str(struct slice a, const char *str);
bool slice_starts_with(struct slice s, const char *prefix);
bool slice_ends_with(struct slice s, const char *suffix);

/* Index of the first `c`, or s.len. */
size_t slice_index(struct slice s, char c);

/* Index of the first `needle`, or s.len. */
size_t slice_find(struct slice s, struct slice needle);

/* The part from `from` on, empty when beyond the end. */
struct slice slice_skip(struct slice s, size_t from);

/* Without leading and trailing spaces and tabs. */
struct slice slice_trim(struct slice s);

/* Takes the part before `sep` off *s; false when *s was exhausted (ptr == NULL). */
bool slice_split(struct slice *s, char sep, struct slice *out_part);

/* A NUL-terminated copy, owned by the caller (mem_free). */
char *slice_dup(struct slice s);

#endif
