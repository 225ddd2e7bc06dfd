#include "hotbunk.h"

#include <errno.h>

#include "client/client.h"

const char *bunk_version(void)
{
    return BUNK_VERSION;
}

const char *bunk_strerror(int error)
{
    static const char *const texts[] = {
        "no error",
        "the work failed",
        "what was asked for is wrong",
        "no daemon answers",
        "refused for now; try again later",
        "the time that was allowed is over",
        "interrupted by a signal",
        "the key is missing or wrong",
        "what answers is no Hotbunk daemon of this version",
    };

    if (error > 0 || error <= -(int)ARRAY_LEN(texts))
        return "unknown error";
    return texts[-error];
}

int bunk_error_of(int rc)
{
    switch (rc) {
    case 0:
        return BUNK_OK;
    case -EINVAL:
    case -ENOENT:
    case -EPERM:
        return BUNK_E_INVALID;
    case -ECONNREFUSED:
    case -ECONNRESET:
        return BUNK_E_NO_DAEMON;
    case -EAGAIN:
    case -EBUSY:
        return BUNK_E_REFUSED;
    case -ETIMEDOUT:
        return BUNK_E_TIMEOUT;
    case -EINTR:
        return BUNK_E_INTERRUPTED;
    case -EACCES:
        return BUNK_E_DENIED;
    case -EPROTO:
    case -EMSGSIZE:
    case -ENODATA:
        return BUNK_E_PROTOCOL;
    default:
        return BUNK_E_FAILED;
    }
}
