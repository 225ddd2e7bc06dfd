/* One setting out of text: from a flag, a variable, a default, or a value of config.yaml. */
#include <arpa/inet.h>
#include <errno.h>

#include "base/nearest.h"
#include "base/num.h"
#include "base/utf8.h"
#include "catalog/config_keys.h"

static void *field_of(struct config *config, const struct config_key *key)
{
    return (char *)config + key->offset;
}

static struct slice shown(struct slice text)
{
    return slice_of(text.ptr, text.len < 64 ? text.len : 64);
}

static int value_fail(struct slice text, const char *what, struct err *err)
{
    return err_set(err, -EINVAL, "\"%.*s\" is not %s", SLICE_ARG(shown(text)), what);
}

static int set_string(struct config *config, const struct config_key *key, char *value)
{
    char **field = field_of(config, key);

    mem_free(*field);
    *field = value;
    return 0;
}

static int set_address(struct config *config, const struct config_key *key, struct slice text,
                       struct err *err)
{
    auto_free char *value = slice_dup(slice_eq_str(text, "localhost") ? slice_str("127.0.0.1")
                                                                      : text);
    struct in6_addr address;

    if (inet_pton(AF_INET, value, &address) != 1 && inet_pton(AF_INET6, value, &address) != 1)
        return value_fail(text, "a numeric address such as 127.0.0.1 or ::1", err);
    return set_string(config, key, mem_strdup(value));
}

static int set_paths(struct config *config, const struct config_key *key, struct slice text,
                     const char *base_dir, struct err *err)
{
    char **dirs = field_of(config, key);
    size_t count = 0;
    struct slice part;

    while (dirs[count])
        count++;
    while (slice_split(&text, ':', &part)) {
        if (part.len == 0)
            continue;
        if (count == CONFIG_EXTENSION_DIRS_MAX - 1) /* the last place is for the bundled ones */
            return err_set(err, -EINVAL, "at most %d directories", CONFIG_EXTENSION_DIRS_MAX - 1);
        dirs[count++] = config_expand_path(part, base_dir);
    }
    return 0;
}

static int set_choice(struct config *config, const struct config_key *key, struct slice text,
                      struct err *err)
{
    struct nearest near = {.word = text};

    for (const char *const *at = key->choices; *at; at++) {
        if (slice_eq_str(text, *at))
            return set_string(config, key, mem_strdup(*at));
        nearest_offer(&near, *at);
    }
    return err_set(err, -EINVAL, "\"%.*s\" is none of the choices; did you mean %s?",
                   SLICE_ARG(shown(text)), near.best ? near.best : key->choices[0]);
}

static int set_u64(struct config *config, const struct config_key *key, uint64_t value,
                   struct err *err)
{
    if (value < key->min || (key->max && value > key->max))
        return err_set(err, -ERANGE, "out of range: from %llu to %llu are accepted%s",
                       (unsigned long long)key->min,
                       (unsigned long long)(key->max ? key->max : UINT64_MAX),
                       key->type == CONFIG_DURATION ? " (milliseconds)"
                       : key->type == CONFIG_SIZE   ? " (bytes)"
                                                    : "");
    if (key->type == CONFIG_PORT)
        *(uint16_t *)field_of(config, key) = (uint16_t)value;
    else
        *(uint64_t *)field_of(config, key) = value;
    return 0;
}

static int set_number(struct config *config, const struct config_key *key, struct slice text,
                      struct err *err)
{
    uint64_t value;

    if (key->type == CONFIG_SIZE) {
        if (num_parse_size(text, &value) != 0)
            return value_fail(text, "a size such as 512MiB or 12GB", err);
    } else if (key->type == CONFIG_DURATION) {
        if (num_parse_duration(text, &value) != 0)
            return value_fail(text, "a duration such as 250ms, 30s, 5m or 1.5h", err);
    } else if (num_parse_u64(text, UINT64_MAX, &value) != 0) {
        return value_fail(text, "a whole number", err);
    }
    return set_u64(config, key, value, err);
}

static int set_bool(struct config *config, const struct config_key *key, struct slice text,
                    struct err *err)
{
    bool is_true = slice_eq_str(text, "true") || slice_eq_str(text, "1");

    if (!is_true && !slice_eq_str(text, "false") && !slice_eq_str(text, "0"))
        return value_fail(text, "true or false", err);
    *(bool *)field_of(config, key) = is_true;
    return 0;
}

#define SCALE_MIN 0.001
#define SCALE_MAX 10.0

static int set_scale(struct config *config, const struct config_key *key, struct slice text,
                     struct err *err)
{
    double value;

