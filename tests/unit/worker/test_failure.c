/* failure: by positive signatures only. */
#include "unit.h"

#include <signal.h>

#include "base/mem.h"
#include "worker/failure.h"

struct row {
    const char *code, *text;
    enum core_failure failure;
};

static const struct row ROWS[] = {
    /* a worker's own code wins over its words */
    {"out_of_memory", "anything", CORE_FAILURE_DEVICE_OOM},
    {"out_of_host_memory", "CUDA out of memory", CORE_FAILURE_HOST_OOM},
    {"missing_module", "", CORE_FAILURE_IMPORT},
    {"import", "", CORE_FAILURE_IMPORT},
    {"missing_file", "", CORE_FAILURE_MISSING_FILE},
    {"bad_arguments", "", CORE_FAILURE_BAD_ARGUMENTS},
    {"bad_input", "[Errno 2] No such file or directory", CORE_FAILURE_ERROR},
    /* no code of ours: its words */
    {"", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB",
     CORE_FAILURE_DEVICE_OOM},
    {"", "HIP out of memory", CORE_FAILURE_DEVICE_OOM},
    {"", "CUDA_ERROR_OUT_OF_MEMORY", CORE_FAILURE_DEVICE_OOM},
    {"error", "CUDA out of memory", CORE_FAILURE_DEVICE_OOM},
    {"", "Traceback:\n  x\nMemoryError", CORE_FAILURE_HOST_OOM},
    {"", "terminate called after throwing an instance of 'std::bad_alloc'", CORE_FAILURE_HOST_OOM},
    {"", "ModuleNotFoundError: No module named 'torch'", CORE_FAILURE_IMPORT},
    {"", "x: error while loading shared libraries: libfoo.so", CORE_FAILURE_IMPORT},
    {"", "FileNotFoundError: [Errno 2] No such file or directory: 'w'", CORE_FAILURE_MISSING_FILE},
    {"", "OSError: [Errno 98] Address already in use", CORE_FAILURE_PORT},
    {"", "CUDA driver version is insufficient for CUDA runtime version", CORE_FAILURE_DRIVER},
    {"", "Failed to initialize NVML: Driver/library version mismatch", CORE_FAILURE_DRIVER},
    /* nothing of these */
    {"", "", CORE_FAILURE_ERROR},
    {"", "the mesh has no faces", CORE_FAILURE_ERROR},
    {"", "not enough memory of the good old days", CORE_FAILURE_ERROR},
    {"weird", "boom", CORE_FAILURE_ERROR},
};

static void test_words_are_classified_by_signature(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
        enum core_failure found = failure_classify(slice_str(ROWS[i].code),
                                                   slice_str(ROWS[i].text));
        if (found != ROWS[i].failure)
            fail_msg("\"%s\" \"%s\": %s instead of %s", ROWS[i].code, ROWS[i].text,
                     core_failure_name(found), core_failure_name(ROWS[i].failure));
    }
}

static enum core_failure of_exit(int code, int signo, const char *text)
{
    return failure_of_exit(code, signo, slice_str(text));
}

static void test_an_exit_without_words_is_a_crash(void **state)
{
    (void)state;
    assert_int_equal(of_exit(1, 0, ""), CORE_FAILURE_CRASH);
    assert_int_equal(of_exit(0, 0, ""), CORE_FAILURE_CRASH);
    assert_int_equal(of_exit(0, SIGSEGV, ""), CORE_FAILURE_CRASH);
    assert_int_equal(of_exit(0, SIGKILL, ""), CORE_FAILURE_CRASH);
}

static void test_exit_code_2_without_words_means_bad_arguments(void **state)
{
    (void)state;
    assert_int_equal(of_exit(2, 0, "usage: x"), CORE_FAILURE_BAD_ARGUMENTS);
    assert_int_equal(of_exit(2, 0, "ModuleNotFoundError"), CORE_FAILURE_IMPORT);
}

static void test_words_explain_an_exit(void **state)
{
    (void)state;
    assert_int_equal(of_exit(1, 0, "ImportError: x"), CORE_FAILURE_IMPORT);
    assert_int_equal(of_exit(1, 0, "CUDA out of memory"), CORE_FAILURE_DEVICE_OOM);
}

static void test_after_a_signal_only_memory_explains_it(void **state)
{
    (void)state;
    assert_int_equal(of_exit(0, SIGABRT, "std::bad_alloc"), CORE_FAILURE_HOST_OOM);
    assert_int_equal(of_exit(0, SIGABRT, "CUDA out of memory"), CORE_FAILURE_DEVICE_OOM);
    assert_int_equal(of_exit(0, SIGSEGV, "ImportError: a mere warning"), CORE_FAILURE_CRASH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_classified_by_signature),
        cmocka_unit_test(test_an_exit_without_words_is_a_crash),
        cmocka_unit_test(test_exit_code_2_without_words_means_bad_arguments),
        cmocka_unit_test(test_words_explain_an_exit),
        cmocka_unit_test(test_after_a_signal_only_memory_explains_it),
    };

    return cmocka_run_group_tests_name("worker/failure", tests, NULL, NULL);
}
