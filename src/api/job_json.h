/* job_json: a job as JSON, as our own routes and events show it, and as Modly's route does. The
 * trees belong to the caller. Pure. */
#ifndef HOTBUNK_API_JOB_JSON_H
#define HOTBUNK_API_JOB_JSON_H

#include "api/backend.h"

struct json_object *job_json_native(const struct api_job *job);
struct json_object *job_json_modly(const struct api_job *job);

const char *job_state_name(enum api_job_state state);

/* 0 or -EINVAL. */
int job_state_parse(struct slice name, enum api_job_state *out_state) MUSTCHECK;

bool job_state_is_end(enum api_job_state state);

#endif
