#include "hostmem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define HOSTMEM_PATTERN 0x5A /* zeros could be shared or compressed away */

int hostmem_take(struct hostmem_block *block, uint64_t bytes)
{
    if (bytes == 0)
        return 0;
    void *base = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
    if (base == MAP_FAILED)
        return -errno;
    memset(base, HOSTMEM_PATTERN, (size_t)bytes);
    *block = (struct hostmem_block){.base = base, .bytes = (size_t)bytes};
    return 0;
}

void hostmem_drop(struct hostmem_block *block)
{
    if (block->base != NULL)
        (void)munmap(block->base, block->bytes);
    *block = (struct hostmem_block){0};
}
