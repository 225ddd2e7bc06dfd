/* config_keys: the one table of settings: names, types, defaults, help. Private to this folder. */
#ifndef HOTBUNK_CATALOG_CONFIG_KEYS_H
#define HOTBUNK_CATALOG_CONFIG_KEYS_H

#include "catalog/config.h"

enum config_type {
    CONFIG_TEXT = 0, /* char * */
    CONFIG_SECRET,   /* char *, never a flag */
    CONFIG_ADDRESS,  /* char *, a numeric address */
    CONFIG_PATH,     /* char *, made absolute */
    CONFIG_PATHS,    /* char *[CONFIG_EXTENSION_DIRS_MAX + 1] */
    CONFIG_CHOICE,   /* char *, one of `choices` */
    CONFIG_PORT,     /* uint16_t */
    CONFIG_COUNT,    /* uint64_t */
    CONFIG_SIZE,     /* uint64_t, bytes */
    CONFIG_DURATION, /* uint64_t, milliseconds, scaled by clock_scale */
    CONFIG_BOOL,     /* bool */
    CONFIG_SCALE,    /* double, min..max */
    CONFIG_LEVEL,    /* enum log_level */
};

struct config_key {
    const char *name; /* in config.yaml; the flag is --name with dashes, the variable
                         HOTBUNK_NAME */
    enum config_type type;
    size_t offset;         /* in struct config */
    const char *also_env;  /* a second variable, or NULL */
    const char *otherwise; /* default, or NULL = not set */
    const char *modly;     /* default with --modly when it differs, or NULL */
    const char *const *choices;
    uint64_t min, max; /* of counts, sizes, durations; max 0 = no limit */
    const char *help;  /* one sentence without a full stop */
};

extern const struct config_key CONFIG_KEYS[];
extern const size_t CONFIG_KEY_COUNT;

/* By the name in config.yaml, or by the flag (`is_flag`: dashes for underscores). */
const struct config_key *config_key_find(struct slice name, bool is_flag);

/* Is there a flag for it? Secrets have none: a command line is visible to all. */
bool config_key_has_flag(const struct config_key *key);

/* "--models-dir" or "HOTBUNK_MODELS_DIR" into `out`. */
#define CONFIG_NAME_MAX 64
void config_key_flag(const struct config_key *key, char out[CONFIG_NAME_MAX]);
void config_key_env(const struct config_key *key, char out[CONFIG_NAME_MAX]);

/* config_value.c: sets a field out of text. `base_dir` is where relative paths begin. For PATHS
 * the text is colon-separated, and adds. */
int config_set_text(struct config *config, const struct config_key *key, struct slice text,
                    const char *base_dir, struct err *err) MUSTCHECK;

/* The same out of a value of config.yaml, whose type must fit. */
int config_set_json(struct config *config, const struct config_key *key, struct json_object *value,
                    const char *base_dir, struct err *err) MUSTCHECK;

/* Frees what the field points to and sets it to zero. */
void config_clear(struct config *config, const struct config_key *key);

/* config_paths.c */
char *config_expand_path(struct slice path, const char *base_dir) __attribute__((returns_nonnull));
void config_find_own_dirs(struct config *config);

#endif
