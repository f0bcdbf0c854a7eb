#include "gemm/freivalds.h"

#include <float.h>
#include <math.h>

/* y = M x and, where there is a scale of x, scale_y = |M| scale_x. */
static void multiply(const dense_matrix *m, const double *x, const double *scale_x, double *y, double *scale_y)
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
        y[i] = sum;
        if (scale_x) scale_y[i] = scale;
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

yoke_status dense_freivalds_check(const dense_matrix *a, const dense_matrix *b, const dense_matrix *c, uint64_t seed,
                                  dense_freivalds *check)
{
    yoke_context *context = c->context;
    const double k = (double)a->columns, n = (double)c->columns, u = c->precision == DENSE_DOUBLE ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
    dense_matrix x = {.entries = NULL};
    double *memory = NULL;
    yoke_status status = dense_matrix_create(context, 1, c->columns, DENSE_DOUBLE, &x);
    if (!status) status = yoke_allocate(context, c->columns + 2 * b->rows + 3 * c->rows, sizeof *memory, &memory);
    if (!status) {
        double *scale_x = memory, *bx = scale_x + c->columns, *scale_bx = bx + b->rows, *abx = scale_bx + b->rows, *scale = abx + c->rows,
               *cx = scale + c->rows;
        dense_matrix_random(&x, seed);
        for (int64_t j = 0; j < c->columns; j++) {
            double *value = (double *)x.entries + j;
            *value = *value / 2 + copysign(0.5, *value); /* no entry of C counts little */
            scale_x[j] = fabs(*value);
        }
        multiply(b, x.entries, scale_x, bx, scale_bx);
        multiply(a, bx, NULL, abx, NULL);
        multiply(a, scale_bx, scale_bx, cx, scale);
        multiply(c, x.entries, NULL, cx, NULL);
        compare(cx, abx, scale, c->rows, check);
        check->limit = 1.1 * (k * u + 2 * (n + k) * DBL_EPSILON / 2);
        check->passed = check->relative_error <= check->limit;
    }
    yoke_release(context, memory);
    dense_matrix_destroy(&x);
    return status;
}
