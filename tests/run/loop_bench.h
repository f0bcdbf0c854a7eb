/*
 * loop_bench.h - y += a x on a simulated CPU and GPUs by yoke_run_loop, with results that are known.
 */
#ifndef YOKE_TESTS_RUN_LOOP_BENCH_H
#define YOKE_TESTS_RUN_LOOP_BENCH_H

#include <math.h>

#include "device/machine_text.h"
#include "unit.h"
#include "yoke/dialect.h"

enum { N = 4000 };

YOKE_KERNEL(axpy, (yoke_long first, yoke_long last, YOKE_GLOBAL const double *x, YOKE_GLOBAL double *y, double a))
{
    YOKE_FOR_ALL (i, last - first) y[first + i] += a * x[first + i];
}

static const yoke_host_kernel kernels[] = {{"axpy", axpy}};
static const yoke_program_source source = {.name = "loops", .host_kernels = kernels, .num_host_kernels = 1};

#define MACHINE(gpu)                                                                                                                      \
    "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"threads\": 2, \"seconds_per_unit\": 3e-6},"                \
    "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6, \"copy\": {\"latency_s\": 1e-6, \"bytes_per_s\": 1e10}" gpu "}," \
    "{\"name\": \"other\", \"class\": \"gpu\", \"seconds_per_unit\": 2e-6}]}"

typedef struct bench {
    yoke_context *context;
    yoke_run *run;
    yoke_run_kernel *kernel;
    double x[N], y[N];
} bench;

static inline void expect_ok(const bench *b, yoke_status status)
{
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(b->context));
}

static inline void fill(bench *b)
{
    for (int i = 0; i < N; i++) {
        b->x[i] = i + 1;
        b->y[i] = 0.5 * i;
    }
}

static inline void open_bench(bench *b, failing *memory, const char *text, const yoke_run_options *options)
{
    b->context = machine(text, memory);
    expect_ok(b, yoke_run_create(b->context, options, &b->run));
    fill(b);
}

static inline void close_bench(bench *b)
{
    yoke_run_destroy(b->run);
    yoke_context_destroy(b->context);
}

static inline yoke_status define_axpy(bench *b, int keep)
{
    const yoke_run_array arrays[] = {{b->x, sizeof b->x, sizeof(double), YOKE_RUN_READ, keep},
                                     {b->y, sizeof b->y, sizeof(double), YOKE_RUN_READ_WRITE, keep}};
    const yoke_run_definition definition = {.work = "axpy", .source = &source, .function = "axpy", .num_arrays = 2, .arrays = arrays};
    return yoke_run_define(b->run, &definition, &b->kernel);
}

static inline yoke_status loop_axpy(bench *b, int64_t n)
{
    const yoke_argument a = yoke_argument_double(2);
    return yoke_run_loop(b->run, b->kernel, n, &a, 1);
}

static inline void expect_axpy(const bench *b, int loops, int64_t n)
{
    for (int i = 0; i < N; i++) {
        double expected = 0.5 * i + (i < n ? 2.0 * loops * (i + 1) : 0);
        if (!(fabs(b->y[i] - expected) <= 1e-12 * fabs(expected))) fail_msg("y[%d] is %.17g instead of %.17g", i, b->y[i], expected);
    }
}

#endif
