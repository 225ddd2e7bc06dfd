/* tickets: callers who wait: for a job's end, a load, a release, or for events.
 *
 * A callback never comes from inside the call that made the ticket: it is due, and comes at the
 * end of the turn. Events are the exception: those that are replayed come at once. */
#include "daemon/app.h"

#include <errno.h>

struct api_ticket *tickets_new(struct app *app, enum ticket_kind kind, void *data)
{
    struct api_ticket *ticket = mem_new(1, sizeof(*ticket));

    ticket->app = app;
    ticket->kind = kind;
    ticket->data = data;
    return ticket;
}

static void tickets_free_one(struct api_ticket *ticket)
{
    list_del(&ticket->node);
    list_del(&ticket->fire);
    timer_free(ticket->timer);
    mem_free(ticket);
}

void tickets_fire(struct api_ticket *ticket)
{
    if (ticket->fire.next)
        return;
    list_add_tail(&ticket->app->firing, &ticket->fire);
    app_poke(ticket->app);
}

static void tickets_call_job(struct api_ticket *ticket)
{
    struct api_job view;

    if (ticket->job) {
        jobs_fill(ticket->app, ticket->job, &view);
        ticket->job_done(ticket->data, &view);
        return;
    }
    if (APP_OPS.job_get(ticket->app, slice_str(ticket->uuid), &view) == 0)
        ticket->job_done(ticket->data, &view);
    else
        ticket->job_done(ticket->data, NULL);
}

static void tickets_call(struct api_ticket *ticket)
{
    switch (ticket->kind) {
    case TICKET_JOB:
        tickets_call_job(ticket);
        break;
    case TICKET_LOAD:
        ticket->load_done(ticket->data, ticket->err.code ? &ticket->err : NULL);
        break;
    case TICKET_UNLOAD:
        ticket->unload_done(ticket->data, &ticket->result);
        break;
    case TICKET_EVENTS:
        break;
    }
}

void tickets_run(struct app *app)
{
    struct list *first;

    while ((first = list_first(&app->firing)) != NULL) {
        struct api_ticket *ticket = list_entry(first, struct api_ticket, fire);
        list_del(&ticket->fire);
        list_del(&ticket->node); /* a drop from inside the callback finds it in no list */
        ticket->is_firing = true;
        tickets_call(ticket);
        tickets_free_one(ticket);
    }
}

/* A bound job that nobody waits for any more is not wanted. */
static void tickets_abandon_job(struct app *app, struct app_job *job)
{
    struct core_event event = {.kind = CORE_EVENT_CANCEL, .job = job->id};

    if (job->is_bound && !job->is_ended && list_is_empty(&job->waiters))
        app_feed(app, &event);
}

void tickets_drop(struct app *app, struct api_ticket *ticket)
{
    struct app_job *job;

    if (!ticket || ticket->is_firing)
        return;
    job = ticket->kind == TICKET_JOB ? ticket->job : NULL;
    tickets_free_one(ticket);
    if (job)
        tickets_abandon_job(app, job);
}

void tickets_load_ended(struct app *app, const struct core_command *command)
{
    list_each (node, &app->tickets) {
        struct api_ticket *ticket = list_entry(node, struct api_ticket, node);
        struct app_worker *worker;
        size_t at = 0;
        const char *text = app_why_text(app, &command->why);
        if (ticket->kind != TICKET_LOAD || ticket->id != command->job)
            continue;
        while (command->end == CORE_END_LOAD_FAILED &&
               (worker = map_next(&app->workers, &at)) != NULL) {
            if (worker->model == command->model && worker->failure_text)
                text = worker->failure_text;
        }
        if (command->end != CORE_END_DONE) {
            (void)err_set(&ticket->err, -ECANCELED, "%s", *text ? text : "the load ended");
            (void)err_at(&ticket->err, "%s", core_end_name(command->end));
        }
        tickets_fire(ticket);
        return;
    }
}

void tickets_unloaded(struct app *app, const struct core_command *command)
{
    list_each (node, &app->tickets) {
        struct api_ticket *ticket = list_entry(node, struct api_ticket, node);
        if (ticket->kind != TICKET_UNLOAD || ticket->id != command->token)
            continue;
        ticket->result.freed_bytes += command->held_bytes;
        if (ticket->awaited && --ticket->awaited == 0) {
            ticket->result.unloaded = true;
            ticket->result.state = core_residency_name(CORE_RESIDENCY_COLD);
            tickets_fire(ticket);
        }
        return;
    }
}

static void tickets_free_list(struct list *head)
{
    list_each_safe (node, head) {
        tickets_free_one(list_entry(node, struct api_ticket, node));
    }
}

void tickets_free(struct app *app)
{
    struct app_job *job;
    size_t at = 0;

    tickets_free_list(&app->tickets);
    tickets_free_list(&app->subscribers);
    while ((job = map_next(&app->jobs, &at)) != NULL)
        tickets_free_list(&job->waiters);
    list_each_safe (node, &app->firing) {
        tickets_free_one(list_entry(node, struct api_ticket, fire));
    }
}
