#include "core/command.h"

static const char *const WORKER_STATE_NAMES[] = {
    "cold", "starting", "loading", "ready", "draining", "releasing",
};

const char *core_worker_state_name(enum core_worker_state state)
{
    return WORKER_STATE_NAMES[state];
}

const char *core_residency_name(enum core_residency residency)
{
    switch (residency) {
    case CORE_RESIDENCY_CRASHED:
        return "crashed";
    case CORE_RESIDENCY_BROKEN:
        return "broken";
    case CORE_RESIDENCY_COLD:
    case CORE_RESIDENCY_STARTING:
    case CORE_RESIDENCY_LOADING:
    case CORE_RESIDENCY_READY:
    case CORE_RESIDENCY_DRAINING:
    case CORE_RESIDENCY_RELEASING:
        break;
    }
    return WORKER_STATE_NAMES[residency];
}

static const char *const END_NAMES[] = {
    [CORE_END_DONE] = "done",
    [CORE_END_CANCELLED] = "cancelled",
    [CORE_END_WORKER_ERROR] = "error",
    [CORE_END_QUEUE_FULL] = "queue_full",
    [CORE_END_QUEUE_TIMEOUT] = "queue_timeout",
    [CORE_END_LOAD_TIMEOUT] = "load_timeout",
    [CORE_END_LOAD_FAILED] = "load_failed",
    [CORE_END_RUN_TIMEOUT] = "run_timeout",
    [CORE_END_STALL_TIMEOUT] = "stall_timeout",
    [CORE_END_WORKER_DIED] = "worker_died",
    [CORE_END_UNLOADED] = "unloaded",
    [CORE_END_MODEL_REMOVED] = "model_removed",
    [CORE_END_MODEL_BROKEN] = "model_broken",
    [CORE_END_UNKNOWN_MODEL] = "unknown_model",
    [CORE_END_NEVER_FITS] = "never_fits",
    [CORE_END_STOPPING] = "stopping",
};

const char *core_end_name(enum core_end end)
{
    return END_NAMES[end];
}

void core_commands_fini(struct core_commands *list)
{
    mem_free(list->items);
    *list = (struct core_commands){0};
}

void core_commands_reset(struct core_commands *list)
{
    list->count = 0;
}
