/* base64: RFC 4648 text of bytes, for workers that take their input inline. Pure. */
#ifndef HOTBUNK_BASE_BASE64_H
#define HOTBUNK_BASE_BASE64_H

#include "base/buf.h"

/* Adds the padded base64 text of `bytes`. Returns what buf_add returns. */
int base64_encode(struct buf *out, struct slice bytes) MUSTCHECK;

#endif
