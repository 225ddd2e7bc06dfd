#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
    va_list args;

    if (!err)
        return code;
    err->code = code;
    err->where[0] = '\0';
    va_start(args, fmt);
    (void)vsnprintf(err->msg, sizeof(err->msg), fmt, args); /* cut is fine */
    va_end(args);
    return code;
}

int err_at(struct err *err, const char *fmt, ...)
{
    va_list args;

    if (!err)
        return 0;
    if (err->where[0] != '\0')
        return err->code;
    va_start(args, fmt);
    (void)vsnprintf(err->where, sizeof(err->where), fmt, args); /* cut is fine */
    va_end(args);
    return err->code;
}
