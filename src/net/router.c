#include "net/router.h"

#include <assert.h>
#include <errno.h>

#define ROUTER_PATH_MAX   4096
#define ROUTER_RANK_FIRST 14348907u /* 3^15: weight of the first segment, for 16 of them */

/* ---- matching one pattern ---- */

enum segment_kind { SEGMENT_LITERAL = 0, SEGMENT_ONE = 1, SEGMENT_GREEDY = 2 };

static enum segment_kind segment_kind(struct slice pattern)
{
    if (!slice_starts_with(pattern, "{") || !slice_ends_with(pattern, "}"))
        return SEGMENT_LITERAL;
    return slice_ends_with(pattern, "*}") ? SEGMENT_GREEDY : SEGMENT_ONE;
}

/* Decodes behind *used. false on a broken escape. */
static bool arg_add(struct route_args *args, struct slice raw, char *storage, size_t *used)
{
    int len = http_path_decode(raw, storage + *used, raw.len + 1);

    if (len < 0)
        return false;
    args->values[args->count++] = slice_of(storage + *used, (size_t)len);
    *used += (size_t)len + 1;
    return true;
}

static bool literal_matches(struct slice raw, struct slice pattern)
{
    char text[256];
    int len = http_path_decode(raw, text, sizeof(text));

    return len >= 0 && slice_eq(slice_of(text, (size_t)len), pattern);
}

/* Both begin behind their first slash. Fills args; *out_rank grows with every literal segment that
 * matched early, so that the most literal pattern wins. */
static bool pattern_matches(struct slice pattern, struct slice path, char *storage,
                            struct route_args *args, unsigned *out_rank)
{
    struct slice want, have, before;
    unsigned weight = ROUTER_RANK_FIRST;
    size_t used = 0;

    args->count = 0;
    *out_rank = 0;
    while (slice_split(&pattern, '/', &want)) {
        enum segment_kind kind = segment_kind(want);
        before = path;
        *out_rank += (2 - (unsigned)kind) * weight;
        weight /= 3;
        if (kind == SEGMENT_GREEDY)
            return before.len && args->count < ROUTE_ARGS_MAX &&
                   arg_add(args, before, storage, &used);
        if (!slice_split(&path, '/', &have))
            return false;
        if (kind == SEGMENT_LITERAL && !literal_matches(have, want))
            return false;
        if (kind == SEGMENT_ONE &&
            (!have.len || args->count == ROUTE_ARGS_MAX || !arg_add(args, have, storage, &used)))
            return false;
    }
    return path.ptr == NULL;
}

/* Most routes differ in their first bytes: says no without decoding anything. */
static bool may_match(const char *pattern, struct slice path)
{
    size_t i = 0;

    while (i < path.len && pattern[i] == path.ptr[i] && pattern[i])
        i++;
    return pattern[i] == '{' || (i == path.len && !pattern[i]);
}

/* ---- the table ---- */

static bool route_takes(const struct route *route, enum http_method method)
{
    if (route->method == method)
        return true;
    return method == HTTP_METHOD_HEAD && route->method == HTTP_METHOD_GET &&
           !(route->flags & ROUTE_NO_HEAD);
}

/* The path behind its first slash; ptr NULL when it does not begin with one. */
static struct slice path_of(struct slice raw_path)
{
    if (!raw_path.len || raw_path.ptr[0] != '/')
        return slice_of(NULL, 0);
    return slice_of(raw_path.ptr + 1, raw_path.len - 1);
}

static unsigned allowed_bits(const struct route *route)
{
    unsigned bits = 1u << route->method;

    if (route->method == HTTP_METHOD_GET && !(route->flags & ROUTE_NO_HEAD))
        bits |= 1u << HTTP_METHOD_HEAD;
    return bits;
}

static void table_match(const struct router *router, enum http_method method, struct slice path,
                        char *storage, struct route_match *out)
{
    bool has_escape = slice_index(path, '%') < path.len;
    const struct route *best = NULL;
    unsigned best_rank = 0;

    out->allowed = 0;
    for (size_t i = 0; i < router->count; i++) {
        const struct route *route = &router->routes[i];
        unsigned rank;
        if (!has_escape && !may_match(route->pattern + 1, path))
            continue;
        if (!pattern_matches(slice_str(route->pattern + 1), path, storage, &out->args, &rank))
            continue;
        /* A greedy route must not lend its methods to a path that a literal one owns. */
        if (rank > best_rank)
            out->allowed = 0;
        else if (rank < best_rank)
            continue;
        if (rank > best_rank)
            best = NULL;
        best_rank = rank;
        out->allowed |= allowed_bits(route);
        if (route_takes(route, method))
            best = route;
    }
    out->route = best;
    out->args.count = 0;
    if (best && strchr(best->pattern, '{')) { /* a later route may have used the storage */
        unsigned rank;
        (void)pattern_matches(slice_str(best->pattern + 1), path, storage, &out->args, &rank);
    }
}

