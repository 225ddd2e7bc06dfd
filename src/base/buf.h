/* buf: a growable byte buffer with a maximum given at init.
 *
 * Embedded: buf_init / buf_fini. {0} is a valid empty buffer that can hold nothing. What would
 * exceed the maximum is refused whole with -EMSGSIZE and changes nothing. There is always a NUL
 * behind the last byte, so `data` is a C string once something was added. Not shared. */
#ifndef HOTBUNK_BASE_BUF_H
#define HOTBUNK_BASE_BUF_H

#include <stdarg.h>

#include "base/mem.h"
#include "base/slice.h"

struct buf {
    char *data; /* NULL until the first byte */
    size_t len;
    size_t cap;
    size_t max; /* in bytes, without the NUL */
};

void buf_init(struct buf *buf, size_t max_bytes);
void buf_fini(struct buf *buf);

/* Forgets the bytes, keeps the memory. */
void buf_reset(struct buf *buf);

/* All of these return 0, -EMSGSIZE (over the maximum) or -ENOMEM. */
int buf_add(struct buf *buf, const void *ptr, size_t len) MUSTCHECK;
int buf_add_slice(struct buf *buf, struct slice s) MUSTCHECK;
int buf_add_str(struct buf *buf, const char *str) MUSTCHECK;
int buf_add_char(struct buf *buf, char c) MUSTCHECK;
int buf_printf(struct buf *buf, const char *fmt, ...) PRINTF(2, 3) MUSTCHECK;
int buf_vprintf(struct buf *buf, const char *fmt, va_list args) PRINTF(2, 0) MUSTCHECK;

/* Room for `len` more bytes at buf->data + buf->len; the caller adds what it wrote to len. */
int buf_reserve(struct buf *buf, size_t len) MUSTCHECK;

/* Drops `len` bytes at the front. */
void buf_consume(struct buf *buf, size_t len);

static inline struct slice buf_slice(const struct buf *buf)
{
    return slice_of(buf->data, buf->len);
}

/* "" when empty. */
const char *buf_str(const struct buf *buf);

/* Hands the memory to the caller (mem_free) and leaves an empty buffer. Never NULL. */
char *buf_take(struct buf *buf);

#endif
