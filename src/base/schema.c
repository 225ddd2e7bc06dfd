#include "base/schema.h"

#include <errno.h>
#include <stdio.h>

#include "base/nearest.h"

/* One walk: the path so far is a C string that members extend and cut again. */
struct walk {
    char path[SCHEMA_PATH_MAX];
    size_t len;
    bool is_key;
    struct err *err;
};

static const char *walk_name(const struct walk *walk)
{
    return walk->len ? walk->path : "the text";
}

/* Adds to the path and returns its old length; what does not fit is cut. */
static size_t walk_push(struct walk *walk, const char *fmt, ...) PRINTF(2, 3);

static size_t walk_push(struct walk *walk, const char *fmt, ...)
{
    size_t old = walk->len, room = sizeof(walk->path) - old;
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(walk->path + old, room, fmt, args);
    va_end(args);
    if (len > 0)
        walk->len += (size_t)len < room ? (size_t)len : room - 1;
    return old;
}

static void walk_pop(struct walk *walk, size_t old)
{
    walk->len = old;
    walk->path[old] = '\0';
}

static const struct {
    unsigned type;
    const char *name;
} TYPE_NAMES[] = {
    {SCHEMA_OBJECT, "an object"}, {SCHEMA_ARRAY, "an array"}, {SCHEMA_STRING, "a string"},
    {SCHEMA_NUMBER, "a number"},  {SCHEMA_INT, "an integer"}, {SCHEMA_BOOL, "true or false"},
    {SCHEMA_NULL, "null"},
};

static unsigned schema_types_of(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return SCHEMA_NULL;
    case json_type_boolean:
        return SCHEMA_BOOL;
    case json_type_double:
        return SCHEMA_NUMBER;
    case json_type_int:
        return SCHEMA_INT | SCHEMA_NUMBER;
    case json_type_string:
        return SCHEMA_STRING;
    case json_type_array:
        return SCHEMA_ARRAY;
    case json_type_object:
        return SCHEMA_OBJECT;
    }
    return 0;
}

/* "an array or null" of a mask. */
static void schema_type_text(unsigned types, char *out, size_t cap)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(TYPE_NAMES); i++) {
        int len;
        if (!(types & TYPE_NAMES[i].type))
            continue;
        len = snprintf(out + used, cap - used, "%s%s", used ? " or " : "", TYPE_NAMES[i].name);
        if (len < 0 || (size_t)len >= cap - used)
            return;
        used += (size_t)len;
        if (TYPE_NAMES[i].type == SCHEMA_NUMBER)
            types &= ~(unsigned)SCHEMA_INT; /* said with it */
    }
}

static int schema_fail_type(struct walk *walk, unsigned wanted, struct json_object *value)
{
    unsigned found = schema_types_of(value);
    char want[96], got[96];

    if (found & SCHEMA_INT)
        found = SCHEMA_NUMBER;
    schema_type_text(wanted, want, sizeof(want));
    schema_type_text(found, got, sizeof(got));
    return err_set(walk->err, -EINVAL, "%s must be %s, but is %s", walk_name(walk), want, got);
}

static int schema_check_string(struct walk *walk, const struct schema *schema,
                               struct json_object *value)
{
    struct slice text = slice_of(json_object_get_string(value),
                                 (size_t)json_object_get_string_len(value));
    struct nearest near = {.word = text};

    if (text.len < schema->len_min)
        return err_set(walk->err, -EINVAL,
                       schema->len_min == 1 ? "%s must not be empty" : "%s is too short",
                       walk_name(walk));
    if (schema->len_max && text.len > schema->len_max)
        return err_set(walk->err, -EINVAL, "%s is longer than %zu bytes", walk_name(walk),
                       schema->len_max);
    if (!schema->values)
        return 0;
    for (const char *const *at = schema->values; *at; at++) {
        if (slice_eq_str(text, *at))
            return 0;
        nearest_offer(&near, *at);
    }
    return err_set(walk->err, -EINVAL, "%s cannot be \"%.64s\"; try \"%s\"", walk_name(walk),
                   text.ptr, near.best ? near.best : schema->values[0]);
}

static int schema_check_number(struct walk *walk, const struct schema *schema,
                               struct json_object *value)
{
    double number = json_object_get_double(value);
    bool is_bounded = schema->min != 0 || schema->max != 0;

