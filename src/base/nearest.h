/* nearest: "did you mean …": the known word with the least typing errors to a given one. Pure. */
#ifndef HOTBUNK_BASE_NEAREST_H
#define HOTBUNK_BASE_NEAREST_H

#include "base/slice.h"

#define NEAREST_WORD_MAX 64 /* longer words are never near */

/* Edits (insert, delete, replace, swap of neighbours, ASCII case ignored) from a to b, or SIZE_MAX
 * when one of them is longer than NEAREST_WORD_MAX. */
size_t nearest_distance(struct slice a, struct slice b);

/* Keeps the best of several candidates: struct nearest near = {.word = w}; nearest_offer(…)… */
struct nearest {
    struct slice word;
    const char *best; /* borrowed, NULL while nothing is near enough (a third of the word) */
    size_t distance;  /* of best */
};

void nearest_offer(struct nearest *near, const char *candidate);

#endif
