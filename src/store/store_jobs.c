/* Jobs: their rows in and out, and the pruning of their history. */
#include <errno.h>

#include "store/store_internal.h"
#include "store/store_row.h"

#define PRUNE_EVERY 64 /* finished jobs between two looks at the history */

/* Inputs come first, then the state part, in the order of job_bind_state. */
#define STATE_COLUMNS                                                                              \
    "state, progress, step, why, error_code, error, output_path, workspace_path, media_type,"      \
    " result, started_ms, ended_ms, queue_ms, load_ms, run_ms, held_bytes"

#define PUT_SQL                                                                                    \
    "INSERT INTO jobs (" STATE_COLUMNS ", id, model, params, image_path, text, collection,"        \
    " is_scratch, is_bound, created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"     \
    " ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25)"
#define UPDATE_SQL                                                                                 \
    "UPDATE jobs SET (" STATE_COLUMNS ") = (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"    \
    " ?13, ?14, ?15, ?16) WHERE id = ?17"
#define PRUNE_SQL                                                                                  \
    "DELETE FROM jobs WHERE state >= 2 AND seq <= (SELECT seq FROM jobs WHERE state >= 2"          \
    " ORDER BY seq DESC LIMIT 1 OFFSET ?1)"

const char *const STORE_JOBS_SQL[STORE_STMT_COUNT] = {
    [STORE_STMT_PUT] = PUT_SQL,
    [STORE_STMT_UPDATE] = UPDATE_SQL,
    [STORE_STMT_PRUNE] = PRUNE_SQL,
};

struct job_op {
    struct store_op op;
    struct store_job *job;
};

/* ---- writing (writer thread) ---- */

static void bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    if (text)
        (void)sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC); /* the step reports failures */
    else
        (void)sqlite3_bind_null(stmt, at);
}

static void bind_int(sqlite3_stmt *stmt, int at, int64_t value)
{
    (void)sqlite3_bind_int64(stmt, at, value); /* the step reports failures */
}

static void job_bind_state(sqlite3_stmt *stmt, const struct store_job *job)
{
    bind_int(stmt, 1, job->state);
    bind_int(stmt, 2, job->progress);
    bind_text(stmt, 3, job->step);
    bind_text(stmt, 4, job->why);
    bind_text(stmt, 5, job->error_code);
    bind_text(stmt, 6, job->error);
    bind_text(stmt, 7, job->output_path);
    bind_text(stmt, 8, job->workspace_path);
    bind_text(stmt, 9, job->media_type);
    bind_text(stmt, 10, job->result_json);
    bind_int(stmt, 11, job->started_ms);
    bind_int(stmt, 12, job->ended_ms);
    bind_int(stmt, 13, (int64_t)job->queue_ms);
    bind_int(stmt, 14, (int64_t)job->load_ms);
    bind_int(stmt, 15, (int64_t)job->run_ms);
    bind_int(stmt, 16, (int64_t)job->held_bytes);
    bind_text(stmt, 17, job->id);
}

static int job_step(struct store *store, sqlite3_stmt *stmt, const struct store_job *job)
{
    int rc = sqlite3_step(stmt);

    (void)sqlite3_reset(stmt); /* repeats the error of the step */
    if (rc != SQLITE_DONE)
        return rc;
    store->ended_since_prune += job->state >= STORE_JOB_DONE;
    return SQLITE_OK;
}

static int job_run_put(struct store *store, struct store_op *op)
{
    const struct store_job *job = list_entry(op, struct job_op, op)->job;
    sqlite3_stmt *stmt = store->stmts[STORE_STMT_PUT];
    int rc;

    job_bind_state(stmt, job);
    bind_text(stmt, 18, job->model);
    bind_text(stmt, 19, job->params_json);
    bind_text(stmt, 20, job->image_path);
    bind_text(stmt, 21, job->text);
    bind_text(stmt, 22, job->collection);
    bind_int(stmt, 23, job->is_scratch);
    bind_int(stmt, 24, job->is_bound);
    bind_int(stmt, 25, job->created_ms);
    rc = job_step(store, stmt, job);
    if ((rc & 0xff) != SQLITE_CONSTRAINT)
        return rc;
    op->status = -EEXIST; /* this one's fault; the others of the transaction go on */
    return SQLITE_OK;
}

