/* schema: checks a JSON tree against tables in C, and names the place that is wrong.
 *
 * For manifests, config maps and request bodies. Paths read as "nodes[1].params_schema". A null
 * member counts as absent unless its schema lists SCHEMA_NULL. Pure, any thread. */
#ifndef HOTBUNK_BASE_SCHEMA_H
#define HOTBUNK_BASE_SCHEMA_H

#include "base/json.h"

#define SCHEMA_PATH_MAX 192

enum schema_type { /* a mask */
                   SCHEMA_NULL = 1,
                   SCHEMA_BOOL = 2,
                   SCHEMA_INT = 4,
                   SCHEMA_NUMBER = 8, /* int or double */
                   SCHEMA_STRING = 16,
                   SCHEMA_ARRAY = 32,
                   SCHEMA_OBJECT = 64,
                   SCHEMA_ANY = 127,
};

struct schema_member;

struct schema {
    unsigned types;
    const struct schema_member *members; /* of an object, up to a NULL key; NULL = any */
    bool is_closed;                      /* members beyond these are refused */
    const struct schema *items;          /* of an array, or values of an object without members */
    const char *const *values;           /* the strings that are allowed, NULL at the end */
    double min, max;                     /* of a number; both 0 = any */
    size_t len_min, len_max;             /* bytes of a string, items of an array; max 0 = any */
};

struct schema_member {
    const char *key;
    const struct schema *schema;
    bool is_required;
};

/* Where and what kind of fault, for callers that know file positions. */
struct schema_fault {
    char path[SCHEMA_PATH_MAX]; /* "" = the root */
    bool is_key;                /* the member's name is wrong, not its value */
};

/* 0 or -EINVAL; `err` says e.g. "nodes[1].params_schema must be an array, but is a string".
 * `out_fault` may be NULL and is written only on a fault. */
int schema_check(const struct schema *schema, struct json_object *value,
                 struct schema_fault *out_fault, struct err *err) MUSTCHECK;

#endif
