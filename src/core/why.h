/* why: reasons with their numbers, for every wait, eviction, refusal and end. Pure values. */
#ifndef HOTBUNK_CORE_WHY_H
#define HOTBUNK_CORE_WHY_H

#include "base/buf.h"
#include "core/event.h"

enum core_why_kind {
    CORE_WHY_NONE = 0,
    CORE_WHY_BUSY,       /* the model's slots are taken: `count` running, `ahead` before it */
    CORE_WHY_LOADING,    /* the model is being loaded */
    CORE_WHY_MEMORY,     /* need, available, foreign, reserved by others */
    CORE_WHY_MEASURING,  /* a fresh sample of the device is under way */
    CORE_WHY_RELEASE,    /* the bytes of `other` must come back first */
    CORE_WHY_ALONE,      /* a model of unknown size is loading by itself: `other` */
    CORE_WHY_BEHIND,     /* room is being made for `other` first */
    CORE_WHY_BACKOFF,    /* the last load failed; `wait_ms` until the next try */
    CORE_WHY_REQUEST,    /* somebody asked for it */
    CORE_WHY_SWITCH,     /* the active model changed to `other` */
    CORE_WHY_ROOM,       /* evicted to make room for `other` */
    CORE_WHY_IDLE,       /* nobody used it for `wait_ms` */
    CORE_WHY_CHANGED,    /* its specification changed or it was removed */
    CORE_WHY_STOPPING,   /* the daemon stops */
    CORE_WHY_LIMIT,      /* a limit of `wait_ms` fired: `clock` */
    CORE_WHY_FAILED,     /* `failure` */
    CORE_WHY_TOO_BIG,    /* need is more than the device has: need, available = total */
    CORE_WHY_QUEUE_FULL, /* `count` jobs wait already */
};

enum core_clock {
    CORE_CLOCK_NONE = 0,
    CORE_CLOCK_QUEUE,
    CORE_CLOCK_LOAD,
    CORE_CLOCK_RUN,
    CORE_CLOCK_STALL,
    CORE_CLOCK_DRAIN,
    CORE_CLOCK_CANCEL,
    CORE_CLOCK_STOP,
};

/* "queue_timeout", "cancel_grace", … as in the configuration. */
const char *core_clock_name(enum core_clock clock);

struct core_why {
    enum core_why_kind kind;
    enum core_clock clock;
    enum core_failure failure;
    uint32_t other; /* a model, or CORE_NO_MODEL */
    unsigned count, ahead;
    uint64_t need_bytes, available_bytes, foreign_bytes, reserved_bytes;
    uint64_t wait_ms;
};

/* A sentence for a person; `other_name` is the name of why->other, or NULL. */
int core_why_text(const struct core_why *why, const char *other_name, struct buf *out) MUSTCHECK;

/* Same reason with about the same numbers: not worth telling again. */
bool core_why_is_same(const struct core_why *a, const struct core_why *b);

#endif
