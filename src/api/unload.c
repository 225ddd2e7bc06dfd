#include "api/unload.h"

#include "api/wait.h"

struct unload_wait {
    struct waiter waiter;
    bool shows_id;
    const char *id;
};

static struct json_object *unload_json(bool is_unloaded, uint64_t freed_bytes, const char *state)
{
    struct json_object *root = json_object_new_object();

    json_put_bool(root, "unloaded", is_unloaded);
    json_put_u64(root, "freed_bytes", freed_bytes);
    json_put_str(root, "state", state);
    return root;
}

static void unload_on_done(void *data, const struct api_unload_result *result)
{
    struct unload_wait *wait = data;
    struct json_object *root = unload_json(result->unloaded, result->freed_bytes, result->state);
    struct exchange *ex;

    if (wait->shows_id)
        json_put_str(root, "id", wait->id);
    wait->waiter.ticket = NULL;
    ex = wait_end(wait);
    exchange_respond_json(ex, 200, root);
}

void unload_start(struct api *api, struct exchange *ex, const struct unload *unload)
{
    struct unload_wait *wait = wait_new(api, ex, sizeof(*wait));
    struct api_ticket *ticket;

    wait->shows_id = unload->shows_id;
    if (unload->model)
        wait->id = api_keep(ex, slice_str(unload->model->id));
    wait_ask(&wait->waiter);
    ticket = api->ops->unload(api->app, unload->model, unload->is_forced, unload->within_ms,
                              unload_on_done, wait);
    wait_asked(&wait->waiter, ticket);
}

void unload_answer_unknown(struct exchange *ex)
{
    exchange_respond_json(ex, 200, unload_json(true, 0, "unknown"));
}
