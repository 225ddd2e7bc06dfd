/* reload: reads the extensions again on a pool thread, one reading at a time. Requests that come
 * while one is under way are answered by the next: theirs may be the newer files. */
#include "daemon/app.h"

struct reload_waiter {
    struct list node;
    void (*done)(void *data, const struct err *err);
    void *data;
};

struct reload {
    struct app *app; /* NULL: the app has gone */
    const struct config *config;
    struct catalog *catalog;
    struct list waiters;
    struct err err;
};

static void reload_begin(struct app *app);

static void reload_work(void *data)
{
    struct reload *reload = data;

    if (catalog_read(reload->config, &reload->catalog, &reload->err) != 0)
        reload->catalog = NULL;
}

static void reload_swap(struct app *app, struct catalog *fresh)
{
    struct catalog *old = app->catalog;

    app->catalog = fresh;
    models_sync(app);
    catalog_free(old);
    log_write(&app->log, LOG_LEVEL_INFO, "extensions.reloaded", "models=%zu errors=%zu",
              catalog_count(fresh), catalog_error_count(fresh));
}

static void reload_answer(struct list *waiters, const struct err *err)
{
    list_each_safe (node, waiters) {
        struct reload_waiter *waiter = list_entry(node, struct reload_waiter, node);
        list_del(&waiter->node);
        if (waiter->done)
            waiter->done(waiter->data, err);
        mem_free(waiter);
    }
}

static void reload_done(void *data)
{
    struct reload *reload = data;
    struct app *app = reload->app;

    if (app) {
        app->reload = NULL;
        if (reload->catalog)
            reload_swap(app, reload->catalog);
        reload_answer(&reload->waiters, reload->catalog ? NULL : &reload->err);
        if (!list_is_empty(&app->reload_waiters) && !app->reload)
            reload_begin(app);
    } else {
        catalog_free(reload->catalog);
    }
    mem_free(reload);
}

static void reload_begin(struct app *app)
{
    struct reload *reload = mem_new(1, sizeof(*reload));

    reload->app = app;
    reload->config = app->config;
    list_init(&reload->waiters);
    list_each_safe (node, &app->reload_waiters) {
        list_del(node);
        list_add_tail(&reload->waiters, node);
    }
    app->reload = reload;
    if (loop_offload(app->loop, reload_work, reload_done, reload) == 0)
        return;
    reload_work(reload); /* no thread: here, then */
    reload_done(reload);
}

void reload_request(struct app *app, void (*done)(void *data, const struct err *err), void *data)
{
    struct reload_waiter *waiter = mem_new(1, sizeof(*waiter));

    waiter->done = done;
    waiter->data = data;
    list_add_tail(&app->reload_waiters, &waiter->node);
    if (!app->reload)
        reload_begin(app);
}

void reload_orphan(struct app *app)
{
    static const struct err GONE = {.code = -1, .msg = "the daemon is stopping"};

    reload_answer(&app->reload_waiters, &GONE);
    if (!app->reload)
        return;
    reload_answer(&app->reload->waiters, &GONE);
    app->reload->app = NULL;
    app->reload = NULL;
}
