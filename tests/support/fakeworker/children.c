#include "children.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"

#define CHILDREN_SLEEP_S     120
#define CHILDREN_ARGS_MAX    6
#define CHILDREN_EXIT_NO_LOG 73

extern char **environ;

void children_log(const char *event, char **argv)
{
    if (options.spawn_log == NULL)
        return;
    struct json_object *line = json_object_new_object();
    struct json_object *args = json_object_new_array();
    for (char **arg = argv; *arg != NULL; arg++)
        (void)json_object_array_add(args, json_object_new_string(*arg));
    (void)json_object_object_add(line, "event", json_object_new_string(event));
    (void)json_object_object_add(line, "pid", json_object_new_int(getpid()));
    (void)json_object_object_add(line, "argv", args);
    int fd = open(options.spawn_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0)
        _exit(CHILDREN_EXIT_NO_LOG);
    (void)dprintf(fd, "%s\n", json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));
    (void)close(fd);
    (void)json_object_put(line);
}

static void children_spawn(const char *generations, bool has_own_session)
{
    char *args[CHILDREN_ARGS_MAX] = {(char *)"fakeworker", (char *)"--sleeper",
                                     (char *)generations};
    posix_spawnattr_t attributes;
    pid_t pid;

    if (options.spawn_log != NULL) {
        args[3] = (char *)"--spawn-log";
        args[4] = (char *)options.spawn_log;
    }
    (void)posix_spawnattr_init(&attributes);
    if (has_own_session)
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    int result = posix_spawn(&pid, "/proc/self/exe", NULL, &attributes, args, environ);
    (void)posix_spawnattr_destroy(&attributes);
    if (result == 0 && strcmp(generations, "2") == 0)
        (void)waitpid(pid, NULL, 0); /* the one between ends at once */
}

void children_start(void)
{
    if (options.grandchild == OPTIONS_GRANDCHILD_SAME)
        children_spawn("1", false);
    else if (options.grandchild == OPTIONS_GRANDCHILD_SETSID)
        children_spawn("1", true);
    else if (options.grandchild == OPTIONS_GRANDCHILD_DOUBLE)
        children_spawn("2", true);
}

_Noreturn void children_sleep(char **argv)
{
    (void)signal(SIGTERM, SIG_IGN); /* only a kill ends it early */
    (void)signal(SIGHUP, SIG_IGN);
    if (options.sleeper > 1) {
        children_spawn("1", true);
        _exit(0);
    }
    children_log("sleeper", argv);
    (void)sleep(CHILDREN_SLEEP_S);
    _exit(0);
}
