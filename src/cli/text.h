/* text: what comes from a daemon, made fit for a terminal. Pure. */
#ifndef HOTBUNK_CLI_TEXT_H
#define HOTBUNK_CLI_TEXT_H

#include <stdint.h>

#include "base/buf.h"

#define TEXT_MS_MAX 32

/* Adds `text` with every control byte (they could steer the terminal) as '?' and invalid UTF-8 as
 * U+FFFD. `is_many_lines` keeps newlines and tabs. What exceeds the maximum of `out` is cut. */
void text_add_clean(struct buf *out, struct slice text, bool is_many_lines);

/* Columns of valid UTF-8 on a terminal: wide East Asian letters take two, marks none. */
size_t text_columns(struct slice text);

/* The longest start of `text` that takes at most `columns`. */
struct slice text_clip(struct slice text, size_t columns);

/* "350 ms", "2.4 s", "3 min 05 s", "2 h 04 min". Returns `out`. */
const char *text_ms(uint64_t ms, char out[TEXT_MS_MAX]);

#endif
