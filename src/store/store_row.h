/* store_row: copies of struct store_job in one block of memory. Pure. */
#ifndef HOTBUNK_STORE_ROW_H
#define HOTBUNK_STORE_ROW_H

#include "store/store.h"

/* Replaces *job by a copy with the inputs of *job and the state part of `newer`. */
void store_row_merge(struct store_job **job, const struct store_job *newer);

#endif
