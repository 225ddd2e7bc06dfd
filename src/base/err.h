/* err: what went wrong, in words for a person and a code for the program.
 *
 * Passed last as `struct err *err`, NULL allowed. Fixed storage, so that reporting an error can
 * never fail. A function that fills it returns its negative errno too. Any thread; not shared. */
#ifndef HOTBUNK_BASE_ERR_H
#define HOTBUNK_BASE_ERR_H

#include "base/mem.h"

#define ERR_MSG_MAX   512
#define ERR_WHERE_MAX 256

struct err {
    int code;                  /* negative errno, 0 = no error */
    char msg[ERR_MSG_MAX];     /* says what to do about it, no trailing newline */
    char where[ERR_WHERE_MAX]; /* file:line:col or URL, may be empty */
};

/* Fills `err` (if not NULL) and returns `code`: `return err_set(err, -EINVAL, "...")`. */
int err_set(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);

/* Adds the place, if none is set yet. Returns err->code, or 0 when err is NULL. */
int err_at(struct err *err, const char *fmt, ...) PRINTF(2, 3);

#endif
