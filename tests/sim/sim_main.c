/* sim_main: thousands of seeds as one TAP test a profile; --seed N runs one with its trace. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/slice.h"
#include "sim.h"

#define SEEDS_DEFAULT 3000
#define TWICE_EVERY   8 /* so many seeds apart, a run is repeated and must be the same */

static bool main_seed(uint64_t seed, struct sim_result *total)
{
    struct sim_result result, again;

    sim_run(seed, false, &result);
    total->steps += result.steps;
    total->jobs += result.jobs;
    total->spawns += result.spawns;
    total->kills += result.kills;
    total->at_ms += result.at_ms;
    if (result.violation[0]) {
        printf("# seed %llu at %llu ms: %s\n# again with its trace: --seed %llu\n",
               (unsigned long long)seed, (unsigned long long)result.at_ms, result.violation,
               (unsigned long long)seed);
        return false;
    }
    if (seed / SIM_PROFILES % TWICE_EVERY)
        return true;
    sim_run(seed, false, &again);
    if (again.hash == result.hash)
        return true;
    printf("# seed %llu: two runs, two courses\n", (unsigned long long)seed);
    return false;
}

static int main_all(uint64_t seeds)
{
    int failed = 0;

    printf("1..%d\n", SIM_PROFILES);
    for (int profile = 0; profile < SIM_PROFILES; profile++) {
        struct sim_result total = {0};
        bool is_ok = true;
        for (uint64_t seed = (uint64_t)profile; seed < seeds && is_ok; seed += SIM_PROFILES)
            is_ok = main_seed(seed, &total);
        failed += !is_ok;
        printf("%s %d - core/sim %s: %llu steps, %llu jobs, %llu spawns, %llu kills, %llu h\n",
               is_ok ? "ok" : "not ok", profile + 1, sim_profile_name((enum sim_profile)profile),
               (unsigned long long)total.steps, (unsigned long long)total.jobs,
               (unsigned long long)total.spawns, (unsigned long long)total.kills,
               (unsigned long long)(total.at_ms / 3600000));
        (void)fflush(stdout);
    }
    return failed ? 1 : 0;
}

static int main_one(uint64_t seed)
{
    struct sim_result result;

    sim_run(seed, true, &result);
    printf("1..1\n%s 1 - seed %llu (%s), %llu steps, hash %016llx%s%s\n",
           result.violation[0] ? "not ok" : "ok", (unsigned long long)seed,
           sim_profile_name((enum sim_profile)(seed % SIM_PROFILES)),
           (unsigned long long)result.steps, (unsigned long long)result.hash,
           result.violation[0] ? ": " : "", result.violation);
    return result.violation[0] ? 1 : 0;
}

int main(int argc, char **argv)
{
    uint64_t number = SEEDS_DEFAULT;
    bool is_one = argc == 3 && strcmp(argv[1], "--seed") == 0;
    bool is_count = argc == 3 && strcmp(argv[1], "--seeds") == 0;

    if ((argc != 1 && !is_one && !is_count) ||
        (argc == 3 && num_parse_u64(slice_str(argv[2]), UINT64_MAX, &number) != 0)) {
        (void)fprintf(stderr, "usage: %s [--seeds COUNT | --seed N]\n", argv[0]);
        return 2;
    }
    return is_one ? main_one(number) : main_all(number);
}
