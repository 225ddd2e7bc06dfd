/* log: what a model's workers wrote to stderr and astray: a bounded ring in memory and a file
 * that is rotated once. Belongs to the model, outlives its workers. Loop thread; the file is
 * written in small appends to the page cache. */
#ifndef HOTBUNK_WORKER_LOG_H
#define HOTBUNK_WORKER_LOG_H

#include <stdint.h>

#include "base/slice.h"

#define WORKER_LOG_RING_BYTES (64u << 10)

struct worker_log;

/* `path` may be NULL (memory only). The file is rotated to path.1 above `file_max_bytes`. */
struct worker_log *worker_log_new(const char *path, uint64_t file_max_bytes);
void worker_log_free(struct worker_log *log);

void worker_log_add(struct worker_log *log, struct slice bytes);

/* A note of ours between the worker's words: "[hotbunk] …\n". */
void worker_log_note(struct worker_log *log, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The newest bytes, at most `max`, from a line's start where possible, '?' for each NUL. They need
 * not be UTF-8. mem_free. */
char *worker_log_tail(const struct worker_log *log, size_t max) __attribute__((returns_nonnull));

#endif
