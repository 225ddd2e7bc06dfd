/* What the files of src/store share: the queue of writes and the two connections.
 *
 * A kind of row is one file that makes ops (store_jobs.c: jobs). Fields below `lock` are shared
 * with the writer thread and touched only under it; `writer_db` and an op that left the queue
 * belong to the writer; the rest belongs to the loop thread. */
#ifndef HOTBUNK_STORE_INTERNAL_H
#define HOTBUNK_STORE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/list.h"
#include "store/store.h"

/* One queued write. `run` is called inside a transaction, possibly again after a failed one. */
struct store_op {
    struct list node;
    int (*run)(struct store *store, struct store_op *op); /* SQLite result code */
    void (*free)(struct store_op *op);
    void (*done)(void *data, int status); /* NULL: an update, retried until it is on disk */
    void *data;
    struct slice key; /* whose row it is; ops of one key and kind replace each other */
    uint64_t due_ns;  /* it may wait for company until then */
    int status;       /* 0, or what was wrong with this op alone or with its transaction */
};

enum store_writer_stmt {
    STORE_STMT_PUT = 0,
    STORE_STMT_UPDATE,
    STORE_STMT_PRUNE,
    STORE_STMT_COUNT,
};

struct store {
    struct loop *loop;
    struct loop_async *wake; /* writer → loop: something is in `finished` */
    char *path;
    uint64_t job_history;
    int lock_fd;

    sqlite3 *read_db; /* loop thread */
    sqlite3 *writer_db;
    sqlite3_stmt *stmts[STORE_STMT_COUNT]; /* of writer_db */
    uint64_t ended_since_prune;            /* writer thread */

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;  /* CLOCK_MONOTONIC, as ended */
    pthread_cond_t ended; /* the writer will do nothing more */
    struct list queue;    /* oldest first */
    struct list flight;   /* what the writer is committing */
    struct list finished; /* ops whose `done` is owed */
    size_t queued;        /* in queue and flight */
    bool is_closing, has_ended;
    struct store_stats stats;
};

/* store_db.c: connections, schema, result codes */
int store_db_code(sqlite3 *db, int sqlite_rc);
int store_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out_stmt);
int store_db_open(struct store *store, struct err *err) MUSTCHECK;
void store_db_close(struct store *store);

/* store_writer.c: the queue and its thread */
int store_writer_start(struct store *store, struct err *err) MUSTCHECK;
/* False when the writer did not end in time: then nothing of the store may be freed. */
bool store_writer_stop(struct store *store);
/* Takes the op when it returns 0; -EAGAIN when the queue holds `max`. */
int store_writer_add(struct store *store, struct store_op *op, size_t max) MUSTCHECK;
/* Calls the `done` functions that are owed. */
void store_writer_deliver(void *store);

/* store_jobs.c: what the writer does for jobs after a batch, inside the transaction */
int store_jobs_prune(struct store *store);
extern const char *const STORE_JOBS_SQL[STORE_STMT_COUNT];

#endif
