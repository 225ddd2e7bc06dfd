/* message: one line of the NDJSON worker protocol, read or written. Pure.
 *
 * Anything that is not a JSON object with a known "type" is no message: the caller logs it. */
#ifndef HOTBUNK_WORKER_MESSAGE_H
#define HOTBUNK_WORKER_MESSAGE_H

#include "base/json.h"
#include "worker/worker.h"

enum message_type {
    MESSAGE_NONE = 0,
    MESSAGE_READY,
    MESSAGE_LOADED,
    MESSAGE_PROGRESS,
    MESSAGE_DONE,
    MESSAGE_CANCELLED,
    MESSAGE_ERROR,
    MESSAGE_UNLOADED,
    MESSAGE_HEARTBEAT,
    MESSAGE_LOG,
};

struct message {
    enum message_type type;
    const char *id;           /* NULL when it has none; borrowed from root */
    struct json_object *root; /* owned */
};

/* 0, or -EINVAL (err says why) for a line that is no message. */
int message_parse(struct slice line, struct message *out, struct err *err) MUSTCHECK;
void message_fini(struct message *message);

/* A cheap look: does this line begin like a progress message? It may still be broken. */
bool message_looks_like_progress(struct slice line);

/* Percent 0..100 out of a progress message. */
int message_percent(const struct message *message);

/* Does a `ready` say that the worker echoes ids and takes image_path? */
bool message_has_feature(const struct message *ready, const char *feature);

/* Each adds one line with its newline. `id` NULL leaves it out. */
int message_add_action(struct buf *out, const char *action, const char *id) MUSTCHECK;

/* `image_b64`: already encoded, for workers without image_path; ptr NULL = send the path. */
int message_add_generate(struct buf *out, const struct worker_job *job,
                         struct slice image_b64) MUSTCHECK;

#endif
