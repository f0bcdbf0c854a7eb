#include "dense/contention.h"

#include <math.h>
#include <stdio.h>

#include "common/console/interrupt.h"
#include "gemm/gemm.h"

enum { MAX_REPEATS = 1000, WARM = 2 };

typedef struct trial {
    yoke_context *context;
    const app_blas *blas;
    dense_matrix a, b, c;
    yoke_run *run[BENCH_GROUPS];
    double share[BENCH_GROUPS]; /* share of the accelerator */
    dense_shared shared;
    double host[BENCH_GROUPS][MAX_REPEATS], gpu[BENCH_GROUPS][MAX_REPEATS];
} trial;

static int has_host(int group) { return group != BENCH_GPU; }
static int has_gpu(int group) { return group >= BENCH_GPU; }
static const char *host_of(const bench_contention_options *o, int group)
{
    return group == BENCH_ALL_CORES || group == BENCH_ALL_WITH_GPU ? o->cores : o->rest;
}

/* The shares are given, so nothing is learned from round to round. */
static yoke_status open_group(trial *t, const bench_contention_options *options, int group)
{
    char devices[256];
    yoke_run_options of_run = {.devices = devices, .no_meters = 1};
    if (has_host(group) && has_gpu(group)) of_run.share = &t->share[group];
    if (snprintf(devices, sizeof devices, "%s%s%s", has_host(group) ? host_of(options, group) : "", of_run.share ? "," : "",
                 has_gpu(group) ? options->gpu : "") >= (int)sizeof devices)
        return yoke_fail(t->context, YOKE_ERROR_INPUT, "%s, %s: the names of devices are too long", options->cores, options->gpu);
    return yoke_run_create(t->context, &of_run, &t->run[group]);
}

/* Computes one product, and the speeds of the working devices.  A unit is a row, so that shares are exact. */
static yoke_status multiply(trial *t, int group, double *host, double *gpu)
{
    const dense_gemm_options how = {.block = 1};
    yoke_status status = dense_gemm(t->context, t->run[group], t->blas, NULL, &how, &t->a, &t->b, &t->c, &t->shared);
    *host = *gpu = 0;
    for (int i = 0; i < t->shared.num_parts && !status; i++) {
        const dense_part *part = &t->shared.part[i];
        const double flops = 2 * (double)part->units * (double)t->a.columns * (double)t->c.columns;
        if (part->failed) return yoke_fail(t->context, YOKE_ERROR_DEVICE, "%s failed: %s", part->device, part->why);
        if (part->units > 0) *(part->accelerator ? gpu : host) += flops / part->seconds;
    }
    return status;
}

/* Devices alone come first, because their speeds determine the shares when they work together. */
static yoke_status prepare(trial *t, const bench_contention_options *options)
{
    double host[BENCH_GROUPS] = {0}, gpu[BENCH_GROUPS] = {0};
    yoke_status status = YOKE_OK;
    for (int group = 0; group < BENCH_GROUPS && !status; group++) {
        if (group == BENCH_ALL_WITH_GPU) t->share[group] = gpu[BENCH_GPU] / (gpu[BENCH_GPU] + host[BENCH_ALL_CORES]);
        if (group == BENCH_REST_WITH_GPU) t->share[group] = gpu[BENCH_GPU] / (gpu[BENCH_GPU] + host[BENCH_REST]);
        status = open_group(t, options, group);
        for (int i = 0; i < WARM && !status; i++) status = multiply(t, group, &host[group], &gpu[group]);
    }
    return status;
}

static bench_speed mean_of(const double *values, int64_t count)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) sum += values[i] / (double)count;
    for (int64_t i = 0; i < count; i++) squares += (values[i] - sum) * (values[i] - sum);
    return (bench_speed){sum, count > 1 ? yoke_student_t(0.975, (double)(count - 1)) * sqrt(squares / (double)(count - 1) / (double)count)
                                        : INFINITY};
}

static yoke_status repeat(trial *t, const bench_contention_options *options, bench_contention_row *row)
{
    yoke_status status = YOKE_OK;
    const int64_t most = options->repeats_most < MAX_REPEATS ? options->repeats_most : MAX_REPEATS;
    while (!status && !row->reliable && row->repeats < most) {
        const int64_t r = row->repeats++;
        double worst = 0;
        for (int group = 0; group < BENCH_GROUPS && !status; group++) {
            status = multiply(t, group, &t->host[group][r], &t->gpu[group][r]);
            row->host[group] = mean_of(t->host[group], row->repeats);
            row->gpu[group] = mean_of(t->gpu[group], row->repeats);
            if (has_host(group)) worst = fmax(worst, row->host[group].interval / row->host[group].mean);
            if (has_gpu(group)) worst = fmax(worst, row->gpu[group].interval / row->gpu[group].mean);
        }
        row->reliable = row->repeats >= options->repeats_least && worst <= options->accuracy;
        if (!status) status = app_interrupt_check(t->context);
    }
    return status;
}

yoke_status bench_contention_measure(yoke_context *context, const bench_contention_options *options, const app_blas *blas, int64_t n,
                                     bench_contention_row *row)
{
    trial *t = NULL;
    *row = (bench_contention_row){.n = n};
    yoke_status status = yoke_allocate(context, 1, sizeof *t, &t);
    if (status) return status;
    t->context = context;
    t->blas = blas;
    dense_matrix *const matrices[] = {&t->a, &t->b, &t->c};
    for (int i = 0; i < 3 && !status; i++) status = dense_matrix_create(context, n, n, DENSE_DOUBLE, matrices[i]);
    if (!status) dense_matrix_random(&t->a, 1);
    if (!status) dense_matrix_random(&t->b, 2);
    if (!status) status = prepare(t, options);
    if (!status) status = repeat(t, options, row);
    for (int group = 0; group < BENCH_GROUPS; group++) yoke_run_destroy(t->run[group]);
    for (int i = 0; i < 3; i++) dense_matrix_destroy(matrices[i]);
    yoke_release(context, t);
    return status;
}

double bench_contention_loss(const bench_contention_row *row, bench_group group, int host)
{
    const bench_group alone = !host ? BENCH_GPU : group == BENCH_ALL_WITH_GPU ? BENCH_ALL_CORES : BENCH_REST;
    if (group < BENCH_ALL_WITH_GPU) return NAN;
    return host ? 1 - row->host[group].mean / row->host[alone].mean : 1 - row->gpu[group].mean / row->gpu[alone].mean;
}
