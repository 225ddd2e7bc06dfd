/* term: what a terminal can show. Pure questions to the kernel and the environment. Any thread. */
#ifndef HOTBUNK_OS_TERM_H
#define HOTBUNK_OS_TERM_H

#include <stdbool.h>

#define TERM_WIDTH_DEFAULT 80u
#define TERM_WIDTH_MIN     20u
#define TERM_WIDTH_MAX     1000u

/* `fd` is a terminal that can redraw a line (TERM is not "dumb"). */
bool term_is_interactive(int fd);

/* `fd` is a terminal of any kind. */
bool term_is_tty(int fd);

/* Columns of the terminal, within the limits above; TERM_WIDTH_DEFAULT when it does not say. */
unsigned term_width(int fd);

/* The locale speaks UTF-8 and the user did not ask for plain output (NO_COLOR). */
bool term_has_blocks(void);

#endif
