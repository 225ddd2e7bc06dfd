#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>

#define ARENA_CHUNK_BYTES 4096 /* of data; a larger request gets a chunk of its own */

struct arena_chunk {
    struct arena_chunk *next;
    size_t len, cap;
    alignas(max_align_t) char data[];
};

void arena_init(struct arena *arena, size_t max_bytes)
{
    *arena = (struct arena){.max = max_bytes};
}

void arena_fini(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        mem_free(chunk);
    }
    *arena = (struct arena){0};
}

static struct arena_chunk *arena_chunk_new(struct arena *arena, size_t bytes)
{
    size_t cap = bytes > ARENA_CHUNK_BYTES ? bytes : ARENA_CHUNK_BYTES;
    struct arena_chunk *chunk = mem_try_resize(NULL, sizeof(*chunk) + cap);

    if (!chunk)
        return NULL;
    *chunk = (struct arena_chunk){.next = arena->chunks, .cap = cap};
    arena->chunks = chunk;
    return chunk;
}

void *arena_new(struct arena *arena, size_t count, size_t size)
{
    const size_t align = alignof(max_align_t);
    struct arena_chunk *chunk = arena->chunks;
    size_t bytes;
    char *at;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    bytes = bytes ? (bytes + align - 1) / align * align : align;
    if (bytes > arena->max || arena->used > arena->max - bytes)
        return NULL;
    if (!chunk || chunk->cap - chunk->len < bytes)
        chunk = arena_chunk_new(arena, bytes);
    if (!chunk)
        return NULL;
    at = chunk->data + chunk->len;
    chunk->len += bytes;
    arena->used += bytes;
    memset(at, 0, bytes);
    return at;
}

char *arena_dup(struct arena *arena, struct slice text)
{
    char *copy = text.len < SIZE_MAX ? arena_new(arena, text.len + 1, 1) : NULL;

    if (copy && text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}
