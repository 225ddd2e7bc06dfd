/* The queue of writes and the thread that commits it, one transaction for all that waits. */
#include <errno.h>
#include <time.h>

#include "store/store_internal.h"

#define NS_PER_MS  1000000u
#define NS_PER_SEC 1000000000u

/* ---- the writer thread ---- */

static struct timespec writer_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SEC),
                             .tv_nsec = (long)(ns % NS_PER_SEC)};
}

/* When the first queued op wants to be written; UINT64_MAX when there is none. */
static uint64_t writer_due_ns(const struct store *store)
{
    uint64_t due = UINT64_MAX;

    list_each (node, &store->queue) {
        const struct store_op *op = list_entry(node, struct store_op, node);
        if (op->due_ns < due)
            due = op->due_ns;
        if (due == 0)
            break;
    }
    return due;
}

/* Waits, with the lock held, for something to do. False when it is time to end. */
static bool writer_wait(struct store *store)
{
    for (;;) {
        uint64_t due = writer_due_ns(store);
        struct timespec at;
        if (store->is_closing)
            return due != UINT64_MAX;
        if (due == UINT64_MAX) {
            (void)pthread_cond_wait(&store->work, &store->lock);
            continue;
        }
        if (due <= loop_now_ns())
            return true;
        at = writer_timespec(due);
        (void)pthread_cond_timedwait(&store->work, &store->lock, &at);
    }
}

static void writer_move_all(struct list *from, struct list *to)
{
    list_each_safe (node, from) {
        list_del(node);
        list_add_tail(to, node);
    }
}

static int writer_run_ops(struct store *store)
{
    int rc = sqlite3_exec(store->writer_db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

    list_each (node, &store->flight) {
        struct store_op *op = list_entry(node, struct store_op, node);
        if (rc != SQLITE_OK)
            break;
        op->status = 0;
        rc = op->run(store, op);
    }
    if (rc == SQLITE_OK)
        rc = store_jobs_prune(store);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(store->writer_db, "COMMIT", NULL, NULL, NULL);
    return rc;
}

/* Without the lock. 0 or a negative errno. */
static int writer_commit(struct store *store)
{
    int rc = writer_run_ops(store);
    int code = store_db_code(store->writer_db, rc);

    if (rc != SQLITE_OK && !sqlite3_get_autocommit(store->writer_db))
        (void)sqlite3_exec(store->writer_db, "ROLLBACK", NULL, NULL, NULL); /* nothing else helps */
    return code;
}

/* An update that failed waits for another try, unless a newer one for its key came meanwhile. */
static void writer_requeue(struct store *store, struct store_op *op, struct list *at)
{
    list_each (node, &store->queue) {
        const struct store_op *newer = list_entry(node, struct store_op, node);
        if (!newer->done && newer->run == op->run && slice_eq(newer->key, op->key)) {
            store->queued--;
            store->stats.coalesced++;
            op->free(op);
            return;
        }
    }
    op->due_ns = loop_now_ns() + (uint64_t)STORE_RETRY_MS * NS_PER_MS;
    list_add_before(at, &op->node);
}

/* With the lock held: sorts what was in flight into finished, retried and forgotten. */
static void writer_settle(struct store *store, int status)
{
    struct list *first = store->queue.next;
    bool is_owed = false;

    list_each_safe (node, &store->flight) {
        struct store_op *op = list_entry(node, struct store_op, node);
        list_del(node);
        if (status != 0)
            op->status = status;
        if (op->done) {
            store->queued--;
            list_add_tail(&store->finished, &op->node);
            is_owed = true;
        } else if (status != 0 && !store->is_closing) {
            writer_requeue(store, op, first);
        } else {
            store->queued--;
            op->free(op);
        }
    }
    if (is_owed)
        loop_async_send(store->wake);
}

static void *writer_main(void *data)
{
    struct store *store = data;

    (void)pthread_mutex_lock(&store->lock);
    while (writer_wait(store)) {
        size_t rows = store->queued;
        int status;
        writer_move_all(&store->queue, &store->flight);
        (void)pthread_mutex_unlock(&store->lock);
        status = writer_commit(store);
        (void)pthread_mutex_lock(&store->lock);
        store->stats.last_error = status;
        store->stats.transactions += status == 0;
        store->stats.rows += status == 0 ? rows : 0;
        store->stats.failures += status != 0;
        writer_settle(store, status);
    }
    store->has_ended = true;
    (void)pthread_cond_signal(&store->ended);
    (void)pthread_mutex_unlock(&store->lock);
    return NULL;
}

/* ---- the loop thread's side ---- */

int store_writer_start(struct store *store, struct err *err)
{
    pthread_condattr_t attr;
    int rc;

    (void)pthread_mutex_init(&store->lock, NULL); /* these do not fail on Linux */
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&store->work, &attr);
    (void)pthread_cond_init(&store->ended, &attr);
    (void)pthread_condattr_destroy(&attr);
    list_init(&store->queue);
    list_init(&store->flight);
    list_init(&store->finished);
    store->wake = loop_async_new(store->loop, store_writer_deliver, store);
    rc = pthread_create(&store->thread, NULL, writer_main, store);
    if (rc == 0)
        return 0;
    loop_async_free(store->wake);
    return err_set(err, -rc, "cannot start the job store's thread: %s", strerror(rc));
}

