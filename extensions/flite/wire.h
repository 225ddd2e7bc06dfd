/* wire: the worker protocol's lines: JSON objects in on stdin, out on a private descriptor.
 *
 * Descriptor 1 is pointed at stderr, so that nothing a library prints can damage a line. Lines that
 * are too long, not JSON or not objects are logged to the host and dropped. One thread. */
#ifndef HOTBUNK_FLITE_WIRE_H
#define HOTBUNK_FLITE_WIRE_H

#include <json-c/json.h>

#define WIRE_LINE_MAX (1024 * 1024)

/* 0 or negative errno. */
int wire_init(void);

/* The next message: 1 and *out_message (the caller's), 0 when none came within timeout_ms (-1:
 * wait for ever), -EPIPE at the end of input. */
int wire_read(int timeout_ms, struct json_object **out_message);

/* A message with its type and the id of the request, NULL for none. */
struct json_object *wire_new(const char *type, struct json_object *id);

/* Sends and releases it. When the host is gone the process ends: nobody is left to work for. */
void wire_send_take(struct json_object *message);

void wire_log(const char *level, const char *text);

/* code: bad_input, busy, error. */
void wire_send_error(struct json_object *id, const char *code, const char *text);

#endif
