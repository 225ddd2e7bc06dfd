#include "catalog/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/num.h"
#include "base/schema.h"
#include "base/utf8.h"

#define ANCHORS_MAX 1000

struct place {
    struct place *next;
    const char *path;
    size_t key_line, key_col; /* 0 = it has no key */
    size_t line, col;
};

struct yaml_file {
    struct arena arena;
    struct json_object *root;
    char *name;
    struct place *places; /* newest first */
};

struct anchor {
    const char *name;
    struct json_object *value; /* borrowed from the tree; NULL = a null */
    size_t nodes;
    unsigned height;
};

struct build {
    yaml_parser_t parser;
    struct yaml_file *file;
    struct err *err;
    struct anchor anchors[ANCHORS_MAX];
    size_t anchor_count;
    size_t nodes;
    char path[SCHEMA_PATH_MAX];
    size_t path_len;
};

/* What was built out of one node. */
struct built {
    struct json_object *value;
    unsigned height; /* levels below it */
};

static int build_fail(struct build *build, const yaml_mark_t *mark, const char *fmt, ...)
    PRINTF(3, 4);

static int build_fail(struct build *build, const yaml_mark_t *mark, const char *fmt, ...)
{
    char text[ERR_MSG_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args); /* cut is fine */
    va_end(args);
    (void)err_set(build->err, -EINVAL, "%s", text);
    (void)err_at(build->err, "%s:%zu:%zu", build->file->name, mark->line + 1, mark->column + 1);
    return -EINVAL;
}

static int build_no_memory(struct build *build)
{
    return err_set(build->err, -ENOMEM, "%s takes too much memory", build->file->name);
}

static int build_next(struct build *build, yaml_event_t *event)
{
    const yaml_parser_t *parser = &build->parser;

    if (yaml_parser_parse(&build->parser, event))
        return 0;
    if (parser->error == YAML_MEMORY_ERROR)
        return build_no_memory(build);
    if (parser->context)
        return build_fail(build, &parser->problem_mark, "not valid YAML: %s %s", parser->context,
                          parser->problem ? parser->problem : "");
    return build_fail(build, &parser->problem_mark, "not valid YAML: %s",
                      parser->problem ? parser->problem : "unknown problem");
}

/* ---- places ---- */

/* Notes where build->path is; what was cut or finds no memory is simply not known later. */
static void build_note(struct build *build, const yaml_mark_t *key, const yaml_mark_t *value)
{
    struct arena *arena = &build->file->arena;
    struct place *place;

    if (build->path_len + 1 >= sizeof(build->path))
        return;
    place = arena_new(arena, 1, sizeof(*place));
    if (!place)
        return;
    *place = (struct place){
        .next = build->file->places,
        .path = arena_dup(arena, slice_of(build->path, build->path_len)),
        .key_line = key ? key->line + 1 : 0,
        .key_col = key ? key->column + 1 : 0,
        .line = value->line + 1,
        .col = value->column + 1,
    };
    if (place->path)
        build->file->places = place;
}

static size_t build_push(struct build *build, const char *fmt, ...) PRINTF(2, 3);

static size_t build_push(struct build *build, const char *fmt, ...)
{
    size_t old = build->path_len, room = sizeof(build->path) - old;
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(build->path + old, room, fmt, args);
    va_end(args);
    if (len > 0)
        build->path_len += (size_t)len < room ? (size_t)len : room - 1;
    return old;
}

static void build_pop(struct build *build, size_t old)
{
    build->path_len = old;
    build->path[old] = '\0';
}

/* ---- scalars ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* [-+]?digits with an optional fraction and exponent, and no leading zero. */
static bool looks_decimal(struct slice text, bool *out_is_float)
{
    size_t at = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');
    size_t start = at;

    *out_is_float = false;
    while (at < text.len && is_digit(text.ptr[at]))
        at++;
    if (at == start || (text.ptr[start] == '0' && at - start > 1))
        return false;
    if (at < text.len && text.ptr[at] == '.') {
        *out_is_float = true;
        for (at++; at < text.len && is_digit(text.ptr[at]);)
            at++;
    }
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        *out_is_float = true;
        at++;
        at += at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+');
        if (at == text.len)
            return false;
        while (at < text.len && is_digit(text.ptr[at]))
            at++;
    }
    return at == text.len;
}

