/* yaml: config files: libyaml's events become a JSON tree, with the place of every value kept.
 *
 * The core schema of YAML 1.2, made stricter: only true and false are booleans, numbers are plain
 * decimal ones (0777, 0x1f, 1_000, 12:30 and yes stay strings), equal keys, merge keys, tags and
 * several documents are refused. Aliases are copied, within the same limits. Pure. */
#ifndef HOTBUNK_CATALOG_YAML_H
#define HOTBUNK_CATALOG_YAML_H

#include "base/json.h"

#define YAML_NODES_MAX 100000 /* values in all, those of aliases included */
#define YAML_ARENA_MAX 33554432

struct yaml_file;

/* `name` is shown in places. 0, -EINVAL with err->where = "name:line:col", or -ENOMEM. */
int yaml_file_parse(struct slice text, const char *name, struct yaml_file **out_file,
                    struct err *err) MUSTCHECK;
void yaml_file_free(struct yaml_file *file);

/* Borrowed; NULL for an empty file. */
struct json_object *yaml_file_root(const struct yaml_file *file);

/* Sets err->where to the place of the value (or key) at `path` ("models.a[0]", as base/schema
 * writes it), or of the nearest parent that is known. Returns err->code. */
int yaml_file_err_at(const struct yaml_file *file, const char *path, bool is_key, struct err *err);

#endif
