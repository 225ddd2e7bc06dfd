/* memory: the most this process held during a job, as the host counts it. One thread. */
#ifndef HOTBUNK_FLITE_MEMORY_H
#define HOTBUNK_FLITE_MEMORY_H

#include <stdint.h>

/* The peak starts again from what is resident now. */
void memory_reset_peak(void);

/* Bytes since then, without pages of files; 0 when it cannot be told. */
int64_t memory_peak_bytes(void);

#endif
