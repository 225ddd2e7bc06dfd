/* `hotbunk generate IMAGE` */
#include "cli/work.h"

static int generate_submit(struct work *work, const char *image, const char *type)
{
    const char *collection = options_value(&work->cli->args, "collection");
    struct http_client_part parts[4] = {
        {.name = "image", .path = image, .content_type = type},
        {.name = "model", .value = work->model_id},
        {.name = "params", .value = json_text(work->params)},
        {.name = "collection", .value = collection},
    };
    auto_json struct json_object *job = NULL;
    struct err err = {0};

    if (client_post_multipart(work->cli->client, "/api/v1/jobs", parts, collection ? 4 : 3,
                              CLIENT_UPLOAD_MS, &job, &err) != 0)
        return cli_fail(work->cli, &err);
    return work_finish(work, job);
}

int cli_run_generate(struct cli *cli)
{
    const char *image = cli->args.operands[0];
    struct err err = {0};
    const char *type = image_type_of(image, &err);
    struct work work;
    int code;

    if (!type)
        return cli_fail(cli, &err);
    code = work_init(&work, cli, "image", "mesh");
    if (code == 0)
        code = generate_submit(&work, image, type);
    work_fini(&work);
    return code;
}
