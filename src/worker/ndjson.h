/* ndjson: the inside of an ndjson worker, shared by ndjson.c (what comes in) and
 * ndjson_send.c (what goes out). Nobody else includes it. */
#ifndef HOTBUNK_WORKER_NDJSON_H
#define HOTBUNK_WORKER_NDJSON_H

#include "base/list.h"
#include "os/spawn.h"
#include "os/stream.h"
#include "worker/lines.h"
#include "worker/message.h"
#include "worker/pace.h"
#include "worker/worker.h"

#define NDJSON_LOAD_ID "load" /* of the one load request a worker gets */

/* A job that was given to the process and has not ended. */
struct running {
    struct list node;
    char *id;
    int percent;
    uint64_t told_ms;   /* when progress was last handed on */
    struct buf pending; /* the newest progress line since */
};

struct worker {
    struct loop *loop;
    const struct worker_events *events;
    void *data;
    const struct log *log;
    struct worker_log *worker_log;
    char *name, *program;
    struct child *child; /* NULL once it is gone */
    struct stream *in;   /* NULL once it was told to stop */
    struct stream *out, *err_stream;
    pid_t pid;
    struct lines lines;
    struct pace pace; /* of `out` */
    struct buf tail;  /* of stderr, to tell why it died */
    struct list jobs;
    struct list encodes; /* inputs that are being encoded on a pool thread */
    struct timer *progress_timer, *drain_timer, *read_timer;
    uint64_t read_ms;  /* the loop turn that read_bytes were read in */
    size_t read_bytes; /* of stdout */
    uint64_t stray_ms; /* when the current second of stray lines began */
    unsigned strays;   /* in that second */
    struct child_exit exit;
    bool is_progress_timed;
    bool is_ready, is_foreign, takes_path;
    bool is_loading, has_failed;
    bool is_drain_due; /* the pipes are read once more, then it is over */
    bool is_child_gone, is_out_ended, is_err_ended;
    bool is_over;    /* on_exit was called */
    bool is_feeding; /* inside lines_feed: freeing waits */
    bool is_freed;
};

struct running *ndjson_job_find(struct worker *worker, const char *id);

/* Calls on_exit once the tree is gone and both pipes were read to their end. */
void ndjson_maybe_exit(struct worker *worker);
void ndjson_release(struct worker *worker);

/* Encodings under way no longer belong to anybody. */
void ndjson_encodes_orphan(struct worker *worker);

#endif