static int job_run_update(struct store *store, struct store_op *op)
{
    const struct store_job *job = list_entry(op, struct job_op, op)->job;
    sqlite3_stmt *stmt = store->stmts[STORE_STMT_UPDATE];

    job_bind_state(stmt, job);
    return job_step(store, stmt, job);
}

int store_jobs_prune(struct store *store)
{
    sqlite3_stmt *stmt = store->stmts[STORE_STMT_PRUNE];
    int rc;

    if (store->ended_since_prune < PRUNE_EVERY)
        return SQLITE_OK;
    bind_int(stmt, 1, (int64_t)store->job_history);
    rc = sqlite3_step(stmt);
    (void)sqlite3_reset(stmt); /* repeats the error of the step */
    if (rc != SQLITE_DONE)
        return rc;
    store->ended_since_prune = 0;
    return SQLITE_OK;
}

static void job_op_free(struct store_op *op)
{
    struct job_op *self = list_entry(op, struct job_op, op);

    store_job_free(self->job);
    mem_free(self);
}

/* ---- queueing (loop thread) ---- */

static struct job_op *job_op_new(const struct store_job *job,
                                 int (*run)(struct store *store, struct store_op *op))
{
    struct job_op *self = mem_new(1, sizeof(*self));

    self->job = store_job_dup(job);
    self->op.run = run;
    self->op.free = job_op_free;
    self->op.key = slice_str(self->job->id);
    return self;
}

static int job_add(struct store *store, struct job_op *self, size_t max)
{
    int rc = store_writer_add(store, &self->op, max);

    if (rc != 0)
        job_op_free(&self->op);
    return rc;
}

int store_put_job(struct store *store, const struct store_job *job,
                  void (*done)(void *data, int status), void *data)
{
    struct job_op *self;

    if (!job->id || !job->model || !done)
        return -EINVAL;
    self = job_op_new(job, job_run_put);
    self->op.done = done;
    self->op.data = data;
    return job_add(store, self, STORE_QUEUE_MAX);
}

int store_update_job(struct store *store, const struct store_job *job)
{
    return job_add(store, job_op_new(job, job_run_update), STORE_UPDATES_MAX);
}

void store_note_progress(struct store *store, const struct store_job *job)
{
    struct job_op *self = job_op_new(job, job_run_update);

    self->op.due_ns = loop_now_ns() + (uint64_t)STORE_LINGER_MS * 1000000u;
    (void)job_add(store, self, STORE_QUEUE_MAX); /* the next one will say more */
}

/* ---- reading (loop thread) ---- */

#define SELECT_JOBS                                                                                \
    "SELECT id, model, params, image_path, text, collection, is_scratch, is_bound, created_ms,"    \
    " " STATE_COLUMNS " FROM jobs "

static const char *column_text(sqlite3_stmt *stmt, int at, const char *otherwise)
{
    const unsigned char *text = sqlite3_column_text(stmt, at);

    return text ? (const char *)text : otherwise;
}

/* The row under the statement; its strings live until the next step. */
static struct store_job job_of_row(sqlite3_stmt *stmt)
{
    int state = sqlite3_column_int(stmt, 9);

    return (struct store_job){
        .id = column_text(stmt, 0, ""),
        .model = column_text(stmt, 1, ""),
        .params_json = column_text(stmt, 2, NULL),
        .image_path = column_text(stmt, 3, NULL),
        .text = column_text(stmt, 4, NULL),
        .collection = column_text(stmt, 5, ""),
        .is_scratch = sqlite3_column_int(stmt, 6) != 0,
        .is_bound = sqlite3_column_int(stmt, 7) != 0,
        .created_ms = sqlite3_column_int64(stmt, 8),
        .state = state < STORE_JOB_QUEUED || state > STORE_JOB_CANCELLED
                     ? STORE_JOB_ERROR
                     : (enum store_job_state)state,
        .progress = sqlite3_column_int(stmt, 10),
        .step = column_text(stmt, 11, ""),
        .why = column_text(stmt, 12, ""),
        .error_code = column_text(stmt, 13, NULL),
        .error = column_text(stmt, 14, NULL),
        .output_path = column_text(stmt, 15, NULL),
        .workspace_path = column_text(stmt, 16, NULL),
        .media_type = column_text(stmt, 17, NULL),
        .result_json = column_text(stmt, 18, NULL),
        .started_ms = sqlite3_column_int64(stmt, 19),
        .ended_ms = sqlite3_column_int64(stmt, 20),
        .queue_ms = (uint64_t)sqlite3_column_int64(stmt, 21),
        .load_ms = (uint64_t)sqlite3_column_int64(stmt, 22),
        .run_ms = (uint64_t)sqlite3_column_int64(stmt, 23),
        .held_bytes = (uint64_t)sqlite3_column_int64(stmt, 24),
    };
}

