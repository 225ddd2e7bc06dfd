/* guard: refuses what parsers read differently, before llhttp sees it (request smuggling).
 *
 * guard_head looks at the raw bytes of a request head, guard_chunk decodes and checks the chunked
 * framing (the only chunk decoder of the server; llhttp gets heads only). Pure; every row of the
 * table in docs/threat-model.md is refused here or in head.c. RFC 9112 sections 2.2, 3, 5, 6, 7. */
#ifndef HOTBUNK_NET_GUARD_H
#define HOTBUNK_NET_GUARD_H

#include <stdint.h>

#include "base/mem.h"
#include "base/slice.h"

#define GUARD_CHUNK_DIGITS_MAX 16   /* hex digits of a chunk size */
#define GUARD_CHUNK_EXT_MAX    256  /* bytes of extensions of one chunk */
#define GUARD_TRAILER_MAX      4096 /* bytes of all trailer lines */

/* Where the scan of a head that arrives in pieces stands. {0} at the start of a message. */
struct guard_head {
    size_t checked;    /* bytes that were looked at */
    size_t line_start; /* where the line begins that is not complete yet */
    unsigned lines;    /* complete ones */
};

/* Looks at the head so far (always from its first byte; it may be followed by other bytes).
 * > 0: complete, that many bytes with the empty line; 0: more is needed; -EBADMSG: refuse with
 * 400 (*out_why is a fixed text); -EMSGSIZE: over HTTP_HEAD_MAX_BYTES or HTTP_FIELDS_MAX, 431;
 * -EPROTONOSUPPORT: a well-formed request line of another HTTP version, 505. */
int guard_head_scan(struct guard_head *guard, struct slice bytes, const char **out_why) MUSTCHECK;

/* A chunked body that arrives in pieces. {0} at its start. */
struct guard_chunk {
    int state;
    unsigned digits;
    unsigned ext_len;
    unsigned trailer_len; /* of all trailer lines so far */
    unsigned name_len;
    uint64_t left; /* bytes of the current chunk that are still to come */
    char name[24]; /* of the current trailer, in lower case, cut */
};

/* Takes a step: consumes from the front of `in` and says how much in *out_used. *out_data is the
 * payload found (part of `in`, maybe empty). 0: go on with the rest (or more is needed when all
 * was used); 1: the body ended, rest belongs to the next message; -EBADMSG: refuse (*out_why). */
int guard_chunk_step(struct guard_chunk *chunk, struct slice in, size_t *out_used,
                     struct slice *out_data, const char **out_why) MUSTCHECK;

#endif
