#include "catalog/config_keys.h"

#include <stdio.h>

static const char *const CLEAR_AFTER[] = {"job", "pressure", "never", NULL};

#define AT(field) offsetof(struct config, field)
#define KIB       UINT64_C(1024)
#define MIB       (UINT64_C(1024) * KIB)
#define HOUR_MS   UINT64_C(3600000)
#define YEAR_MS   (UINT64_C(8766) * HOUR_MS)

const struct config_key CONFIG_KEYS[] = {
    /* where it listens */
    {"listen", CONFIG_ADDRESS, AT(listen), NULL, "127.0.0.1", NULL, NULL, 0, 0,
     "numeric address to listen on; beyond loopback an api_key is needed"},
    {"port", CONFIG_PORT, AT(port), NULL, "8000", "8765", NULL, 0, 65535,
     "TCP port; 0 takes any free one"},
    {"modly", CONFIG_BOOL, AT(is_modly), NULL, "false", NULL, NULL, 0, 0,
     "stand in for Modly's backend: its port, its directories, its desktop app's requests"},
    {"api_key", CONFIG_SECRET, AT(api_key), NULL, NULL, NULL, NULL, 0, 0,
     "bearer key that every request must carry; with modly also from MODLY_API_TOKEN"},
    {"null_token", CONFIG_SECRET, AT(null_token), NULL, NULL, NULL, NULL, 0, 0,
     "with modly: token that lets pages of the origin null in; the api_key when not set"},

    /* where things are */
    {"state_dir", CONFIG_PATH, AT(state_dir), NULL, "$XDG_STATE_HOME/hotbunk", NULL, NULL, 0, 0,
     "jobs, logs and uploads"},
    {"models_dir", CONFIG_PATH, AT(models_dir), "MODELS_DIR", "$XDG_DATA_HOME/hotbunk/models",
     "~/.modly/models", NULL, 0, 0, "weights, as EXTENSION/NODE/"},
    {"workspace_dir", CONFIG_PATH, AT(workspace_dir), "WORKSPACE_DIR",
     "$XDG_DATA_HOME/hotbunk/workspace", "~/.modly/workspace", NULL, 0, 0,
     "results, one directory per collection"},
    {"extensions_dir", CONFIG_PATHS, AT(extensions_dirs), "EXTENSIONS_DIR",
     "$XDG_DATA_HOME/hotbunk/extensions", "~/.modly/extensions", NULL, 0, 0,
     "extensions; several with colons between them, a list, or the flag again; the bundled ones "
     "come last"},
    {"runtime_dir", CONFIG_PATH, AT(runtime_dir), NULL, "$XDG_RUNTIME_DIR/hotbunk", NULL, NULL, 0,
     0, "the address file; /tmp/hotbunk-UID when XDG_RUNTIME_DIR is not set"},
    {"libexec_dir", CONFIG_PATH, AT(libexec_dir), NULL, NULL, NULL, NULL, 0, 0,
     "hotbunk's own helper programs; found beside the program when not set"},
    {"data_dir", CONFIG_PATH, AT(data_dir), NULL, NULL, NULL, NULL, 0, 0,
     "hotbunk's runner and bundled extensions; found beside the program when not set"},
    {"python", CONFIG_PATH, AT(python), NULL, "/usr/bin/python3", NULL, NULL, 0, 0,
     "interpreter for extensions without a venv of their own"},

    /* limits */
    {"max_image_pixels", CONFIG_COUNT, AT(max_image_pixels), NULL, "40000000", NULL, NULL, 1,
     UINT64_C(4000000000), "largest image a job may bring"},
    {"max_body", CONFIG_SIZE, AT(max_body_bytes), NULL, "512MiB", NULL, NULL, 1, 0,
     "largest request body"},
    {"spool_above", CONFIG_SIZE, AT(spool_above_bytes), NULL, "64KiB", NULL, NULL, 0, 16 * MIB,
     "request bodies above this go to disk"},
    {"max_connections", CONFIG_COUNT, AT(max_connections), NULL, "512", NULL, NULL, 1, 65536,
     "client connections at once"},
    {"queue_limit", CONFIG_COUNT, AT(queue_limit), NULL, "256", NULL, NULL, 1, 1000000,
     "waiting jobs per model"},
    {"sync_wait_limit", CONFIG_DURATION, AT(sync_wait_limit_ms), NULL, "120s", NULL, NULL, 0,
     YEAR_MS, "a synchronous call is refused when its predicted wait is longer"},
    {"job_history", CONFIG_COUNT, AT(job_history), NULL, "10000", NULL, NULL, 1, 10000000,
     "finished jobs that are remembered"},
    {"log_file_size", CONFIG_SIZE, AT(log_file_bytes), NULL, "4MiB", NULL, NULL, 4 * KIB, 0,
     "a worker's log is rotated above this"},
    {"host_reserve", CONFIG_SIZE, AT(host_reserve_bytes), NULL, "0", NULL, NULL, 0, 0,
     "host memory never given to models; 0 lets hotbunk choose"},
    {"release_grace", CONFIG_DURATION, AT(release_grace_ms), NULL, "10s", NULL, NULL, 0, HOUR_MS,
     "memory that a dead worker has not given back after this is shown as residue"},

    /* clocks */
    {"queue_timeout", CONFIG_DURATION, AT(clocks.queue_ms), NULL, "1800s", NULL, NULL, 0, YEAR_MS,
     "a job may wait this long; 0 for ever"},
    {"load_timeout", CONFIG_DURATION, AT(clocks.load_ms), NULL, "1200s", NULL, NULL, 0, YEAR_MS,
     "a model may take this long to load; 0 for ever"},
    {"run_timeout", CONFIG_DURATION, AT(clocks.run_ms), NULL, "777s", NULL, NULL, 0, YEAR_MS,
     "a job may run this long, and longer while it makes progress; 0 for ever"},
    {"run_max", CONFIG_DURATION, AT(run_max_ms), NULL, "1800s", NULL, NULL, 0, YEAR_MS,
     "what progress may add to run_timeout in all"},
    {"stall_timeout", CONFIG_DURATION, AT(clocks.stall_ms), NULL, "0", NULL, NULL, 0, YEAR_MS,
     "a job without progress for this long is ended; 0 leaves it to run_timeout"},
    {"drain_timeout", CONFIG_DURATION, AT(clocks.drain_ms), NULL, "60s", NULL, NULL, 0, YEAR_MS,
     "an unload waits this long for running jobs"},
    {"cancel_grace", CONFIG_DURATION, AT(clocks.cancel_ms), NULL, "5s", NULL, NULL, 0, HOUR_MS,
     "a worker that ignores a cancel is ended after this"},
    {"stop_grace", CONFIG_DURATION, AT(clocks.stop_ms), NULL, "15s", NULL, NULL, 0, HOUR_MS,
     "a worker that ignores its shutdown is killed after this"},
    {"ttl", CONFIG_DURATION, AT(ttl_ms), NULL, "300s", NULL, NULL, 0, YEAR_MS,
     "idle models leave after this; 0 never"},
    {"head_timeout", CONFIG_DURATION, AT(head_timeout_ms), NULL, "10s", NULL, NULL, 1, HOUR_MS,
     "a request's head must be complete by then"},
    {"idle_timeout", CONFIG_DURATION, AT(idle_timeout_ms), NULL, "75s", NULL, NULL, 1, HOUR_MS,
     "an idle connection is closed after this"},
    {"clock_scale", CONFIG_SCALE, AT(clock_scale), NULL, "1", NULL, NULL, 0, 0,
     "multiplies every duration, for tests: 0.001 to 10"},

    {"log_level", CONFIG_LEVEL, AT(log_level), NULL, "info", NULL, NULL, 0, 0,
     "debug, info, warn or error"},
    {"clear_after", CONFIG_CHOICE, AT(clear_after), NULL, "job", NULL, CLEAR_AFTER, 0, 0,
     "when a worker empties its accelerator cache: job, pressure or never"},
    {"selected_model", CONFIG_TEXT, AT(selected_model), "SELECTED_MODEL_ID", NULL, NULL, NULL, 0, 0,
     "the active model after the start; the first one when not set"},
};
const size_t CONFIG_KEY_COUNT = ARRAY_LEN(CONFIG_KEYS);

const struct config_key *config_key_find(struct slice name, bool is_flag)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        const char *known = CONFIG_KEYS[i].name;
        bool is_same = strlen(known) == name.len;
        for (size_t at = 0; is_same && at < name.len; at++) {
            char want = is_flag && known[at] == '_' ? '-' : known[at];
            is_same = name.ptr[at] == want;
        }
        if (is_same)
            return &CONFIG_KEYS[i];
    }
    return NULL;
}

bool config_key_has_flag(const struct config_key *key)
{
    return key->type != CONFIG_SECRET;
}

void config_key_flag(const struct config_key *key, char out[CONFIG_NAME_MAX])
{
    (void)snprintf(out, CONFIG_NAME_MAX, "--%s", key->name); /* the table's names are short */
    for (char *at = out; *at; at++)
        *at = *at == '_' ? '-' : *at;
}

void config_key_env(const struct config_key *key, char out[CONFIG_NAME_MAX])
{
    (void)snprintf(out, CONFIG_NAME_MAX, "HOTBUNK_%s", key->name); /* the table's names are short */
    for (char *at = out; *at; at++)
        *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
}