static int scalar_number(struct build *build, struct slice text, bool is_float,
                         const yaml_mark_t *mark, struct json_object **out)
{
    int64_t small;
    uint64_t big;
    double real;

    if (text.ptr[0] == '+')
        text = slice_skip(text, 1);
    if (is_float) {
        if (num_parse_double(text, &real) != 0)
            return build_fail(build, mark, "the number %.*s cannot be used",
                              SLICE_ARG(slice_of(text.ptr, text.len < 64 ? text.len : 64)));
        *out = json_object_new_double(real);
    } else if (num_parse_i64(text, INT64_MIN, INT64_MAX, &small) == 0) {
        *out = json_object_new_int64(small);
    } else if (num_parse_u64(text, UINT64_MAX, &big) == 0) {
        *out = json_object_new_uint64(big);
    } else {
        return build_fail(build, mark, "a number over 64 bits");
    }
    return *out ? 0 : build_no_memory(build);
}

static int scalar_string(struct build *build, struct slice text, const yaml_mark_t *mark,
                         struct json_object **out)
{
    if (memchr(text.ptr, '\0', text.len))
        return build_fail(build, mark, "a NUL byte in a string is not accepted");
    *out = json_object_new_string_len(text.ptr, (int)text.len);
    return *out ? 0 : build_no_memory(build);
}

static bool is_null_word(struct slice text)
{
    return text.len == 0 || slice_eq_str(text, "~") || slice_eq_str(text, "null") ||
           slice_eq_str(text, "Null") || slice_eq_str(text, "NULL");
}

static int build_scalar(struct build *build, const yaml_event_t *event, struct built *out)
{
    struct slice text = slice_of((const char *)event->data.scalar.value, event->data.scalar.length);
    bool is_float;

    out->height = 0;
    if (event->data.scalar.tag && !event->data.scalar.quoted_implicit)
        return build_fail(build, &event->start_mark, "tags (!…) are not accepted");
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return scalar_string(build, text, &event->start_mark, &out->value);
    if (is_null_word(text)) {
        out->value = NULL;
        return 0;
    }
    if (slice_eq_str(text, "true") || slice_eq_str(text, "false")) {
        out->value = json_object_new_boolean(text.ptr[0] == 't');
        return out->value ? 0 : build_no_memory(build);
    }
    if (looks_decimal(text, &is_float))
        return scalar_number(build, text, is_float, &event->start_mark, &out->value);
    return scalar_string(build, text, &event->start_mark, &out->value);
}

/* ---- anchors ---- */

static int build_anchor(struct build *build, const yaml_char_t *name, const yaml_mark_t *mark,
                        const struct built *built, size_t nodes_before)
{
    struct anchor *anchor;

    if (!name)
        return 0;
    if (build->anchor_count == ANCHORS_MAX)
        return build_fail(build, mark, "more than %d anchors", ANCHORS_MAX);
    anchor = &build->anchors[build->anchor_count++];
    anchor->name = arena_dup(&build->file->arena, slice_str((const char *)name));
    if (!anchor->name)
        return build_no_memory(build);
    anchor->value = built->value;
    anchor->nodes = build->nodes - nodes_before;
    anchor->height = built->height;
    return 0;
}

static int build_alias(struct build *build, const yaml_event_t *event, unsigned depth,
                       struct built *out)
{
    const char *name = (const char *)event->data.alias.anchor;

    for (size_t i = build->anchor_count; i-- > 0;) {
        const struct anchor *anchor = &build->anchors[i];
        if (strcmp(anchor->name, name) != 0)
            continue;
        if (anchor->nodes > YAML_NODES_MAX - build->nodes)
            return build_fail(build, &event->start_mark,
                              "the aliases expand to more than %d values", YAML_NODES_MAX);
        if (depth + anchor->height > JSON_DEPTH_MAX)
            return build_fail(build, &event->start_mark, "nested too deeply");
        build->nodes += anchor->nodes;
        out->height = anchor->height;
        out->value = NULL;
        if (anchor->value && json_object_deep_copy(anchor->value, &out->value, NULL) != 0)
            return build_no_memory(build);
        return 0;
    }
    return build_fail(build, &event->start_mark, "unknown alias *%s", name);
}

/* ---- collections ---- */

static int build_node(struct build *build, yaml_event_t *event, unsigned depth, struct built *out);

static void built_grow(struct built *parent, const struct built *child)
{
    if (child->height + 1 > parent->height)
        parent->height = child->height + 1;
}

