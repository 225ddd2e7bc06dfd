#include <errno.h>

#include "client/call.h"

/* Two requests side by side: a long poll, which alone decides when the job is over, and the event
 * stream, which only makes progress visible sooner. Losing the stream costs nothing else. */

#define FOLLOW_POLL_S        1u  /* without the stream a poll is all that shows progress */
#define FOLLOW_POLL_LONG_S   10u /* with it */
#define FOLLOW_POLL_SLACK_MS 20000u
#define FOLLOW_TARGET_MAX    1024
#define FOLLOW_PAUSE_MS      100u /* at least, between two polls */

struct follow {
    struct client *client;
    void (*fn)(void *data, struct json_object *job);
    void *data;
    struct call poll, stream;
    struct sse_parse parse;
    struct timer *limit;
    struct json_object *job; /* the last one seen */
    bool has_stream;
    bool is_late;
};

bool client_job_has_ended(struct json_object *job)
{
    const char *state = json_get_str(job, "state");

    return state && (strcmp(state, "done") == 0 || strcmp(state, "error") == 0 ||
                     strcmp(state, "cancelled") == 0);
}

/* Takes the new state of the job. */
static void follow_job_take(struct follow *follow, struct json_object *job)
{
    bool is_same = follow->job && strcmp(json_text(follow->job), json_text(job)) == 0;

    json_object_put(follow->job);
    follow->job = job;
    if (!is_same && follow->fn)
        follow->fn(follow->data, job);
}

static int follow_event_cb(void *user, const struct sse_event *event)
{
    struct follow *follow = user;
    struct json_object *job = NULL;

    if (!slice_eq_str(event->type, "job") || json_parse_object(event->data, &job, NULL) != 0)
        return 0;
    follow_job_take(follow, job);
    if (client_job_has_ended(job))
        loop_stop(follow->client->loop);
    return 0;
}

static int follow_stream_cb(void *data, struct slice bytes)
{
    struct follow *follow = data;

    return sse_parse_feed(&follow->parse, bytes);
}

static void follow_stream_end_cb(void *data)
{
    struct follow *follow = data;

    follow->has_stream = false;
    loop_stop(follow->client->loop); /* a long poll that trusts in it ends */
}

static void follow_limit_cb(void *data)
{
    struct follow *follow = data;

    follow->is_late = true;
    loop_stop(follow->client->loop);
}

static int follow_target(struct buf *out, const char *before, const char *job_id, const char *after)
{
    int rc;

    buf_init(out, FOLLOW_TARGET_MAX);
    rc = buf_add_str(out, before);
    if (rc == 0)
        rc = client_encode(out, job_id);
    return rc != 0 ? rc : buf_add_str(out, after);
}

static void follow_open_stream(struct follow *follow, const char *job_id)
{
    struct buf target;
    struct call_options options = {.first_ms = CLIENT_TIMEOUT_MS,
                                   .idle_ms = CLIENT_TRANSFER_MS,
                                   .on_body = follow_stream_cb,
                                   .on_end = follow_stream_end_cb,
                                   .data = follow};

    sse_parse_init(&follow->parse, follow_event_cb, follow);
    if (follow_target(&target, "/api/v1/events?job=", job_id, "") == 0) {
        options.request = (struct http_client_request){.method = "GET", .target = target.data};
        call_open(&follow->stream, follow->client, &options);
        follow->has_stream = !follow->stream.is_done;
    }
    buf_fini(&target);
}

static bool follow_is_over(const struct follow *follow)
{
    return follow->is_late || follow->client->signal != 0 || client_job_has_ended(follow->job);
}

/* A long poll was begun in the trust that the stream shows progress, and the stream has ended. */
static bool follow_is_blind(const struct follow *follow, unsigned wait_s)
{
    return wait_s > FOLLOW_POLL_S && !follow->has_stream;
}

/* One long poll; until it is through, or the stream or the limit have the last word. */
static int follow_poll(struct follow *follow, const char *job_id, struct err *err)
{
    unsigned wait_s = follow->has_stream ? FOLLOW_POLL_LONG_S : FOLLOW_POLL_S;
    auto_free char *query = mem_printf("?wait=%u", follow->job ? wait_s : 0);
    struct buf target;
    struct call_options options = {.body_max = CLIENT_ANSWER_MAX,
                                   .total_ms = wait_s * 1000u + FOLLOW_POLL_SLACK_MS};
    struct json_object *job = NULL;
    int rc = follow_target(&target, "/api/v1/jobs/", job_id, query);

    if (rc == 0) {
        options.request = (struct http_client_request){.method = "GET", .target = target.data};
        call_open(&follow->poll, follow->client, &options);
        while (!follow->poll.is_done && !follow_is_over(follow) && !follow_is_blind(follow, wait_s))
            loop_run(follow->client->loop);
        if (follow->poll.is_done || follow->client->signal)
            rc = call_wait(&follow->poll, err);
        if (rc == 0 && follow->poll.is_done)
            rc = call_json(&follow->poll, &job, err);
        if (job)
            follow_job_take(follow, job);
        call_close(&follow->poll);
    }
    buf_fini(&target);
    return rc;
}

static void follow_rested_cb(void *data)
{
    loop_stop(data);
}

/* A daemon that does not wait with its answer must not be asked without a pause. */
static void follow_rest(struct follow *follow)
{
    struct timer *pause = timer_new(follow->client->loop, follow_rested_cb, follow->client->loop);

    if (!follow_is_over(follow)) {
        timer_start(pause, FOLLOW_PAUSE_MS);
        loop_run(follow->client->loop);
    }
    timer_free(pause);
}

static int follow_run(struct follow *follow, const char *job_id, struct err *err)
{
    int rc = 0;

    while (rc == 0 && !client_job_has_ended(follow->job)) {
        bool is_first = !follow->job;
        uint64_t began_ns = loop_now_ns();
        if (follow->is_late)
            return err_set(err, -ETIMEDOUT, "job %s did not end in time", job_id);
        rc = follow_poll(follow, job_id, err);
        if (!is_first && loop_now_ns() - began_ns < FOLLOW_PAUSE_MS * 1000000u)
            follow_rest(follow);
    }
    return rc;
}

int client_follow_job(struct client *client, const char *job_id, uint64_t total_ms,
                      void (*fn)(void *data, struct json_object *job), void *data,
                      struct json_object **out_job, struct err *err)
{
    struct follow follow = {.client = client, .fn = fn, .data = data};
    int rc;

    follow.limit = timer_new(client->loop, follow_limit_cb, &follow);
    if (total_ms)
        timer_start(follow.limit, total_ms);
    follow_open_stream(&follow, job_id);
    rc = follow_run(&follow, job_id, err);
    call_close(&follow.stream);
    sse_parse_fini(&follow.parse);
    timer_free(follow.limit);
    if (rc == 0)
        *out_job = follow.job;
    else
        json_object_put(follow.job);
    return rc;
}
