/* sse_parse: a push parser for event streams (WHATWG HTML, section 9.2, server-sent events).
 *
 * Pure: bytes in pieces of any size, one callback an event. CR, LF and CRLF end a line, one byte
 * order mark at the start is skipped, unknown fields and comments are ignored, an event that the
 * stream's end cuts off is dropped. Embedded: sse_parse_init / _fini. Not shared. */
#ifndef HOTBUNK_CLIENT_SSE_PARSE_H
#define HOTBUNK_CLIENT_SSE_PARSE_H

#include "base/buf.h"
#include "base/slice.h"

#define SSE_PARSE_DATA_MAX (1u << 20) /* bytes of one event's data */
#define SSE_PARSE_LINE_MAX (SSE_PARSE_DATA_MAX + 64)
#define SSE_PARSE_NAME_MAX 128

/* Borrowed for the call. */
struct sse_event {
    struct slice type; /* "message" when the stream names none */
    struct slice data; /* several data lines are joined by a newline */
    struct slice id;   /* the last id so far; empty when there was none */
};

struct sse_parse {
    int (*on_event)(void *user, const struct sse_event *event);
    void *user;
    struct buf line; /* the line so far */
    struct buf data; /* with one newline behind each data line */
    struct buf type;
    struct buf id;
    unsigned bom_seen; /* bytes of the byte order mark so far; 3 = it is past */
    bool has_cr;       /* the last byte was CR: a LF now belongs to it */
    bool is_too_long;
};

/* on_event returns 0 to go on; anything else ends sse_parse_feed with that value. */
void sse_parse_init(struct sse_parse *parse,
                    int (*on_event)(void *user, const struct sse_event *event), void *user);
void sse_parse_fini(struct sse_parse *parse);

/* 0, what on_event returned (the rest of `bytes` is lost), or -EMSGSIZE for a line or an event
 * over its maximum: the stream is of no use any more. */
int sse_parse_feed(struct sse_parse *parse, struct slice bytes) MUSTCHECK;

#endif
