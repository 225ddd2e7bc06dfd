/* store: what must outlive the daemon: jobs, in SQLite (WAL) behind one writer thread.
 *
 * All functions belong to the loop thread. A write is copied into a bounded queue and returns at
 * once; the writer commits everything that waits in one transaction and the loop then calls the
 * `done` functions. Reads use a connection of their own, are indexed and never wait for the writer.
 * A write that the disk refused: a put fails (its done says so), updates stay queued and are tried
 * again, so that a job's end is not lost while the disk is full. */
#ifndef HOTBUNK_STORE_STORE_H
#define HOTBUNK_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "os/loop.h"

#define STORE_QUEUE_MAX      4096 /* queued writes; above it puts are refused */
#define STORE_UPDATES_MAX    8192 /* above it updates are refused, too */
#define STORE_LINGER_MS      500  /* progress waits this long for company */
#define STORE_RETRY_MS       1000 /* after a transaction that failed */
#define STORE_CLOSE_LIMIT_MS 5000

enum store_job_state { /* the numbers are on disk */
                       STORE_JOB_QUEUED = 0,
                       STORE_JOB_RUNNING = 1,
                       STORE_JOB_DONE = 2,
                       STORE_JOB_ERROR = 3,
                       STORE_JOB_CANCELLED = 4,
};

/* One job's row. Strings are borrowed when given, part of the same block when handed out. */
struct store_job {
    const char *id; /* UUID */
    const char *model;

    /* the input: written by store_put_job only */
    const char *params_json; /* JSON object text, or NULL */
    const char *image_path;  /* or NULL */
    const char *text;        /* or NULL */
    const char *collection;  /* read back as "" when it was NULL */
    bool is_scratch;
    bool is_bound;
    int64_t created_ms; /* wall clock; 0 = not yet, as below */

    /* written by every put and update */
    enum store_job_state state;
    int progress;           /* 0..100 */
    const char *step;       /* read back as "" when it was NULL */
    const char *why;        /* the same */
    const char *error_code; /* or NULL, as all below */
    const char *error;
    const char *output_path;
    const char *workspace_path;
    const char *media_type;
    const char *result_json; /* JSON object text */
    int64_t started_ms, ended_ms;
    uint64_t queue_ms, load_ms, run_ms;
    uint64_t held_bytes;
};

struct store_stats {
    uint64_t transactions; /* committed */
    uint64_t rows;         /* written by them */
    uint64_t coalesced;    /* updates that a later one replaced in the queue */
    uint64_t failures;     /* transactions that the disk refused */
    size_t queued;         /* writes not yet committed */
    int last_error;        /* of the last transaction: 0 or a negative errno */
};

struct store_options {
    const char *path;     /* <state_dir>/jobs.db; the directory must exist */
    uint64_t job_history; /* finished jobs kept; the oldest beyond it are removed */
};

struct store;
struct store_op; /* one queued write (store_internal.h) */

/* Opens or creates the file, brings its schema up to date, starts the writer. A damaged file is
 * moved to <path>.corrupt-<ms since 1970> and a new one made: the call succeeds and `err`, which
 * otherwise has code 0 then, carries the warning. -EBUSY: another daemon has it; -EPROTO: it was
 * made by a newer version. */
int store_open(struct loop *loop, const struct store_options *options, struct store **out_store,
               struct err *err) MUSTCHECK;

/* Writes what is queued (at most STORE_CLOSE_LIMIT_MS), calls the `done` functions that are still
 * owed, and frees. */
void store_close(struct store *store);

/* Adds a job. 0: `done` will be called once, with 0 when the row is on disk or a negative errno
 * (-ENOSPC, -EIO, …). Otherwise no call comes: -EAGAIN (queue full) or -EINVAL (no id or model). */
int store_put_job(struct store *store, const struct store_job *job,
                  void (*done)(void *data, int status), void *data) MUSTCHECK;

/* Changes the state part of a job that was put. 0 or -EAGAIN; an update that still waits in the
 * queue is replaced by a later one for the same job. */
int store_update_job(struct store *store, const struct store_job *job);

/* The same for mere progress: it lingers, may be dropped, and causes few transactions. */
void store_note_progress(struct store *store, const struct store_job *job);

/* The newest row of a job, also one that is still in the queue. 0, -ENOENT, or what the disk says.
 * Free with store_job_free. */
int store_get_job(struct store *store, struct slice id, struct store_job **out_job) MUSTCHECK;

/* Calls `each` for committed jobs, newest first, at most `max`; `state` NULL = all. */
int store_list_jobs(struct store *store, const enum store_job_state *state, size_t max,
                    void (*each)(void *data, const struct store_job *job), void *data) MUSTCHECK;

/* For the start: `each` for every job that is queued or running, oldest first. */
int store_load_jobs(struct store *store, void (*each)(void *data, const struct store_job *job),
                    void *data) MUSTCHECK;

/* A deep copy in one block, and its end. NULL is fine. */
struct store_job *store_job_dup(const struct store_job *job);
void store_job_free(struct store_job *job);

void store_stats(struct store *store, struct store_stats *out_stats);

#endif
