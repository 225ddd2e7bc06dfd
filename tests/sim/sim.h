/* sim: plays the daemon, its workers and its clients against the core in virtual time.
 *
 * Everything follows from the seed. One run is a fresh core, a random world (models, their
 * misbehaviour, strangers on the device) and some virtual time of random requests, cancels,
 * unloads and switches; then nobody asks any more, or the daemon stops, and all must come to an
 * end. check.c watches every command. Not shared, no globals. */
#ifndef HOTBUNK_TEST_SIM_H
#define HOTBUNK_TEST_SIM_H

#include <stdbool.h>
#include <stdint.h>

/* What kind of world a seed makes: seed % SIM_PROFILES. */
enum sim_profile {
    SIM_HONEST = 0, /* sizes are as declared, nobody fails: the device must never be overfull */
    SIM_FLAKY,      /* loads fail, workers crash, hang, ignore cancel and stop */
    SIM_FOREIGN,    /* strangers come and go, bytes come back late or stay away */
    SIM_UNKNOWN,    /* sizes are wrong or not declared */
    SIM_PEOPLE,     /* many cancels, unloads, switches, changed and removed models */
    SIM_STOP,       /* all of it, and the daemon stops in the middle */
};
#define SIM_PROFILES 6

struct sim_result {
    char violation[256]; /* "" = none */
    uint64_t at_ms;      /* when it was seen, or the end */
    uint64_t hash;       /* of all commands */
    uint64_t steps, jobs, spawns, kills;
};

const char *sim_profile_name(enum sim_profile profile);

/* Prints every event and command when is_traced. */
void sim_run(uint64_t seed, bool is_traced, struct sim_result *out);

#endif
