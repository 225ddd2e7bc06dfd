/* id: UUIDs and safe names. Pure: the random bytes come from the caller. */
#ifndef HOTBUNK_BASE_ID_H
#define HOTBUNK_BASE_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

#define ID_UUID_LEN 36
#define ID_NAME_MAX 200 /* bytes of a model id, extension id or collection name */

/* RFC 4122 version 4 text of 16 random bytes, NUL-terminated. */
void id_uuid4(const uint8_t random[16], char out[ID_UUID_LEN + 1]);

bool id_is_uuid(struct slice text);

/* An extension id: [a-z0-9][a-z0-9._-]*, at most ID_NAME_MAX bytes. */
bool id_is_extension(struct slice text);

/* One path component: not empty, not "." or "..", no slash, backslash or control byte. */
bool id_is_component(struct slice text);

#endif