/* Asks the writer to end and waits, at most until the limit. */
static bool writer_wait_end(struct store *store)
{
    struct timespec at =
        writer_timespec(loop_now_ns() + (uint64_t)STORE_CLOSE_LIMIT_MS * NS_PER_MS);
    bool has_ended;
    int rc = 0;

    (void)pthread_mutex_lock(&store->lock);
    store->is_closing = true;
    (void)pthread_cond_signal(&store->work);
    while (!store->has_ended && rc == 0)
        rc = pthread_cond_timedwait(&store->ended, &store->lock, &at);
    has_ended = store->has_ended;
    (void)pthread_mutex_unlock(&store->lock);
    return has_ended;
}

bool store_writer_stop(struct store *store)
{
    if (!writer_wait_end(store))
        return false;
    (void)pthread_join(store->thread, NULL); /* at once: it has said its last */
    store_writer_deliver(store);
    loop_async_free(store->wake);
    (void)pthread_cond_destroy(&store->work);
    (void)pthread_cond_destroy(&store->ended);
    (void)pthread_mutex_destroy(&store->lock);
    return true;
}

/* Replaces a queued update of the same row, newest first. A put is a barrier: it stays. */
static bool writer_replace(struct store *store, struct store_op *op)
{
    if (op->done)
        return false;
    for (struct list *node = store->queue.prev; node != &store->queue; node = node->prev) {
        struct store_op *old = list_entry(node, struct store_op, node);
        if (!slice_eq(old->key, op->key))
            continue;
        if (old->done || old->run != op->run)
            return false;
        if (old->due_ns < op->due_ns)
            op->due_ns = old->due_ns;
        list_add_before(&old->node, &op->node);
        list_del(&old->node);
        old->free(old);
        store->stats.coalesced++;
        return true;
    }
    return false;
}

int store_writer_add(struct store *store, struct store_op *op, size_t max)
{
    int rc = 0;

    (void)pthread_mutex_lock(&store->lock);
    if (!writer_replace(store, op)) {
        if (store->queued >= max) {
            rc = -EAGAIN;
        } else {
            list_add_tail(&store->queue, &op->node);
            store->queued++;
        }
    }
    if (rc == 0)
        (void)pthread_cond_signal(&store->work);
    (void)pthread_mutex_unlock(&store->lock);
    return rc;
}

void store_writer_deliver(void *data)
{
    struct store *store = data;
    struct list owed;

    list_init(&owed);
    (void)pthread_mutex_lock(&store->lock);
    writer_move_all(&store->finished, &owed);
    (void)pthread_mutex_unlock(&store->lock);
    while (!list_is_empty(&owed)) {
        struct store_op *op = list_entry(list_first(&owed), struct store_op, node);
        list_del(&op->node);
        op->done(op->data, op->status);
        op->free(op);
    }
}
