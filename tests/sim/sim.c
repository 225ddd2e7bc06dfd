/* sim: virtual time, the queue of events, one run. */
#include "sim.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "world.h"

#define ACTIVE_MS_MAX (20 * 60 * 1000) /* clients ask for so long */
#define QUIET_MS_MAX  (60 * 60 * 1000) /* then all must have ended */
#define STEPS_MAX     2000000          /* a core that never sleeps */

static const char *const PROFILE_NAMES[] = {
    [SIM_HONEST] = "honest",   [SIM_FLAKY] = "flaky",   [SIM_FOREIGN] = "foreign",
    [SIM_UNKNOWN] = "unknown", [SIM_PEOPLE] = "people", [SIM_STOP] = "stop",
};

const char *sim_profile_name(enum sim_profile profile)
{
    return PROFILE_NAMES[profile];
}

/* ---- chance: splitmix64 ---- */

uint64_t sim_random(struct sim *sim, uint64_t below)
{
    uint64_t x = sim->rng += 0x9e3779b97f4a7c15ull;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
    return below ? x % below : 0;
}

bool sim_chance(struct sim *sim, unsigned pct)
{
    return sim_random(sim, 100) < pct;
}

uint64_t sim_between(struct sim *sim, uint64_t least, uint64_t most)
{
    return least + sim_random(sim, most - least + 1);
}

/* ---- the queue of events: a binary heap by (time, sequence) ---- */

static bool sim_is_before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->seq < b->seq;
}

static void sim_swap(struct sim_event *a, struct sim_event *b)
{
    struct sim_event other = *a;

    *a = *b;
    *b = other;
}

void sim_later(struct sim *sim, uint64_t in_ms, enum sim_event_kind kind, uint32_t worker,
               uint64_t job)
{
    size_t at = sim->heap_count;

    if (at == SIM_EVENTS) {
        check_fail(sim, "the simulator's own queue is full");
        return;
    }
    sim->heap[at] = (struct sim_event){.at_ms = sim->now_ms + in_ms,
                                       .seq = sim->seq++,
                                       .kind = kind,
                                       .worker = worker,
                                       .job = job};
    sim->heap_count++;
    for (; at && sim_is_before(&sim->heap[at], &sim->heap[(at - 1) / 2]); at = (at - 1) / 2)
        sim_swap(&sim->heap[at], &sim->heap[(at - 1) / 2]);
}

static struct sim_event sim_pop(struct sim *sim)
{
    struct sim_event first = sim->heap[0];
    size_t at = 0;

    sim->heap[0] = sim->heap[--sim->heap_count];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= sim->heap_count)
            return first;
        if (child + 1 < sim->heap_count && sim_is_before(&sim->heap[child + 1], &sim->heap[child]))
            child++;
        if (!sim_is_before(&sim->heap[child], &sim->heap[at]))
            return first;
        sim_swap(&sim->heap[child], &sim->heap[at]);
        at = child;
    }
}

/* ---- steps ---- */

/* FNV-1a over what a command says. */
static void sim_hash(struct sim *sim, const struct core_command *command)
{
    const uint64_t parts[] = {sim->now_ms,
                              (uint64_t)command->kind,
                              command->model,
                              command->worker,
                              command->job,
                              command->token,
                              command->at_ms,
                              (uint64_t)command->end,
                              (uint64_t)command->to,
                              command->held_bytes,
                              (uint64_t)command->why.kind,
                              command->why.available_bytes};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        sim->result->hash = (sim->result->hash ^ parts[i]) * 0x100000001b3ull;
}

static void sim_trace(const struct sim *sim, const struct core_command *command)
{
    static const char *const names[] = {"spawn",     "load",         "start job",   "cancel job",
                                        "stop",      "kill",         "job started", "job ended",
                                        "job waits", "worker state", "unloaded",    "active",
                                        "sample",    "wake",         "stopped"};

    if (!sim->is_traced || command->kind == CORE_COMMAND_WAKE ||
        command->kind == CORE_COMMAND_SAMPLE)
        return;
    printf("# %8llu   -> %s model %d worker %u job %llu", (unsigned long long)sim->now_ms,
           names[command->kind], (int)command->model, command->worker,
           (unsigned long long)command->job);
    if (command->kind == CORE_COMMAND_JOB_ENDED)
        printf(" %s", core_end_name(command->end));
    if (command->kind == CORE_COMMAND_WORKER_STATE)
        printf(" %s", core_worker_state_name(command->to));
    printf("\n");
}

