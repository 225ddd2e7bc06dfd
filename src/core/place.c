/* place: which model loads next, and which idle ones leave for it (docs/scheduling.md, 13–20).
 *
 * At most one intent: the model that room is being made for. Its victims' bytes are earmarked by
 * the simple fact that nobody else is placed while the intent stands. */
#include "core/rules.h"

/* The order between models: the priority of the best job, then its age. */
static bool place_is_before(const struct core_model *a, const struct core_model *b)
{
    const struct core_job *x = queue_first(a), *y = queue_first(b);

    if (x->priority != y->priority)
        return x->priority < y->priority;
    return x->queued_ms != y->queued_ms ? x->queued_ms < y->queued_ms : x->id < y->id;
}

static bool place_wants_load(const struct core_model *model)
{
    return model->queued && !model->worker;
}

/* Why the model may not even be tried now. */
static bool place_is_held(struct core *core, struct core_model *model)
{
    struct core_worker *before = residency_find(core, model->after_worker);
    struct core_why why;

    if (core->now_ms < model->backoff_until_ms) {
        why = why_of(CORE_WHY_BACKOFF);
        why.wait_ms = model->backoff_until_ms - core->now_ms;
        why.failure = model->failure;
    } else if (before) {
        why = why_of(CORE_WHY_RELEASE);
        why.other = before->model->id;
    } else {
        return false;
    }
    queue_explain(core, model, why);
    return true;
}

static struct core_model *place_next(struct core *core)
{
    struct core_model *best = NULL;

    list_each (node, &core->model_list) {
        struct core_model *model = list_entry(node, struct core_model, node);
        if (model->is_tried || !place_wants_load(model) || place_is_held(core, model))
            continue;
        if (!best || place_is_before(model, best))
            best = model;
    }
    return best;
}

/* The worker that loads alone because its size is unknown, or NULL. */
static struct core_worker *place_loner(struct core *core)
{
    list_each (node, &core->workers) {
        struct core_worker *worker = list_entry(node, struct core_worker, node);
        if (worker->is_unknown_need && !worker->exited_ms)
            return worker;
    }
    return NULL;
}

/* A worker whose load is under way, or NULL. */
static struct core_worker *place_loading(struct core *core)
{
    list_each (node, &core->workers) {
        struct core_worker *worker = list_entry(node, struct core_worker, node);
        if (worker->state == CORE_WORKER_STARTING || worker->state == CORE_WORKER_LOADING)
            return worker;
    }
    return NULL;
}

static struct core_why place_memory_why(const struct core_device_view *view, uint64_t need)
{
    struct core_why why = why_of(CORE_WHY_MEMORY);

    why.need_bytes = need;
    why.available_bytes = view->available_bytes;
    why.foreign_bytes = view->foreign_bytes;
    why.reserved_bytes = view->reserved_bytes;
    return why;
}

static bool place_may_go(const struct core_worker *worker)
{
    return worker->state == CORE_WORKER_READY && !worker->running && !worker->model->queued;
}

/* Least recently used idle worker that may go, or NULL. */
static struct core_worker *place_victim(struct core *core)
{
    struct core_worker *best = NULL;

    list_each (node, &core->workers) {
        struct core_worker *worker = list_entry(node, struct core_worker, node);
        if (!place_may_go(worker))
            continue;
        if (!best || worker->idle_since_ms < best->idle_since_ms)
            best = worker;
    }
    return best;
}

/* How many bytes must leave for `need`, or 0 when all the idle ones together are not enough. */
static uint64_t place_missing(const struct core *core, const struct core_device_view *view,
                              uint64_t need)
{
    uint64_t idle_bytes = 0, empty_bytes = view->free_bytes;
    bool is_all_idle = true;

    list_each (node, &core->workers) {
        const struct core_worker *worker = list_entry(node, struct core_worker, node);
        empty_bytes += worker->measured_bytes[CORE_DEVICE_HOST];
        if (place_may_go(worker))
            idle_bytes += worker->reserved_bytes[CORE_DEVICE_HOST];
        else
            is_all_idle = false;
    }
    if (need <= view->available_bytes + idle_bytes)
        return need - view->available_bytes;
    /* Headroom limits packing, never possibility: alone it may be enough. */
    return is_all_idle && idle_bytes && need <= empty_bytes ? idle_bytes : 0;
}

/* Evicts idle workers, oldest first, until enough bytes will come back; nobody if all of them
 * together are not enough. True when something leaves. */
static bool place_make_room(struct core *core, struct core_model *model,
                            const struct core_device_view *view, uint64_t need)
{
    struct core_why why = why_of(CORE_WHY_ROOM);
    uint64_t missing = place_missing(core, view, need);

    if (!missing)
        return false;
    why.other = model->id;
    core->intent = model->id;
    for (uint64_t freed = 0; freed < missing;) {
        struct core_worker *victim = place_victim(core);
        if (!victim)
            break;
        freed += victim->reserved_bytes[CORE_DEVICE_HOST];
        residency_drain(core, victim, false, 0, why);
    }
    return true;
}

/* Bytes are on their way back. A job that a draining worker still runs may take its time, and
 * what is not back after the grace may never be: neither keeps others from making room. */
static bool place_any_releasing(const struct core *core)
{
    list_each (node, &core->workers) {
        const struct core_worker *worker = list_entry(node, struct core_worker, node);
        if (worker->state == CORE_WORKER_RELEASING &&
            (!worker->exited_ms ||
             core->now_ms < worker->exited_ms + core->config.release_grace_ms))
            return true;
    }
    return false;
}

