/* env: the environment a worker gets: an allow-list of the daemon's, plus the model's own.
 *
 * Tokens and keys of the daemon never pass. Read once per start, before threads matter. */
#ifndef HOTBUNK_WORKER_ENV_H
#define HOTBUNK_WORKER_ENV_H

#include "base/mem.h"

/* `inherited` is environ; `own` NAME=value texts that win over it, NULL at the end. The result is
 * NULL-terminated; free with env_free. */
char **env_build(char *const *inherited, char *const *own) __attribute__((returns_nonnull));
void env_free(char **env);

#endif
