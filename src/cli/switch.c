/* `hotbunk switch ID` */
#include <stdio.h>

#include "cli/cli.h"

int cli_run_switch(struct cli *cli)
{
    auto_json struct json_object *result = NULL;
    const char *active;
    struct err err = {0};
    struct buf target;
    int rc, code = cli_connect(cli);

    if (code != 0)
        return code;
    cli_model_target(&target, cli->args.operands[0], "/switch");
    rc = client_post_json(cli->client, target.data, NULL, CLIENT_TIMEOUT_MS, &result, &err);
    buf_fini(&target);
    if (rc != 0)
        return cli_fail(cli, &err);
    active = json_get_str(result, "active");
    if (cli->wants_json)
        cli_print_json(result);
    else
        printf("%s is the active model\n", active ? active : cli->args.operands[0]);
    return CLI_EXIT_OK;
}
