/* control: the line of text between the daemon and its shim.
 *
 * One end of a SOCK_STREAM socket pair. To the daemon, one line each:
 *   started PID | failed ERRNO STEP | exited CODE | signaled SIGNO | stuck PID | gone
 * From the daemon: `term` (SIGTERM to the worker's group), `kill` (SIGKILL to the whole tree).
 * Its end-of-file means that the daemon is no more. Unknown lines are ignored. */
#ifndef HOTBUNK_SHIM_CONTROL_H
#define HOTBUNK_SHIM_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_LINE_MAX 128

/* Ordered: of several orders read at once, the strongest counts. */
enum control_order {
    CONTROL_ORDER_NONE = 0,
    CONTROL_ORDER_TERM = 1,
    CONTROL_ORDER_KILL = 2,
    CONTROL_ORDER_CLOSED = 3,
};

struct control {
    int fd;
    bool is_skipping; /* inside a line that was too long */
    size_t used;
    char line[CONTROL_LINE_MAX];
};

void control_init(struct control *control, int fd);

/* Takes all that can be read without waiting. */
enum control_order control_read(struct control *control);

/* Sends one line (the newline is added). A daemon that is gone, or that has let the socket's
 * buffer fill up, gets none: the shim never waits for it. */
void control_say(const struct control *control, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
