#include "shim/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

void control_init(struct control *control, int fd)
{
    *control = (struct control){.fd = fd};
}

static enum control_order control_parse(const char *line, size_t len)
{
    if (len == 4 && memcmp(line, "term", 4) == 0)
        return CONTROL_ORDER_TERM;
    if (len == 4 && memcmp(line, "kill", 4) == 0)
        return CONTROL_ORDER_KILL;
    return CONTROL_ORDER_NONE;
}

static enum control_order control_feed(struct control *control, char byte)
{
    if (byte == '\n') {
        enum control_order order = CONTROL_ORDER_NONE;
        if (!control->is_skipping)
            order = control_parse(control->line, control->used);
        control->used = 0;
        control->is_skipping = false;
        return order;
    }
    if (control->used == sizeof(control->line))
        control->is_skipping = true;
    else
        control->line[control->used++] = byte;
    return CONTROL_ORDER_NONE;
}

enum control_order control_read(struct control *control)
{
    enum control_order strongest = CONTROL_ORDER_NONE;
    char chunk[CONTROL_LINE_MAX];

    for (;;) {
        ssize_t got = recv(control->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return strongest;
        if (got <= 0)
            return CONTROL_ORDER_CLOSED;
        for (ssize_t i = 0; i < got; i++) {
            enum control_order order = control_feed(control, chunk[i]);
            if (order > strongest)
                strongest = order;
        }
    }
}

void control_say(const struct control *control, const char *format, ...)
{
    char line[CONTROL_LINE_MAX];
    va_list args;

    va_start(args, format);
    int len = vsnprintf(line, sizeof(line) - 1, format, args);
    va_end(args);
    if (len < 0)
        return;
    size_t used = (size_t)len < sizeof(line) - 1 ? (size_t)len : sizeof(line) - 2;
    line[used++] = '\n';
    /* Lost only if nobody is there to read it. */
    (void)send(control->fd, line, used, MSG_DONTWAIT | MSG_NOSIGNAL);
}
