/* `hotbunk logs ID` */
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/text.h"
#include "os/term.h"

#define LOGS_BYTES     (64u << 10)
#define LOGS_BYTES_MAX (1u << 20)

static int print_log(struct cli *cli, const char *id, struct slice text)
{
    struct buf clean;

    if (cli->wants_json) {
        auto_json struct json_object *root = json_object_new_object();
        json_put_str(root, "id", id);
        json_put(root, "text", json_str_lossy(text));
        cli_print_json(root);
        return CLI_EXIT_OK;
    }
    if (!term_is_tty(STDOUT_FILENO)) {
        fwrite(text.ptr, 1, text.len, stdout);
        return CLI_EXIT_OK;
    }
    buf_init(&clean, LOGS_BYTES_MAX * 4);
    text_add_clean(&clean, text, true);
    cli_print(&clean);
    buf_fini(&clean);
    return CLI_EXIT_OK;
}

int cli_run_logs(struct cli *cli)
{
    const char *id = cli->args.operands[0];
    auto_free char *after = NULL;
    struct err err = {0};
    struct buf target, text;
    uint64_t bytes;
    int rc, code = cli_option_bytes(cli, "bytes", LOGS_BYTES, &bytes);

    if (code == 0 && (bytes == 0 || bytes > LOGS_BYTES_MAX))
        code = cli_usage("--bytes is 1 to 1MiB");
    if (code == 0)
        code = cli_connect(cli);
    if (code != 0)
        return code;
    after = mem_printf("/log?bytes=%lu", (unsigned long)bytes);
    cli_model_target(&target, id, after);
    buf_init(&text, LOGS_BYTES_MAX);
    rc = client_get_text(cli->client, target.data, CLIENT_TIMEOUT_MS, &text, &err);
    code = rc != 0 ? cli_fail(cli, &err) : print_log(cli, id, buf_slice(&text));
    buf_fini(&text);
    buf_fini(&target);
    return code;
}
