/* pace: keeps a worker that writes thousands of short lines a second from waking the loop for each.
 *
 * Time is cut into slots that are the same for all workers. Who brought PACE_READS_MAX small reads
 * in one slot is not read again before the next one begins, and then once a slot as long as it goes
 * on: its lines wait in the pipe meanwhile, at most PACE_SLOT_MS. Large reads are never held up. */
#ifndef HOTBUNK_WORKER_PACE_H
#define HOTBUNK_WORKER_PACE_H

#include "os/loop.h"
#include "os/stream.h"

#define PACE_SLOT_MS    4u
#define PACE_READS_MAX  8u         /* in one slot */
#define PACE_BULK_BYTES (8u << 10) /* a read of that size is worth its wake-up */

struct pace {
    struct loop *loop;
    struct stream *stream; /* borrowed */
    struct timer *timer;
    uint64_t slot;
    unsigned reads;   /* small ones in this slot */
    unsigned allowed; /* of them */
    bool is_chatty;   /* the last slot was cut short */
};

void pace_init(struct pace *pace, struct loop *loop, struct stream *stream);
void pace_fini(struct pace *pace);

/* After each read of the stream. */
void pace_note(struct pace *pace, size_t bytes);

#endif