/* Steps through a prepared query and finalizes it. */
static int jobs_each(struct store *store, sqlite3_stmt *stmt,
                     void (*each)(void *data, const struct store_job *job), void *data)
{
    int rc;

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct store_job job = job_of_row(stmt);
        each(data, &job);
    }
    rc = store_db_code(store->read_db, rc);
    (void)sqlite3_finalize(stmt); /* repeats the error of the step */
    return rc;
}

int store_list_jobs(struct store *store, const enum store_job_state *state, size_t max,
                    void (*each)(void *data, const struct store_job *job), void *data)
{
    sqlite3_stmt *stmt = NULL;
    int rc = store_db_prepare(store->read_db,
                              state ? SELECT_JOBS "WHERE state = ?2 ORDER BY seq DESC LIMIT ?1"
                                    : SELECT_JOBS "ORDER BY seq DESC LIMIT ?1",
                              &stmt);

    if (rc != SQLITE_OK)
        return store_db_code(store->read_db, rc);
    bind_int(stmt, 1, max > INT32_MAX ? INT32_MAX : (int64_t)max);
    if (state)
        bind_int(stmt, 2, *state);
    return jobs_each(store, stmt, each, data);
}

int store_load_jobs(struct store *store, void (*each)(void *data, const struct store_job *job),
                    void *data)
{
    sqlite3_stmt *stmt = NULL;
    int rc = store_db_prepare(store->read_db, SELECT_JOBS "WHERE state < 2 ORDER BY seq", &stmt);

    if (rc != SQLITE_OK)
        return store_db_code(store->read_db, rc);
    return jobs_each(store, stmt, each, data);
}

static void job_keep(void *data, const struct store_job *job)
{
    struct store_job **out = data;

    store_job_free(*out);
    *out = store_job_dup(job);
}

static int job_read(struct store *store, struct slice id, struct store_job **out_job)
{
    sqlite3_stmt *stmt = NULL;
    int rc = store_db_prepare(store->read_db, SELECT_JOBS "WHERE id = ?1", &stmt);

    if (rc != SQLITE_OK)
        return store_db_code(store->read_db, rc);
    (void)sqlite3_bind_text(stmt, 1, id.ptr, (int)id.len, SQLITE_STATIC); /* as in bind_text */
    return jobs_each(store, stmt, job_keep, out_job);
}

/* The newest write of the job in `list`, as a copy of what will be on disk. */
static void job_overlay(const struct list *list, struct slice id, struct store_job **job)
{
    list_each (node, list) {
        const struct store_op *op = list_entry(node, struct store_op, node);
        const struct store_job *newer;
        if (!slice_eq(op->key, id) || (op->run != job_run_put && op->run != job_run_update))
            continue;
        newer = list_entry(op, struct job_op, op)->job;
        if (op->run == job_run_put || !*job)
            job_keep(job, newer);
        else
            store_row_merge(job, newer);
    }
}

int store_get_job(struct store *store, struct slice id, struct store_job **out_job)
{
    struct store_job *job = NULL;
    int rc = 0;

    if (id.len == 0 || id.len > INT32_MAX)
        return -ENOENT;
    /* Held while reading: an op cannot leave the queue for the disk unseen between the two. */
    (void)pthread_mutex_lock(&store->lock);
    rc = job_read(store, id, &job);
    if (rc == 0) {
        job_overlay(&store->flight, id, &job);
        job_overlay(&store->queue, id, &job);
    }
    (void)pthread_mutex_unlock(&store->lock);
    if (rc == 0 && !job)
        rc = -ENOENT;
    if (rc != 0) {
        store_job_free(job);
        return rc;
    }
    *out_job = job;
    return 0;
}
