#include "ceilings/measure.h"

#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
            if (r == 0) /* the thread that works on a page touches it first */
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

/* cblas_dgemm as cblas.h has it, where CBLAS_COL_MAJOR and CBLAS_NO_TRANS are these numbers. */
typedef void dgemm_function(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a, int lda,
                            const double *b, int ldb, double beta, double *c, int ldc);
enum { CBLAS_COL_MAJOR = 102, CBLAS_NO_TRANS = 111 };

typedef struct blas {
    void *library;
    dgemm_function *dgemm;
    void (*set_threads)(int threads); /* NULL: not OpenBLAS */
    char *(*kernel)(void);
} blas;

/* ISO C has no cast from an object to a function. */
static void take(void *library, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, size);
}

static int load(blas *loaded)
{
    const char *asked = getenv("YOKE_LIBBLAS");
    const char *const names[] = {asked ? asked : "libopenblas.so.0", asked ? "" : "libblas.so.3"};
    for (int i = 0; i < 2; i++) {
        *loaded = (blas){.library = names[i][0] ? dlopen(names[i], RTLD_NOW | RTLD_LOCAL) : NULL};
        if (!loaded->library) continue;
        take(loaded->library, "cblas_dgemm", &loaded->dgemm, sizeof loaded->dgemm);
        take(loaded->library, "openblas_set_num_threads", &loaded->set_threads, sizeof loaded->set_threads);
        take(loaded->library, "openblas_get_corename", &loaded->kernel, sizeof loaded->kernel);
        if (loaded->dgemm) return 1;
        dlclose(loaded->library);
    }
    return 0;
}

/*
 * A product of its own on each of our threads.  OpenBLAS's own threads would have to share the cores with ours, which spin for a while
 * after each parallel region (for ever with OMP_WAIT_POLICY=active), and with OpenMP inside a region it would use one thread anyway.
 */
static yoke_status measure_products(yoke_context *context, const blas *loaded, const bench_ceilings_size *size, app_ceilings *ceilings)
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
            loaded->dgemm(CBLAS_COL_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, n, n, n, 1, a, n, b, n, 0, c, n);
        }
        double rate = 2.0 * n * n * n * ceilings->threads / (yoke_clock_s() - start_s);
        if (r > 0 && rate > best) best = rate; /* the first one warms up */
    }
    yoke_release(context, all);
    ceilings->dgemm_flops_per_s = ceilings->default_flops_per_s = best;
    return YOKE_OK;
}

yoke_status bench_ceilings_measure(yoke_context *context, const bench_ceilings_size *size, app_ceilings *ceilings)
{
    blas loaded;
    yoke_status status = measure_triad(context, size, ceilings);
    if (status) return status;
    if (!load(&loaded)) {
        snprintf(ceilings->why_not, sizeof ceilings->why_not,
                 "there is no BLAS with cblas_dgemm; on Debian and Ubuntu: apt install libopenblas0, or name a library in YOKE_LIBBLAS");
        return YOKE_OK;
    }
    if (loaded.set_threads) loaded.set_threads(1);
    if (loaded.kernel) snprintf(ceilings->kernel, sizeof ceilings->kernel, "%s", loaded.kernel());
    snprintf(ceilings->default_kernel, sizeof ceilings->default_kernel, "%s", ceilings->kernel);
    status = measure_products(context, &loaded, size, ceilings);
    dlclose(loaded.library);
    return status;
}
