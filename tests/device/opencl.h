/*
 * opencl.h - what the tests of the OpenCL backend share: a context with a device of PoCL, and a program.
 */
#ifndef YOKE_TESTS_DEVICE_OPENCL_H
#define YOKE_TESTS_DEVICE_OPENCL_H

#include "base/failing.h"
#include "unit.h"
#include "yoke/yoke.h"

#define OK(call) assert_int_equal((call), YOKE_OK)

/* A context that counts its memory and keeps its log. */
typedef struct opencl_fixture {
    failing memory;
    yoke_context *context;
    char lines[8192];
} opencl_fixture;

static inline void opencl_keep_line(yoke_log_level level, const char *text, void *user)
{
    opencl_fixture *test = user;
    (void)level;
    size_t length = strlen(test->lines);
    snprintf(test->lines + length, sizeof test->lines - length, "%s\n", text);
}

static inline void opencl_begin(opencl_fixture *test)
{
    memset(test, 0, sizeof *test);
    yoke_options options = failing_options(&test->memory);
    options.log = opencl_keep_line;
    options.log_user = test;
    options.log_level = YOKE_LOG_DEBUG;
    OK(yoke_context_create(&options, &test->context));
}

static inline void opencl_end(opencl_fixture *test)
{
    yoke_context_destroy(test->context);
    assert_int_equal(test->memory.outstanding, 0);
}

static const char opencl_text[] = "YOKE_KERNEL(all_kinds, (YOKE_GLOBAL double *y, yoke_int i, yoke_long l, float f, double d))\n"
                                  "{\n"
                                  "    YOKE_FOR_ALL (k, 4) y[k] = k == 0 ? i : k == 1 ? (double)l : k == 2 ? (double)f : d;\n"
                                  "}\n"
                                  "YOKE_KERNEL(is_null, (YOKE_GLOBAL const double *x, YOKE_GLOBAL double *y))\n"
                                  "{\n"
                                  "    YOKE_FOR_ALL (k, 1) y[k] = x == 0;\n"
                                  "}\n"
                                  "YOKE_KERNEL(spin, (YOKE_GLOBAL double *y, yoke_long n, yoke_long rounds))\n"
                                  "{\n"
                                  "    YOKE_FOR_ALL (k, n) {\n"
                                  "        double value = y[k];\n"
                                  "        for (yoke_long round = 0; round < rounds; round++) value = 0.5 * value + 1;\n"
                                  "        y[k] = value;\n"
                                  "    }\n"
                                  "}\n";
static const char *const opencl_texts[] = {opencl_text};

static inline yoke_program_source opencl_source(void)
{
    return (yoke_program_source){.name = "test", .texts = opencl_texts, .num_texts = 1};
}

#endif
