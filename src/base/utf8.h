/* utf8: strict UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF). Pure. */
#ifndef HOTBUNK_BASE_UTF8_H
#define HOTBUNK_BASE_UTF8_H

#include "base/buf.h"
#include "base/slice.h"

/* Length in bytes of the longest valid prefix. */
size_t utf8_valid_len(struct slice s);

static inline bool utf8_is_valid(struct slice s)
{
    return utf8_valid_len(s) == s.len;
}

/* Adds `s` with each invalid byte replaced by U+FFFD. Returns what buf_add returns. */
int utf8_add_lossy(struct buf *out, struct slice s) MUSTCHECK;

#endif
