#include "worker/env.h"

#include <stdbool.h>

#include "base/slice.h"

/* Names that pass; one that ends in * is a prefix. */
static const char *const ALLOWED[] = {
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    /* where libraries and caches are */
    "LD_LIBRARY_PATH",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    /* devices */
    "CUDA_*",
    "NVIDIA_*",
    "HIP_*",
    "ROCR_*",
    "ROCM_*",
    "HSA_*",
    "ONEAPI_*",
    "ZE_*",
    "SYCL_*",
    /* frameworks and their threads */
    "TORCH_*",
    "PYTORCH_*",
    "OMP_*",
    "MKL_*",
    "OPENBLAS_*",
    "NUMBA_*",
    "GGML_*",
    "HF_*",
    "HUGGING_FACE_HUB_TOKEN",
    "TRANSFORMERS_*",
    /* offline and mirrored installs */
    "PIP_NO_INDEX",
    "PIP_FIND_LINKS",
    "PIP_CONFIG_FILE",
    /* the way out, where there is one */
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    /* sanitizers of workers under test */
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "TSAN_OPTIONS",
    "LSAN_OPTIONS",
};

static struct slice env_name(const char *entry)
{
    struct slice text = slice_str(entry);

    text.len = slice_index(text, '=');
    return text;
}

static bool env_is_allowed(struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(ALLOWED); i++) {
        struct slice pattern = slice_str(ALLOWED[i]);
        if (slice_ends_with(pattern, "*")) {
            pattern.len--;
            if (name.len >= pattern.len && slice_eq(slice_of(name.ptr, pattern.len), pattern))
                return true;
        } else if (slice_eq(name, pattern)) {
            return true;
        }
    }
    return false;
}

static bool env_has(char *const *env, struct slice name)
{
    for (; env && *env; env++) {
        if (slice_eq(env_name(*env), name))
            return true;
    }
    return false;
}

static size_t env_count(char *const *env)
{
    size_t count = 0;

    while (env && env[count])
        count++;
    return count;
}

char **env_build(char *const *inherited, char *const *own)
{
    char **out = mem_new(env_count(inherited) + env_count(own) + 1, sizeof(*out));
    size_t n = 0;

    for (size_t i = 0; inherited && inherited[i]; i++) {
        struct slice name = env_name(inherited[i]);
        if (env_is_allowed(name) && !env_has(own, name))
            out[n++] = mem_strdup(inherited[i]);
    }
    for (size_t i = 0; own && own[i]; i++)
        out[n++] = mem_strdup(own[i]);
    return out;
}

void env_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        mem_free(env[i]);
    mem_free(env);
}
