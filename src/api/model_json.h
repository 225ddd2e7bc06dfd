/* model_json: models, workers and devices as JSON. The trees belong to the caller. Pure. */
#ifndef HOTBUNK_API_MODEL_JSON_H
#define HOTBUNK_API_MODEL_JSON_H

#include "api/backend.h"

struct json_object *model_json_native(const struct api_model *model);

/* An entry of /model/all; the short form is that of /model/status. */
struct json_object *model_json_modly(const struct api_model *model);
struct json_object *model_json_modly_status(const struct api_model *model);

struct json_object *worker_json(const struct api_worker *worker);
struct json_object *device_json(const struct api_device *device);

#endif
