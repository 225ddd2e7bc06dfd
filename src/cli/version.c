/* `hotbunk version`: of this program, and of the daemon when one answers. */
#include <stdio.h>

#include "cli/cli.h"
#include "hotbunk.h"

#define VERSION_WAIT_MS 2000u

/* The daemon's answer; NULL when there is none, which is no error here. */
static struct json_object *ask_daemon(struct cli *cli)
{
    struct json_object *root = NULL;
    struct err err = {0};

    if (client_new(options_value(&cli->args, "url"), &cli->client, &err) != 0)
        return NULL;
    client_catch_signals(cli->client);
    if (client_get_json(cli->client, "/api/v1/version", VERSION_WAIT_MS, &root, &err) != 0)
        return NULL;
    return root;
}

int cli_run_version(struct cli *cli)
{
    struct json_object *daemon = ask_daemon(cli);

    if (cli->wants_json) {
        auto_json struct json_object *root = json_object_new_object();
        json_put_str(root, "name", "hotbunk");
        json_put_str(root, "version", bunk_version());
        json_put(root, "daemon", daemon);
        cli_print_json(root);
        return CLI_EXIT_OK;
    }
    printf("hotbunk %s\n", bunk_version());
    if (daemon)
        printf("daemon  %s at %s, pid %ld\n", cli_str(daemon, "version"), client_url(cli->client),
               (long)json_get_int(daemon, "pid", 0));
    json_object_put(daemon);
    return CLI_EXIT_OK;
}
