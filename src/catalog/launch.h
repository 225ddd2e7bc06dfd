/* launch: how a model's worker is started: fills model->argv and model->env. */
#ifndef HOTBUNK_CATALOG_LAUNCH_H
#define HOTBUNK_CATALOG_LAUNCH_H

#include "catalog/config.h"

/* argv for generator.py: our runner under the extension's venv, or config->python without one. */
void launch_set_runner(struct model *model, const struct config *config);

/* argv out of a command with placeholders. `words` are taken in every case. */
int launch_set_command(struct model *model, const struct config *config, char **words,
                       struct err *err) MUSTCHECK;

/* The worker's own variables, from what the model says so far. */
void launch_set_env(struct model *model, const struct config *config);

/* Adds NAME=value, in place of an older value. */
void launch_put_env(struct model *model, const char *name, const char *value);

/* A directory's setup.py (or build_vendor.py) has not been run yet. */
bool launch_needs_setup(const char *dir);

#endif
