#include "api/params.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define PARAMS_OPTIONS_TEXT_MAX 300
#define PARAMS_VALUE_SHOWN      80

/* An option is {"value", "label"}, or the bare value. */
static struct json_object *params_option_value(struct json_object *option)
{
    return json_is(option, json_type_object) ? json_get(option, "value") : option;
}

struct json_object *params_item(struct json_object *schema, const char *id)
{
    size_t count = json_is(schema, json_type_array) ? json_object_array_length(schema) : 0;

    for (size_t i = 0; i < count; i++) {
        struct json_object *item = json_object_array_get_idx(schema, i);
        const char *name = json_is(item, json_type_object) ? json_get_str(item, "id") : NULL;
        if (name && strcmp(name, id) == 0)
            return item;
    }
    return NULL;
}

bool params_has_option(struct json_object *item, struct json_object *value)
{
    struct json_object *options = json_get(item, "options");
    size_t count = json_is(options, json_type_array) ? json_object_array_length(options) : 0;

    for (size_t i = 0; i < count; i++) {
        struct json_object *option = params_option_value(json_object_array_get_idx(options, i));
        if (json_object_equal(option, value))
            return true;
    }
    return false;
}

int params_list_options(struct json_object *item, struct buf *out)
{
    struct json_object *options = json_get(item, "options");
    size_t count = json_is(options, json_type_array) ? json_object_array_length(options) : 0;
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++) {
        struct json_object *option = params_option_value(json_object_array_get_idx(options, i));
        const char *text = json_is(option, json_type_string) ? json_object_get_string(option)
                                                             : json_text(option);
        rc = buf_printf(out, "%s%s", i ? ", " : "", text);
    }
    return rc;
}

static int params_refuse(struct err *err, const char *id, const char *what,
                         struct json_object *value)
{
    return err_set(err, -EINVAL, "params.%s must be %s, but is %.*s", id, what, PARAMS_VALUE_SHOWN,
                   json_text(value));
}

static int params_check_select(struct json_object *item, const char *id, struct json_object *value,
                               struct err *err)
{
    struct buf known;
    int rc;

    if (!json_is(json_get(item, "options"), json_type_array) || params_has_option(item, value))
        return 0;
    buf_init(&known, PARAMS_OPTIONS_TEXT_MAX);
    rc = buf_add_str(&known, "one of ");
    if (rc == 0)
        rc = params_list_options(item, &known);
    if (rc != 0 && known.len > 3)
        memcpy(known.data + known.len - 3, "...", 3); /* a list that is too long is cut */
    rc = params_refuse(err, id, buf_str(&known), value);
    buf_fini(&known);
    return rc;
}

static bool params_number(struct json_object *value, double *out_number)
{
    if (!json_is(value, json_type_int) && !json_is(value, json_type_double))
        return false;
    *out_number = json_object_get_double(value);
    return true;
}

static int params_check_number(struct json_object *item, const char *id, struct json_object *value,
                               bool is_whole, struct err *err)
{
    double number, limit;
    char what[64];

    if (!params_number(value, &number) || (is_whole && floor(number) != number))
        return params_refuse(err, id, is_whole ? "a whole number" : "a number", value);
    if (params_number(json_get(item, "min"), &limit) && number < limit) {
        (void)snprintf(what, sizeof(what), "at least %.6g", limit);
        return params_refuse(err, id, what, value);
    }
    if (params_number(json_get(item, "max"), &limit) && number > limit) {
        (void)snprintf(what, sizeof(what), "at most %.6g", limit);
        return params_refuse(err, id, what, value);
    }
    return 0;
}

static int params_check_one(struct json_object *item, const char *id, struct json_object *value,
                            struct err *err)
{
    const char *type = json_get_str(item, "type");
    struct slice kind = slice_str(type ? type : "");

    if (!value)
        return 0;
    if (slice_eq_str(kind, "select"))
        return params_check_select(item, id, value, err);
    if (slice_eq_str(kind, "int") || slice_eq_str(kind, "float"))
        return params_check_number(item, id, value, kind.len == 3, err);
    if (slice_eq_str(kind, "boolean") || slice_eq_str(kind, "bool"))
        return json_is(value, json_type_boolean) ? 0
                                                 : params_refuse(err, id, "true or false", value);
    if (slice_eq_str(kind, "string"))
        return json_is(value, json_type_string) ? 0 : params_refuse(err, id, "a text", value);
    return 0;
}

int params_check(struct json_object *schema, struct json_object *params,
                 char out_name[PARAMS_NAME_MAX], struct err *err)
{
    size_t count = json_is(schema, json_type_array) ? json_object_array_length(schema) : 0;

    for (size_t i = 0; i < count; i++) {
        struct json_object *item = json_object_array_get_idx(schema, i);
        const char *id = json_is(item, json_type_object) ? json_get_str(item, "id") : NULL;
        int rc = id ? params_check_one(item, id, json_get(params, id), err) : 0;

        if (rc != 0) {
            if (out_name)
                (void)snprintf(out_name, PARAMS_NAME_MAX, "%s", id);
            return rc;
        }
    }
    return 0;
}
