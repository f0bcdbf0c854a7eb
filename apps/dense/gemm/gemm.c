#include "gemm/gemm.h"

#include <stdio.h>

#include "gemm/device.h"

/* Operations of the first round if nothing is known: a fraction of a second on a few cores. */
static const double first_flops = 1e10;
/* Rows of later rounds, unless they take too long, because the BLAS packs all of B for each thread and round. */
static const int64_t good_rows = 2048;

/* A core that serves an accelerator has less time for products: 7 to 15 % (Clarke, sect. 1.5). */
static const double beside_accelerators = 0.1;

static void on_host(void *user, int64_t first, int64_t last)
{
    const dense_gemm_state *g = user;
    int64_t row, end;
    dense_matrix_block_rows(g->c, g->options->block, first, last, &row, &end);
    dense_gemm_rows(g->blas, g->a, g->b, g->options->add, g->c, row, end, g->busy ? beside_accelerators : 0);
}

static void make_ready(void *user)
{
    const dense_gemm_state *g = user;
    dense_gemm_make_ready(g->blas, g->precision);
}

static yoke_status open_device(void *user, int number, yoke_device *device, yoke_queue *queue)
{
    return dense_gemm_device_open(user, number, device, queue);
}

static void close_device(void *user, int number) { dense_gemm_device_close(user, number); }

static yoke_status prepare(void *user, int number, int64_t units)
{
    dense_gemm_state *g = user;
    const int64_t rows = units * g->options->block;
    g->busy = 1;
    return dense_gemm_device_prepare(user, number, rows < g->c->rows ? rows : g->c->rows);
}

static yoke_status end_round(void *user, int64_t done, int64_t units)
{
    dense_gemm_state *g = user;
    const dense_progress *progress = &g->options->progress;
    g->busy = 0;
    return progress->call ? progress->call(progress->user, done, units) : YOKE_OK;
}

static yoke_status start(void *user, int number, int64_t first, int64_t last)
{
    const dense_gemm_state *g = user;
    int64_t row, end;
    dense_matrix_block_rows(g->c, g->options->block, first, last, &row, &end);
    return dense_gemm_device_start(user, number, row, end, (last - first) * g->weight);
}

static void add_rows(const dense_matrix *from, dense_matrix *to, int64_t row, int64_t end)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = row * to->columns; i < end * to->columns; i++)
        if (to->precision == DENSE_DOUBLE)
            ((double *)to->entries)[i] += ((const double *)from->entries)[i];
        else
            ((float *)to->entries)[i] += ((const float *)from->entries)[i];
}

static void finish(void *user, int number, int64_t first, int64_t last)
{
    const dense_gemm_state *g = user;
    int64_t row, end;
    (void)number;
    dense_matrix_block_rows(g->c, g->options->block, first, last, &row, &end);
    if (g->options->add) add_rows(&g->product, g->c, row, end);
}

static const char *by(void *user, int number, int accelerator)
{
    const dense_gemm_state *g = user;
    return accelerator ? dense_gemm_device_by(g, number) : g->blas ? g->blas->name : "";
}

static yoke_status check(yoke_context *context, int64_t block, const dense_matrix *a, const dense_matrix *b, const dense_matrix *c)
{
    if (a->columns == b->rows && c->rows == a->rows && c->columns == b->columns && a->precision == b->precision &&
        a->precision == c->precision && block >= 1 && block <= DENSE_MAX_BLOCK)
        return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a product of %lld x %lld and %lld x %lld into %lld x %lld, in blocks of %lld rows",
                     (long long)a->rows, (long long)a->columns, (long long)b->rows, (long long)b->columns, (long long)c->rows,
                     (long long)c->columns, (long long)block);
}

/* Number of block products in a row of blocks if products of many shapes are one work (add); otherwise 1. */
static int64_t weight(const dense_gemm_options *options, const dense_matrix *a, const dense_matrix *c)
{
    const int64_t b = options->block;
    return options->add ? (c->columns + b - 1) / b * ((a->columns + b - 1) / b) : 1;
}

static void name_work(const dense_gemm_options *options, const dense_matrix *a, const dense_matrix *c, char *work, size_t size)
{
    const char *precision = dense_precision_text(c->precision), *limited = options->num_limits ? " limited" : "";
    if (options->add)
        snprintf(work, size, "gemm %s added b=%lld%s", precision, (long long)options->block, limited);
    else
        snprintf(work, size, "gemm %s n=%lld k=%lld b=%lld%s", precision, (long long)c->columns, (long long)a->columns,
                 (long long)options->block, limited);
}