    if (num_parse_double(text, &value) != 0 || value < SCALE_MIN || value > SCALE_MAX)
        return value_fail(text, "a number from 0.001 to 10", err);
    *(double *)field_of(config, key) = value;
    return 0;
}

int config_set_text(struct config *config, const struct config_key *key, struct slice text,
                    const char *base_dir, struct err *err)
{
    if (!utf8_is_valid(text))
        return err_set(err, -EINVAL, "not valid UTF-8");
    switch (key->type) {
    case CONFIG_TEXT:
    case CONFIG_SECRET:
        if (text.len == 0)
            return err_set(err, -EINVAL, "must not be empty");
        return set_string(config, key, slice_dup(text));
    case CONFIG_ADDRESS:
        return set_address(config, key, text, err);
    case CONFIG_PATH:
        if (text.len == 0)
            return err_set(err, -EINVAL, "must not be empty");
        return set_string(config, key, config_expand_path(text, base_dir));
    case CONFIG_PATHS:
        return set_paths(config, key, text, base_dir, err);
    case CONFIG_CHOICE:
        return set_choice(config, key, text, err);
    case CONFIG_PORT:
    case CONFIG_COUNT:
    case CONFIG_SIZE:
    case CONFIG_DURATION:
        return set_number(config, key, text, err);
    case CONFIG_BOOL:
        return set_bool(config, key, text, err);
    case CONFIG_SCALE:
        return set_scale(config, key, text, err);
    case CONFIG_LEVEL:
        if (log_level_parse(text, field_of(config, key)) != 0)
            return value_fail(text, "debug, info, warn or error", err);
        return 0;
    }
    return -EINVAL;
}

/* The JSON types that a value of this kind may have in config.yaml, as a person would say it. */
static const char *json_misfit(enum config_type type, struct json_object *value)
{
    bool is_string = json_is(value, json_type_string), is_int = json_is(value, json_type_int);
    bool is_number = is_int || json_is(value, json_type_double);

    switch (type) {
    case CONFIG_BOOL:
        return json_is(value, json_type_boolean) ? NULL : "must be true or false";
    case CONFIG_PORT:
    case CONFIG_COUNT:
        return is_int ? NULL : "must be a whole number";
    case CONFIG_SCALE:
        return is_number ? NULL : "must be a number";
    case CONFIG_SIZE:
    case CONFIG_DURATION:
        return is_number || is_string ? NULL : "must be a number with a unit";
    case CONFIG_PATHS:
        return is_string || json_is(value, json_type_array) ? NULL
                                                            : "must be a string or a list of them";
    case CONFIG_TEXT:
    case CONFIG_SECRET:
    case CONFIG_ADDRESS:
    case CONFIG_PATH:
    case CONFIG_CHOICE:
    case CONFIG_LEVEL:
        return is_string ? NULL : "must be a string: put it between quotes";
    }
    return "cannot be set";
}

static struct slice json_text_of(struct json_object *value)
{
    if (json_is(value, json_type_string))
        return slice_of(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    return slice_str(json_object_get_string(value));
}

int config_set_json(struct config *config, const struct config_key *key, struct json_object *value,
                    const char *base_dir, struct err *err)
{
    const char *misfit = json_misfit(key->type, value);

    if (misfit)
        return err_set(err, -EINVAL, "%s", misfit);
    if (!json_is(value, json_type_array))
        return config_set_text(config, key, json_text_of(value), base_dir, err);
    for (size_t i = 0; i < json_object_array_length(value); i++) {
        struct json_object *item = json_object_array_get_idx(value, i);
        int rc;
        if (!json_is(item, json_type_string))
            return err_set(err, -EINVAL, "must be a string or a list of them");
        rc = config_set_text(config, key, json_text_of(item), base_dir, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

void config_clear(struct config *config, const struct config_key *key)
{
    switch (key->type) {
    case CONFIG_TEXT:
    case CONFIG_SECRET:
    case CONFIG_ADDRESS:
    case CONFIG_PATH:
    case CONFIG_CHOICE:
        (void)set_string(config, key, NULL);
        return;
    case CONFIG_PATHS:
        for (char **dir = field_of(config, key); *dir; dir++) {
            mem_free(*dir);
            *dir = NULL;
        }
        return;
    case CONFIG_PORT:
    case CONFIG_COUNT:
    case CONFIG_SIZE:
    case CONFIG_DURATION:
    case CONFIG_BOOL:
    case CONFIG_SCALE:
    case CONFIG_LEVEL:
        return; /* plain values */
    }
}
