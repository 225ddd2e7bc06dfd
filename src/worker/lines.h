/* lines: cuts a byte stream into bounded lines. Pure.
 *
 * A line longer than the maximum is dropped whole and counted. What stands before the last
 * carriage return of a line is a progress bar: only what follows it is handed on. */
#ifndef HOTBUNK_WORKER_LINES_H
#define HOTBUNK_WORKER_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct lines {
    struct buf partial;
    bool is_dropping; /* inside a line that was too long */
    uint64_t dropped; /* lines that were too long */
};

void lines_init(struct lines *lines, size_t max_line_bytes);
void lines_fini(struct lines *lines);

/* Calls `fn` for every complete line (without its end). It may not touch `lines`. */
void lines_feed(struct lines *lines, struct slice bytes, void (*fn)(void *data, struct slice line),
                void *data);

/* The rest without a newline, at end-of-file. */
void lines_finish(struct lines *lines, void (*fn)(void *data, struct slice line), void *data);

#endif
