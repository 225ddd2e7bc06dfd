/* feed: the event stream: a ring of the newest events, told to whoever listens. */
#include "api/job_json.h"
#include "daemon/app.h"

static struct app_event *feed_slot(struct app *app, uint64_t id)
{
    return &app->events[id % APP_EVENTS_KEPT];
}

void feed_publish(struct app *app, const char *type, struct json_object *json_take)
{
    struct app_event *event = feed_slot(app, ++app->last_event);

    mem_free(event->json);
    *event = (struct app_event){app->last_event, type, mem_strdup(json_text(json_take))};
    json_object_put(json_take);
    list_each_safe (node, &app->subscribers) {
        struct api_ticket *ticket = list_entry(node, struct api_ticket, node);
        ticket->event(ticket->data, event->id, event->type, slice_str(event->json));
    }
}

void feed_replay(struct api_ticket *ticket, uint64_t after)
{
    struct app *app = ticket->app;
    uint64_t oldest = app->last_event > APP_EVENTS_KEPT ? app->last_event - APP_EVENTS_KEPT : 0;

    if (after == 0 || after >= app->last_event)
        return;
    for (uint64_t id = (after > oldest ? after : oldest) + 1; id <= app->last_event; id++) {
        struct app_event *event = feed_slot(app, id);
        if (event->id == id)
            ticket->event(ticket->data, id, event->type, slice_str(event->json));
    }
}

void feed_job(struct app *app, const struct app_job *job)
{
    struct json_object *json;
    struct api_job view;

    if (list_is_empty(&app->subscribers) && job->state == API_JOB_RUNNING && job->progress)
        return; /* mere progress, and nobody listens */
    jobs_fill(app, job, &view);
    view.result = NULL; /* it may be large: GET the job for it */
    json = job_json_native(&view);
    feed_publish(app, "job", json);
}

void feed_worker(struct app *app, const struct core_command *command)
{
    struct json_object *json = json_object_new_object();

    json_put_int(json, "worker", command->worker);
    json_put_str(json, "model", models_name(app, command->model));
    json_put_str(json, "from", core_worker_state_name(command->from));
    json_put_str(json, "to", core_worker_state_name(command->to));
    json_put_str(json, "why", app_why_text(app, &command->why));
    json_put_u64(json, "held_bytes", command->held_bytes);
    feed_publish(app, "worker", json);
}

void feed_free(struct app *app)
{
    for (size_t i = 0; i < APP_EVENTS_KEPT; i++)
        mem_free(app->events[i].json);
}
