#include "worker/failure.h"

#include "base/mem.h"

struct signature {
    const char *text;
    enum core_failure failure;
};

/* What the drivers, frameworks and interpreters really print. Order: the most telling first. */
static const struct signature SIGNATURES[] = {
    {"CUDA out of memory", CORE_FAILURE_DEVICE_OOM},
    {"HIP out of memory", CORE_FAILURE_DEVICE_OOM},
    {"torch.OutOfMemoryError", CORE_FAILURE_DEVICE_OOM},
    {"torch.cuda.OutOfMemoryError", CORE_FAILURE_DEVICE_OOM},
    {"CUDA_ERROR_OUT_OF_MEMORY", CORE_FAILURE_DEVICE_OOM},
    {"cudaErrorMemoryAllocation", CORE_FAILURE_DEVICE_OOM},
    {"MPS backend out of memory", CORE_FAILURE_DEVICE_OOM},
    {"\nMemoryError", CORE_FAILURE_HOST_OOM},
    {"std::bad_alloc", CORE_FAILURE_HOST_OOM},
    {"Cannot allocate memory", CORE_FAILURE_HOST_OOM},
    {"ModuleNotFoundError", CORE_FAILURE_IMPORT},
    {"ImportError", CORE_FAILURE_IMPORT},
    {"error while loading shared libraries", CORE_FAILURE_IMPORT},
    {"FileNotFoundError", CORE_FAILURE_MISSING_FILE},
    {"No such file or directory", CORE_FAILURE_MISSING_FILE},
    {"Address already in use", CORE_FAILURE_PORT},
    {"CUDA driver version is insufficient", CORE_FAILURE_DRIVER},
    {"no kernel image is available", CORE_FAILURE_DRIVER},
    {"NVIDIA driver on your system is too old", CORE_FAILURE_DRIVER},
    {"Driver/library version mismatch", CORE_FAILURE_DRIVER},
};

static const struct signature CODES[] = {
    {"out_of_memory", CORE_FAILURE_DEVICE_OOM},  {"out_of_host_memory", CORE_FAILURE_HOST_OOM},
    {"missing_module", CORE_FAILURE_IMPORT},     {"import", CORE_FAILURE_IMPORT},
    {"missing_file", CORE_FAILURE_MISSING_FILE}, {"bad_arguments", CORE_FAILURE_BAD_ARGUMENTS},
    {"bad_input", CORE_FAILURE_ERROR},
};

enum core_failure failure_classify(struct slice code, struct slice text)
{
    for (size_t i = 0; i < ARRAY_LEN(CODES); i++) {
        if (slice_eq_str(code, CODES[i].text))
            return CODES[i].failure;
    }
    for (size_t i = 0; i < ARRAY_LEN(SIGNATURES); i++) {
        if (slice_find(text, slice_str(SIGNATURES[i].text)) < text.len)
            return SIGNATURES[i].failure;
    }
    return CORE_FAILURE_ERROR;
}

enum core_failure failure_of_exit(int code, int signo, struct slice text)
{
    enum core_failure failure = failure_classify((struct slice){0}, text);

    /* After a signal only memory explains it; other words were warnings. SIGKILL alone proves
     * nothing: the kernel's OOM killer is one sender of many. */
    if (signo)
        return failure == CORE_FAILURE_DEVICE_OOM || failure == CORE_FAILURE_HOST_OOM
                   ? failure
                   : CORE_FAILURE_CRASH;
    if (failure != CORE_FAILURE_ERROR)
        return failure;
    return code == 2 ? CORE_FAILURE_BAD_ARGUMENTS : CORE_FAILURE_CRASH; /* getopt's, argparse's */
}
