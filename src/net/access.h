/* access: may this request be served at all? Host (DNS rebinding), Origin (cross-site), key.
 *
 * A pure function on the head; the server runs it before the handler and adds the CORS fields of
 * the verdict to every answer. What the policy points to must outlive the server. */
#ifndef HOTBUNK_NET_ACCESS_H
#define HOTBUNK_NET_ACCESS_H

#include "net/http.h"

struct access_policy {
    bool is_modly;            /* answer preflights; file:, app: and loopback origins may ask */
    bool allows_remote;       /* peers that are not on loopback are served (then a key is needed) */
    const char *listen_host;  /* numeric address the server listens on; a valid Host */
    const char *const *names; /* further names that Host may hold, without port */
    size_t name_count;
    const char *key; /* X-Modly-Token or Bearer; NULL or "" = none (loopback peers only) */
};

enum access_result {
    ACCESS_OK = 0,
    ACCESS_PREFLIGHT = 1, /* answer 200 text/plain "OK" with the CORS fields */
    ACCESS_FORBIDDEN = 403,
    ACCESS_UNAUTHORIZED = 401,
};

struct access_verdict {
    enum access_result result;
    const char *detail;        /* fixed text for the answer's body when refused */
    struct slice cors_origin;  /* echo it; ptr NULL = no CORS fields */
    struct slice cors_headers; /* of a preflight: the asked-for names to echo; may be empty */
};

/* `peer` is stream_peer()'s text ("127.0.0.1", "::1", "unix"). */
struct access_verdict access_check(const struct access_policy *policy, const struct http_head *head,
                                   const char *peer);

/* "127.x.y.z", "::1", "localhost", "unix" and the mapped forms. */
bool access_is_loopback(struct slice host);

#endif
