/* `hotbunk load ID` */
#include <stdio.h>

#include "base/num.h"
#include "cli/cli.h"
#include "cli/text.h"

#define LOAD_WAIT_MS     600000u
#define LOAD_WAIT_MAX_MS 3600000u /* the daemon's own limit */
#define LOAD_SLACK_MS    10000u   /* for the answer behind the wait */

static int load_report(struct cli *cli, const char *id, struct json_object *model)
{
    int64_t held = json_get_int(model, "held_bytes", 0);
    int64_t load_ms = json_get_int(model, "last_load_ms", 0);
    char size[NUM_SIZE_TEXT_MAX], ms[TEXT_MS_MAX];

    if (cli->wants_json)
        cli_print_json(model);
    if (!json_get_bool(model, "loaded", false)) {
        const char *reason = cli_str(model, "reason");
        cli_talk("%s is still %s%s%s; look with `hotbunk ps`, or give --wait more time", id,
                 cli_str(model, "state"), reason[0] ? ": " : "", reason);
        return CLI_EXIT_TIMEOUT;
    }
    if (!cli->wants_json)
        printf("%s is loaded: took %s, holds %s\n", id,
               text_ms(load_ms > 0 ? (uint64_t)load_ms : 0, ms),
               num_size_text(held > 0 ? (uint64_t)held : 0, size));
    return CLI_EXIT_OK;
}

int cli_run_load(struct cli *cli)
{
    const char *id = cli->args.operands[0];
    auto_json struct json_object *model = NULL;
    auto_free char *after = NULL;
    struct err err = {0};
    struct buf target;
    uint64_t wait_ms;
    int rc, code = cli_option_ms(cli, "wait", LOAD_WAIT_MS, &wait_ms);

    if (code == 0 && wait_ms > LOAD_WAIT_MAX_MS)
        code = cli_usage("--wait is at most 1h");
    if (code == 0)
        code = cli_connect(cli);
    if (code != 0)
        return code;
    after = mem_printf("/load?wait=%lu", (unsigned long)((wait_ms + 999) / 1000));
    cli_model_target(&target, id, after);
    rc = client_post_json(cli->client, target.data, NULL, wait_ms + LOAD_SLACK_MS, &model, &err);
    buf_fini(&target);
    if (rc != 0)
        return cli_fail(cli, &err);
    return load_report(cli, id, model);
}
