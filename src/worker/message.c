#include "worker/message.h"

#include <errno.h>
#include <math.h>

static const struct {
    const char *name;
    enum message_type type;
} TYPES[] = {
    {"ready", MESSAGE_READY},
    {"loaded", MESSAGE_LOADED},
    {"progress", MESSAGE_PROGRESS},
    {"done", MESSAGE_DONE},
    {"cancelled", MESSAGE_CANCELLED},
    {"error", MESSAGE_ERROR},
    {"unloaded", MESSAGE_UNLOADED},
    {"heartbeat", MESSAGE_HEARTBEAT},
    {"log", MESSAGE_LOG},
};

static enum message_type message_type_of(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(TYPES); i++) {
        if (strcmp(name, TYPES[i].name) == 0)
            return TYPES[i].type;
    }
    return MESSAGE_NONE;
}

int message_parse(struct slice line, struct message *out, struct err *err)
{
    struct json_object *root = NULL;
    enum message_type type;
    int rc;

    if (line.len == 0 || line.ptr[0] != '{')
        return err_set(err, -EINVAL, "not a JSON object");
    rc = json_parse_object(line, &root, err);
    if (rc != 0)
        return rc;
    type = message_type_of(json_get_str(root, "type"));
    if (type == MESSAGE_NONE) {
        json_object_put(root);
        return err_set(err, -EINVAL, "an object without a known \"type\"");
    }
    *out = (struct message){type, json_get_str(root, "id"), root};
    return 0;
}

void message_fini(struct message *message)
{
    json_object_put(message->root);
    *message = (struct message){0};
}

bool message_looks_like_progress(struct slice line)
{
    return slice_starts_with(line, "{\"type\":\"progress\"") ||
           slice_starts_with(line, "{\"type\": \"progress\"");
}

int message_percent(const struct message *message)
{
    double percent = json_get_double(message->root, "pct", 0);

    if (!isfinite(percent) || percent < 0)
        return 0;
    return percent > 100 ? 100 : (int)percent;
}

bool message_has_feature(const struct message *ready, const char *feature)
{
    struct json_object *list = json_get(ready->root, "features");

    if (!json_is(list, json_type_array))
        return false;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *item = json_object_array_get_idx(list, i);
        if (json_is(item, json_type_string) && strcmp(json_object_get_string(item), feature) == 0)
            return true;
    }
    return false;
}

static int message_add_member(struct buf *out, const char *key, const char *value)
{
    int rc;

    if (!value)
        return 0;
    rc = buf_printf(out, ",\"%s\":", key);
    return rc == 0 ? json_quote(out, slice_str(value)) : rc;
}

int message_add_action(struct buf *out, const char *action, const char *id)
{
    int rc = buf_printf(out, "{\"action\":\"%s\"", action);

    if (rc == 0)
        rc = message_add_member(out, "id", id);
    return rc == 0 ? buf_add_str(out, "}\n") : rc;
}

int message_add_generate(struct buf *out, const struct worker_job *job, struct slice image_b64)
{
    int rc = buf_printf(out, "{\"action\":\"generate\"");

    if (rc == 0)
        rc = message_add_member(out, "id", job->id);
    if (rc == 0 && !image_b64.ptr)
        rc = message_add_member(out, "image_path", job->image_path);
    if (rc == 0)
        rc = message_add_member(out, "text", job->text);
    if (rc == 0)
        rc = message_add_member(out, "outputs_dir", job->outputs_dir);
    if (rc == 0)
        rc = buf_printf(out, ",\"params\":%s", job->params ? json_text(job->params) : "{}");
    if (rc == 0 && image_b64.ptr) {
        rc = buf_add_str(out, ",\"image_b64\":\"");
        if (rc == 0)
            rc = buf_add_slice(out, image_b64);
        if (rc == 0)
            rc = buf_add_char(out, '"');
    }
    return rc == 0 ? buf_add_str(out, "}\n") : rc;
}