void sim_feed(struct sim *sim, const struct core_event *event)
{
    if (sim->is_traced && event->kind != CORE_EVENT_TICK && event->kind != CORE_EVENT_SAMPLE)
        printf("# %8llu event %d model %d worker %u job %llu\n", (unsigned long long)sim->now_ms,
               (int)event->kind, (int)event->model, event->worker, (unsigned long long)event->job);
    core_commands_reset(&sim->out);
    core_step(sim->core, event, sim->now_ms, &sim->out);
    sim->result->steps++;
    sim->needs_tick = event->kind != CORE_EVENT_TICK;
    for (size_t i = 0; i < sim->out.count; i++) {
        const struct core_command *command = &sim->out.items[i];
        sim_hash(sim, command);
        sim_trace(sim, command);
        check_command(sim, command);
        if (sim->result->violation[0])
            return;
        daemon_command(sim, command);
    }
    check_step(sim);
}

static void sim_tick(struct sim *sim)
{
    const struct core_event tick = {.kind = CORE_EVENT_TICK};

    if (sim->wake_ms && sim->wake_ms <= sim->now_ms)
        sim->wake_ms = 0;
    sim_feed(sim, &tick);
}

/* All that is due at one moment is delivered, then comes the tick, as in the daemon's loop.
 * False when nothing will ever happen any more. */
static bool sim_turn(struct sim *sim)
{
    uint64_t next = sim->heap_count ? sim->heap[0].at_ms : UINT64_MAX;

    if (sim->wake_ms && sim->wake_ms < next)
        next = sim->wake_ms;
    if (next == UINT64_MAX)
        return false;
    if (next > sim->now_ms)
        sim->now_ms = next;
    while (sim->heap_count && sim->heap[0].at_ms <= sim->now_ms && !sim->result->violation[0]) {
        struct sim_event event = sim_pop(sim);
        daemon_event(sim, &event);
        sim->needs_tick = true;
    }
    if (!sim->result->violation[0])
        sim_tick(sim);
    return true;
}

static void sim_init(struct sim *sim, uint64_t seed)
{
    sim->rng = seed * 0x2545f4914f6cdd1dull + 1;
    sim->profile = (enum sim_profile)(seed % SIM_PROFILES);
    sim->now_ms = 1000;
    sim->active = CORE_NO_MODEL;
    sim->end_ms = sim->now_ms + sim_between(sim, ACTIVE_MS_MAX / 10, ACTIVE_MS_MAX);
    core_config_defaults(&sim->config);
    sim->config.queue_limit = sim_between(sim, 2, 40);
    sim->config.run_extra_ms = 60000;
    sim->config.progress_fresh_ms = 10000;
    sim->config.ttl_ms = sim_chance(sim, 50) ? sim_between(sim, 1000, 120000) : 0;
    sim->config.stop_grace_ms = sim_between(sim, 0, 15000);
    if (sim_chance(sim, 30))
        sim->config.host_reserve_bytes = 512 * MIB;
    sim->core = core_new(&sim->config);
    people_init(sim);
    sim_later(sim, 0, SIM_CLIENT, 0, 0);
    if (sim->profile == SIM_FOREIGN || sim->profile == SIM_STOP)
        sim_later(sim, 0, SIM_FOREIGN_MOVES, 0, 0);
    if (sim->profile == SIM_STOP)
        sim_later(sim, sim_between(sim, 0, sim->end_ms), SIM_STOP_ASKED, 0, 0);
}

void sim_run(uint64_t seed, bool is_traced, struct sim_result *out)
{
    struct sim *sim = mem_new(1, sizeof(*sim));

    *out = (struct sim_result){.hash = 0xcbf29ce484222325ull};
    sim->result = out;
    sim->is_traced = is_traced;
    sim_init(sim, seed);
    while (!out->violation[0] && sim_turn(sim)) {
        if (out->steps > STEPS_MAX)
            check_fail(sim, "the core never sleeps: %llu steps", (unsigned long long)out->steps);
        if (sim->now_ms > sim->end_ms + QUIET_MS_MAX)
            break;
    }
    if (!out->violation[0])
        check_end(sim);
    out->at_ms = sim->now_ms;
    core_free(sim->core);
    core_commands_fini(&sim->out);
    mem_free(sim);
}