void router_match(const struct router *router, enum http_method method, struct slice raw_path,
                  char *storage, struct route_match *out)
{
    struct slice path = path_of(raw_path);

    memset(out, 0, sizeof(*out));
    out->status = 404;
    if (!path.ptr)
        return;
    table_match(router, method, path, storage, out);
    if (out->route)
        out->status = 0;
    else if (out->allowed)
        out->status = 405;
    if (out->status != 404 || path.len < 2 || path.ptr[path.len - 1] != '/' || path.ptr[0] == '/')
        return; /* a redirect for //host/ would lead elsewhere */
    path.len--;
    table_match(router, method, path, storage, out);
    if (out->route || out->allowed)
        out->status = 307;
    out->route = NULL;
}

/* ---- answers ---- */

static void answer_405(struct exchange *ex, unsigned allowed)
{
    static const char *const names[] = {
        [HTTP_METHOD_GET] = "GET",       [HTTP_METHOD_HEAD] = "HEAD",
        [HTTP_METHOD_POST] = "POST",     [HTTP_METHOD_PUT] = "PUT",
        [HTTP_METHOD_DELETE] = "DELETE", [HTTP_METHOD_OPTIONS] = "OPTIONS",
        [HTTP_METHOD_PATCH] = "PATCH",
    };
    struct buf allow;
    int rc = 0;

    buf_init(&allow, 64);
    for (size_t i = HTTP_METHOD_GET; i < ARRAY_LEN(names) && rc == 0; i++) {
        if (allowed & 1u << i)
            rc = buf_printf(&allow, "%s%s", allow.len ? ", " : "", names[i]);
    }
    (void)!exchange_add_header(ex, "Allow", buf_str(&allow)); /* fits: seven short names */
    buf_fini(&allow);
    exchange_error(ex, 405, "Method Not Allowed");
}

static void answer_307(struct exchange *ex)
{
    const struct http_head *head = exchange_head(ex);
    struct slice path = head->raw_path;
    char *target = mem_printf("%.*s%s%.*s", (int)path.len - 1, path.ptr, head->query.len ? "?" : "",
                              SLICE_ARG(head->query));

    (void)!exchange_add_header(ex, "Location", target); /* the guard has seen its bytes */
    mem_free(target);
    exchange_respond(ex, 307, NULL, slice_str(""));
}

/* The arguments in memory that lives as the exchange does. */
static struct route_args *args_keep(struct exchange *ex, const struct route_args *args)
{
    struct route_args *kept;
    size_t size = 0;
    char *at;

    for (size_t i = 0; i < args->count; i++)
        size += args->values[i].len + 1;
    kept = exchange_scratch(ex, sizeof(*kept) + size);
    at = (char *)(kept + 1);
    kept->count = args->count;
    for (size_t i = 0; i < args->count; i++) {
        memcpy(at, args->values[i].ptr, args->values[i].len + 1);
        kept->values[i] = slice_of(at, args->values[i].len);
        at += args->values[i].len + 1;
    }
    return kept;
}

void router_dispatch(const struct router *router, struct exchange *ex, void *data)
{
    static const struct route_args none = {0};
    const struct http_head *head = exchange_head(ex);
    char storage[ROUTER_PATH_MAX + ROUTE_ARGS_MAX + 1];
    struct route_match match;

    if (head->raw_path.len > ROUTER_PATH_MAX) {
        exchange_error(ex, 414, "the path is over %d bytes", ROUTER_PATH_MAX);
        return;
    }
    router_match(router, head->method, head->raw_path, storage, &match);
    switch (match.status) {
    case 0:
        assert(match.route);
        match.route->fn(data, ex, match.args.count ? args_keep(ex, &match.args) : &none);
        break;
    case 405:
        answer_405(ex, match.allowed);
        break;
    case 307:
        answer_307(ex);
        break;
    default:
        exchange_error(ex, 404, "Not Found");
        break;
    }
}
