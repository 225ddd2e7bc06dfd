#include "base/json.h"

#include <errno.h>
#include <math.h>

int json_parse(struct slice text, struct json_object **out_root, struct err *err)
{
    struct json_tokener *tokener;
    struct json_object *root;
    enum json_tokener_error outcome;
    int rc = json_prescan(text, err);

    if (rc != 0)
        return rc;
    tokener = json_tokener_new_ex(JSON_DEPTH_MAX + 1);
    if (!tokener)
        return err_set(err, -ENOMEM, "out of memory while reading JSON");
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    root = json_tokener_parse_ex(tokener, text.ptr, (int)text.len);
    outcome = json_tokener_get_error(tokener);
    if (outcome == json_tokener_continue) {
        /* A bare number at the end of the text is complete only once more input says so. */
        root = json_tokener_parse_ex(tokener, "\n", 1);
        outcome = json_tokener_get_error(tokener);
    }
    json_tokener_free(tokener);
    if (outcome != json_tokener_success) {
        json_object_put(root);
        return err_set(err, -EINVAL, "not valid JSON: %s", json_tokener_error_desc(outcome));
    }
    *out_root = root;
    return 0;
}

int json_parse_object(struct slice text, struct json_object **out_root, struct err *err)
{
    struct json_object *root = NULL;
    int rc = json_parse(text, &root, err);

    if (rc != 0)
        return rc;
    if (!json_is(root, json_type_object)) {
        json_object_put(root);
        return err_set(err, -EINVAL, "expected a JSON object");
    }
    *out_root = root;
    return 0;
}

bool json_is(struct json_object *value, enum json_type type)
{
    return json_object_get_type(value) == type && (value != NULL || type == json_type_null);
}

struct json_object *json_get(struct json_object *obj, const char *key)
{
    struct json_object *value = NULL;

    if (!json_is(obj, json_type_object))
        return NULL;
    (void)json_object_object_get_ex(obj, key, &value); /* absent leaves NULL */
    return value;
}

const char *json_get_str(struct json_object *obj, const char *key)
{
    struct json_object *value = json_get(obj, key);

    return json_is(value, json_type_string) ? json_object_get_string(value) : NULL;
}

int64_t json_get_int(struct json_object *obj, const char *key, int64_t otherwise)
{
    struct json_object *value = json_get(obj, key);

    return json_is(value, json_type_int) ? json_object_get_int64(value) : otherwise;
}

double json_get_double(struct json_object *obj, const char *key, double otherwise)
{
    struct json_object *value = json_get(obj, key);

    if (json_is(value, json_type_double) || json_is(value, json_type_int))
        return json_object_get_double(value);
    return otherwise;
}

bool json_get_bool(struct json_object *obj, const char *key, bool otherwise)
{
    struct json_object *value = json_get(obj, key);

    return json_is(value, json_type_boolean) ? json_object_get_boolean(value) : otherwise;
}

void json_put(struct json_object *obj, const char *key, struct json_object *value)
{
    (void)json_object_object_add(obj, key, value); /* fails only without memory */
}

void json_put_str(struct json_object *obj, const char *key, const char *text)
{
    json_put(obj, key, text ? json_str_lossy(slice_str(text)) : NULL);
}

void json_put_int(struct json_object *obj, const char *key, int64_t value)
{
    json_put(obj, key, json_object_new_int64(value));
}

void json_put_u64(struct json_object *obj, const char *key, uint64_t value)
{
    json_put(obj, key, json_object_new_uint64(value));
}

void json_put_double(struct json_object *obj, const char *key, double value)
{
    /* JSON has no NaN and no infinity. */
    json_put(obj, key, isfinite(value) ? json_object_new_double(value) : NULL);
}

void json_put_bool(struct json_object *obj, const char *key, bool value)
{
    json_put(obj, key, json_object_new_boolean(value));
}

const char *json_text(struct json_object *root)
{
    return json_object_to_json_string_ext(root,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

void json_put_at(struct json_object **root)
{
    json_object_put(*root);
}
