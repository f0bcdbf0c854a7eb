/*
 * fixture.h - for tests of benchmarks: a context, and what must succeed on it.
 */
#ifndef YOKE_TESTS_BENCH_FEM_FIXTURE_H
#define YOKE_TESTS_BENCH_FEM_FIXTURE_H

#include "unit.h"

#include "yoke/yoke.h"

static inline yoke_context *new_context(void)
{
    yoke_context *context;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    return context;
}

static inline void must(yoke_context *context, yoke_status status)
{
    if (status) fail_msg("%s", yoke_last_error(context));
}

/* Two simulated GPUs a and b, and one, broken, that is soon lost. */
static inline void read_gpus(yoke_context *context)
{
    static const char machine[] = "{\"name\": \"test\", \"devices\": ["
                                  "{\"name\": \"a\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6},"
                                  "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6},"
                                  "{\"name\": \"broken\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6,"
                                  " \"fault\": {\"call\": 45, \"kind\": \"lost\"}}]}";
    char path[] = "/tmp/yoke-bench-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    assert_non_null(out);
    fputs(machine, out);
    fclose(out);
    yoke_status status = yoke_machine_read(context, path);
    remove(path);
    must(context, status);
}

#endif
