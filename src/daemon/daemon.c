#include "daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "catalog/config.h"
#include "daemon/app.h"
#include "daemon/version.h"
#include "net/server.h"
#include "os/dirs.h"
#include "os/file.h"
#include "os/proc.h"

#define DAEMON_EXIT_USAGE     2
#define SERVER_STOP_WITHIN_MS 2000 /* answers in progress, once everything else has ended */

struct daemon {
    struct loop *loop;
    struct config *config;
    struct log log;
    struct app *app;
    struct api *api;
    struct api_backend backend;
    struct access_policy access;
    struct server *server;
    struct loop_signal *on_int, *on_term;
    int address_lock;   /* -1 while it has none */
    char *address_path; /* NULL when another daemon owns the file */
    char *url;          /* the line in that file */
    unsigned signals;
};

/* ---- log lines: 2026-01-31T12:34:56.789Z level event key=value… ---- */

static void daemon_log_line(void *data, enum log_level level, const char *line, size_t len)
{
    int64_t now = loop_wall_ms();
    time_t seconds = (time_t)(now / 1000);
    char out[LOG_LINE_MAX + 64];
    struct tm tm;
    size_t head;
    int rest;

    (void)data;
    (void)level;
    (void)gmtime_r(&seconds, &tm); /* fails only for years beyond int */
    head = strftime(out, sizeof(out), "%Y-%m-%dT%H:%M:%S", &tm);
    rest = snprintf(out + head, sizeof(out) - head, ".%03dZ %.*s\n", (int)(now % 1000), (int)len,
                    line);
    if (rest > 0 && write(STDERR_FILENO, out, head + (size_t)rest) < 0)
        return; /* nobody reads it */
}

static void daemon_say(const char *text)
{
    auto_free char *line = mem_printf("hotbunk: %s\n", text);

    if (write(STDERR_FILENO, line, strlen(line)) < 0)
        return; /* nobody reads it */
}

static void daemon_say_err(const struct err *err)
{
    auto_free char *text = err->where[0] ? mem_printf("%s: %s", err->where, err->msg)
                                         : mem_strdup(err->msg);

    daemon_say(text);
}

/* ---- the address file ---- */

/* Where a client on this machine reaches it. */
static char *daemon_url(const struct daemon *daemon)
{
    const char *host = daemon->config->listen;
    unsigned port = server_port(daemon->server);

    if (strcmp(host, "0.0.0.0") == 0)
        host = "127.0.0.1";
    else if (strcmp(host, "::") == 0)
        host = "::1";
    if (strchr(host, ':'))
        return mem_printf("http://[%s]:%u", host, port);
    return mem_printf("http://%s:%u", host, port);
}

