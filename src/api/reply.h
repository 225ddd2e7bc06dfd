/* reply: error answers in the shape of the family that the path belongs to.
 *
 * Modly {"detail": "…"}, own routes {"detail", "code"}, OpenAI {"error": {message, type, code,
 * param}}; docs/http.md. Each of these ends the exchange. Loop thread. */
#ifndef HOTBUNK_API_REPLY_H
#define HOTBUNK_API_REPLY_H

#include "net/exchange.h"

/* status 0 = the code's (status.h). 429 and 503 get a Retry-After. */
void api_fail(struct exchange *ex, int status, const char *code, const char *fmt, ...) PRINTF(4, 5);

/* Like it, naming the parameter that is wrong (for OpenAI's clients). */
void api_fail_param(struct exchange *ex, int status, const char *code, const char *param,
                    const char *fmt, ...) PRINTF(5, 6);

/* The body alone; `code` NULL = by status. `path` picks the family. */
void reply_error_body(struct slice path, int status, const char *code, const char *param,
                      const char *detail, struct buf *out);

/* 422 with the list of faults that Modly's clients expect. */
void reply_faults_take(struct exchange *ex, struct json_object *faults);

/* One more fault: {"type", "loc": [where, name], "msg", "input"}; `input` NULL = null. */
void reply_add_fault(struct json_object *faults, const char *type, const char *where,
                     const char *name, const char *msg, const char *input);

void reply_text(struct exchange *ex, int status, const char *content_type, const char *text);

#endif
