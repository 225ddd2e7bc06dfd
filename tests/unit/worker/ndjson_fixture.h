/* A real worker behind the real shim: a shell script that speaks the protocol. What the worker
 * reports is noted as one line of text each. Every wait ends after WAIT_LIMIT_MS. */
#ifndef HOTBUNK_TESTS_WORKER_NDJSON_FIXTURE_H
#define HOTBUNK_TESTS_WORKER_NDJSON_FIXTURE_H

#include "unit.h"

#include "base/buf.h"
#include "worker/worker.h"

#define WAIT_LIMIT_MS 20000

/* A worker of ours as far as its first line says. */
#define READY                                                                                      \
    "echo '{\"type\":\"ready\",\"protocol\":1,"                                                    \
    "\"features\":[\"ids\",\"image_path\"]}';"

#define READ_LINE "read -r line;"
#define DONE(id)  "echo '{\"type\":\"done\",\"id\":\"" id "\",\"output_path\":\"/out/" id "\"}';"
#define LINGER    "cat >/dev/null;"

struct fixture {
    char dir[64];
    struct loop *loop;
    struct timer *limit;
    struct worker_log *log;
    struct log log_sink;
    struct worker *worker;
    struct buf seen;
    const char *wanted;
    uint64_t progress_at[64];
    size_t progress_count;
};

/* For cmocka. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* The worker is `argv`, or `script` run by sh; both in the fixture's directory. */
void fixture_open_argv(struct fixture *fx, const char *const *argv);
void fixture_open(struct fixture *fx, const char *script);

/* Gives it a job with a short text. */
void fixture_start(struct fixture *fx, const char *id);

/* Runs the loop until `text` was seen, or for a while. */
void fixture_wait(struct fixture *fx, const char *text);
void fixture_run_ms(struct fixture *fx, uint64_t ms);

/* How often `part` stands in what was seen. */
size_t fixture_count(const struct fixture *fx, const char *part);

/* Fails the test when the model's log lacks `text`. */
void fixture_log_has(const struct fixture *fx, const char *text);

#endif
