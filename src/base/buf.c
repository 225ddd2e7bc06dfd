#include "base/buf.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#define BUF_FIRST_BYTES 128

void buf_init(struct buf *buf, size_t max_bytes)
{
    /* Half of the address space is no limit, and doubling below it cannot overflow. */
    *buf = (struct buf){.max = max_bytes < SIZE_MAX / 2 ? max_bytes : SIZE_MAX / 2};
}

void buf_fini(struct buf *buf)
{
    mem_free(buf->data);
    *buf = (struct buf){0};
}

void buf_reset(struct buf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

int buf_reserve(struct buf *buf, size_t len)
{
    size_t need, cap;
    char *grown;

    if (len > buf->max || buf->len > buf->max - len)
        return -EMSGSIZE;
    need = buf->len + len + 1;
    if (need <= buf->cap)
        return 0;
    cap = buf->cap ? buf->cap : BUF_FIRST_BYTES;
    while (cap < need)
        cap *= 2;
    if (cap > buf->max + 1)
        cap = buf->max + 1;
    grown = mem_try_resize(buf->data, cap);
    if (!grown)
        return -ENOMEM;
    buf->data = grown;
    buf->cap = cap;
    buf->data[buf->len] = '\0';
    return 0;
}

int buf_add(struct buf *buf, const void *ptr, size_t len)
{
    int rc = buf_reserve(buf, len);

    if (rc != 0)
        return rc;
    if (len)
        memcpy(buf->data + buf->len, ptr, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return 0;
}

int buf_add_slice(struct buf *buf, struct slice s)
{
    return buf_add(buf, s.ptr, s.len);
}

int buf_add_str(struct buf *buf, const char *str)
{
    return buf_add(buf, str, strlen(str));
}

int buf_add_char(struct buf *buf, char c)
{
    return buf_add(buf, &c, 1);
}

int buf_vprintf(struct buf *buf, const char *fmt, va_list args)
{
    va_list again;
    int len, rc;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (len < 0)
        return -EINVAL;
    rc = buf_reserve(buf, (size_t)len);
    if (rc != 0)
        return rc;
    (void)vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, args); /* measured above */
    buf->len += (size_t)len;
    return 0;
}

int buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args;
    int rc;

    va_start(args, fmt);
    rc = buf_vprintf(buf, fmt, args);
    va_end(args);
    return rc;
}

void buf_consume(struct buf *buf, size_t len)
{
    if (len >= buf->len) {
        buf_reset(buf);
        return;
    }
    memmove(buf->data, buf->data + len, buf->len - len);
    buf->len -= len;
    buf->data[buf->len] = '\0';
}

const char *buf_str(const struct buf *buf)
{
    return buf->data ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
    char *data = buf->data ? buf->data : mem_strdup("");

    *buf = (struct buf){.max = buf->max};
    return data;
}
