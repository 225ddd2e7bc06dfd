/* `hotbunk ps`: workers, jobs and devices. */
#include <stdio.h>

#include "base/num.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/text.h"

#define PS_ID_LEN 8 /* of a job, enough to tell them apart in a list */

static const char *size_of(struct json_object *obj, const char *key, char out[NUM_SIZE_TEXT_MAX])
{
    int64_t bytes = json_get_int(obj, key, 0);

    return num_size_text(bytes > 0 ? (uint64_t)bytes : 0, out);
}

static const char *ms_of(struct json_object *obj, const char *key, char out[TEXT_MS_MAX])
{
    int64_t ms = json_get_int(obj, key, 0);

    return text_ms(ms > 0 ? (uint64_t)ms : 0, out);
}

static void add_worker(struct table *table, struct json_object *worker)
{
    char size[NUM_SIZE_TEXT_MAX], ms[TEXT_MS_MAX];

    table_add(table, json_get_str(worker, "model"));
    table_add(table, json_get_str(worker, "state"));
    table_addf(table, "%ld", (long)json_get_int(worker, "pid", 0));
    table_addf(table, "%ld", (long)json_get_int(worker, "running", 0));
    table_add(table, size_of(worker, "held_bytes", size));
    table_add(table, size_of(worker, "reserved_bytes", size));
    table_add(table, ms_of(worker, "age_ms", ms));
    table_add(table, ms_of(worker, "idle_ms", ms));
}

static void add_job(struct table *table, struct json_object *job)
{
    const char *step = cli_str(job, "step");

    table_addf(table, "%.*s", PS_ID_LEN, cli_str(job, "id"));
    table_add(table, json_get_str(job, "model"));
    table_add(table, json_get_str(job, "state"));
    table_addf(table, "%ld %%", (long)json_get_int(job, "progress", 0));
    table_add(table, step[0] ? step : cli_str(job, "why"));
}

/* Rows of `key` under their titles; a line apart from what was printed before. */
static void print_rows(struct json_object *root, const char *key, bool is_first,
                       const struct table_column *columns, size_t column_count,
                       void (*add)(struct table *, struct json_object *))
{
    struct json_object *rows = json_get(root, key);
    struct table table;

    table_init(&table, columns, column_count);
    for (size_t i = 0; i < json_object_array_length(rows); i++)
        add(&table, json_object_array_get_idx(rows, i));
    if (table_rows(&table)) {
        if (!is_first)
            puts("");
        cli_print_table(&table);
    }
    table_fini(&table);
}

static void add_device(struct table *table, struct json_object *device)
{
    char size[NUM_SIZE_TEXT_MAX];

    table_add(table, json_get_str(device, "id"));
    table_add(table, json_get_str(device, "accelerator"));
    table_add(table, size_of(device, "total_bytes", size));
    table_add(table, size_of(device, "free_bytes", size));
    table_add(table, size_of(device, "ours_bytes", size));
    table_add(table, size_of(device, "reserved_bytes", size));
    table_add(table, size_of(device, "foreign_bytes", size));
    table_addf(table, "%s%s", cli_str(device, "name"),
               json_get_bool(device, "stale", false) ? " (old figures)" : "");
}

static void print_all(struct json_object *root)
{
    static const struct table_column workers[] = {
        {"MODEL", false, true}, {"STATE", false, false}, {"PID", true, false},
        {"JOBS", true, false},  {"HELD", true, false},   {"RESERVED", true, false},
        {"AGE", true, false},   {"IDLE", true, false},
    };
    static const struct table_column jobs[] = {
        {"JOB", false, false},     {"MODEL", false, true}, {"STATE", false, false},
        {"PROGRESS", true, false}, {"STEP", false, true},
    };
    static const struct table_column devices[] = {
        {"DEVICE", false, false}, {"KIND", false, false}, {"TOTAL", true, false},
        {"FREE", true, false},    {"OURS", true, false},  {"RESERVED", true, false},
        {"OTHERS", true, false},  {"NAME", false, true},
    };
    bool has_none = json_object_array_length(json_get(root, "workers")) == 0;

    if (has_none)
        cli_talk("no model is loaded");
    print_rows(root, "workers", true, workers, ARRAY_LEN(workers), add_worker);
    print_rows(root, "jobs", has_none, jobs, ARRAY_LEN(jobs), add_job);
    print_rows(root, "devices", has_none && json_object_array_length(json_get(root, "jobs")) == 0,
               devices, ARRAY_LEN(devices), add_device);
}

/* Appends the array `key` of the answer to `to`. */
static int fetch(struct cli *cli, const char *target, const char *key, struct json_object *to,
                 struct err *err)
{
    auto_json struct json_object *root = NULL;
    int rc = client_get_json(cli->client, target, CLIENT_TIMEOUT_MS, &root, err);
    struct json_object *rows = json_get(root, key);

    if (rc != 0 || !json_is(rows, json_type_array))
        return rc;
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        json_object_array_add(to, json_object_get(row));
    }
    return 0;
}

int cli_run_ps(struct cli *cli)
{
    static const struct {
        const char *key, *target;
    } sources[] = {
        {"workers", "/api/v1/workers"},
        {"devices", "/api/v1/devices"},
        {"jobs", "/api/v1/jobs?state=running&limit=1000"},
        {"jobs", "/api/v1/jobs?state=queued&limit=1000"},
    };
    auto_json struct json_object *root = json_object_new_object();
    struct err err = {0};
    int code = cli_connect(cli);

    if (code != 0)
        return code;
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        if (!json_get(root, sources[i].key))
            json_put(root, sources[i].key, json_object_new_array());
        if (fetch(cli, sources[i].target, sources[i].key, json_get(root, sources[i].key), &err) !=
            0)
            return cli_fail(cli, &err);
    }
    if (cli->wants_json)
        cli_print_json(root);
    else
        print_all(root);
    return CLI_EXIT_OK;
}
