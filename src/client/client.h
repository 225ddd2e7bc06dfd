/* client: blocking calls to one daemon, over a loop of their own.
 *
 * client_new / client_free. Not shared between threads; one call at a time. Calls return 0 or a
 * negative errno, which bunk_error_of turns into one of hotbunk.h's; err->msg names the remedy.
 * Every call has a time-out; after client_catch_signals a signal ends the call with -EINTR. */
#ifndef HOTBUNK_CLIENT_CLIENT_H
#define HOTBUNK_CLIENT_CLIENT_H

#include "base/json.h"
#include "client/address.h"
#include "client/sse_parse.h"
#include "net/http_client.h"

#define CLIENT_TIMEOUT_MS     30000u         /* of a call that only asks */
#define CLIENT_TRANSFER_MS    60000u         /* without one byte of a file or an event stream */
#define CLIENT_UPLOAD_MS      (600u * 1000u) /* of a call that sends a file */
#define CLIENT_ANSWER_MAX     (64u << 20)    /* bytes of a JSON answer */
#define CLIENT_MEDIA_TYPE_MAX 96

struct client;

/* `url` NULL: from the environment or the address file. The key comes from HOTBUNK_API_KEY. */
int client_new(const char *url, struct client **out_client, struct err *err) MUSTCHECK;
void client_free(struct client *client);

/* From here on SIGINT, SIGTERM and SIGHUP end a call in progress, and all later calls until
 * client_clear_signal, with -EINTR. client_signal: the number, or 0. */
void client_catch_signals(struct client *client);
int client_signal(const struct client *client);
void client_clear_signal(struct client *client);

const char *client_url(const struct client *client);

/* The BUNK_E_ value of what a call returned. */
int bunk_error_of(int rc);

/* Adds `text` as one path segment or query value: all but RFC 3986's unreserved bytes become
 * %XX, slashes too. */
int client_encode(struct buf *target, const char *text) MUSTCHECK;

/* JSON objects in and out. `body` NULL = none. *out_root is the caller's (json_object_put). */
int client_get_json(struct client *client, const char *target, uint64_t timeout_ms,
                    struct json_object **out_root, struct err *err) MUSTCHECK;
int client_post_json(struct client *client, const char *target, struct json_object *body,
                     uint64_t timeout_ms, struct json_object **out_root, struct err *err) MUSTCHECK;
int client_post_multipart(struct client *client, const char *target,
                          const struct http_client_part *parts, size_t part_count,
                          uint64_t timeout_ms, struct json_object **out_root,
                          struct err *err) MUSTCHECK;

/* Adds the text of the answer to `out`, at most out->max bytes of it. */
int client_get_text(struct client *client, const char *target, uint64_t timeout_ms, struct buf *out,
                    struct err *err) MUSTCHECK;

struct client_file {
    char media_type[CLIENT_MEDIA_TYPE_MAX];
    uint64_t bytes;
};

/* What to download; POST with a JSON body when there is one. `idle_ms` without a byte ends it;
 * the wait for the first one is `first_ms`. */
struct client_source {
    const char *target;
    struct json_object *body;
    uint64_t first_ms;
    uint64_t idle_ms;
};

/* Into a new file that appears at `path` only when it is whole, or to a descriptor. */
int client_download(struct client *client, const struct client_source *source, const char *path,
                    struct client_file *out_file, struct err *err) MUSTCHECK;
int client_download_fd(struct client *client, const struct client_source *source, int fd,
                       struct client_file *out_file, struct err *err) MUSTCHECK;

/* Reads an event stream until `fn` returns non-zero (then 0 is returned), it ends (-ENODATA), is
 * silent for idle_ms or takes longer than total_ms (-ETIMEDOUT; 0 = no limit). */
int client_events(struct client *client, const char *target, uint64_t idle_ms, uint64_t total_ms,
                  int (*fn)(void *data, const struct sse_event *event), void *data,
                  struct err *err) MUSTCHECK;

/* Waits for the end of a job. `fn` is called with the Job whenever something of it changed (may be
 * NULL). *out_job is its last state. total_ms 0 = no limit. */
int client_follow_job(struct client *client, const char *job_id, uint64_t total_ms,
                      void (*fn)(void *data, struct json_object *job), void *data,
                      struct json_object **out_job, struct err *err) MUSTCHECK;

/* The job is done, error or cancelled. */
bool client_job_has_ended(struct json_object *job);

#endif
