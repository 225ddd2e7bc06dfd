/* hostmem: host memory that is really used: mapped and touched. A simulated GPU's allocations
 * belong beside it, with the same verbs. One thread. */
#ifndef HOTBUNK_FAKEWORKER_HOSTMEM_H
#define HOTBUNK_FAKEWORKER_HOSTMEM_H

#include <stddef.h>
#include <stdint.h>

struct hostmem_block {
    void *base;
    size_t bytes;
};

/* 0 or negative errno; nothing for 0 bytes. */
int hostmem_take(struct hostmem_block *block, uint64_t bytes);
void hostmem_drop(struct hostmem_block *block);

#endif
