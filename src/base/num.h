/* num: strict numbers, sizes and durations out of text. Whole input or nothing: no leading
 * space, no sign unless signed, no trailing bytes, no overflow. Pure. */
#ifndef HOTBUNK_BASE_NUM_H
#define HOTBUNK_BASE_NUM_H

#include <stdint.h>

#include "base/mem.h"
#include "base/slice.h"

/* 0, -EINVAL (not a number) or -ERANGE (does not fit, or above `max`). */
int num_parse_u64(struct slice text, uint64_t max, uint64_t *out_value) MUSTCHECK;
int num_parse_i64(struct slice text, int64_t min, int64_t max, int64_t *out_value) MUSTCHECK;

/* A finite decimal number. */
int num_parse_double(struct slice text, double *out_value) MUSTCHECK;

/* Hexadecimal digits only, at most 16 of them. */
int num_parse_hex(struct slice text, uint64_t *out_value) MUSTCHECK;

/* Bytes: "512", "512MiB", "1.5G". K, M, G, T and KiB… are powers of 1024 (what people mean when
 * they speak of memory), KB, MB… as well; a following "B" or "iB" is optional, case ignored. */
int num_parse_size(struct slice text, uint64_t *out_bytes) MUSTCHECK;

/* Milliseconds: "250ms", "30s", "5m", "1.5h"; a bare number is seconds. */
int num_parse_duration(struct slice text, uint64_t *out_ms) MUSTCHECK;

/* "12.3 GiB" into `out`; always terminated. Returns `out`. */
#define NUM_SIZE_TEXT_MAX 24
const char *num_size_text(uint64_t bytes, char out[NUM_SIZE_TEXT_MAX]);

#endif