static yoke_status open_sharing(dense_gemm_state *g, yoke_run *run)
{
    const yoke_run_device *devices = NULL;
    int64_t count = 0;
    const dense_kernel kernel = {.work = g->work,
                                 .texts = g->texts,
                                 .num_texts = 2,
                                 .good_units = good_rows / g->options->block,
                                 .ready = make_ready,
                                 .host = on_host,
                                 .no_host = g->blas ? NULL : g->why_no_blas,
                                 .open = open_device,
                                 .close = close_device,
                                 .prepare = prepare,
                                 .start = start,
                                 .finish = finish,
                                 .by = by,
                                 .progress = {end_round, g},
                                 .user = g};
    g->kernel = kernel;
    yoke_status status = yoke_run_devices(run, &devices, &count);
    for (int64_t i = 0; i < count && !status; i++) g->beside |= devices[i].active && devices[i].accelerator;
    return status ? status : dense_sharing_open(g->context, run, &g->kernel, &g->sharing);
}

yoke_status dense_gemm_open(yoke_context *context, yoke_run *run, const app_blas *blas, const char *why_no_blas,
                            const dense_gemm_options *options, const dense_matrix *a, const dense_matrix *c, dense_gemm_state **gemm)
{
    dense_gemm_state *g = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *g, &g);
    if (status) return status;
    g->context = context;
    g->blas = blas;
    g->why_no_blas = why_no_blas;
    g->options = options;
    g->precision = c->precision;
    g->texts[0] = dense_gemm_device_text();
    g->texts[1] = blas && blas->kernel ? blas->kernel() : "";
    name_work(options, a, c, g->work, sizeof g->work);
    status = open_sharing(g, run);
    if (status)
        dense_gemm_close(g);
    else
        *gemm = g;
    return status;
}

/* If accelerators work too, their rows of a product that is added to C are written to a separate matrix. */
static yoke_status prepare_adding(dense_gemm_state *g)
{
    const dense_matrix *c = g->c;
    g->to = g->c;
    if (!g->options->add || !g->beside) return YOKE_OK;
    g->to = &g->product;
    if (g->product.rows == c->rows && g->product.columns == c->columns) return YOKE_OK;
    dense_matrix_destroy(&g->product);
    return dense_matrix_create(g->context, c->rows, c->columns, c->precision, &g->product);
}

yoke_status dense_gemm_take(dense_gemm_state *g, const dense_matrix *a, const dense_matrix *b, dense_matrix *c)
{
    const double block_flops = 2.0 * (double)g->options->block * (double)a->columns * (double)c->columns;
    g->a = a;
    g->b = b;
    g->c = c;
    g->weight = weight(g->options, a, c);
    g->kernel.units = dense_matrix_blocks(c, g->options->block);
    g->kernel.weight = g->weight;
    g->kernel.first_units = first_flops > block_flops ? (int64_t)(first_flops / block_flops) : 1;
    for (int i = 0; i < DENSE_MAX_DEVICES; i++) dense_gemm_device_renew(g, i);
    return prepare_adding(g);
}

yoke_status dense_gemm_multiply(dense_gemm_state *g, const dense_matrix *a, const dense_matrix *b, dense_matrix *c, dense_shared *shared)
{
    yoke_status status = dense_gemm_take(g, a, b, c);
    return status ? status : dense_sharing_do(g->sharing, shared);
}

dense_sharing *dense_gemm_sharing(dense_gemm_state *gemm) { return gemm->sharing; }

const char *dense_gemm_work(const dense_gemm_state *gemm) { return gemm->work; }

void dense_gemm_close(dense_gemm_state *gemm)
{
    if (!gemm) return;
    dense_sharing_close(gemm->sharing);
    dense_matrix_destroy(&gemm->product);
    yoke_release(gemm->context, gemm);
}

yoke_status dense_gemm(yoke_context *context, yoke_run *run, const app_blas *blas, const char *why_no_blas,
                       const dense_gemm_options *options, const dense_matrix *a, const dense_matrix *b, dense_matrix *c,
                       dense_shared *shared)
{
    dense_gemm_state *g = NULL;
    yoke_status status = check(context, options->block, a, b, c);
    if (!status) status = dense_gemm_open(context, run, blas, why_no_blas, options, a, c, &g);
    if (!status) status = dense_gemm_multiply(g, a, b, c, shared);
    dense_gemm_close(g);
    return status;
}
