/* internal: what the files of src/api share, and nobody else sees. Loop thread. */
#ifndef HOTBUNK_API_INTERNAL_H
#define HOTBUNK_API_INTERNAL_H

#include "api/api.h"
#include "api/args.h"
#include "api/reply.h"
#include "base/list.h"
#include "net/router.h"

#define API_TEXT_MAX_BYTES   (64u << 10) /* of a job's text */
#define API_PARAMS_MAX_BYTES (1u << 20)  /* of a job's params as JSON text */
#define API_JSON_MAX_BYTES   (1u << 20)  /* of a JSON request body */
#define API_WAIT_MAX_S       3600u
#define API_UNLOAD_WITHIN_MS 4000u /* Modly's desktop app gives up after 5 s */
#define API_KNOWN_IDS_MAX    1024  /* bytes of the list of known models in an error */

struct api {
    const struct api_ops *ops;
    void *app;
    const char *version;
    struct router router;
    struct list streams; /* struct stream (events.c) */
};

/* One array of routes per file of routes. */
struct api_routes {
    const struct route *routes;
    size_t count;
};

extern const struct api_routes modly_model_routes;
extern const struct api_routes modly_generate_routes;
extern const struct api_routes modly_other_routes;
extern const struct api_routes openai_routes;
extern const struct api_routes native_info_routes;
extern const struct api_routes native_model_routes;
extern const struct api_routes native_job_routes;
extern const struct api_routes event_routes;

void modly_health(struct exchange *ex);
void events_stop(struct api *api);

/* NULL when unknown: then answer with api_fail_unknown. */
const struct model *api_find_model(struct api *api, struct slice id);
void api_fail_unknown(struct api *api, struct exchange *ex, int status, struct slice id);

/* The model that a request body names; NULL or "" is the active one. When it returns NULL, the
 * request was answered 400. */
const struct model *api_pick_model(struct api *api, struct exchange *ex, const char *id);

/* A copy that lives as the exchange does. */
const char *api_keep(struct exchange *ex, struct slice text);

/* For form_limits and body_limits; `api` is a struct api. */
char *api_upload_path(void *api);

/* Answers what a submit that failed deserves. */
void api_fail_submit(struct exchange *ex, const struct err *err);

/* Sends the file at an absolute path; 404 when it is gone or no regular file. */
void api_send_file(struct exchange *ex, const char *path, const char *media_type);

#endif
