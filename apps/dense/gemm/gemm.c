#include "gemm/gemm.h"

#include <stdio.h>

#include "gemm/device.h"

/* Of the first round, where nothing is known: a fraction of a second on a few cores. */
static const double first_flops = 1e10;
/* Of later rounds, as far as they do not take too long: the BLAS packs all of B for each thread and round. */
static const int64_t good_rows = 2048;

/* A core that serves an accelerator has less time for products: 7 to 15 % (Clarke, sect. 1.5). */
static const double beside_accelerators = 0.1;

static void on_host(void *user, int64_t first, int64_t last)
{
    const dense_gemm_state *g = user;
    int64_t row, end;
    dense_matrix_block_rows(g->c, g->options->block, first, last, &row, &end);
    dense_gemm_rows(g->blas, g->a, g->b, g->options->add, g->c, row, end, g->beside ? beside_accelerators : 0);
}

static void make_ready(void *user)
{
    const dense_gemm_state *g = user;
    dense_gemm_make_ready(g->blas, g->c->precision);
}

static yoke_status open_device(void *user, int number, yoke_device *device, yoke_queue *queue)
{
    return dense_gemm_device_open(user, number, device, queue);
}

static void close_device(void *user, int number) { dense_gemm_device_close(user, number); }

static yoke_status prepare(void *user, int number, int64_t units)
{
    const dense_gemm_state *g = user;
    const int64_t rows = units * g->options->block;
    return dense_gemm_device_prepare(user, number, rows < g->c->rows ? rows : g->c->rows);
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

/* Products of one block that a row of blocks takes, where products of many shapes are one work; else 1. */
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

yoke_status dense_gemm(yoke_context *context, yoke_run *run, const app_blas *blas, const char *why_no_blas,
                       const dense_gemm_options *options, const dense_matrix *a, const dense_matrix *b, dense_matrix *c,
                       dense_shared *shared)
{
    const char *const texts[] = {dense_gemm_device_text(), blas && blas->kernel ? blas->kernel() : ""};
    const double block_flops = 2.0 * (double)options->block * (double)a->columns * (double)c->columns;
    char work[96];
    dense_gemm_state *g = NULL;
    const yoke_run_device *devices = NULL;
    int64_t count = 0;
    yoke_status status = check(context, options->block, a, b, c);
    if (!status) status = yoke_allocate(context, 1, sizeof *g, &g);
    if (status) return status;
    name_work(options, a, c, work, sizeof work);
    *g = (dense_gemm_state){
        .context = context, .blas = blas, .options = options, .a = a, .b = b, .c = c, .to = c, .weight = weight(options, a, c)};
    if (options->add) {
        status = dense_matrix_create(context, c->rows, c->columns, c->precision, &g->product);
        g->to = &g->product;
    }
    const dense_kernel kernel = {.work = work,
                                 .texts = texts,
                                 .num_texts = 2,
                                 .units = dense_matrix_blocks(c, options->block),
                                 .weight = g->weight,
                                 .first_units = first_flops > block_flops ? (int64_t)(first_flops / block_flops) : 1,
                                 .good_units = good_rows / options->block,
                                 .ready = make_ready,
                                 .host = on_host,
                                 .no_host = blas ? NULL : why_no_blas,
                                 .open = open_device,
                                 .close = close_device,
                                 .prepare = prepare,
                                 .start = start,
                                 .finish = finish,
                                 .by = by,
                                 .progress = options->progress,
                                 .user = g};
    if (!status) status = yoke_run_devices(run, &devices, &count);
    for (int64_t i = 0; i < count && !status; i++) g->beside |= devices[i].active && devices[i].accelerator;
    if (!status) status = dense_share(context, run, &kernel, shared);
    dense_matrix_destroy(&g->product);
    yoke_release(context, g);
    return status;
}
