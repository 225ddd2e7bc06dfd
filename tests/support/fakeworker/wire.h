/* wire: the fake worker's lines out, with their noise, and its lines in. Sending is safe from any
 * thread; reading belongs to the main thread. */
#ifndef HOTBUNK_FAKEWORKER_WIRE_H
#define HOTBUNK_FAKEWORKER_WIRE_H

#include <json-c/json.h>
#include <stdint.h>

#define WIRE_LINE_MAX (64 * 1024 * 1024) /* an image in base64 is one line */

struct json_object *wire_new(const char *type);

/* Sends and releases it; ends the process if the host is gone. */
void wire_send_take(struct json_object *message);

/* What a careless library prints on stderr. */
void wire_stderr_noise(uint64_t bytes);

/* The next object on stdin and when its last byte was read; NULL at the end of input. */
struct json_object *wire_read(uint64_t *out_read_ns);

uint64_t wire_now_ns(void);

#endif
