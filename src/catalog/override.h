/* override: the `models:` map of config.yaml: changes to models that an extension declares, by id,
 * and (with `kind:`) whole models. Other formats that declare models (llama-swap's) become such
 * entries, too. */
#ifndef HOTBUNK_CATALOG_OVERRIDE_H
#define HOTBUNK_CATALOG_OVERRIDE_H

#include "base/schema.h"
#include "catalog/config.h"

/* Checks all entries of a `models:` map. `out_fault` says where in the file. */
int override_check_all(struct json_object *models, double clock_scale,
                       struct schema_fault *out_fault, struct err *err) MUSTCHECK;

/* Does the entry declare a whole model? */
bool override_is_model(struct json_object *entry);

/* Changes the model as a checked entry says. */
int override_apply(struct model *model, struct json_object *entry, double clock_scale,
                   struct schema_fault *out_fault, struct err *err) MUSTCHECK;

/* Builds a whole model out of a checked entry. */
int override_model_new(const char *id, struct json_object *entry, const struct config *config,
                       struct model **out_model, struct err *err) MUSTCHECK;

#endif
