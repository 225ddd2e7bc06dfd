#include "base/nearest.h"

#include <stdint.h>

#include "base/mem.h"

static unsigned char nearest_lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance, with the last three rows of the table. */
size_t nearest_distance(struct slice a, struct slice b)
{
    size_t rows[3][NEAREST_WORD_MAX + 1];

    if (a.len > NEAREST_WORD_MAX || b.len > NEAREST_WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            unsigned char x = nearest_lower(a.ptr[i - 1]), y = nearest_lower(b.ptr[j - 1]);
            row[j] = least(least(above[j] + 1, row[j - 1] + 1), above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == nearest_lower(b.ptr[j - 2]) &&
                y == nearest_lower(a.ptr[i - 2]))
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

void nearest_offer(struct nearest *near, const char *candidate)
{
    size_t distance = nearest_distance(near->word, slice_str(candidate));
    size_t limit = near->word.len / 3 + 1;

    if (distance > limit || (near->best && distance >= near->distance))
        return;
    near->best = candidate;
    near->distance = distance;
}
