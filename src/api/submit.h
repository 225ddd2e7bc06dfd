/* submit: what the routes that take a job share: its parts, checked before anything is queued or
 * evicted. Each check answers the request itself when it refuses. Loop thread. */
#ifndef HOTBUNK_API_SUBMIT_H
#define HOTBUNK_API_SUBMIT_H

#include "api/internal.h"

/* 0, or -EINVAL: the part is no file, has no bytes, or is not declared as an image: answered. */
int submit_check_image(struct exchange *ex, const struct form_part *image);

/* A JSON object's text; NULL or "" is {}. The caller owns *out_params. */
int submit_parse_params(struct exchange *ex, const char *text, struct json_object **out_params);

/* 0, or -EINVAL: too long or not UTF-8: answered. */
int submit_check_text(struct exchange *ex, const char *param, struct slice text);

/* Against the model's params_schema. */
int submit_check_params(struct api *api, struct exchange *ex, const struct model *model,
                        struct json_object *params);

#endif
