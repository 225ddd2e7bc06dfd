/* config: everything that can be set, merged from defaults < config.yaml < environment < flags.
 *
 * One table (config_keys.c) drives the YAML reader, the environment, the flags of `serve`, the
 * error texts and docs/config.md. Built once at start; immutable; owned by the daemon. */
#ifndef HOTBUNK_CATALOG_CONFIG_H
#define HOTBUNK_CATALOG_CONFIG_H

#include "base/log.h"
#include "catalog/model.h"

#define CONFIG_EXTENSION_DIRS_MAX 8
#define CONFIG_FILE_BYTES_MAX     4194304

struct yaml_file;

struct config {
    /* where it listens */
    char *listen;  /* numeric address, default 127.0.0.1 */
    uint16_t port; /* default 8000, 8765 with --modly; 0 = any free one */
    bool is_modly;
    char *api_key;    /* bearer key, or NULL; required when listening beyond loopback */
    char *null_token; /* --modly: the token that lets `Origin: null` in, or NULL */

    /* where things are, absolute */
    char *state_dir;
    char *models_dir;
    char *workspace_dir;
    char *runtime_dir;                                    /* the address file */
    char *libexec_dir;                                    /* hotbunk-shim, hotbunk-flite */
    char *data_dir;                                       /* runner/, extensions/ */
    char *extensions_dirs[CONFIG_EXTENSION_DIRS_MAX + 1]; /* the user's first, bundled last */
    char *python; /* for workers without a venv: /usr/bin/python3 */

    /* limits */
    uint64_t max_image_pixels;  /* 40,000,000 */
    uint64_t max_body_bytes;    /* 512 MiB */
    uint64_t spool_above_bytes; /* 64 KiB: larger bodies go to disk */
    uint64_t max_connections;   /* 512 */
    uint64_t queue_limit;       /* 256 jobs a model */
    uint64_t sync_wait_limit_ms;
    uint64_t job_history;        /* finished jobs kept, 10,000 */
    uint64_t log_file_bytes;     /* a worker log is rotated above it, 4 MiB */
    uint64_t host_reserve_bytes; /* host RAM never given out; 0 = the core's headroom rule */
    uint64_t release_grace_ms;   /* until unreturned bytes become residue, 10 s */

    /* clocks and their one scale (tests) */
    struct model_clocks clocks;
    uint64_t run_max_ms; /* a job with progress may live this much past run_ms: 1800 s */
    uint64_t ttl_ms;     /* idle models leave after this; 0 = never; default 300 s */
    double clock_scale;
    uint64_t head_timeout_ms; /* a request's head, 10 s */
    uint64_t idle_timeout_ms; /* a kept-alive connection, 75 s */

    enum log_level log_level;
    char *clear_after;
    char *selected_model; /* SELECTED_MODEL_ID, or NULL */

    /* config.yaml itself: `models:` (checked, see override.h) and the places of its values */
    struct json_object *models; /* borrowed from `file`, NULL when there is none; only
                                   catalog_read, one at a time, may look into it */
    struct yaml_file *file;     /* NULL when there is none */
    char *file_dir;             /* of config.yaml, absolute; the base of its relative paths */
};

/* One `--name value` given to `serve`; value NULL for a switch. */
struct config_flag {
    const char *name; /* without the dashes */
    const char *value;
};

/* Merges everything; `config_path` may be NULL. Errors carry file:line:col and, for an unknown
 * key, the nearest known one. */
int config_read(const char *config_path, const struct config_flag *flags, size_t flag_count,
                struct config **out_config, struct err *err) MUSTCHECK;
void config_free(struct config *config);

/* The path of one of our own executables ("hotbunk-shim"), in new memory: in libexec_dir, or where
 * a build tree has it; the first place when it is nowhere. */
char *config_program(const struct config *config, const char *name)
    __attribute__((returns_nonnull));

/* Does `serve` know the flag `name`, and does it take a value? */
bool config_flag_known(struct slice name, bool *out_takes_value);

/* Help text of all flags of `serve`, one a line. */
int config_flags_help(struct buf *out) MUSTCHECK;

/* docs/config.md: all keys with their flags, variables and defaults. */
int config_doc(struct buf *out) MUSTCHECK;

#endif
