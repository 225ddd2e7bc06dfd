#include "api/submit.h"

#include <errno.h>

#include "api/params.h"
#include "base/utf8.h"

static bool submit_is_image_type(struct slice type)
{
    static const char prefix[] = "image/";

    return type.len > sizeof(prefix) - 1 &&
           slice_ieq_str(slice_of(type.ptr, sizeof(prefix) - 1), prefix);
}

int submit_check_image(struct exchange *ex, const struct form_part *image)
{
    if (!image->path || !submit_is_image_type(image->content_type)) {
        api_fail_param(ex, 400, "bad_input", "image",
                       "File must be an image: send the part with a Content-Type of image/…");
        return -EINVAL;
    }
    if (image->len == 0) {
        api_fail_param(ex, 400, "bad_input", "image", "the image is empty: it has no bytes");
        return -EINVAL;
    }
    return 0;
}

int submit_parse_params(struct exchange *ex, const char *text, struct json_object **out_params)
{
    struct slice json = slice_trim(slice_str(text ? text : ""));
    struct err err;

    if (!json.len) {
        *out_params = json_object_new_object();
        return 0;
    }
    if (json.len > API_PARAMS_MAX_BYTES) {
        api_fail_param(ex, 400, "bad_input", "params", "params is longer than %u bytes",
                       API_PARAMS_MAX_BYTES);
        return -EINVAL;
    }
    if (json_parse_object(json, out_params, &err) != 0) {
        api_fail_param(ex, 400, "bad_input", "params",
                       "params must be a JSON object, as {\"depth\": 1}: %s", err.msg);
        return -EINVAL;
    }
    return 0;
}

int submit_check_text(struct exchange *ex, const char *param, struct slice text)
{
    if (text.len > API_TEXT_MAX_BYTES) {
        api_fail_param(ex, 400, "bad_input", param,
                       "%s is too long: %zu bytes, at most %u are taken; split it", param, text.len,
                       API_TEXT_MAX_BYTES);
        return -EINVAL;
    }
    if (!utf8_is_valid(text)) {
        api_fail_param(ex, 400, "bad_input", param, "%s is not valid UTF-8", param);
        return -EINVAL;
    }
    return 0;
}

int submit_check_params(struct api *api, struct exchange *ex, const struct model *model,
                        struct json_object *params)
{
    char name[PARAMS_NAME_MAX];
    struct api_model now;
    struct err err;

    if (api->ops->model_get(api->app, model, &now) != 0)
        return 0; /* it was removed just now: the submit says so */
    if (params_check(now.params_schema, params, name, &err) == 0)
        return 0;
    api_fail_param(ex, 400, "bad_input", name, "%s", err.msg);
    return -EINVAL;
}
