#include "store/store_row.h"

#include <stddef.h>

/* Every string member, so that copying needs no list of its own per function. */
static const struct {
    size_t offset;
    bool is_empty_for_null;
} STRINGS[] = {
    {offsetof(struct store_job, id), true},
    {offsetof(struct store_job, model), true},
    {offsetof(struct store_job, params_json), false},
    {offsetof(struct store_job, image_path), false},
    {offsetof(struct store_job, text), false},
    {offsetof(struct store_job, collection), true},
    {offsetof(struct store_job, step), true},
    {offsetof(struct store_job, why), true},
    {offsetof(struct store_job, error_code), false},
    {offsetof(struct store_job, error), false},
    {offsetof(struct store_job, output_path), false},
    {offsetof(struct store_job, workspace_path), false},
    {offsetof(struct store_job, media_type), false},
    {offsetof(struct store_job, result_json), false},
};

static const char *row_get(const struct store_job *job, size_t i)
{
    const char *text;

    memcpy(&text, (const char *)job + STRINGS[i].offset, sizeof(text));
    return !text && STRINGS[i].is_empty_for_null ? "" : text;
}

static void row_set(struct store_job *job, size_t i, const char *text)
{
    memcpy((char *)job + STRINGS[i].offset, &text, sizeof(text));
}

struct store_job *store_job_dup(const struct store_job *job)
{
    size_t bytes = sizeof(*job);
    struct store_job *copy;
    char *at;

    for (size_t i = 0; i < ARRAY_LEN(STRINGS); i++)
        bytes += row_get(job, i) ? strlen(row_get(job, i)) + 1 : 0;
    copy = mem_new(1, bytes);
    *copy = *job;
    at = (char *)(copy + 1);
    for (size_t i = 0; i < ARRAY_LEN(STRINGS); i++) {
        const char *text = row_get(job, i);
        size_t len = text ? strlen(text) + 1 : 0;
        if (text)
            memcpy(at, text, len);
        row_set(copy, i, text ? at : NULL);
        at += len;
    }
    return copy;
}

void store_job_free(struct store_job *job)
{
    mem_free(job);
}

void store_row_merge(struct store_job **job, const struct store_job *newer)
{
    struct store_job mixed = *newer;
    struct store_job *old = *job;

    mixed.id = old->id;
    mixed.model = old->model;
    mixed.params_json = old->params_json;
    mixed.image_path = old->image_path;
    mixed.text = old->text;
    mixed.collection = old->collection;
    mixed.is_scratch = old->is_scratch;
    mixed.is_bound = old->is_bound;
    mixed.created_ms = old->created_ms;
    *job = store_job_dup(&mixed);
    store_job_free(old);
}
