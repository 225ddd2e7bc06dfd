/* harness: drives a core by hand, as the daemon would.
 *
 * Every event is followed by its TICK. All commands are kept; harness_forget moves the mark behind
 * which harness_expect and harness_count look. harness_run lets time pass: it ticks exactly when
 * the core asked for it by WAKE and answers its SAMPLE commands, so a missing WAKE shows. */
#ifndef HOTBUNK_TEST_CORE_HARNESS_H
#define HOTBUNK_TEST_CORE_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core.h"

#define MIB                 1048576ull
#define GIB                 (1024 * MIB)

#define HARNESS_WORKERS_MAX 64
#define HARNESS_START_MS    1000

struct harness {
    struct core *core;
    struct core_commands out;
    size_t mark;
    uint64_t now_ms;
    uint64_t wake_ms; /* 0 = none */
    size_t seen;      /* commands whose WAKE and SAMPLE were carried out */
    bool is_sample_due;
    bool is_deaf; /* SAMPLE commands are not answered */
    /* the device, as the next sample will show it */
    uint64_t total_bytes, foreign_bytes;
    uint64_t worker_bytes[HARNESS_WORKERS_MAX]; /* by worker id */
    bool is_listed[HARNESS_WORKERS_MAX];
};

/* A core with default configuration, no headroom (1 byte) and a device of 24 GiB, sampled once. */
void harness_open(struct harness *h);
void harness_open_with(struct harness *h, const struct core_config *config);
void harness_close(struct harness *h);
void harness_config(struct core_config *config);

/* Clocks: queue 1800 s, load 1200 s, run 300 s, no stall, drain 60 s, cancel 5 s, stop 15 s. */
struct core_spec harness_spec(uint64_t need_bytes);
void harness_model(struct harness *h, uint32_t model, uint64_t need_bytes);
void harness_model_spec(struct harness *h, uint32_t model, const struct core_spec *spec);

/* ---- events, at now ---- */

void harness_feed(struct harness *h, struct core_event event);
void harness_tick(struct harness *h);
void harness_request(struct harness *h, uint32_t model, uint64_t job);
void harness_request_as(struct harness *h, uint32_t model, uint64_t job,
                        enum core_priority priority);
void harness_load(struct harness *h, uint32_t model, uint64_t job);
void harness_cancel(struct harness *h, uint64_t job);
void harness_unload(struct harness *h, uint32_t model, uint64_t token, bool is_forced);
void harness_switch(struct harness *h, uint32_t model);
void harness_event(struct harness *h, enum core_event_kind kind, uint32_t worker);
void harness_job_event(struct harness *h, enum core_event_kind kind, uint32_t worker, uint64_t job);
void harness_load_fails(struct harness *h, uint32_t worker, enum core_failure failure);

/* The process and its bytes are gone; the core is told. */
void harness_exit(struct harness *h, uint32_t worker, enum core_failure failure);

/* The worker holds so many bytes from now on. */
void harness_bytes(struct harness *h, uint32_t worker, uint64_t bytes);

/* A sample that began at now (or earlier) and ends now. */
void harness_sample(struct harness *h);
void harness_sample_from(struct harness *h, uint64_t begin_ms);

/* ---- time ---- */

/* Moves the clock without telling the core. */
void harness_skip(struct harness *h, uint64_t ms);
void harness_run(struct harness *h, uint64_t ms);

/* ---- longer ways ---- */

/* From SPAWN, which must have come, to loaded and sampled; answers the worker. */
uint32_t harness_bring_up(struct harness *h, uint32_t model, uint64_t bytes);

/* Loads the model by a load request of job number `job`; idle in the end. */
uint32_t harness_ready(struct harness *h, uint32_t model, uint64_t job, uint64_t bytes);

/* ---- what came out ---- */

void harness_forget(struct harness *h);
size_t harness_count(const struct harness *h, enum core_command_kind kind);
const struct core_command *harness_last(const struct harness *h, enum core_command_kind kind);
struct core_model_view harness_view(const struct harness *h, uint32_t model);
struct core_device_view harness_device(const struct harness *h);

/* The one end of the job in all its life; NULL when it has none yet, red when it has two. */
const struct core_command *harness_end(const struct harness *h, uint64_t job);

/* The last command of this kind since the mark; red when there is none. */
#define harness_expect(h, kind) harness_expect_at(h, kind, #kind, __FILE__, __LINE__)
const struct core_command *harness_expect_at(const struct harness *h, enum core_command_kind kind,
                                             const char *name, const char *file, int line);

#define assert_command_count(h, kind, n) assert_int_equal(harness_count(h, kind), n)
#define assert_ended(h, job, how)                                                                  \
    do {                                                                                           \
        assert_non_null(harness_end(h, job));                                                      \
        assert_string_equal(core_end_name(harness_end(h, job)->end), core_end_name(how));          \
    } while (0)
#define assert_not_ended(h, job) assert_null(harness_end(h, job))
#define assert_residency(h, model, what)                                                           \
    assert_string_equal(core_residency_name(harness_view(h, model).residency),                     \
                        core_residency_name(what))

#endif