static bool place_is_alone(const struct core *core)
{
    return list_is_empty(&core->workers);
}

static void place_spawn(struct core *core, struct core_model *model, uint64_t bytes)
{
    struct core_worker *worker = residency_spawn(core, model);
    struct core_why why = why_of(CORE_WHY_LOADING);

    why.other = model->id; /* as core_serve_models says it, lest it be told twice */
    worker->is_unknown_need = footprint_need(model, CORE_DEVICE_HOST) == 0;
    worker->reserved_bytes[CORE_DEVICE_HOST] = bytes;
    if (core->intent == model->id)
        core->intent = CORE_NO_MODEL;
    queue_explain(core, model, why);
}

/* An unknown size gets all that is free, once, with no other load beside it. */
static bool place_unknown(struct core *core, struct core_model *model,
                          const struct core_device_view *view)
{
    struct core_worker *other = place_loading(core);
    struct core_why why = why_of(CORE_WHY_ALONE);

    if (other) {
        why.other = other->model->id;
        queue_explain(core, model, why);
        return false;
    }
    if (view->available_bytes == 0 && !place_is_alone(core)) {
        queue_explain(core, model, place_memory_why(view, 0));
        return false;
    }
    place_spawn(core, model, view->available_bytes);
    return true;
}

/* Rule 12: what only was declared is tried up to 1.1 × total, alone. */
static bool place_never_fits(struct core *core, struct core_model *model,
                             const struct core_device_view *view, uint64_t need)
{
    struct core_why why = why_of(CORE_WHY_TOO_BIG);
    bool is_measured = model->footprint[CORE_DEVICE_HOST].loads > 0;
    uint64_t most = is_measured ? view->total_bytes : view->total_bytes / 10 * 11;

    if (need <= most)
        return false;
    why.need_bytes = need;
    why.available_bytes = view->total_bytes;
    queue_end_all(core, model, CORE_END_NEVER_FITS, why);
    return true;
}

enum place_outcome {
    PLACE_SETTLED = 0, /* it loads, or was refused */
    PLACE_WAITS,       /* it cannot now; the next model may */
    PLACE_LATER,       /* nobody can be placed before something happens */
};

static enum place_outcome place_fitting(struct core *core, struct core_model *model, uint64_t need,
                                        const struct core_device_view *view)
{
    /* Headroom limits packing, never possibility. */
    if (need <= view->available_bytes || (place_is_alone(core) && need <= view->free_bytes)) {
        place_spawn(core, model, need);
        return PLACE_SETTLED;
    }
    queue_explain(core, model, place_memory_why(view, need));
    if (place_any_releasing(core))
        return PLACE_WAITS;
    if (place_make_room(core, model, view, need))
        return PLACE_LATER;
    if (core->intent == model->id)
        core->intent = CORE_NO_MODEL; /* what it evicted for is not enough any more */
    return PLACE_WAITS;
}

static enum place_outcome place_one(struct core *core, struct core_model *model)
{
    uint64_t need = footprint_need(model, CORE_DEVICE_HOST);
    struct core_worker *loner = place_loner(core);
    struct core_device_view view;

    if (!ledger_is_fresh(core, CORE_DEVICE_HOST)) {
        ledger_ask(core, CORE_DEVICE_HOST);
        queue_explain(core, model, why_of(CORE_WHY_MEASURING));
        return PLACE_LATER;
    }
    if (loner) {
        struct core_why why = why_of(CORE_WHY_ALONE);
        why.other = loner->model->id;
        queue_explain(core, model, why);
        return PLACE_LATER;
    }
    ledger_view(core, CORE_DEVICE_HOST, &view);
    if (need == 0)
        return place_unknown(core, model, &view) ? PLACE_SETTLED : PLACE_WAITS;
    if (place_never_fits(core, model, &view, need))
        return PLACE_SETTLED;
    return place_fitting(core, model, need, &view);
}

/* The intent first and, while it stands, alone: its bytes are earmarked. */
static struct core_model *place_candidate(struct core *core)
{
    struct core_model *intent = map_get(&core->models, core->intent);

    if (intent && place_wants_load(intent) && !place_is_held(core, intent))
        return intent->is_tried ? NULL : intent;
    core->intent = CORE_NO_MODEL; /* its last waiter has gone: others may use the bytes */
    return place_next(core);
}

/* Whoever was not even looked at waits for what the last one waits for. */
static void place_explain_rest(struct core *core, const struct core_model *last)
{
    const struct core_job *first = last ? queue_first(last) : NULL;
    struct core_why why = first ? first->why : why_of(CORE_WHY_NONE);

    if (core->intent != CORE_NO_MODEL) {
        why = why_of(CORE_WHY_BEHIND);
        why.other = core->intent;
    }
    if (why.kind == CORE_WHY_NONE)
        return;
    list_each (node, &core->model_list) {
        struct core_model *model = list_entry(node, struct core_model, node);
        if (!model->is_tried && place_wants_load(model) && !place_is_held(core, model))
            queue_explain(core, model, why);
    }
}

void place_all(struct core *core)
{
    struct core_model *model;
    struct core_model *last = NULL;

    if (core->is_stopping)
        return;
    list_each (node, &core->model_list) {
        list_entry(node, struct core_model, node)->is_tried = false;
    }
    while ((model = place_candidate(core)) != NULL) {
        model->is_tried = true;
        last = model;
        if (place_one(core, model) == PLACE_LATER)
            break;
    }
    place_explain_rest(core, last);
}
