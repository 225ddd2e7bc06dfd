#include "core/why.h"

#include <inttypes.h>

#include "base/num.h"

/* Numbers that differ by less are the same reason: 64 MiB. */
#define WHY_BYTES_STEP (64u << 20)

static const char *const CLOCK_NAMES[] = {
    [CORE_CLOCK_NONE] = "",
    [CORE_CLOCK_QUEUE] = "queue_timeout",
    [CORE_CLOCK_LOAD] = "load_timeout",
    [CORE_CLOCK_RUN] = "run_timeout",
    [CORE_CLOCK_STALL] = "stall_timeout",
    [CORE_CLOCK_DRAIN] = "drain_timeout",
    [CORE_CLOCK_CANCEL] = "cancel_grace",
    [CORE_CLOCK_STOP] = "stop_grace",
};

const char *core_clock_name(enum core_clock clock)
{
    return CLOCK_NAMES[clock];
}

static const char *const FAILURE_NAMES[] = {
    [CORE_FAILURE_NONE] = "none",
    [CORE_FAILURE_DEVICE_OOM] = "out_of_memory",
    [CORE_FAILURE_HOST_OOM] = "out_of_host_memory",
    [CORE_FAILURE_BAD_ARGUMENTS] = "bad_arguments",
    [CORE_FAILURE_PORT] = "port_in_use",
    [CORE_FAILURE_MISSING_FILE] = "missing_file",
    [CORE_FAILURE_IMPORT] = "missing_module",
    [CORE_FAILURE_DRIVER] = "driver",
    [CORE_FAILURE_HANG] = "hang",
    [CORE_FAILURE_PROTOCOL] = "protocol",
    [CORE_FAILURE_START] = "cannot_start",
    [CORE_FAILURE_ERROR] = "error",
    [CORE_FAILURE_CRASH] = "crash",
};

const char *core_failure_name(enum core_failure failure)
{
    return FAILURE_NAMES[failure];
}

static int why_memory(const struct core_why *why, struct buf *out)
{
    char need[NUM_SIZE_TEXT_MAX], available[NUM_SIZE_TEXT_MAX];
    char foreign[NUM_SIZE_TEXT_MAX], reserved[NUM_SIZE_TEXT_MAX];

    return buf_printf(
        out,
        "waits for memory: needs %s, %s can be given now "
        "(%s held by our models, %s by others)",
        num_size_text(why->need_bytes, need), num_size_text(why->available_bytes, available),
        num_size_text(why->reserved_bytes, reserved), num_size_text(why->foreign_bytes, foreign));
}

static int why_too_big(const struct core_why *why, struct buf *out)
{
    char need[NUM_SIZE_TEXT_MAX], total[NUM_SIZE_TEXT_MAX];

    return buf_printf(out, "can never fit: needs %s, the device has %s in all",
                      num_size_text(why->need_bytes, need),
                      num_size_text(why->available_bytes, total));
}

static double why_seconds(const struct core_why *why)
{
    return (double)why->wait_ms / 1000;
}

int core_why_text(const struct core_why *why, const char *other_name, struct buf *out)
{
    const char *other = other_name ? other_name : "another model";

    switch (why->kind) {
    case CORE_WHY_NONE:
        return 0;
    case CORE_WHY_BUSY:
        return buf_printf(out, "%u running in this model, %u before this one in its queue",
                          why->count, why->ahead);
    case CORE_WHY_LOADING:
        return buf_printf(out, "the model is loading");
    case CORE_WHY_MEMORY:
        return why_memory(why, out);
    case CORE_WHY_MEASURING:
        return buf_printf(out, "free memory is being measured");
    case CORE_WHY_RELEASE:
        return buf_printf(out, "waits until the memory of %s is back", other);
    case CORE_WHY_ALONE:
        return buf_printf(out, "waits for the load of %s: what has no known size loads alone",
                          other);
    case CORE_WHY_BEHIND:
        return buf_printf(out, "room is being made for %s first", other);
    case CORE_WHY_BACKOFF:
        return buf_printf(out, "the last try failed (%s); next try in %.1f s",
                          core_failure_name(why->failure), why_seconds(why));
    case CORE_WHY_REQUEST:
        return buf_printf(out, "asked for");
    case CORE_WHY_SWITCH:
        return buf_printf(out, "the active model is %s now", other);
    case CORE_WHY_ROOM:
        return buf_printf(out, "makes room for %s", other);
    case CORE_WHY_IDLE:
        return buf_printf(out, "not used for %.0f s", why_seconds(why));
    case CORE_WHY_CHANGED:
        return buf_printf(out, "its definition changed or was removed");
    case CORE_WHY_STOPPING:
        return buf_printf(out, "the daemon is stopping");
    case CORE_WHY_LIMIT:
        return buf_printf(out, "%s of %.1f s passed", core_clock_name(why->clock),
                          why_seconds(why));
    case CORE_WHY_FAILED:
        return buf_printf(out, "failed: %s", core_failure_name(why->failure));
    case CORE_WHY_TOO_BIG:
        return why_too_big(why, out);
    case CORE_WHY_QUEUE_FULL:
        return buf_printf(out, "%u jobs wait for this model already; try again later", why->count);
    }
    return 0;
}

static bool why_bytes_alike(uint64_t a, uint64_t b)
{
    return a / WHY_BYTES_STEP == b / WHY_BYTES_STEP;
}

bool core_why_is_same(const struct core_why *a, const struct core_why *b)
{
    return a->kind == b->kind && a->clock == b->clock && a->failure == b->failure &&
           a->other == b->other && a->count == b->count && a->ahead == b->ahead &&
           why_bytes_alike(a->need_bytes, b->need_bytes) &&
           why_bytes_alike(a->available_bytes, b->available_bytes) &&
           why_bytes_alike(a->foreign_bytes, b->foreign_bytes) &&
           why_bytes_alike(a->reserved_bytes, b->reserved_bytes) &&
           a->wait_ms / 1000 == b->wait_ms / 1000;
}
