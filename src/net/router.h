/* router: which handler answers a path. A constant table, matched segment by segment.
 *
 * "{name}" stands for one segment, "{name*}" for one or more with their slashes. Every segment is
 * percent-decoded by itself, so that %2F stays inside a segment, and a greedy part gives the same
 * text for raw and encoded slashes. Literal segments win over "{name}", that over "{name*}". */
#ifndef HOTBUNK_NET_ROUTER_H
#define HOTBUNK_NET_ROUTER_H

#include "net/exchange.h"

#define ROUTE_ARGS_MAX 4

enum route_flags {
    ROUTE_NO_HEAD = 1, /* a GET route that does not answer HEAD */
};

/* The decoded parts in the order of the pattern, NUL-terminated; they live as the exchange does. */
struct route_args {
    size_t count;
    struct slice values[ROUTE_ARGS_MAX];
};

struct route {
    enum http_method method;
    const char *pattern;
    void (*fn)(void *data, struct exchange *ex, const struct route_args *args);
    unsigned flags;
};

struct router {
    const struct route *routes;
    size_t count;
};

struct route_match {
    const struct route *route; /* NULL: see status */
    int status;                /* 0, 404, 405, 307 (a slash too many at the end) or 400 */
    unsigned allowed;          /* 405: bit per enum http_method */
    struct route_args args;
};

/* Pure. `storage` (at least raw_path.len + ROUTE_ARGS_MAX bytes) holds the decoded arguments. */
void router_match(const struct router *router, enum http_method method, struct slice raw_path,
                  char *storage, struct route_match *out);

/* Calls the route's fn, or answers 404, 405 with Allow, 307, 400. */
void router_dispatch(const struct router *router, struct exchange *ex, void *data);

#endif
