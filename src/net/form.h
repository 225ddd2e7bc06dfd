/* form: reads a multipart/form-data or urlencoded body of an exchange into named parts.
 *
 * Parts with a filename are written to files as they arrive (bounded memory); the others stay in
 * memory. Everything lives until the exchange ends; files that were not renamed away are removed
 * then. Loop thread. */
#ifndef HOTBUNK_NET_FORM_H
#define HOTBUNK_NET_FORM_H

#include "net/exchange.h"

struct form_part {
    struct slice name;
    struct slice filename;     /* ptr NULL when it is a plain field */
    struct slice content_type; /* "" when the part has none */
    struct slice value;        /* of a plain field, NUL-terminated */
    const char *path;          /* of a file part; NULL for a plain field */
    uint64_t len;              /* bytes of the value or file */
};

struct form {
    size_t count;
    struct form_part *parts; /* in the order they came */
};

struct form_limits {
    uint64_t max_bytes;             /* of the whole body; above it: 413 */
    char *(*make_path)(void *data); /* new path for a file part (mem_free) */
    void *path_data;
};

/* As exchange_read_body: `done` comes once; negative: already answered (400 malformed, 413, 415
 * for another content type, 507 no space) and over. An absent body is an empty form. */
void form_read(struct exchange *ex, const struct form_limits *limits,
               void (*done)(void *data, int status, const struct form *form), void *data);

/* The first part of that name; NULL when there is none. */
const struct form_part *form_get(const struct form *form, const char *name);

/* The text of a plain field; NULL when absent or a file. */
const char *form_text(const struct form *form, const char *name);

#endif
