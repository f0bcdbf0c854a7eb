/*
 * ceilings - what the machine can do at most: STREAM's triad (bytes as the program states them: 24 for each element) and DGEMM.
 * Usage: ceilings [THREADS].  Prints one JSON object.  The best of several repetitions counts.
 */
#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "yoke/yoke.h"

enum { TRIAD_ELEMENTS = 30000000, REPETITIONS = 12, ORDER = 2400 };

static yoke_status triad(yoke_context *context, double *bytes_per_second)
{
    double *a = NULL, *b = NULL, *c = NULL, best = 0;
    yoke_status status = yoke_allocate_untouched(context, TRIAD_ELEMENTS, sizeof(double), (void **)&a);
    if (!status) status = yoke_allocate_untouched(context, TRIAD_ELEMENTS, sizeof(double), (void **)&b);
    if (!status) status = yoke_allocate_untouched(context, TRIAD_ELEMENTS, sizeof(double), (void **)&c);
    for (int r = 0; !status && r < REPETITIONS; r++) {
        double start = yoke_clock_s();
#pragma omp parallel for simd schedule(static)
        for (int i = 0; i < TRIAD_ELEMENTS; i++) {
            if (r == 0) /* the thread that works on a page touches it first */
                b[i] = 1, c[i] = 2, a[i] = 0;
            else
                a[i] = b[i] + 3 * c[i];
        }
        double rate = 24.0 * TRIAD_ELEMENTS / (yoke_clock_s() - start);
        if (r > 0 && rate > best) best = rate;
    }
    yoke_release(context, a);
    yoke_release(context, b);
    yoke_release(context, c);
    *bytes_per_second = best;
    return status;
}

static yoke_status dgemm(yoke_context *context, double *flops_per_second)
{
    double *a = NULL, *b = NULL, *c = NULL, best = 0;
    const int64_t entries = (int64_t)ORDER * ORDER;
    yoke_status status = yoke_allocate(context, entries, sizeof(double), (void **)&a);
    if (!status) status = yoke_allocate(context, entries, sizeof(double), (void **)&b);
    if (!status) status = yoke_allocate(context, entries, sizeof(double), (void **)&c);
    for (int64_t i = 0; !status && i < entries; i++) a[i] = b[i] = 1.0 / (double)(i % 97 + 1);
    for (int r = 0; !status && r < 5; r++) {
        double start = yoke_clock_s();
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1, a, ORDER, b, ORDER, 0, c, ORDER);
        double rate = 2.0 * ORDER * ORDER * ORDER / (yoke_clock_s() - start);
        if (rate > best) best = rate;
    }
    yoke_release(context, a);
    yoke_release(context, b);
    yoke_release(context, c);
    *flops_per_second = best;
    return status;
}

int main(int argc, char **argv)
{
    yoke_context *context = NULL;
    double bandwidth, rate;
    if (argc > 1 && atoi(argv[1]) > 0) {
        omp_set_num_threads(atoi(argv[1]));
        openblas_set_num_threads(atoi(argv[1]));
    }
    yoke_status status = yoke_context_create(NULL, &context);
    if (!status) status = triad(context, &bandwidth);
    if (!status) status = dgemm(context, &rate);
    if (status)
        fprintf(stderr, "ceilings: %s\n", yoke_last_error(context));
    else
        printf("{\"threads\": %d, \"triad_gb_per_s\": %.1f, \"dgemm_gflop_per_s\": %.1f, \"blas\": \"%s\"}\n", omp_get_max_threads(),
               bandwidth * 1e-9, rate * 1e-9, openblas_get_corename());
    yoke_context_destroy(context);
    return status != YOKE_OK;
}
