/* map: a hash table from a 64-bit key to a pointer. Keys 0 and up, values never NULL.
 * Embedded: {0} is a valid empty map; map_fini frees the table, not the values. Not shared. */
#ifndef HOTBUNK_BASE_MAP_H
#define HOTBUNK_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key;
    void *value; /* NULL = free */
};

struct map {
    struct map_slot *slots;
    size_t count;
    size_t cap; /* a power of two, or 0 */
};

void map_fini(struct map *map);

/* NULL when absent. */
void *map_get(const struct map *map, uint64_t key);

/* Adds or replaces. */
void map_put(struct map *map, uint64_t key, void *value);

/* The removed value, or NULL. */
void *map_del(struct map *map, uint64_t key);

/* Any order; *at starts at 0. NULL at the end. The map must not change meanwhile. */
void *map_next(const struct map *map, size_t *at);

#endif
