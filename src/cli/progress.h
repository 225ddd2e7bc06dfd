/* progress: one line on stderr that is redrawn on a terminal, or plain lines elsewhere.
 * Embedded: progress_init / progress_end. Not shared. */
#ifndef HOTBUNK_CLI_PROGRESS_H
#define HOTBUNK_CLI_PROGRESS_H

#include "base/buf.h"

#define PROGRESS_TEXT_MAX   512 /* bytes of a step's text */
#define PROGRESS_LINE_MAX   8192
#define PROGRESS_PLAIN_STEP 10 /* percent between two plain lines of one step */
#define PROGRESS_UNKNOWN    (-1)

struct progress {
    bool is_drawn;   /* redrawn on a terminal */
    bool has_blocks; /* UTF-8 blocks instead of ASCII */
    size_t shown;    /* columns of the line that stands there now */
    int percent;     /* last plain line: */
    char text[PROGRESS_TEXT_MAX];
};

/* Asks the terminal behind stderr. */
void progress_init(struct progress *progress);

/* percent 0…100, or PROGRESS_UNKNOWN for a text alone ("waiting: …"). */
void progress_show(struct progress *progress, int percent, const char *text);

/* Takes the line away, so that the next text begins in the first column. */
void progress_end(struct progress *progress);

/* The pure half: the line in at most `width` columns, without an end of line. */
int progress_line(struct buf *out, int percent, struct slice text, size_t width,
                  bool has_blocks) MUSTCHECK;

#endif
