/* store_commit: how long the job store takes from store_put_job to its `done`, one job at a time.
 *
 * usage: bench-store-commit FILE COUNT — prints one duration in nanoseconds a line. FILE should lie
 * on the disk that the daemon's state directory lies on. The loop blocks between jobs as the
 * daemon's does, so that the hand-over to the writer thread and back is part of the figure. */
#include <stdio.h>
#include <unistd.h>

#include "base/num.h"
#include "os/loop.h"
#include "store/store.h"

#define COUNT_MAX 100000u
#define PAUSE_MS  2 /* between jobs: the writer thread sleeps again */

struct bench {
    struct loop *loop;
    struct store *store;
    struct timer *pause;
    uint64_t count, done, began_ns;
    int status;
};

static void bench_put_done(void *data, int status)
{
    struct bench *bench = data;
    uint64_t now_ns = loop_now_ns();

    bench->status = status;
    printf("%llu\n", (unsigned long long)(now_ns - bench->began_ns));
    if (status != 0 || ++bench->done == bench->count)
        loop_stop(bench->loop);
    else
        timer_start(bench->pause, PAUSE_MS);
}

static void bench_put(void *data)
{
    struct bench *bench = data;
    char id[40];
    struct store_job job = {.id = id,
                            .model = "bench0/run",
                            .params_json = "{}",
                            .text = "a text of some length, as a request would have",
                            .collection = "Default",
                            .created_ms = loop_wall_ms()};

    (void)snprintf(id, sizeof(id), "00000000-0000-4000-8000-%012llx",
                   (unsigned long long)bench->done);
    bench->began_ns = loop_now_ns();
    bench->status = store_put_job(bench->store, &job, bench_put_done, bench);
    if (bench->status != 0)
        loop_stop(bench->loop);
}

static int bench_run(const char *path, uint64_t count)
{
    struct store_options options = {.path = path, .job_history = COUNT_MAX};
    struct bench bench = {.count = count, .loop = loop_new()};
    struct err err = {0};
    int rc = store_open(bench.loop, &options, &bench.store, &err);

    if (rc == 0) {
        bench.pause = timer_new(bench.loop, bench_put, &bench);
        timer_start(bench.pause, PAUSE_MS);
        loop_run(bench.loop);
        timer_free(bench.pause);
        store_close(bench.store);
        rc = bench.status;
    }
    loop_free(bench.loop);
    if (rc != 0)
        fprintf(stderr, "bench-store-commit: %s: error %d %s\n", path, rc, err.msg);
    return rc == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    uint64_t count;

    if (argc != 3 || num_parse_u64(slice_str(argv[2]), COUNT_MAX, &count) != 0 || count == 0) {
        fputs("usage: bench-store-commit FILE COUNT\n", stderr);
        return 2;
    }
    return bench_run(argv[1], count);
}
