#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* floors-ok: the last message, when memory is out */

static _Noreturn void mem_exhausted(void)
{
    static const char text[] = "hotbunk: out of host memory\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1); /* floors-ok: as above */
    (void)ignored; /* nothing is left to tell it to */
    abort();
}

void *mem_new(size_t count, size_t size)
{
    void *ptr = calloc(count ? count : 1, size ? size : 1);
    if (!ptr)
        mem_exhausted();
    return ptr;
}

void *mem_try_resize(void *ptr, size_t size)
{
    return realloc(ptr, size ? size : 1);
}

void *mem_resize(void *ptr, size_t size)
{
    void *grown = mem_try_resize(ptr, size);
    if (!grown)
        mem_exhausted();
    return grown;
}

char *mem_strndup(const char *str, size_t len)
{
    char *copy;

    if (!str)
        return NULL;
    copy = mem_new(len + 1, 1);
    memcpy(copy, str, len);
    return copy;
}

char *mem_strdup(const char *str)
{
    return str ? mem_strndup(str, strlen(str)) : NULL;
}

char *mem_printf(const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    int len;

    va_start(args, fmt);
    len = vasprintf(&text, fmt, args);
    va_end(args);
    if (len < 0)
        mem_exhausted();
    return text;
}

void mem_free(void *ptr)
{
    free(ptr);
}

void mem_free_at(void *ptr_to_ptr)
{
    void *ptr;

    memcpy(&ptr, ptr_to_ptr, sizeof(ptr));
    mem_free(ptr);
}
