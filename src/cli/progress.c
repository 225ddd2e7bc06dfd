#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/text.h"
#include "os/term.h"

#define BAR_COLUMNS_MAX 40u
#define BAR_COLUMNS_MIN 10u
#define BAR_FRAME       9u /* "100 % [" and "] " */
#define BAR_EIGHTHS     8u

static int add_blocks(struct buf *out, size_t columns, unsigned percent)
{
    size_t eighths = columns * BAR_EIGHTHS * percent / 100;
    size_t full = eighths / BAR_EIGHTHS, part = eighths % BAR_EIGHTHS;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < columns; i++) {
        if (i < full)
            rc = buf_add_str(out, "\xE2\x96\x88"); /* U+2588, a full block */
        else if (i == full && part)
            rc = buf_printf(out, "\xE2\x96%c", (char)(0x90 - (int)part)); /* U+258F … U+2589 */
        else
            rc = buf_add_char(out, ' ');
    }
    return rc;
}

static int add_marks(struct buf *out, size_t columns, unsigned percent)
{
    size_t full = columns * percent / 100;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < columns; i++)
        rc = buf_add_char(out, i < full ? '#' : '.');
    return rc;
}

static size_t bar_columns(size_t width)
{
    size_t half = width / 2;

    if (half < BAR_COLUMNS_MIN || width < BAR_FRAME + BAR_COLUMNS_MIN)
        return 0;
    return half > BAR_COLUMNS_MAX ? BAR_COLUMNS_MAX : half;
}

int progress_line(struct buf *out, int percent, struct slice text, size_t width, bool has_blocks)
{
    size_t bar = bar_columns(width), used = 0;
    int rc = 0;

    if (percent != PROGRESS_UNKNOWN) {
        unsigned part = percent < 0 ? 0 : percent > 100 ? 100 : (unsigned)percent;
        rc = buf_printf(out, bar ? "%3u %% [" : "%3u %% ", part);
        if (rc == 0 && bar)
            rc = has_blocks ? add_blocks(out, bar, part) : add_marks(out, bar, part);
        if (rc == 0 && bar)
            rc = buf_add_str(out, "] ");
        used = bar ? bar + BAR_FRAME : 6;
    }
    if (rc == 0 && used < width)
        rc = buf_add_slice(out, text_clip(text, width - used));
    return rc;
}

void progress_init(struct progress *progress)
{
    *progress = (struct progress){.is_drawn = term_is_interactive(STDERR_FILENO),
                                  .has_blocks = term_has_blocks(),
                                  .percent = -PROGRESS_PLAIN_STEP};
}

/* Writes the line over the last one; spaces, not an escape, clear what is longer. */
static void progress_draw(struct progress *progress, struct slice line)
{
    size_t columns = text_columns(line);

    fprintf(stderr, "\r%.*s%*s", SLICE_ARG(line),
            (int)(progress->shown > columns ? progress->shown - columns : 0), "");
    fflush(stderr);
    progress->shown = columns;
}

static void progress_plain(struct progress *progress, int percent, const char *text)
{
    bool is_same = strcmp(progress->text, text) == 0;

    if (percent == 0 && !text[0]) /* it has begun: no news */
        return;
    if (is_same && (percent == progress->percent ||
                    (percent < progress->percent + PROGRESS_PLAIN_STEP && percent != 100)))
        return;
    (void)snprintf(progress->text, sizeof(progress->text), "%s", text); /* it was bounded */
    progress->percent = percent;
    if (percent == PROGRESS_UNKNOWN)
        fprintf(stderr, "%s\n", text);
    else
        fprintf(stderr, "%d %%%s%s\n", percent, text[0] ? " " : "", text);
}

void progress_show(struct progress *progress, int percent, const char *text)
{
    struct buf clean, line;

    buf_init(&clean, PROGRESS_TEXT_MAX - 1);
    buf_init(&line, PROGRESS_LINE_MAX);
    text_add_clean(&clean, slice_str(text), false);
    if (!progress->is_drawn) {
        progress_plain(progress, percent, buf_str(&clean));
    } else if (progress_line(&line, percent, buf_slice(&clean), term_width(STDERR_FILENO) - 1,
                             progress->has_blocks) == 0) {
        progress_draw(progress, buf_slice(&line)); /* the last column would wrap */
    }
    buf_fini(&line);
    buf_fini(&clean);
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r%*s\r", (int)progress->shown, "");
    fflush(stderr);
    progress->shown = 0;
}
