/* What the tests of the routes share: a real server on a free loopback port, the api, a backend
 * that is scripted through `struct fake`, and one request at a time. */
#ifndef HOTBUNK_TESTS_API_FIXTURE_H
#define HOTBUNK_TESTS_API_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/api.h"
#include "net/http_client.h"
#include "net/server.h"
#include "os/loop.h"

#define JOB_ID     "11111111-2222-4333-8444-555555555555"
#define OTHER_ID   "99999999-2222-4333-8444-555555555555"
#define BOUNDARY   "XyZ"
#define FORM_TYPE  "multipart/form-data; boundary=" BOUNDARY
#define REQUEST_MS 10000u

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("\"%s\" does not contain \"%s\"", (text), (part));                            \
    } while (0)

/* What the daemon is asked, and what it shall say. */
struct fake {
    struct loop *loop;
    struct config config;
    struct catalog *catalog;
    const char *active;

    /* answers */
    struct api_job job; /* what job_get knows, under JOB_ID */
    bool is_at_once;    /* call back from inside the call */
    uint64_t job_ms;    /* until a job_wait is told; 0 = never */
    uint64_t load_ms;   /* the same for a load */
    uint64_t submit_ms; /* until a submit calls back */
    struct err load_err;
    struct api_unload_result unload;
    struct err submit_err; /* code 0 = taken */
    size_t replayed;       /* events given from inside subscribe */

    /* questions */
    unsigned submits, cancels, drops, loads, unloads, switches, reloads;
    char *text, *params, *collection, *image; /* of the last submit; image = its bytes */
    const struct model *model;
    bool is_scratch, is_bound, is_forced;
    uint64_t within_ms, replay_after;
    struct api_ticket *stream;
};

struct fixture {
    char dir[64];
    struct loop *loop;
    struct timer *limit;
    struct fake fake;
    struct api_backend backend;
    struct api *api;
    struct server *server;

    /* the last answer */
    int status;
    char *content_type, *retry_after, *job_header, *allow;
    struct buf body;
    struct json_object *json; /* NULL when it is none */
    int end;
    bool is_ended;
};

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Sends one request and runs the loop until its answer is complete. Returns the status. */
int fixture_get(struct fixture *fx, const char *target);
int fixture_post(struct fixture *fx, const char *target, const char *type, const char *body);
int fixture_send(struct fixture *fx, const struct http_client_request *request);

/* Begins one and runs the loop for `ms`; then the client leaves. */
void fixture_leave_after(struct fixture *fx, const struct http_client_request *request,
                         uint64_t ms);

void fixture_run(struct fixture *fx, uint64_t ms);
void fixture_write(struct fixture *fx, const char *name, const char *text);

/* A field of the JSON answer, "a.b" for one below. */
const char *fixture_str(const struct fixture *fx, const char *path);
struct json_object *fixture_json(const struct fixture *fx, const char *path);

extern const struct api_ops FAKE_OPS;
int fake_init(struct fake *fake, struct loop *loop, const char *dir);
void fake_fini(struct fake *fake);
void fake_emit(struct fake *fake, uint64_t id, const char *type, const char *json);

/* One multipart/form-data part, and a whole body's end. */
#define FIELD(name, value)                                                                         \
    "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" value "\r\n"
#define IMAGE_AS(type)                                                                             \
    "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n"     \
    "Content-Type: " type "\r\n\r\nPIXELS\r\n"
#define IMAGE    IMAGE_AS("image/png")
#define FORM_END "--" BOUNDARY "--\r\n"

#endif