static int build_item(struct build *build, yaml_event_t *event, unsigned depth, struct built *out)
{
    size_t old = build_push(build, "[%zu]", json_object_array_length(out->value));
    struct built item = {0};
    int rc;

    build_note(build, NULL, &event->start_mark);
    rc = build_node(build, event, depth + 1, &item);
    if (rc != 0)
        return rc;
    build_pop(build, old);
    built_grow(out, &item);
    return json_object_array_add(out->value, item.value) == 0 ? 0 : build_no_memory(build);
}

static int build_sequence(struct build *build, unsigned depth, struct built *out)
{
    out->value = json_object_new_array();
    out->height = 0;
    for (;;) {
        yaml_event_t event;
        int rc = build_next(build, &event);
        bool is_end = rc == 0 && event.type == YAML_SEQUENCE_END_EVENT;
        if (rc == 0 && !is_end)
            rc = build_item(build, &event, depth, out);
        else if (is_end)
            yaml_event_delete(&event);
        if (rc != 0 || is_end)
            return rc;
    }
}

/* The key of a mapping's member, checked, in new memory. */
static int build_key(struct build *build, const yaml_event_t *event, struct json_object *object,
                     char **out_key)
{
    struct slice text;

    if (event->type != YAML_SCALAR_EVENT)
        return build_fail(build, &event->start_mark, "a key must be a plain word");
    text = slice_of((const char *)event->data.scalar.value, event->data.scalar.length);
    if (memchr(text.ptr, '\0', text.len))
        return build_fail(build, &event->start_mark, "a NUL byte in a key is not accepted");
    if (slice_eq_str(text, "<<") && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return build_fail(build, &event->start_mark,
                          "merge keys (<<) are not accepted: repeat the lines");
    if (json_object_object_get_ex(object, text.ptr, NULL))
        return build_fail(build, &event->start_mark, "the key %.64s stands twice", text.ptr);
    *out_key = slice_dup(text);
    return 0;
}

/* Takes the key's event. */
static int build_member(struct build *build, yaml_event_t *key_event, unsigned depth,
                        struct built *out)
{
    yaml_mark_t key_mark = key_event->start_mark;
    auto_free char *key = NULL;
    struct built member = {0};
    yaml_event_t event;
    size_t old;
    int rc = build_key(build, key_event, out->value, &key);

    yaml_event_delete(key_event);
    if (rc == 0)
        rc = build_next(build, &event);
    if (rc != 0)
        return rc;
    old = build_push(build, build->path_len ? ".%s" : "%s", key);
    build_note(build, &key_mark, &event.start_mark);
    rc = build_node(build, &event, depth + 1, &member);
    if (rc != 0)
        return rc;
    build_pop(build, old);
    built_grow(out, &member);
    return json_object_object_add(out->value, key, member.value) == 0 ? 0 : build_no_memory(build);
}

static int build_mapping(struct build *build, unsigned depth, struct built *out)
{
    out->value = json_object_new_object();
    out->height = 0;
    for (;;) {
        yaml_event_t event;
        int rc = build_next(build, &event);
        bool is_end = rc == 0 && event.type == YAML_MAPPING_END_EVENT;
        if (rc == 0 && !is_end)
            rc = build_member(build, &event, depth, out);
        else if (is_end)
            yaml_event_delete(&event);
        if (rc != 0 || is_end)
            return rc;
    }
}

static int build_collection(struct build *build, const yaml_event_t *event, unsigned depth,
                            struct built *out)
{
    bool is_mapping = event->type == YAML_MAPPING_START_EVENT;

    if (is_mapping ? event->data.mapping_start.tag != NULL : event->data.sequence_start.tag != NULL)
        return build_fail(build, &event->start_mark, "tags (!…) are not accepted");
    return is_mapping ? build_mapping(build, depth, out) : build_sequence(build, depth, out);
}

static const yaml_char_t *event_anchor(const yaml_event_t *event)
{
    if (event->type == YAML_SCALAR_EVENT)
        return event->data.scalar.anchor;
    if (event->type == YAML_MAPPING_START_EVENT)
        return event->data.mapping_start.anchor;
    if (event->type == YAML_SEQUENCE_START_EVENT)
        return event->data.sequence_start.anchor;
    return NULL;
}

static int build_value(struct build *build, const yaml_event_t *event, unsigned depth,
                       struct built *out)
{
    if (depth > JSON_DEPTH_MAX)
        return build_fail(build, &event->start_mark, "nested too deeply");
    if (build->nodes == YAML_NODES_MAX)
        return build_fail(build, &event->start_mark, "more than %d values", YAML_NODES_MAX);
    if (event->type == YAML_ALIAS_EVENT)
        return build_alias(build, event, depth, out);
    build->nodes++;
    if (event->type == YAML_SCALAR_EVENT)
        return build_scalar(build, event, out);
    return build_collection(build, event, depth, out);
}

/* Takes the event. On failure nothing of the value is left. */
static int build_node(struct build *build, yaml_event_t *event, unsigned depth, struct built *out)
{
    size_t nodes_before = build->nodes;
    int rc;

    *out = (struct built){0};
    rc = build_value(build, event, depth, out);
    if (rc == 0)
        rc = build_anchor(build, event_anchor(event), &event->start_mark, out, nodes_before);
    yaml_event_delete(event);
    if (rc != 0) {
        json_object_put(out->value);
        out->value = NULL;
    }
    return rc;
}

/* ---- the document ---- */

static int build_expect(struct build *build, yaml_event_type_t type, const char *otherwise)
{
    yaml_event_t event;
    int rc = build_next(build, &event);

    if (rc != 0)
        return rc;
    if (event.type != type)
        rc = build_fail(build, &event.start_mark, "%s", otherwise);
    yaml_event_delete(&event);
    return rc;
}

static int build_document(struct build *build)
{
    struct built root = {0};
    yaml_event_t event;
    int rc = build_expect(build, YAML_STREAM_START_EVENT, "not a YAML stream");

    if (rc == 0)
        rc = build_next(build, &event);
    if (rc != 0)
        return rc;
    if (event.type == YAML_STREAM_END_EVENT) { /* nothing but comments */
        yaml_event_delete(&event);
        return 0;
    }
    yaml_event_delete(&event);
    rc = build_next(build, &event);
    if (rc != 0)
        return rc;
    build_note(build, NULL, &event.start_mark);
    rc = build_node(build, &event, 0, &root);
    if (rc != 0)
        return rc;
    build->file->root = root.value;
    rc = build_expect(build, YAML_DOCUMENT_END_EVENT, "the document does not end");
    if (rc == 0)
        rc = build_expect(build, YAML_STREAM_END_EVENT, "only one document may stand in the file");
    return rc;
}

int yaml_file_parse(struct slice text, const char *name, struct yaml_file **out_file,
                    struct err *err)
{
    struct yaml_file *file = mem_new(1, sizeof(*file));
    struct build *build = mem_new(1, sizeof(*build));
    int rc;

    arena_init(&file->arena, YAML_ARENA_MAX);
    file->name = mem_strdup(name);
    build->file = file;
    build->err = err;
    if (!utf8_is_valid(text))
        rc = err_set(err, -EINVAL, "%s is not UTF-8 (byte %zu)", name, utf8_valid_len(text));
    else if (!yaml_parser_initialize(&build->parser))
        rc = build_no_memory(build);
    else {
        yaml_parser_set_encoding(&build->parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(
            &build->parser, text.ptr ? (const unsigned char *)text.ptr : (const unsigned char *)"",
            text.len);
        rc = build_document(build);
        yaml_parser_delete(&build->parser);
    }
    mem_free(build);
    if (rc != 0) {
        yaml_file_free(file);
        return rc;
    }
    *out_file = file;
    return 0;
}

void yaml_file_free(struct yaml_file *file)
{
    if (!file)
        return;
    json_object_put(file->root);
    arena_fini(&file->arena);
    mem_free(file->name);
    mem_free(file);
}

struct json_object *yaml_file_root(const struct yaml_file *file)
{
    return file->root;
}

static const struct place *place_find(const struct yaml_file *file, struct slice path)
{
    for (const struct place *at = file->places; at; at = at->next) {
        if (slice_eq_str(path, at->path))
            return at;
    }
    return NULL;
}

int yaml_file_err_at(const struct yaml_file *file, const char *path, bool is_key, struct err *err)
{
    struct slice rest = slice_str(path);
    const struct place *place = place_find(file, rest);

    while (!place && rest.len) {
        rest.len--;
        if (rest.len == 0 || path[rest.len] == '.' || path[rest.len] == '[')
            place = place_find(file, rest);
        is_key = false;
    }
    if (!place)
        return err_at(err, "%s", file->name);
    if (is_key && place->key_line)
        return err_at(err, "%s:%zu:%zu", file->name, place->key_line, place->key_col);
    return err_at(err, "%s:%zu:%zu", file->name, place->line, place->col);
}
