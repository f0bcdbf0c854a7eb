/*
 * Measures a kernel of the program at a few sizes, fits a model, and compares its prediction for another size with a measurement.
 *
 * The kernel multiplies an n x n matrix by a vector, row by row.  A unit is a row, so a call on x units reads x n numbers.
 */
#include <math.h>
#include <stdio.h>

#include "yoke/yoke.h"

enum { COLUMNS = 2048, MAX_ROWS = 4096, SIZES = 8 };

/* The data of a call: `rows` rows. */
typedef struct product {
    double *matrix, *vector, *result;
    int64_t rows;
} product;

/* Makes one call and returns its seconds; joules is NaN, because there is no meter here. */
static yoke_status multiply(void *user, double *seconds, double *joules)
{
    product *p = user;
    double begin = yoke_clock_s();
    for (int64_t i = 0; i < p->rows; i++) {
        double sum = 0;
        for (int64_t k = 0; k < COLUMNS; k++) sum += p->matrix[i * COLUMNS + k] * p->vector[k];
        p->result[i] = sum;
    }
    *seconds = yoke_clock_s() - begin;
    *joules = NAN;
    return YOKE_OK;
}

static yoke_status measure(yoke_context *context, product *p, int64_t rows, yoke_sample *sample)
{
    *sample = (yoke_sample){.units = (double)rows, .frequency_hz = NAN};
    p->rows = rows;
    return yoke_measure(context, multiply, p, &(yoke_measure_options){.budget_s = 0.2}, sample);
}

static yoke_status run(yoke_context *context, product *p)
{
    static const char *const kinds[] = {"", "constant", "affine", "piecewise", "akima"};
    static const int64_t rows[SIZES] = {16, 64, 128, 256, 512, 1024, 2048, 4096};
    const int64_t held_out = 1500;
    yoke_sample samples[SIZES], check;
    yoke_model *model = NULL;
    yoke_prediction predicted = {0};
    yoke_status status = YOKE_OK;
    for (int i = 0; i < SIZES && !status; i++) {
        status = measure(context, p, rows[i], &samples[i]);
        if (!status)
            printf("%5lld rows: %9.2f us +- %.1f %% (%lld calls, %lld outliers)\n", (long long)rows[i], 1e6 * samples[i].seconds,
                   100 * samples[i].seconds_interval / samples[i].seconds, (long long)samples[i].repeats, (long long)samples[i].rejected);
    }
    if (!status) status = yoke_model_fit(context, YOKE_MODEL_AUTO, samples, SIZES, &model);
    if (!status) status = yoke_model_predict(model, (double)held_out, NAN, 0, &predicted);
    if (!status) status = measure(context, p, held_out, &check);
    if (!status) {
        printf("model: %s, %.1f %% off on samples held out\n", kinds[model->kind], 100 * model->held_out_error);
        printf("%5lld rows: predicted %.2f +- %.2f us, measured %.2f us, %+.1f %%\n", (long long)held_out, 1e6 * predicted.seconds,
               1e6 * predicted.seconds_uncertainty, 1e6 * check.seconds, 100 * (predicted.seconds / check.seconds - 1));
    }
    yoke_release(context, model);
    return status;
}

int main(void)
{
    yoke_context *context = NULL;
    product p = {NULL, NULL, NULL, 0};
    yoke_status status = yoke_context_create(NULL, &context);
    if (!status) status = yoke_allocate(context, (int64_t)MAX_ROWS * COLUMNS, sizeof(double), &p.matrix);
    if (!status) status = yoke_allocate(context, COLUMNS, sizeof(double), &p.vector);
    if (!status) status = yoke_allocate(context, MAX_ROWS, sizeof(double), &p.result);
    for (int64_t i = 0; i < (int64_t)MAX_ROWS * COLUMNS && !status; i++) p.matrix[i] = 1 + (double)(i % 7);
    for (int64_t k = 0; k < COLUMNS && !status; k++) p.vector[k] = 1;
    if (!status) status = run(context, &p);
    if (status) fprintf(stderr, "model: %s\n", yoke_last_error(context));
    yoke_release(context, p.matrix);
    yoke_release(context, p.vector);
    yoke_release(context, p.result);
    yoke_context_destroy(context);
    return status ? 1 : 0;
}
