/* mem: the only place that calls malloc and free.
 *
 * For small allocations whose size does not come from outside: on exhaustion the process is
 * ended with a message, as a half-built object helps nobody. Sizes from outside go through
 * buf_* or arena_*, which have a maximum and can fail. Any thread. */
#ifndef HOTBUNK_BASE_MEM_H
#define HOTBUNK_BASE_MEM_H

#include <stddef.h>

#define MUSTCHECK         __attribute__((warn_unused_result))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define ARRAY_LEN(a)      (sizeof(a) / sizeof((a)[0]))

/* Zero-filled memory for `count` objects of `size` bytes. Never NULL. */
void *mem_new(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* Like realloc; new bytes are not cleared. Never NULL for size > 0. */
void *mem_resize(void *ptr, size_t size) __attribute__((returns_nonnull));

/* Like realloc, but returns NULL and leaves `ptr` alone when there is no memory. */
void *mem_try_resize(void *ptr, size_t size) MUSTCHECK;

/* Copies of a C string, of `len` bytes plus a NUL. NULL gives NULL. */
char *mem_strdup(const char *str);
char *mem_strndup(const char *str, size_t len);

/* A printf into a new string. */
char *mem_printf(const char *fmt, ...) PRINTF(1, 2) __attribute__((returns_nonnull));

void mem_free(void *ptr);

/* Clean-up attribute for blocking code: `auto_free char *x = ...;` */
void mem_free_at(void *ptr_to_ptr);
#define auto_free __attribute__((cleanup(mem_free_at)))

#endif
