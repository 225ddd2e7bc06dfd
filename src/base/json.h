/* json: strict JSON in (a pre-scan in front of json-c), bounded JSON out.
 *
 * json-c 0.16 even in strict mode takes NaN, Infinity and single quotes, saturates integers over
 * 64 bits, cuts keys at \u0000 and lets the last of two equal keys win: the pre-scan refuses all
 * of these, invalid UTF-8, and nesting over JSON_DEPTH_MAX. Trees belong to the caller
 * (json_object_put). Pure, any thread. */
#ifndef HOTBUNK_BASE_JSON_H
#define HOTBUNK_BASE_JSON_H

#include <json-c/json.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define JSON_DEPTH_MAX 64

/* Checks one whole JSON text without building anything. 0 or -EINVAL (err names the byte). */
int json_prescan(struct slice text, struct err *err) MUSTCHECK;

/* Pre-scan, then json-c. 0, -EINVAL or -ENOMEM. *out_root may be NULL for a JSON `null`. */
int json_parse(struct slice text, struct json_object **out_root, struct err *err) MUSTCHECK;

/* Like json_parse, but the root must be an object. */
int json_parse_object(struct slice text, struct json_object **out_root, struct err *err) MUSTCHECK;

/* Members of an object; NULL or the default when absent, null or of another type. Borrowed. */
struct json_object *json_get(struct json_object *obj, const char *key);
const char *json_get_str(struct json_object *obj, const char *key);
int64_t json_get_int(struct json_object *obj, const char *key, int64_t otherwise);
double json_get_double(struct json_object *obj, const char *key, double otherwise);
bool json_get_bool(struct json_object *obj, const char *key, bool otherwise);
bool json_is(struct json_object *value, enum json_type type);

/* Adds members; NULL text becomes null. `obj` takes what json_put is given. */
void json_put(struct json_object *obj, const char *key, struct json_object *value);
void json_put_str(struct json_object *obj, const char *key, const char *text);
void json_put_int(struct json_object *obj, const char *key, int64_t value);
void json_put_u64(struct json_object *obj, const char *key, uint64_t value);
void json_put_double(struct json_object *obj, const char *key, double value);
void json_put_bool(struct json_object *obj, const char *key, bool value);

/* A JSON string of bytes that may be invalid UTF-8: each bad byte becomes U+FFFD. */
struct json_object *json_str_lossy(struct slice text);

/* The compact text of a tree, borrowed from it. */
const char *json_text(struct json_object *root);

/* Adds "text" with quotes and escapes; invalid UTF-8 becomes U+FFFD. */
int json_quote(struct buf *out, struct slice text) MUSTCHECK;

void json_put_at(struct json_object **root);
#define auto_json __attribute__((cleanup(json_put_at)))

#endif
