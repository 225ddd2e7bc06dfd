/* options: the fake worker's script, one table of flags. Read-only after options_parse; the rest of
 * the program reads `options` from any thread. To add a flag: a member here, a row in options.c. */
#ifndef HOTBUNK_FAKEWORKER_OPTIONS_H
#define HOTBUNK_FAKEWORKER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum options_stage {
    OPTIONS_STAGE_NONE = 0,
    OPTIONS_STAGE_START = 1, /* before `ready` */
    OPTIONS_STAGE_LOAD = 2,
    OPTIONS_STAGE_RUN = 3,
};

enum options_grandchild {
    OPTIONS_GRANDCHILD_NONE = 0,
    OPTIONS_GRANDCHILD_SAME = 1,   /* in the worker's session */
    OPTIONS_GRANDCHILD_SETSID = 2, /* in its own */
    OPTIONS_GRANDCHILD_DOUBLE = 3, /* in its own, and its parent has ended */
};

enum options_ids {
    OPTIONS_IDS_ALL = 0,
    OPTIONS_IDS_MODLY = 1, /* as the Modly runner: only progress, done, cancelled, error of a job */
    OPTIONS_IDS_NONE = 2,
};

enum options_wrong_id {
    OPTIONS_WRONG_ID_NONE = 0,
    OPTIONS_WRONG_ID_EXTRA = 1, /* a stranger's `done` before the right one */
    OPTIONS_WRONG_ID_ONLY = 2,  /* and the right one never */
};

struct options {
    uint64_t load_ms;
    uint64_t run_ms;
    uint64_t late_ready_ms;
    uint64_t heartbeat_ms;
    uint64_t progress_every_ms;
    uint64_t progress_rate; /* lines a second */
    uint64_t alloc_bytes;
    uint64_t job_alloc_bytes;
    uint64_t leak_bytes;
    uint64_t output_bytes;
    uint64_t stderr_noise_bytes;
    uint64_t fail_load;
    uint64_t exit_code;
    uint64_t signal;
    uint64_t sleeper; /* internal: 1 sleeps, 2 starts one and ends */
    uint64_t hang;    /* enum options_stage */
    uint64_t crash;   /* enum options_stage */
    uint64_t grandchild;
    uint64_t no_ids;
    uint64_t wrong_id;
    bool ignore_cancel;
    bool ignore_term;
    bool ignore_shutdown;
    bool ignore_eof;
    bool noise;
    bool glue;
    bool never_read;
    bool echo;
    bool stamp;
    bool double_done;
    const char *spawn_log;
    const char *state;
    const char *output_ext;
    const char *fail_code;
    const char *tag; /* only to tell workers apart in a list of processes */
};

extern struct options options;

/* Ends the process with a message if the command line is wrong, or after --help. */
void options_parse(int argc, char **argv);

#endif
