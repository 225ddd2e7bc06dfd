/* params: a job's parameters against the model's params_schema. Pure. */
#ifndef HOTBUNK_API_PARAMS_H
#define HOTBUNK_API_PARAMS_H

#include "base/err.h"
#include "base/json.h"

#define PARAMS_NAME_MAX 64

/* Types select, int, float, boolean (bool) and string, with min and max; a null value stands for
 * the default. Keys and types that the schema does not know are the worker's business. 0 or
 * -EINVAL; `out_name` (may be NULL) is the parameter at fault. */
int params_check(struct json_object *schema, struct json_object *params,
                 char out_name[PARAMS_NAME_MAX], struct err *err) MUSTCHECK;

/* The schema's item of one parameter, borrowed, or NULL. */
struct json_object *params_item(struct json_object *schema, const char *id);

/* Is `value` one of a select's options? (false also when it has none) */
bool params_has_option(struct json_object *item, struct json_object *value);

/* "a, b, c" of a select's options. Returns what buf_add returns. */
int params_list_options(struct json_object *item, struct buf *out) MUSTCHECK;

#endif
