#include "ceilings/measure.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "common/machine/blas.h"

/* ----------------------------------------------------------------------------------------------------- triad */

static yoke_status measure_triad(yoke_context *context, const bench_ceilings_size *size, app_ceilings *ceilings)
{
    double *a = NULL, *b = NULL, *c = NULL, best = 0;
    const int64_t count = size->triples;
    yoke_status status = yoke_allocate_untouched(context, count, sizeof *a, &a);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof *b, &b);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof *c, &c);
    for (int r = 0; !status && r <= size->repeats; r++) {
        double start_s = yoke_clock_s();
#pragma omp parallel for simd schedule(static) num_threads(ceilings->threads)
        for (int64_t i = 0; i < count; i++) {
            if (r == 0) /* first touch by the thread that works on the page */
                b[i] = 1, c[i] = 2, a[i] = 0;
            else
                a[i] = b[i] + 3 * c[i];
        }
        double rate = 24 * (double)count / (yoke_clock_s() - start_s);
        if (r > 0 && rate > best) best = rate;
    }
    yoke_release(context, a);
    yoke_release(context, b);
    yoke_release(context, c);
    if (!status) ceilings->triad_bytes_per_s = best;
    return status;
}

/* ----------------------------------------------------------------------------------------------------- DGEMM */

/*
 * One product on each of this program's threads.  OpenBLAS's own threads would share the cores with them, which spin for a while after each
 * parallel region (for ever with OMP_WAIT_POLICY=active).  OpenBLAS with OpenMP would use only one thread within a parallel region anyway.
 */
static yoke_status measure_products(yoke_context *context, const app_blas *loaded, const bench_ceilings_size *size, app_ceilings *ceilings)
{
    const int n = size->order;
    const int64_t entries = (int64_t)n * n;
    double *all = NULL, best = 0;
    yoke_status status = yoke_allocate_untouched(context, 3 * entries * ceilings->threads, sizeof *all, &all);
    if (status) return status;
    for (int r = 0; r <= size->repeats; r++) {
        double start_s = 0;
#pragma omp parallel num_threads(ceilings->threads)
        {
            double *a = all + 3 * entries * omp_get_thread_num(), *b = a + entries, *c = b + entries;
            for (int64_t i = 0; r == 0 && i < entries; i++) a[i] = b[i] = 1.0 / (double)(i % 97 + 1), c[i] = 0;
#pragma omp barrier
#pragma omp master
            start_s = yoke_clock_s();
            loaded->dgemm(APP_BLAS_COLUMN_MAJOR, APP_BLAS_NO_TRANSPOSE, APP_BLAS_NO_TRANSPOSE, n, n, n, 1, a, n, b, n, 0, c, n);
        }
        double rate = 2.0 * n * n * n * ceilings->threads / (yoke_clock_s() - start_s);
        if (r > 0 && rate > best) best = rate; /* the first product warms up */
    }
    yoke_release(context, all);
    ceilings->dgemm_flops_per_s = ceilings->default_flops_per_s = best;
    return YOKE_OK;
}

yoke_status bench_ceilings_measure(yoke_context *context, const bench_ceilings_size *size, app_ceilings *ceilings)
{
    app_blas loaded;
    yoke_status status = measure_triad(context, size, ceilings);
    if (status) return status;
    const char *why_not = app_blas_open(&loaded);
    if (why_not) {
        snprintf(ceilings->why_not, sizeof ceilings->why_not, "%s", why_not);
        return YOKE_OK;
    }
    if (loaded.kernel) snprintf(ceilings->kernel, sizeof ceilings->kernel, "%s", loaded.kernel());
    snprintf(ceilings->default_kernel, sizeof ceilings->default_kernel, "%s", ceilings->kernel);
    status = measure_products(context, &loaded, size, ceilings);
    app_blas_close(&loaded);
    return status;
}
