/* `hotbunk say TEXT` */
#include <errno.h>
#include <unistd.h>

#include "base/num.h"
#include "base/utf8.h"
#include "cli/work.h"

#define SAY_TEXT_MAX  (1u << 20)
#define SAY_READ_STEP 65536

/* ---- what to say ---- */

static int say_read_stdin(struct buf *text)
{
    for (;;) {
        ssize_t got;
        if (buf_reserve(text, SAY_READ_STEP) != 0)
            return cli_usage("the text on stdin is over %u bytes; say it in parts", SAY_TEXT_MAX);
        got = read(STDIN_FILENO, text->data + text->len, SAY_READ_STEP);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cli_usage("cannot read stdin: %s", strerror(errno));
        if (got == 0)
            return 0;
        text->len += (size_t)got;
        text->data[text->len] = '\0';
    }
}

static int say_read_text(struct cli *cli, struct buf *text)
{
    const char *word = cli->args.operands[0];
    int code = 0;

    if (strcmp(word, "-") == 0)
        code = say_read_stdin(text);
    else if (buf_add_str(text, word) != 0)
        code = cli_usage("the text is over %u bytes; say it in parts", SAY_TEXT_MAX);
    if (code == 0 && slice_trim(buf_slice(text)).len == 0)
        code = cli_usage("there is no text to say");
    if (code == 0 && (!utf8_is_valid(buf_slice(text)) || strlen(buf_str(text)) != text->len))
        code = cli_usage("the text is not UTF-8");
    return code;
}

/* ---- how ---- */

static bool is_format(const char *text)
{
    return strcmp(text, "wav") == 0 || strcmp(text, "mp3") == 0 || strcmp(text, "pcm") == 0;
}

/* --format, or what the name of the file says; the model's default is WAV. */
static int say_format(struct work *work)
{
    const char *named = options_value(&work->cli->args, "format");
    const char *dot = work->output ? strrchr(work->output, '.') : NULL;

    if (named && !is_format(named))
        return cli_usage("--format %s: it is wav, mp3 or pcm", named);
    if (!named && dot && !strchr(dot, '/') && dot[1] && !is_format(dot + 1))
        return cli_usage("-o %s: speech is written as .wav, .mp3 or .pcm; name one of these, or "
                         "say which with --format",
                         work->output);
    if (!named && dot && is_format(dot + 1) && strcmp(dot + 1, "wav") != 0)
        named = dot + 1;
    if (named)
        work_set_param(work, "response_format", named);
    return 0;
}

static int say_number(struct work *work, const char *name)
{
    const char *text = options_value(&work->cli->args, name);
    double value;

    if (!text)
        return 0;
    if (num_parse_double(slice_str(text), &value) != 0)
        return cli_usage("--%s %s is no number", name, text);
    work_set_param(work, name, text);
    return 0;
}

static int say_params(struct work *work)
{
    const char *voice = options_value(&work->cli->args, "voice");
    int code = say_number(work, "speed");

    if (code == 0)
        code = say_number(work, "pitch");
    if (code == 0 && voice)
        json_put_str(work->params, "voice", voice);
    return code == 0 ? say_format(work) : code;
}

static int say_submit(struct work *work, const char *text)
{
    const char *collection = options_value(&work->cli->args, "collection");
    auto_json struct json_object *body = json_object_new_object();
    auto_json struct json_object *job = NULL;
    struct err err = {0};

    json_put_str(body, "model", work->model_id);
    json_put_str(body, "text", text);
    json_put(body, "params", json_object_get(work->params));
    if (collection)
        json_put_str(body, "collection", collection);
    if (client_post_json(work->cli->client, "/api/v1/jobs", body, CLIENT_TIMEOUT_MS, &job, &err) !=
        0)
        return cli_fail(work->cli, &err);
    return work_finish(work, job);
}

int cli_run_say(struct cli *cli)
{
    struct work work = {0};
    struct buf text;
    int code;

    buf_init(&text, SAY_TEXT_MAX);
    code = say_read_text(cli, &text);
    if (code == 0)
        code = work_init(&work, cli, "text", "audio");
    if (code == 0)
        code = say_params(&work);
    if (code == 0)
        code = say_submit(&work, buf_str(&text));
    work_fini(&work);
    buf_fini(&text);
    return code;
}
