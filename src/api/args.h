/* args: named values of a request: its query, and for POST a small body of JSON, an urlencoded or
 * a multipart form. A name that is in both must have one value. Values live as the exchange does.
 * Loop thread. */
#ifndef HOTBUNK_API_ARGS_H
#define HOTBUNK_API_ARGS_H

#include "net/exchange.h"
#include "net/form.h"
#include "net/router.h"

#define ARGS_BODY_MAX_BYTES  (64u << 10)
#define ARGS_VALUE_MAX_BYTES 4096

struct api;

/* For a GET: {.ex = ex}. At most one of json, urlencoded and form is set. */
struct args {
    struct exchange *ex;
    struct route_args path; /* of the route */
    struct json_object *json;
    struct slice urlencoded;
    const struct form *form;
};

/* Reads the body, whatever its kind; `done` comes once, unless the request was answered because
 * its body is none of these. */
void args_read(struct api *api, struct exchange *ex, const struct route_args *path,
               void (*done)(struct api *api, const struct args *args));

/* Each of these: 0; 1 = absent, *out_value is the default; negative = answered 400, return. */
int args_get(const struct args *args, const char *name, const char **out_value) MUSTCHECK;
int args_get_bool(const struct args *args, const char *name, bool *out_value) MUSTCHECK;
int args_get_u64(const struct args *args, const char *name, uint64_t min, uint64_t max,
                 uint64_t *out_value) MUSTCHECK;
/* Seconds, a fraction is fine, at most API_WAIT_MAX_S. */
int args_get_wait(const struct args *args, const char *name, uint64_t *out_ms) MUSTCHECK;

/* true, yes, on, t, y, 1 and their opposites, in any case. */
int args_parse_bool(struct slice text, bool *out_value) MUSTCHECK;

#endif
