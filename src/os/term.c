#include "os/term.h"

#include <stdlib.h>
#include <strings.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool term_is_tty(int fd)
{
    return isatty(fd) == 1;
}

bool term_is_interactive(int fd)
{
    const char *kind = getenv("TERM");

    return term_is_tty(fd) && !(kind && strcmp(kind, "dumb") == 0);
}

unsigned term_width(int fd)
{
    struct winsize size = {0};
    unsigned width;

    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return TERM_WIDTH_DEFAULT;
    width = size.ws_col;
    if (width < TERM_WIDTH_MIN)
        return TERM_WIDTH_MIN;
    return width > TERM_WIDTH_MAX ? TERM_WIDTH_MAX : width;
}

static bool text_ends_in_utf8(const char *locale)
{
    const char *dot = strchr(locale, '.');

    return dot && (strncasecmp(dot, ".UTF-8", 6) == 0 || strncasecmp(dot, ".UTF8", 5) == 0);
}

bool term_has_blocks(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"}; /* the first set one rules */
    const char *plain = getenv("NO_COLOR");

    if (plain && plain[0])
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && value[0])
            return text_ends_in_utf8(value);
    }
    return false;
}
