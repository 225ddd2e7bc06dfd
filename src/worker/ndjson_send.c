/* ndjson_send: what goes to the worker. Nothing here waits: what the pipe does not take is
 * queued, and a worker that never reads is ended by the job's clock. */
#include <errno.h>

#include "base/base64.h"
#include "os/file.h"
#include "worker/ndjson.h"

/* An input file on its way to base64, on a pool thread. */
struct encode {
    struct list node;
    struct worker *worker; /* NULL: nobody waits any more */
    struct worker_job job; /* own copies */
    struct buf line;
    int status;
};

static void ndjson_send(struct worker *worker, const struct buf *line)
{
    if (!worker->in)
        return; /* it was told to stop */
    if (stream_queued(worker->in) + line->len > WORKER_STDIN_MAX_BYTES) {
        worker_log_note(worker->worker_log, "it does not read its stdin: ended");
        worker_kill(worker);
        return;
    }
    (void)stream_write(worker->in, line->data, line->len); /* a broken pipe shows as its exit */
}

static void ndjson_send_action(struct worker *worker, const char *action, const char *id)
{
    struct buf line;

    buf_init(&line, WORKER_LINE_MAX_BYTES);
    if (message_add_action(&line, action, id) == 0)
        ndjson_send(worker, &line);
    buf_fini(&line);
}

void worker_load(struct worker *worker)
{
    worker->is_loading = true;
    ndjson_send_action(worker, "load", NDJSON_LOAD_ID);
}

static void ndjson_job_fail(struct worker *worker, const char *id, const char *code,
                            const char *text)
{
    struct worker_outcome outcome = {.code = code, .text = text, .failure = CORE_FAILURE_ERROR};
    struct running *job = ndjson_job_find(worker, id);

    if (!job)
        return;
    list_del(&job->node);
    buf_fini(&job->pending);
    worker->events->on_error(worker->data, job->id, &outcome);
    mem_free(job->id);
    mem_free(job);
}

/* ---- inputs that must travel inline ---- */

static void encode_free(struct encode *encode)
{
    list_del(&encode->node);
    mem_free((char *)(uintptr_t)encode->job.id);
    mem_free((char *)(uintptr_t)encode->job.image_path);
    mem_free((char *)(uintptr_t)encode->job.text);
    mem_free((char *)(uintptr_t)encode->job.outputs_dir);
    json_object_put(encode->job.params);
    buf_fini(&encode->line);
    mem_free(encode);
}

static void encode_work(void *data)
{
    struct encode *encode = data;
    struct buf bytes, text;

    buf_init(&bytes, WORKER_STDIN_MAX_BYTES / 2);
    buf_init(&text, WORKER_STDIN_MAX_BYTES);
    encode->status = file_read(encode->job.image_path, &bytes, NULL);
    if (encode->status == 0)
        encode->status = base64_encode(&text, buf_slice(&bytes));
    if (encode->status == 0)
        encode->status = message_add_generate(&encode->line, &encode->job, buf_slice(&text));
    buf_fini(&bytes);
    buf_fini(&text);
}

static void encode_done(void *data)
{
    struct encode *encode = data;
    struct worker *worker = encode->worker;

    if (worker && ndjson_job_find(worker, encode->job.id)) {
        if (encode->status == 0)
            ndjson_send(worker, &encode->line);
        else
            ndjson_job_fail(worker, encode->job.id, "bad_input", "the input cannot be read");
    }
    encode_free(encode);
}

void ndjson_encodes_orphan(struct worker *worker)
{
    list_each_safe (node, &worker->encodes) {
        struct encode *encode = list_entry(node, struct encode, node);
        encode->worker = NULL;
        list_del(&encode->node);
    }
}

/* An own copy for the other thread: printing a json-c tree writes into it. */
static struct json_object *ndjson_copy(struct json_object *params)
{
    struct json_object *copy = NULL;

    if (params && json_object_deep_copy(params, &copy, NULL) != 0)
        return NULL;
    return copy;
}

static void ndjson_send_inline(struct worker *worker, const struct worker_job *job)
{
    struct encode *encode = mem_new(1, sizeof(*encode));

    encode->worker = worker;
    encode->job = (struct worker_job){.id = mem_strdup(job->id),
                                      .image_path = mem_strdup(job->image_path),
                                      .text = mem_strdup(job->text),
                                      .params = ndjson_copy(job->params),
                                      .outputs_dir = mem_strdup(job->outputs_dir)};
    buf_init(&encode->line, WORKER_STDIN_MAX_BYTES);
    list_add_tail(&worker->encodes, &encode->node);
    if (loop_offload(worker->loop, encode_work, encode_done, encode) == 0)
        return;
    ndjson_job_fail(worker, job->id, "error", "no thread to read the input");
    encode_free(encode);
}

void worker_start_job(struct worker *worker, const struct worker_job *job)
{
    struct running *running = mem_new(1, sizeof(*running));
    struct buf line;
    int rc;

    running->id = mem_strdup(job->id);
    buf_init(&running->pending, WORKER_LINE_MAX_BYTES);
    list_add_tail(&worker->jobs, &running->node);
    if (job->image_path && !worker->takes_path) {
        ndjson_send_inline(worker, job);
        return;
    }
    buf_init(&line, WORKER_STDIN_MAX_BYTES);
    rc = message_add_generate(&line, job, (struct slice){0});
    if (rc == 0)
        ndjson_send(worker, &line);
    else
        ndjson_job_fail(worker, job->id, "bad_input", "the request is too large for a worker");
    buf_fini(&line);
}

void worker_cancel_job(struct worker *worker, const char *job)
{
    ndjson_send_action(worker, "cancel", job);
}

void worker_stop(struct worker *worker)
{
    /* Before it speaks it cannot be asked; afterwards `shutdown` unloads and exits. */
    ndjson_send_action(worker, "shutdown", NULL);
    stream_free_flushed(worker->in, WORKER_STDIN_FLUSH_MS); /* a pipe ends by its close */
    worker->in = NULL;
    if (worker->child && (!worker->is_ready || worker->is_loading))
        child_term(worker->child);
}

void worker_kill(struct worker *worker)
{
    if (worker->child)
        child_kill(worker->child);
}
