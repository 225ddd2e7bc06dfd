#include "store/store.h"

#include <unistd.h>

#include "store/store_internal.h"

static void store_free(struct store *store)
{
    store_db_close(store);
    if (store->lock_fd >= 0)
        (void)close(store->lock_fd); /* gives the lock back; it was never written */
    mem_free(store->path);
    mem_free(store);
}

int store_open(struct loop *loop, const struct store_options *options, struct store **out_store,
               struct err *err)
{
    struct store *store = mem_new(1, sizeof(*store));
    int rc;

    store->loop = loop;
    store->path = mem_strdup(options->path);
    store->job_history = options->job_history;
    store->ended_since_prune = UINT32_MAX; /* the first transaction looks at the history */
    store->lock_fd = -1;
    rc = store_db_open(store, err);
    if (rc == 0)
        rc = store_writer_start(store, err);
    if (rc != 0) {
        store_free(store);
        return rc;
    }
    *out_store = store;
    return 0;
}

void store_close(struct store *store)
{
    /* A writer that hangs in the kernel keeps what it uses: better a leak than a crash. */
    if (store && store_writer_stop(store))
        store_free(store);
}

void store_stats(struct store *store, struct store_stats *out_stats)
{
    (void)pthread_mutex_lock(&store->lock);
    *out_stats = store->stats;
    out_stats->queued = store->queued;
    (void)pthread_mutex_unlock(&store->lock);
}
