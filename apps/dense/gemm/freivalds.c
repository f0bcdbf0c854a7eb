#include "gemm/freivalds.h"

#include <float.h>
#include <math.h>

void dense_freivalds_add(const dense_matrix *m, const double *x, const double *scale_x, double *y, double *scale_y)
{
    const int64_t columns = m->columns;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->rows; i++) {
        double sum = 0, scale = 0;
        const double *row = (const double *)m->entries + i * columns;
        const float *single = (const float *)m->entries + i * columns;
        for (int64_t j = 0; j < columns; j++) {
            const double value = m->precision == DENSE_DOUBLE ? row[j] : (double)single[j];
            sum += value * x[j];
            if (scale_x) scale += fabs(value) * scale_x[j];
        }
        y[i] += sum;
        if (scale_x) scale_y[i] += scale;
    }
}

static void compare(const double *got, const double *expected, const double *scale, int64_t count, dense_freivalds *check)
{
    check->relative_error = 0;
    for (int64_t i = 0; i < count; i++) {
        const double difference = fabs(got[i] - expected[i]);
        if (difference == 0) continue;
        const double error = difference / scale[i];
        if (!(error <= check->relative_error)) check->relative_error = error;
        if (isnan(error)) return;
    }
}

yoke_status dense_freivalds_vectors_create(yoke_context *context, int64_t m, int64_t n, int64_t k, uint64_t seed,
                                           dense_freivalds_vectors *vectors)
{
    dense_freivalds_vectors v = {.m = m, .n = n, .k = k};
    double *memory = NULL;
    yoke_status status = dense_matrix_create(context, 1, n, DENSE_DOUBLE, &v.random);
    if (!status) status = yoke_allocate(context, n + 2 * k + 3 * m, sizeof *memory, &memory);
    if (status) {
        dense_matrix_destroy(&v.random);
        return status;
    }
    v.x = v.random.entries;
    v.scale_x = memory;
    v.bx = v.scale_x + n;
    v.scale_bx = v.bx + k;
    v.abx = v.scale_bx + k;
    v.scale = v.abx + m;
    v.cx = v.scale + m;
    dense_matrix_random(&v.random, seed);
    for (int64_t j = 0; j < n; j++) {
        v.x[j] = v.x[j] / 2 + copysign(0.5, v.x[j]); /* magnitude of at least 0.5, so that no entry of C has a small weight */
        v.scale_x[j] = fabs(v.x[j]);
    }
    *vectors = v;
    return YOKE_OK;
}

void dense_freivalds_vectors_destroy(dense_freivalds_vectors *vectors)
{
    if (vectors->scale_x) yoke_release(vectors->random.context, vectors->scale_x);
    dense_matrix_destroy(&vectors->random);
    *vectors = (dense_freivalds_vectors){.m = 0};
}

void dense_freivalds_compare(const dense_freivalds_vectors *v, dense_precision precision, dense_freivalds *check)
{
    const double k = (double)v->k, n = (double)v->n, u = precision == DENSE_DOUBLE ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
    compare(v->cx, v->abx, v->scale, v->m, check);
    check->limit = 1.1 * (k * u + 2 * (n + k) * DBL_EPSILON / 2);
    check->passed = check->relative_error <= check->limit;
}

yoke_status dense_freivalds_check(const dense_matrix *a, const dense_matrix *b, const dense_matrix *c, uint64_t seed,
                                  dense_freivalds *check)
{
    dense_freivalds_vectors v = {.m = 0};
    yoke_status status = dense_freivalds_vectors_create(c->context, c->rows, c->columns, a->columns, seed, &v);
    if (status) return status;
    dense_freivalds_add(b, v.x, v.scale_x, v.bx, v.scale_bx);
    dense_freivalds_add(a, v.bx, v.scale_bx, v.abx, v.scale);
    dense_freivalds_add(c, v.x, NULL, v.cx, NULL);
    dense_freivalds_compare(&v, c->precision, check);
    dense_freivalds_vectors_destroy(&v);
    return YOKE_OK;
}
