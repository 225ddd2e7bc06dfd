/* arena: many small allocations with one end: one arena per message, request or config load.
 *
 * Embedded: arena_init / arena_fini. {0} is a valid empty arena that can give nothing. What would
 * exceed the maximum is refused with NULL, so sizes from outside are safe here. Not shared. */
#ifndef HOTBUNK_BASE_ARENA_H
#define HOTBUNK_BASE_ARENA_H

#include "base/mem.h"
#include "base/slice.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    size_t used;                /* bytes given out, with their padding */
    size_t max;
};

void arena_init(struct arena *arena, size_t max_bytes);
void arena_fini(struct arena *arena);

/* Zero-filled memory for `count` objects of `size` bytes, aligned for any type, or NULL when the
 * maximum or the machine's memory is reached. */
void *arena_new(struct arena *arena, size_t count, size_t size) MUSTCHECK;

/* A NUL-terminated copy, or NULL. */
char *arena_dup(struct arena *arena, struct slice text) MUSTCHECK;

#endif
