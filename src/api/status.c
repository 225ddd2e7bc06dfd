#include "api/status.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

#define STATUS_WORKER_ERROR 502

struct status_row {
    const char *code;
    int status;
};

/* Keep docs/http.md in step. */
static const struct status_row status_rows[] = {
    {"bad_input", 400},
    {"bad_request", 400},
    {"unknown_model", 400}, /* in a body; 404 when the path names it */
    {"unauthorized", 401},
    {"forbidden", 403},
    {"not_found", 404},
    {"method_not_allowed", 405},
    {"request_timeout", 408},
    {"cancelled", 409},
    {"never_fits", 413},
    {"too_large", 413},
    {"unsupported_media_type", 415},
    {"unprocessable", 422},
    {"queue_full", 429},
    {"saturated", 429},
    {"head_too_large", 431},
    {"internal", 500},
    {"load_failed", 502},
    {"model_broken", 502},
    {"worker_died", 502},
    {"error", 502}, /* the worker's own words, as other codes of its own */
    {"unloaded", 503},
    {"model_removed", 503},
    {"out_of_memory", 503},
    {"out_of_host_memory", 503},
    {"stopping", 503},
    {"queue_timeout", 504},
    {"load_timeout", 504},
    {"run_timeout", 504},
    {"stall_timeout", 504},
    {"sync_wait_limit", 504},
    {"http_version", 505},
    {"disk_full", 507},
};

static const struct {
    int code;
    const char *name;
} status_errnos[] = {
    {-EAGAIN, "queue_full"},      {-EBUSY, "saturated"},   {-ESHUTDOWN, "stopping"},
    {-EFBIG, "never_fits"},       {-ENOSPC, "disk_full"},  {-EDQUOT, "disk_full"},
    {-EINVAL, "bad_input"},       {-ENOENT, "not_found"},  {-ETIMEDOUT, "load_timeout"},
    {-ECANCELED, "unloaded"},     {-EPIPE, "worker_died"}, {-ENOMEM, "out_of_memory"},
    {-EHOSTDOWN, "model_broken"},
};

int api_status_of(const char *code)
{
    for (size_t i = 0; code && i < ARRAY_LEN(status_rows); i++) {
        if (strcmp(status_rows[i].code, code) == 0)
            return status_rows[i].status;
    }
    return STATUS_WORKER_ERROR;
}

const char *api_code_of_errno(int negative_errno, const char *otherwise)
{
    for (size_t i = 0; i < ARRAY_LEN(status_errnos); i++) {
        if (status_errnos[i].code == negative_errno)
            return status_errnos[i].name;
    }
    return otherwise;
}

const char *api_code_of_status(int status)
{
    switch (status) {
    case 400:
        return "bad_request";
    case 413:
        return "too_large";
    case 429:
    case 503:
        return "saturated";
    case 502:
        return "worker_died";
    default:
        break;
    }
    for (size_t i = 0; i < ARRAY_LEN(status_rows); i++) {
        if (status_rows[i].status == status)
            return status_rows[i].code;
    }
    return "error";
}
