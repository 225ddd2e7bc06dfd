/* spool: writes a file piece by piece on a pool thread, with back-pressure.
 *
 * At most SPOOL_HIGH_WATER_BYTES plus one piece wait in memory. Loop thread. */
#ifndef HOTBUNK_NET_SPOOL_H
#define HOTBUNK_NET_SPOOL_H

#include "base/slice.h"
#include "os/loop.h"

#define SPOOL_HIGH_WATER_BYTES (1u << 20)
#define SPOOL_PIECE_BYTES      (256u << 10) /* given to the pool thread at once */

struct spool;

/* Creates `path` (must not exist, mode 0600). NULL and *out_rc on failure. `on_drain` comes when
 * half of the high-water mark is left after spool_write returned 1. */
struct spool *spool_open(struct loop *loop, const char *path, void (*on_drain)(void *data),
                         void *data, int *out_rc);

/* 0; 1 = accepted, but pause until on_drain; negative = an earlier write failed. */
int spool_write(struct spool *spool, struct slice bytes);

/* Writes what is left and closes; `done` comes from the loop with the first error or 0. The spool
 * is over. */
void spool_close(struct spool *spool, void (*done)(void *data, int status), void *data);

/* Closes and removes the file; no callback any more, also after spool_close. NULL is fine. */
void spool_discard(struct spool *spool);

#endif
