/* world: what the files of the simulator share. Truth lives here; the core sees only events. */
#ifndef HOTBUNK_TEST_SIM_WORLD_H
#define HOTBUNK_TEST_SIM_WORLD_H

#include <stddef.h>

#include "core/core.h"
#include "sim.h"

#define MIB         1048576ull

#define SIM_MODELS  6
#define SIM_JOBS    512  /* in one run */
#define SIM_WORKERS 1024 /* in one run */
#define SIM_SLOTS   4    /* jobs at once in one worker, at most */
#define SIM_EVENTS  4096
#define SIM_SAMPLES 8 /* under way at once */

struct sim_model {
    struct core_spec spec;
    uint64_t resident_bytes, per_job_bytes; /* the truth */
    uint64_t load_ms, run_ms;
    unsigned load_fails_pct, job_fails_pct, crash_pct, hang_pct,
        deaf_pct;        /* deaf: to cancel, stop */
    uint64_t release_ms; /* how late its bytes come back */
    bool is_set, is_unload_asked, is_ever_loaded;
    uint32_t worker; /* until COLD, 0 = none */
    uint32_t after_worker;
};

struct sim_job {
    uint32_t model, worker;
    bool is_load, is_accepted, is_started, is_ended, is_cancel_asked, is_done_sent;
    uint64_t accepted_ms, started_ms, progress_ms, cancel_ms;
};

struct sim_worker {
    uint32_t model;
    bool is_spawned, is_told_load, is_loaded, is_told_stop, is_killed, is_gone, is_exit_told,
        is_cold;
    bool was_unknown; /* its size was not known at the spawn */
    uint64_t exit_ms; /* told to the core */
    uint64_t listed_until_ms, last_bytes;
    uint64_t jobs[SIM_SLOTS]; /* 0 = free */
    unsigned running;
};

enum sim_event_kind {
    SIM_CLIENT = 0,
    SIM_FOREIGN_MOVES,
    SIM_STARTED,
    SIM_LOADED,
    SIM_LOAD_FAILED,
    SIM_EXIT,
    SIM_PROGRESS,
    SIM_DONE,
    SIM_ERROR,
    SIM_CANCELLED,
    SIM_SAMPLE_BEGIN,
    SIM_SAMPLE_END,
    SIM_STOP_ASKED,
};

struct sim_event {
    uint64_t at_ms, seq;
    enum sim_event_kind kind;
    uint32_t worker;
    uint64_t job;
};

struct sim_sample {
    bool is_used;
    struct core_sample sample;
    struct core_measure workers[SIM_WORKERS];
};

struct sim {
    struct core *core;
    struct core_config config;
    struct core_commands out;
    enum sim_profile profile;
    bool is_traced;
    uint64_t rng;
    uint64_t now_ms, wake_ms, end_ms; /* end: of the clients' activity */
    bool needs_tick, is_stopping, is_stopped;
    uint64_t total_bytes, foreign_bytes;
    uint64_t changed_ms; /* last own spawn, load or exit */
    uint32_t active;
    struct sim_model models[SIM_MODELS];
    struct sim_job jobs[SIM_JOBS];
    uint64_t job_count; /* job numbers are 1 … job_count */
    struct sim_worker workers[SIM_WORKERS];
    uint32_t worker_count; /* as above */
    uint64_t tokens, answers;
    struct sim_event heap[SIM_EVENTS];
    size_t heap_count;
    uint64_t seq;
    struct sim_sample samples[SIM_SAMPLES];
    struct sim_sample last; /* the one that the core saw last */
    struct sim_result *result;
};

/* ---- sim.c ---- */

uint64_t sim_random(struct sim *sim, uint64_t below);
bool sim_chance(struct sim *sim, unsigned pct);
uint64_t sim_between(struct sim *sim, uint64_t least, uint64_t most);
void sim_later(struct sim *sim, uint64_t in_ms, enum sim_event_kind kind, uint32_t worker,
               uint64_t job);
void sim_feed(struct sim *sim, const struct core_event *event);

/* ---- people.c: models, clients, strangers ---- */

void people_init(struct sim *sim);
void people_act(struct sim *sim);
void people_foreign_moves(struct sim *sim);

/* ---- daemon.c: commands, workers, samples ---- */

void daemon_command(struct sim *sim, const struct core_command *command);
void daemon_event(struct sim *sim, const struct sim_event *event);
uint64_t daemon_worker_bytes(const struct sim *sim, uint32_t worker);

/* ---- check.c ---- */

void check_fail(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void check_command(struct sim *sim, const struct core_command *command);

/* After each step with commands, and at the end of the run. */
void check_step(struct sim *sim);
void check_end(struct sim *sim);

#endif
