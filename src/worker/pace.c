#include "worker/pace.h"

static void pace_next_slot(void *data)
{
    struct pace *pace = data;

    stream_read_start(pace->stream);
}

void pace_init(struct pace *pace, struct loop *loop, struct stream *stream)
{
    *pace = (struct pace){.loop = loop, .stream = stream};
    pace->timer = timer_new(loop, pace_next_slot, pace);
}

void pace_fini(struct pace *pace)
{
    timer_free(pace->timer);
    *pace = (struct pace){0};
}

void pace_note(struct pace *pace, size_t bytes)
{
    uint64_t now = loop_now_ms(pace->loop);
    uint64_t slot = now / PACE_SLOT_MS;

    if (bytes >= PACE_BULK_BYTES)
        return;
    if (slot != pace->slot) {
        bool goes_on = pace->is_chatty && slot == pace->slot + 1;
        pace->allowed = goes_on ? 1 : PACE_READS_MAX;
        pace->is_chatty = false;
        pace->slot = slot;
        pace->reads = 0;
    }
    if (++pace->reads < pace->allowed)
        return;
    pace->is_chatty = true;
    stream_read_stop(pace->stream);
    timer_start(pace->timer, (slot + 1) * PACE_SLOT_MS - now);
}