/* One daemon at a time owns the address file; the kernel gives the lock back when it ends. */
static int daemon_lock_address(struct daemon *daemon, struct err *err)
{
    auto_free char *path = file_join(daemon->config->runtime_dir, DIRS_ADDRESS_FILE ".lock");

    daemon->address_lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (daemon->address_lock >= 0 && flock(daemon->address_lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    return err_set(err, -EBUSY,
                   "another daemon is the one that commands find here; give --url %s to reach "
                   "this one",
                   daemon->url);
}

static void daemon_write_address(struct daemon *daemon)
{
    auto_free char *line = NULL;
    struct err err = {0};

    daemon->url = daemon_url(daemon);
    line = mem_printf("%s\n", daemon->url);
    if (dirs_runtime_make(daemon->config->runtime_dir, &err) == 0 &&
        daemon_lock_address(daemon, &err) == 0) {
        daemon->address_path = file_join(daemon->config->runtime_dir, DIRS_ADDRESS_FILE);
        if (file_write_atomic(daemon->address_path, slice_str(line), 0600, &err) == 0)
            return;
    }
    log_write(&daemon->log, LOG_LEVEL_WARN, "address.file", "error=\"%s\"", err.msg);
}

static void daemon_remove_address(struct daemon *daemon)
{
    if (daemon->address_path)
        (void)unlink(daemon->address_path); /* gone already is fine */
    if (daemon->address_lock >= 0)
        (void)close(daemon->address_lock);
}

/* ---- stopping ---- */

static void daemon_server_stopped(void *data)
{
    struct daemon *daemon = data;

    loop_stop(daemon->loop);
}

static void daemon_workers_gone(void *data)
{
    struct daemon *daemon = data;

    api_stop(daemon->api);
    server_stop(daemon->server, SERVER_STOP_WITHIN_MS, daemon_server_stopped, daemon);
}

static void daemon_signal(void *data, int signo)
{
    struct daemon *daemon = data;

    daemon->signals++;
    log_write(&daemon->log, LOG_LEVEL_INFO, "daemon.stop", "signal=%d at_once=%d", signo,
              daemon->signals > 1);
    app_stop(daemon->app, daemon->signals > 1, daemon_workers_gone, daemon);
}

/* ---- starting ---- */

static int daemon_listen(struct daemon *daemon, struct err *err)
{
    const struct config *config = daemon->config;
    struct server_options options = {
        .host = config->listen,
        .port = config->port,
        .on_request = api_dispatch,
        .error_body = api_error_body,
        .access = &daemon->access,
        .max_connections = (unsigned)config->max_connections,
        .head_timeout_ms = config->head_timeout_ms,
        .idle_timeout_ms = config->idle_timeout_ms,
    };
    pid_t holder;

    daemon->access =
        (struct access_policy){.is_modly = config->is_modly,
                               .allows_remote = !access_is_loopback(slice_str(config->listen)),
                               .listen_host = config->listen,
                               .key = config->api_key ? config->api_key : config->null_token};
    daemon->backend = (struct api_backend){&APP_OPS, daemon->app};
    daemon->api = api_new(&daemon->backend, HOTBUNK_VERSION);
    options.data = daemon->api;
    daemon->server = server_open(daemon->loop, &options, err);
    if (daemon->server)
        return 0;
    if (err->code != -EADDRINUSE)
        return err->code;
    holder = proc_port_holder(config->port);
    if (holder)
        return err_set(err, -EADDRINUSE,
                       "port %u is in use by process %ld; stop it, or choose another with --port",
                       config->port, (long)holder);
    return err_set(err, -EADDRINUSE, "port %u is in use; choose another with --port", config->port);
}

static int daemon_read_config(struct daemon *daemon, const struct daemon_options *options,
                              struct err *err)
{
    struct config_flag *flags = mem_new(options->flag_count, sizeof(*flags));
    int rc;

    for (size_t i = 0; i < options->flag_count; i++)
        flags[i] = (struct config_flag){options->flags[i].name, options->flags[i].value};
    rc = config_read(options->config_path, flags, options->flag_count, &daemon->config, err);
    mem_free(flags);
    return rc;
}

static int daemon_open(struct daemon *daemon, const struct daemon_options *options, struct err *err)
{
    struct catalog *catalog = NULL;
    int rc = daemon_read_config(daemon, options, err);

    if (rc != 0)
        return rc;
    daemon->log = (struct log){daemon_log_line, NULL, daemon->config->log_level};
    daemon->app = app_new(daemon->loop, daemon->config, &daemon->log);
    /* The port first: it tells best that a daemon runs already. Nothing is served before the
     * loop runs. */
    rc = daemon_listen(daemon, err);
    if (rc == 0)
        rc = file_make_dirs(daemon->config->state_dir, err);
    if (rc == 0)
        rc = catalog_read(daemon->config, &catalog, err);
    if (rc != 0)
        return rc;
    return app_start(daemon->app, catalog, err);
}

static void daemon_fini(struct daemon *daemon)
{
    daemon_remove_address(daemon);
    app_close(daemon->app);
    server_free(daemon->server);
    api_free(daemon->api);
    app_free(daemon->app);
    loop_signal_free(daemon->on_int);
    loop_signal_free(daemon->on_term);
    loop_free(daemon->loop);
    config_free(daemon->config);
    mem_free(daemon->address_path);
    mem_free(daemon->url);
}

static void daemon_announce(struct daemon *daemon)
{
    const struct catalog *catalog = APP_OPS.catalog(daemon->app);

    for (size_t i = 0; i < catalog_error_count(catalog); i++) {
        char quoted[LOG_VALUE_MAX];
        const struct catalog_error *error = catalog_error_at(catalog, i);
        log_write(&daemon->log, LOG_LEVEL_WARN, "extension.error", "id=%s where=%s text=%s",
                  error->id, error->where, log_quote(error->text, quoted));
    }
    log_write(&daemon->log, LOG_LEVEL_INFO, "daemon.ready",
              "version=%s pid=%ld listen=%s port=%u models=%zu state_dir=%s models_dir=%s "
              "workspace_dir=%s extensions_dir=%s",
              HOTBUNK_VERSION, (long)getpid(), daemon->config->listen, server_port(daemon->server),
              catalog_count(catalog), daemon->config->state_dir, daemon->config->models_dir,
              daemon->config->workspace_dir, daemon->config->extensions_dirs[0]);
}

/* A closed 0, 1 or 2 would be taken by the next file that is opened. */
static void daemon_fill_std_fds(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        (void)close(fd);
}

bool daemon_flag_known(struct slice name, bool *out_takes_value)
{
    return config_flag_known(name, out_takes_value);
}

int daemon_flags_help(struct buf *out)
{
    return config_flags_help(out);
}

int daemon_run(const struct daemon_options *options)
{
    struct daemon daemon = {.address_lock = -1};
    struct err err = {0};

    daemon_fill_std_fds();
    /* A parent's SIG_IGN would let the kernel reap the guardians before we see them. */
    (void)sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    (void)sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL); /* EPIPE tells */
    (void)umask(077);
    daemon.loop = loop_new();
    if (daemon_open(&daemon, options, &err) != 0) {
        daemon_say_err(&err);
        daemon_fini(&daemon);
        return DAEMON_EXIT_USAGE;
    }
    daemon.on_int = loop_signal_new(daemon.loop, SIGINT, daemon_signal, &daemon);
    daemon.on_term = loop_signal_new(daemon.loop, SIGTERM, daemon_signal, &daemon);
    daemon_write_address(&daemon);
    daemon_announce(&daemon);
    if (options->on_ready)
        options->on_ready(daemon.url);
    loop_run(daemon.loop);
    log_write(&daemon.log, LOG_LEVEL_INFO, "daemon.stopped", "pid=%ld", (long)getpid());
    daemon_fini(&daemon);
    return 0;
}
