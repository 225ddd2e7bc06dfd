/* multipart: a push parser for multipart/form-data (RFC 7578, RFC 2046 section 5.1).
 *
 * Pure: bytes in, callbacks out, at most MULTIPART_HEAD_MAX_BYTES kept. Strict: CRLF only, every
 * part has a Content-Disposition of form-data with a name. */
#ifndef HOTBUNK_NET_MULTIPART_H
#define HOTBUNK_NET_MULTIPART_H

#include "base/buf.h"
#include "base/err.h"

#define MULTIPART_PARTS_MAX      64
#define MULTIPART_HEAD_MAX_BYTES 8192
#define MULTIPART_BOUNDARY_MAX   70 /* RFC 2046 section 5.1.1 */
#define MULTIPART_NAME_MAX       256
#define MULTIPART_FILENAME_MAX   1024

/* Slices are valid during the call only. Each may stop the parser with a negative errno, which
 * multipart_feed then returns. on_data may also return 1: it is fed on, but the caller should
 * pause (multipart_feed returns 1 once it is through). */
struct multipart_events {
    int (*on_part)(void *data, struct slice name, const struct slice *filename_or_null,
                   struct slice content_type);
    int (*on_data)(void *data, struct slice bytes);
    int (*on_part_end)(void *data);
};

struct multipart;

/* `content_type` is the field's value. NULL when it is no multipart/form-data with a valid
 * boundary (err says what to send). */
struct multipart *multipart_new(struct slice content_type, const struct multipart_events *events,
                                void *data, struct err *err);
void multipart_free(struct multipart *mp);

/* 0, 1 (see above), -EBADMSG (err: what is wrong), -EMSGSIZE (a limit) or a callback's errno. */
int multipart_feed(struct multipart *mp, struct slice bytes, struct err *err) MUSTCHECK;

/* The body ended: 0, or -EBADMSG when the closing boundary is missing. */
int multipart_finish(struct multipart *mp, struct err *err) MUSTCHECK;

#endif
