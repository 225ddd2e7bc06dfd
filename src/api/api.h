/* api: every route of the daemon, over HTTP exchanges, in terms of the backend.
 *
 * Three families share one router: Modly's routes (/model, /generate, …), OpenAI's (/v1) and our
 * own (/api/v1). Each has its own shape of an error body. Loop thread. */
#ifndef HOTBUNK_API_API_H
#define HOTBUNK_API_API_H

#include "api/backend.h"
#include "net/exchange.h"

struct api;

/* Both arguments are borrowed and must outlive it. */
struct api *api_new(const struct api_backend *backend, const char *version);

/* Ends all event streams cleanly, so that a stopping server need not wait for them. */
void api_stop(struct api *api);

/* After the server was freed: no exchange is left. NULL is fine. */
void api_free(struct api *api);

/* The two hooks of struct server_options, whose `data` is the api. */
void api_dispatch(void *api, struct exchange *ex);
void api_error_body(void *api, const struct http_head *head, int status, const char *detail,
                    struct buf *out);

#endif
