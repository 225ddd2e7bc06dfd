#include "base/map.h"

#include "base/mem.h"

#define MAP_FIRST_SLOTS 16

/* splitmix64's finalizer: spreads sequential keys over the table. */
static size_t map_hash(uint64_t key)
{
    key ^= key >> 30;
    key *= 0xbf58476d1ce4e5b9u;
    key ^= key >> 27;
    key *= 0x94d049bb133111ebu;
    return (size_t)(key ^ key >> 31);
}

/* The slot of `key`, or the free one where it would go. */
static size_t map_seek(const struct map *map, uint64_t key)
{
    size_t at = map_hash(key) & (map->cap - 1);

    while (map->slots[at].value && map->slots[at].key != key)
        at = (at + 1) & (map->cap - 1);
    return at;
}

void map_fini(struct map *map)
{
    mem_free(map->slots);
    *map = (struct map){0};
}

void *map_get(const struct map *map, uint64_t key)
{
    return map->cap ? map->slots[map_seek(map, key)].value : NULL;
}

static void map_grow(struct map *map)
{
    struct map bigger = {.cap = map->cap ? map->cap * 2 : MAP_FIRST_SLOTS, .count = map->count};

    bigger.slots = mem_new(bigger.cap, sizeof(*bigger.slots));
    for (size_t i = 0; i < map->cap; i++) {
        if (map->slots[i].value)
            bigger.slots[map_seek(&bigger, map->slots[i].key)] = map->slots[i];
    }
    mem_free(map->slots);
    *map = bigger;
}

void map_put(struct map *map, uint64_t key, void *value)
{
    size_t at;

    if ((map->count + 1) * 4 > map->cap * 3)
        map_grow(map);
    at = map_seek(map, key);
    map->count += map->slots[at].value == NULL;
    map->slots[at] = (struct map_slot){key, value};
}

void *map_del(struct map *map, uint64_t key)
{
    size_t hole, at;
    void *value;

    if (!map->cap)
        return NULL;
    hole = map_seek(map, key);
    value = map->slots[hole].value;
    if (!value)
        return NULL;
    map->slots[hole].value = NULL;
    map->count--;
    /* Close the gap: move back what was pushed past it (Knuth 6.4, algorithm R). */
    for (at = (hole + 1) & (map->cap - 1); map->slots[at].value; at = (at + 1) & (map->cap - 1)) {
        size_t home = map_hash(map->slots[at].key) & (map->cap - 1);
        if (((at - home) & (map->cap - 1)) < ((at - hole) & (map->cap - 1)))
            continue;
        map->slots[hole] = map->slots[at];
        map->slots[at].value = NULL;
        hole = at;
    }
    return value;
}

void *map_next(const struct map *map, size_t *at)
{
    while (*at < map->cap) {
        void *value = map->slots[(*at)++].value;
        if (value)
            return value;
    }
    return NULL;
}
