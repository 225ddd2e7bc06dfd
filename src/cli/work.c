#include "cli/work.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/num.h"
#include "cli/progress.h"
#include "cli/text.h"

#define WORK_CANCEL_MS  3000u
#define WORK_TARGET_MAX 1024

int work_init(struct work *work, struct cli *cli, const char *input, const char *kind)
{
    struct err err = {0};
    int code;

    *work = (struct work){.cli = cli, .output = options_value(&cli->args, "output")};
    work->params = json_object_new_object();
    code = cli_option_ms(cli, "timeout", 0, &work->timeout_ms);
    if (code == 0)
        code = output_check(cli, work->output);
    if (code == 0)
        code = cli_connect(cli);
    if (code != 0)
        return code;
    if (client_get_json(cli->client, "/api/v1/models", CLIENT_TIMEOUT_MS, &work->models, &err) != 0)
        return cli_fail(cli, &err);
    code = work_pick_model(work, input, kind, strcmp(input, "image") == 0);
    return code != 0 ? code : work_read_params(work);
}

void work_fini(struct work *work)
{
    json_object_put(work->models);
    json_object_put(work->params);
    *work = (struct work){0};
}

static void work_target(struct buf *out, const char *job_id, const char *after)
{
    buf_init(out, WORK_TARGET_MAX);
    if (buf_add_str(out, "/api/v1/jobs/") != 0 || client_encode(out, job_id) != 0 ||
        buf_add_str(out, after) != 0)
        buf_reset(out); /* no id is that long; an empty target is refused */
}

/* ---- while it runs ---- */

static void work_show(void *data, struct json_object *job)
{
    struct progress *progress = data;
    const char *why = cli_str(job, "why");
    auto_free char *text = NULL;

    if (strcmp(cli_str(job, "state"), "queued") == 0) {
        text = mem_printf("waiting%s%s", why[0] ? ": " : "", why);
        progress_show(progress, PROGRESS_UNKNOWN, text);
    } else if (strcmp(cli_str(job, "state"), "running") == 0) {
        progress_show(progress, (int)json_get_int(job, "progress", 0), cli_str(job, "step"));
    }
}

/* Nobody waits for it any more. Whether the daemon heard it is told, too. */
static void work_cancel(struct work *work, const char *job_id)
{
    struct json_object *job = NULL;
    struct err err = {0};
    struct buf target;

    client_clear_signal(work->cli->client);
    work_target(&target, job_id, "/cancel");
    if (client_post_json(work->cli->client, buf_str(&target), NULL, WORK_CANCEL_MS, &job, &err) ==
        0)
        cli_talk("job %s is cancelled", job_id);
    else
        cli_talk("job %s may still run: %s", job_id, err.msg);
    buf_fini(&target);
    json_object_put(job);
}

static int work_follow(struct work *work, const char *job_id, struct json_object **out_job)
{
    struct progress progress;
    struct err err = {0};
    int rc, code;

    progress_init(&progress);
    rc = client_follow_job(work->cli->client, job_id, work->timeout_ms, work_show, &progress,
                           out_job, &err);
    progress_end(&progress);
    if (rc == 0)
        return CLI_EXIT_OK;
    code = cli_fail(work->cli, &err);
    if (rc == -EINTR || rc == -ETIMEDOUT)
        work_cancel(work, job_id);
    return code;
}

/* ---- when it has ended ---- */

static int work_report_failure(struct work *work, struct json_object *job)
{
    const char *code = cli_str(job, "error_code");
    bool is_cancelled = strcmp(cli_str(job, "state"), "cancelled") == 0;

    if (work->cli->wants_json) {
        auto_json struct json_object *root = json_object_new_object();
        json_put_str(root, "job", json_get_str(job, "id"));
        json_put_str(root, "model", json_get_str(job, "model"));
        json_put_str(root, "state", json_get_str(job, "state"));
        json_put_str(root, "error_code", json_get_str(job, "error_code"));
        json_put_str(root, "error", json_get_str(job, "error"));
        cli_print_json(root);
    }
    if (is_cancelled)
        cli_talk("the job was cancelled");
    else
        cli_talk("%s failed: %s%s%s", cli_str(job, "model"), code, code[0] ? ": " : "",
                 cli_str(job, "error"));
    return CLI_EXIT_FAILED;
}

static void work_report_json(struct json_object *job, const char *path,
                             const struct client_file *file)
{
    static const char *const figures[] = {"load_ms", "run_ms", "queue_ms", "held_bytes"};
    auto_json struct json_object *root = json_object_new_object();
    const char *type = json_get_str(job, "media_type");

    json_put_str(root, "job", json_get_str(job, "id"));
    json_put_str(root, "model", json_get_str(job, "model"));
    json_put_str(root, "output", path);
    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        json_put_int(root, figures[i], json_get_int(job, figures[i], 0));
    json_put_str(root, "media_type", type ? type : file->media_type);
    json_put_u64(root, "bytes", file->bytes);
    cli_print_json(root);
}

static void work_report_text(struct json_object *job, const char *path,
                             const struct client_file *file)
{
    uint64_t load_ms = (uint64_t)json_get_int(job, "load_ms", 0);
    uint64_t run_ms = (uint64_t)json_get_int(job, "run_ms", 0);
    uint64_t held = (uint64_t)json_get_int(job, "held_bytes", 0);
    char load[TEXT_MS_MAX], run[TEXT_MS_MAX], held_text[NUM_SIZE_TEXT_MAX];
    char size[NUM_SIZE_TEXT_MAX];

    if (path)
        printf("%s\n", path);
    fprintf(stderr, "%s: %s%s, ran %s, held %s; the result is %s\n", cli_str(job, "model"),
            load_ms ? "loaded in " : "was loaded", load_ms ? text_ms(load_ms, load) : "",
            text_ms(run_ms, run), num_size_text(held, held_text), num_size_text(file->bytes, size));
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int work_fetch(struct work *work, struct json_object *job)
{
    auto_free char *path = NULL;
    struct client_source source = {.first_ms = CLIENT_TIMEOUT_MS, .idle_ms = CLIENT_TRANSFER_MS};
    struct client_file file = {0};
    struct err err = {0};
    struct buf target;
    int rc;

    work_target(&target, cli_str(job, "id"), "/output");
    source.target = buf_str(&target);
    if (output_is_stdout(work->output)) {
        rc = client_download_fd(work->cli->client, &source, STDOUT_FILENO, &file, &err);
    } else {
        path = output_path(work->output, last_part(cli_str(job, "output_path")));
        rc = client_download(work->cli->client, &source, path, &file, &err);
    }
    buf_fini(&target);
    if (rc != 0)
        return cli_fail(work->cli, &err);
    if (work->cli->wants_json)
        work_report_json(job, path, &file);
    else
        work_report_text(job, path, &file);
    return CLI_EXIT_OK;
}

int work_finish(struct work *work, struct json_object *job)
{
    auto_free char *job_id = mem_strdup(cli_str(job, "id"));
    auto_json struct json_object *ended = NULL;
    int code = work_follow(work, job_id, &ended);

    if (code != 0)
        return code;
    if (strcmp(cli_str(ended, "state"), "done") != 0)
        return work_report_failure(work, ended);
    return work_fetch(work, ended);
}
