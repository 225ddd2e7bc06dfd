/* `hotbunk unload ID | --all [--force]` */
#include <stdio.h>

#include "base/num.h"
#include "cli/cli.h"

#define UNLOAD_WAIT_MS     75000u /* above the daemon's drain_timeout of 60 s */
#define UNLOAD_WAIT_MAX_MS 3600000u
#define UNLOAD_SLACK_MS    10000u

static int unload_report(struct cli *cli, const char *id, struct json_object *result)
{
    int64_t freed = json_get_int(result, "freed_bytes", 0);
    bool is_out = json_get_bool(result, "unloaded", false);
    const char *state = cli_str(result, "state");
    const char *who = id ? id : "all models";
    char size[NUM_SIZE_TEXT_MAX];

    if (cli->wants_json)
        cli_print_json(result);
    if (!is_out) {
        cli_talk("%s: not all memory has come back yet%s%s%s; look with `hotbunk ps`, or end "
                 "running jobs with --force",
                 who, state[0] ? " (" : "", state, state[0] ? ")" : "");
        return CLI_EXIT_TIMEOUT;
    }
    if (!cli->wants_json)
        printf("%s: unloaded, %s came back\n", who,
               num_size_text(freed > 0 ? (uint64_t)freed : 0, size));
    return CLI_EXIT_OK;
}

int cli_run_unload(struct cli *cli)
{
    const char *id = cli->args.operand_count ? cli->args.operands[0] : NULL;
    bool is_all = options_has(&cli->args, "all");
    auto_json struct json_object *result = NULL;
    auto_free char *query = NULL;
    struct err err = {0};
    struct buf target;
    uint64_t wait_ms;
    int rc, code = cli_option_ms(cli, "wait", UNLOAD_WAIT_MS, &wait_ms);

    if (code == 0 && !id == !is_all)
        code = cli_usage("`hotbunk unload` needs either a model's ID or --all");
    if (code == 0 && wait_ms > UNLOAD_WAIT_MAX_MS)
        code = cli_usage("--wait is at most 1h");
    if (code == 0)
        code = cli_connect(cli);
    if (code != 0)
        return code;
    query = mem_printf("/unload?force=%d&wait=%lu", options_has(&cli->args, "force"),
                       (unsigned long)((wait_ms + 999) / 1000));
    cli_model_target(&target, id ? id : "-", query);
    if (is_all) {
        buf_reset(&target);
        cli_add(&target, "/api/v1%s", query);
    }
    rc = client_post_json(cli->client, target.data, NULL, wait_ms + UNLOAD_SLACK_MS, &result, &err);
    buf_fini(&target);
    return rc != 0 ? cli_fail(cli, &err) : unload_report(cli, id, result);
}
