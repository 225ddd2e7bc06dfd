/* manifest: one extension's manifest.json in Modly's format, checked and with the nodes' values
 * completed from the top level. manifest_parse is pure; manifest_models looks at the disk. */
#ifndef HOTBUNK_CATALOG_MANIFEST_H
#define HOTBUNK_CATALOG_MANIFEST_H

#include "catalog/config.h"

#define MANIFEST_BYTES_MAX 1048576
#define MANIFEST_NODES_MAX 256

struct manifest {
    struct json_object *root;
    const char *id;  /* borrowed from root */
    bool is_process; /* type: process, which is not a model */
};

/* 0, or -EINVAL with what is wrong and where in it ("nodes[1].params_schema must be an array"). */
int manifest_parse(struct slice text, struct manifest *out_manifest, struct err *err) MUSTCHECK;
void manifest_fini(struct manifest *manifest);

/* Nodes of the manifest; 1 for a manifest without nodes. */
size_t manifest_node_count(const struct manifest *manifest);

/* The model of one node; `dir` is the extension's directory. Overrides of the config are not yet
 * in it, and nothing of the launch. */
struct model *manifest_model_new(const struct manifest *manifest, size_t index, const char *dir,
                                 const struct config *config);

/* A value of the node, else of the top level, borrowed; NULL when absent. */
struct json_object *manifest_value(const struct manifest *manifest, size_t index, const char *key);

/* A copy of the node's `command` as words, or NULL when the extension has a generator.py. */
char **manifest_command(const struct manifest *manifest, size_t index);

/* What must exist in `dir` does: generator.py and its class's name, unless there is a command. */
int manifest_check_files(const struct manifest *manifest, const char *dir,
                         struct err *err) MUSTCHECK;

#endif
