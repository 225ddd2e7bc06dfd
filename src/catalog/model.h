/* model: what is known of one model before it runs: where it lives, how to start it, what it
 * declares. Built by the manifest and config readers, immutable afterwards; owned by the catalog.
 * Loop thread. */
#ifndef HOTBUNK_CATALOG_MODEL_H
#define HOTBUNK_CATALOG_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

enum model_kind {
    MODEL_KIND_NDJSON = 0, /* one JSON object a line on stdin and stdout */
};

/* Where the declared memory comes from, best first (design, section 3, Footprint). */
enum model_prior {
    MODEL_PRIOR_CONFIG = 0,
    MODEL_PRIOR_NODE = 1,
    MODEL_PRIOR_TOP = 2,
    MODEL_PRIOR_GENERATOR = 3, /* a literal VRAM_GB = n in generator.py */
    MODEL_PRIOR_WEIGHTS = 4,   /* size of the weight files × 1.2 */
    MODEL_PRIOR_UNKNOWN = 5,
};

/* Limits in milliseconds, already scaled by `clock_scale`; 0 = none. */
struct model_clocks {
    uint64_t queue_ms;  /* accepted → started */
    uint64_t load_ms;   /* spawned → loaded */
    uint64_t run_ms;    /* one job; soft: own progress extends it (run_max_ms in all) */
    uint64_t stall_ms;  /* a job without any sign of progress; 0 = the run limit alone decides */
    uint64_t drain_ms;  /* an unload waits for running jobs */
    uint64_t cancel_ms; /* cancel said → the worker is ended */
    uint64_t stop_ms;   /* shutdown said → SIGKILL */
};

struct model {
    char *id; /* "ext/node", or "ext" for a manifest without nodes */
    char *ext_id;
    char *node_id; /* "" for a manifest without nodes */
    char *name;
    char *description; /* "" when absent; also the next ones */
    char *version;
    char *hf_repo;
    char *input;                       /* "image", "text", "mesh", … */
    char *output;                      /* "mesh", "audio", … */
    struct json_object *tags;          /* array of strings, never NULL */
    struct json_object *params_schema; /* array, passed on verbatim, never NULL */
    double vram_gb;                    /* as declared, 0 when not */

    enum model_kind kind;
    char *dir;       /* the extension's directory, absolute */
    char *model_dir; /* <models_dir>/<ext>/<node>, need not exist */
    char **argv;     /* absolute program and arguments, NULL at the end */
    char **env;      /* NAME=value of its own, NULL at the end */
    char **aliases;  /* other ids that mean this model, NULL at the end */

    uint64_t vram_bytes;    /* declared device need, 0 = unknown */
    uint64_t ram_bytes;     /* declared host need, 0 = unknown */
    uint64_t per_job_bytes; /* declared need of one job on top, 0 = unknown */
    enum model_prior prior; /* of vram_bytes, or of ram_bytes for CPU models */
    unsigned parallel;      /* jobs at once in one worker, at least 1 */
    struct model_clocks clocks;
    char *clear_after; /* job | pressure | never */
    bool is_downloaded;
};

void model_free(struct model *model);

/* The schema item of one parameter, borrowed, or NULL. */
struct json_object *model_param(const struct model *model, const char *id);

#endif
