#include "dense/versions.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/files/file.h"
#include "gemm/freivalds.h"

typedef struct card_text {
    const bench_card *card;
    double seconds_per_row;
} card_text;

static void print_card(FILE *out, const void *data)
{
    const card_text *text = data;
    fprintf(out,
            "{\"name\": \"a card\", \"devices\": [{\"name\": \"card\", \"class\": \"gpu\", \"seconds_per_unit\": %.9g, \"start_s\": 5e-6, "
            "\"memory_bytes\": %.0f, \"copy\": {\"latency_s\": 1e-5, \"bytes_per_s\": %.9g, \"engines\": %d}}]}\n",
            text->seconds_per_row, text->card->memory_bytes, text->card->bytes_per_s, text->card->engines);
}

/* Creates the simulated machine for a product of this size; a unit is a row of the product. */
static yoke_status read_card(yoke_context *context, const bench_versions_options *options, int64_t n, int engines)
{
    static const char name[] = "card.json";
    char path[PATH_MAX];
    bench_card card = options->card;
    card.engines = engines;
    const card_text text = {&card, 2 * (double)n * (double)n / card.flops_per_s};
    if (snprintf(path, sizeof path, "%s/%s", options->directory, name) >= (int)sizeof path)
        return yoke_fail(context, YOKE_ERROR_INPUT, "%s: the name is too long", options->directory);
    yoke_status status = app_file_write(context, options->directory, name, print_card, &text);
    return status ? status : yoke_machine_read(context, path);
}

typedef struct product {
    yoke_run *run;
    dense_matrix a, b, c;
    dense_shared shared;
} product;

/* Computes all products with one run, so that the costs of a first launch are in no measured time. */
static yoke_status multiply(yoke_context *context, const bench_versions_options *options, int version, product *p, bench_versions_row *row)
{
    const char *const device = options->device ? options->device : "sim:card";
    const dense_memory_limit limit = {device, options->memory_bytes};
    const dense_gemm_options how = {
        .block = 1, .version = version, .depth = options->depth, .num_limits = options->memory_bytes > 0, .limits = &limit};
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; i < options->repeats && !status; i++) {
        status = dense_gemm(context, p->run, NULL, "not asked for", &how, &p->a, &p->b, &p->c, &p->shared);
        if (!status && !(p->shared.measured_s >= row->seconds)) row->seconds = p->shared.measured_s;
    }
    if (status) return status;
    snprintf(row->by, sizeof row->by, "%s", p->shared.part[0].by);
    row->out_of_core = strstr(row->by, "out of core") != NULL;
    return YOKE_OK;
}

static yoke_status check(yoke_context *context, const product *p, bench_versions_row *row)
{
    dense_freivalds found;
    yoke_status status = dense_freivalds_check(&p->a, &p->b, &p->c, 1, &found);
    if (status) return status;
    row->error = found.relative_error;
    row->limit = found.limit;
    if (found.passed) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_NUMERIC, "version %d, n = %lld: the product is wrong, its relative error is %.2g", row->version,
                     (long long)row->n, row->error);
}

/* Each measurement has a context of its own, because a context has at most one simulated machine. */
static yoke_status measure(yoke_context *context, const bench_versions_options *options, product *p, bench_versions_row *row)
{
    const yoke_run_options of_run = {.devices = options->device ? options->device : "sim:card", .no_meters = 1};
    yoke_status status = options->device ? YOKE_OK : read_card(context, options, row->n, row->engines);
    if (!status) status = yoke_run_create(context, &of_run, &p->run);
    dense_matrix *const matrices[] = {&p->a, &p->b, &p->c};
    for (int i = 0; i < 3 && !status; i++) status = dense_matrix_create(context, row->n, row->n, DENSE_DOUBLE, matrices[i]);
    if (!status) dense_matrix_random(&p->a, 1);
    if (!status) dense_matrix_random(&p->b, 2);
    if (!status) status = multiply(context, options, row->version, p, row);
    if (!status) status = check(context, p, row);
    for (int i = 0; i < 3; i++) dense_matrix_destroy(matrices[i]);
    yoke_run_destroy(p->run);
    return status;
}

yoke_status bench_versions_measure(yoke_context *outer, const bench_versions_options *options, int64_t n, int version, int engines,
                                   bench_versions_row *row)
{
    yoke_context *context = NULL;
    product *p = NULL;
    *row = (bench_versions_row){.n = n, .version = version, .engines = engines, .seconds = INFINITY};
    yoke_status status = yoke_context_create(NULL, &context);
    if (status) return yoke_fail(outer, status, "%s", yoke_last_error(NULL));
    status = yoke_allocate(context, 1, sizeof *p, &p);
    if (!status) status = measure(context, options, p, row);
    if (status) yoke_fail(outer, status, "%s", yoke_last_error(context));
    row->flops_per_s = 2 * (double)n * (double)n * (double)n / row->seconds;
    yoke_release(context, p);
    yoke_context_destroy(context);
    return status;
}
