#include "net/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"

/* A read from a socket may come on top of the high-water mark. */
#define SPOOL_PENDING_MAX (SPOOL_HIGH_WATER_BYTES + (512u << 10))

struct spool {
    struct loop *loop;
    int fd;
    char *path;
    struct buf pending; /* the loop's */
    struct buf writing; /* the pool thread's while is_busy */
    int rc;             /* first error */
    int work_rc;
    bool is_busy, is_high;
    bool is_closing; /* spool_close was called */
    bool is_last;    /* the work in progress closes the descriptor */
    bool is_discarded;
    void (*on_drain)(void *data);
    void *data;
    void (*done)(void *data, int status);
    void *done_data;
};

struct spool *spool_open(struct loop *loop, const char *path, void (*on_drain)(void *data),
                         void *data, int *out_rc)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct spool *spool;

    if (fd < 0) {
        *out_rc = -errno;
        return NULL;
    }
    spool = mem_new(1, sizeof(*spool));
    spool->loop = loop;
    spool->fd = fd;
    spool->path = mem_strdup(path);
    spool->on_drain = on_drain;
    spool->data = data;
    buf_init(&spool->pending, SPOOL_PENDING_MAX);
    buf_init(&spool->writing, SPOOL_PENDING_MAX);
    return spool;
}

static void spool_free(struct spool *spool)
{
    if (spool->fd >= 0)
        (void)close(spool->fd); /* it is thrown away */
    if (spool->is_discarded)
        (void)unlink(spool->path); /* best effort */
    buf_fini(&spool->pending);
    buf_fini(&spool->writing);
    mem_free(spool->path);
    mem_free(spool);
}

static void spool_work(void *data)
{
    struct spool *spool = data;
    struct slice rest = buf_slice(&spool->writing);

    while (rest.len && spool->work_rc == 0) {
        ssize_t put = write(spool->fd, rest.ptr, rest.len);
        if (put >= 0)
            rest = slice_skip(rest, (size_t)put);
        else if (errno != EINTR)
            spool->work_rc = -errno;
    }
    if (!spool->is_last)
        return;
    if (close(spool->fd) != 0 && spool->work_rc == 0)
        spool->work_rc = -errno;
    spool->fd = -1;
}

static void spool_pump(struct spool *spool);

static void spool_worked_cb(void *data)
{
    struct spool *spool = data;

    spool->is_busy = false;
    if (spool->rc == 0)
        spool->rc = spool->work_rc;
    buf_reset(&spool->writing);
    if (spool->is_discarded) {
        spool_free(spool);
        return;
    }
    if (spool->is_last) {
        if (spool->is_high) /* who waits for it must not wait for ever */
            spool->on_drain(spool->data);
        spool->done(spool->done_data, spool->rc);
        spool_free(spool);
        return;
    }
    spool_pump(spool);
    if (spool->is_high && spool->pending.len + spool->writing.len <= SPOOL_HIGH_WATER_BYTES / 2) {
        spool->is_high = false;
        spool->on_drain(spool->data);
    }
}

/* Starts the next piece of work, if there is enough of it. */
static void spool_pump(struct spool *spool)
{
    struct buf empty = spool->writing;

    if (spool->is_busy || (spool->pending.len < SPOOL_PIECE_BYTES && !spool->is_closing))
        return;
    spool->writing = spool->pending;
    spool->pending = empty;
    spool->is_busy = true;
    spool->is_last = spool->is_closing;
    if (loop_offload(spool->loop, spool_work, spool_worked_cb, spool) != 0) {
        spool_work(spool); /* no pool thread: here, then */
        spool_worked_cb(spool);
    }
}

int spool_write(struct spool *spool, struct slice bytes)
{
    int rc = spool->rc;

    if (rc == 0)
        rc = buf_add_slice(&spool->pending, bytes);
    if (rc != 0)
        return rc;
    spool_pump(spool);
    if (spool->pending.len + spool->writing.len > SPOOL_HIGH_WATER_BYTES)
        spool->is_high = true;
    return spool->is_high;
}

void spool_close(struct spool *spool, void (*done)(void *data, int status), void *data)
{
    spool->done = done;
    spool->done_data = data;
    spool->is_closing = true;
    spool_pump(spool);
}

void spool_discard(struct spool *spool)
{
    if (!spool)
        return;
    spool->is_discarded = true;
    if (!spool->is_busy)
        spool_free(spool);
}
