/* job: one generate request: its checked parameters, and the speaking of its text.
 *
 * Terminal message: exactly one of done, cancelled, error. Between two pieces of the text it calls
 * `should_stop`, which reads what the host has sent meanwhile. One thread. */
#ifndef HOTBUNK_FLITE_JOB_H
#define HOTBUNK_FLITE_JOB_H

#include <json-c/json.h>
#include <stdbool.h>

/* The manifest's params_schema, as JSON text; the `ready` message carries it. */
extern const char job_params_schema[];

/* Runs the request to its end. `should_stop(user)` true: it ends as cancelled. */
void job_run(struct json_object *request, bool (*should_stop)(void *user), void *user);

#endif