    if (!is_bounded || (number >= schema->min && number <= schema->max))
        return 0;
    return err_set(walk->err, -EINVAL, "%s must be from %g to %g, but is %g", walk_name(walk),
                   schema->min, schema->max, number);
}

static int schema_check_value(struct walk *walk, const struct schema *schema,
                              struct json_object *value, unsigned depth);

static int schema_check_array(struct walk *walk, const struct schema *schema,
                              struct json_object *value, unsigned depth)
{
    size_t count = json_object_array_length(value);

    if (count < schema->len_min)
        return err_set(walk->err, -EINVAL,
                       schema->len_min == 1 ? "%s must not be empty" : "%s has too few items",
                       walk_name(walk));
    if (schema->len_max && count > schema->len_max)
        return err_set(walk->err, -EINVAL, "%s has %zu items, over the limit of %zu",
                       walk_name(walk), count, schema->len_max);
    for (size_t i = 0; schema->items && i < count; i++) {
        size_t old = walk_push(walk, "[%zu]", i);
        int rc = schema_check_value(walk, schema->items, json_object_array_get_idx(value, i),
                                    depth + 1);
        if (rc != 0)
            return rc;
        walk_pop(walk, old);
    }
    return 0;
}

static const struct schema_member *schema_member_find(const struct schema *schema, const char *key)
{
    for (const struct schema_member *at = schema->members; at && at->key; at++) {
        if (strcmp(at->key, key) == 0)
            return at;
    }
    return NULL;
}

static int schema_fail_unknown(struct walk *walk, const struct schema *schema, const char *key)
{
    struct nearest near = {.word = slice_str(key)};

    for (const struct schema_member *at = schema->members; at && at->key; at++)
        nearest_offer(&near, at->key);
    (void)walk_push(walk, walk->len ? ".%s" : "%s", key);
    walk->is_key = true;
    if (near.best)
        return err_set(walk->err, -EINVAL, "unknown key %s; did you mean %s?", walk->path,
                       near.best);
    return err_set(walk->err, -EINVAL, "unknown key %s", walk->path);
}

static int schema_check_required(struct walk *walk, const struct schema *schema,
                                 struct json_object *value)
{
    for (const struct schema_member *at = schema->members; at && at->key; at++) {
        if (at->is_required && !json_get(value, at->key))
            return err_set(walk->err, -EINVAL, "%s%s%s is missing", walk->path,
                           walk->len ? "." : "", at->key);
    }
    return 0;
}

static int schema_check_object(struct walk *walk, const struct schema *schema,
                               struct json_object *value, unsigned depth)
{
    json_object_object_foreach(value, key, member)
    {
        const struct schema_member *known = schema_member_find(schema, key);
        const struct schema *inner = known ? known->schema : schema->members ? NULL : schema->items;
        size_t old;
        int rc;

        if (!known && schema->members && schema->is_closed)
            return schema_fail_unknown(walk, schema, key);
        if (!inner || (!member && !(inner->types & SCHEMA_NULL)))
            continue;
        old = walk_push(walk, walk->len ? ".%s" : "%s", key);
        rc = schema_check_value(walk, inner, member, depth + 1);
        if (rc != 0)
            return rc;
        walk_pop(walk, old);
    }
    return schema_check_required(walk, schema, value);
}

static int schema_check_value(struct walk *walk, const struct schema *schema,
                              struct json_object *value, unsigned depth)
{
    unsigned found = schema_types_of(value);

    if (depth > JSON_DEPTH_MAX)
        return err_set(walk->err, -EINVAL, "%s is nested too deeply", walk_name(walk));
    if (!(found & schema->types))
        return schema_fail_type(walk, schema->types, value);
    if (found & SCHEMA_STRING)
        return schema_check_string(walk, schema, value);
    if (found & SCHEMA_NUMBER)
        return schema_check_number(walk, schema, value);
    if (found & SCHEMA_ARRAY)
        return schema_check_array(walk, schema, value, depth);
    if (found & SCHEMA_OBJECT)
        return schema_check_object(walk, schema, value, depth);
    return 0;
}

int schema_check(const struct schema *schema, struct json_object *value,
                 struct schema_fault *out_fault, struct err *err)
{
    struct walk walk = {.err = err};
    int rc = schema_check_value(&walk, schema, value, 0);

    if (rc != 0 && out_fault) {
        memcpy(out_fault->path, walk.path, sizeof(walk.path));
        out_fault->is_key = walk.is_key;
    }
    return rc;
}
