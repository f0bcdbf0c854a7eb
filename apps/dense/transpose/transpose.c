#include "transpose/transpose.h"

#include <stdio.h>
#include <string.h>

#include "share/program.h"
/* clang-format off */
#define DENSE_WORD yoke_long
#define DENSE_TRANSPOSE transpose_double
#include "transpose/kernels/transpose_text.h"
#undef DENSE_WORD
#undef DENSE_TRANSPOSE
#define DENSE_WORD yoke_int
#define DENSE_TRANSPOSE transpose_single
#include "transpose/kernels/transpose_text.h"
/* clang-format on */

extern const char dense_transpose_text[]; /* transpose_text.h (yoke_embed_text) */

static const double first_entries = 1e7; /* entries of the first round if nothing is known */
enum { GROUP = 64, MAX_GROUPS = 65536, SIDE = 32, MAX_BLOCK = 65536 };

typedef struct device {
    yoke_queue *queue;
    yoke_device *device;
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *in, *out;
    char *staging; /* transposed rows */
    int64_t rows;  /* capacity in rows */
} device;

struct dense_transpose_state {
    yoke_context *context;
    const dense_transpose_options *options;
    char work[96];
    const char *texts[1];
    dense_kernel kernel;
    dense_sharing *sharing;
    const dense_matrix *a;
    dense_matrix *b;
    device device[DENSE_MAX_DEVICES];
};

typedef dense_transpose_state state;

static void on_host(void *user, int64_t first, int64_t last)
{
    const state *s = user;
    int64_t row, end;
    dense_matrix_block_rows(s->a, s->options->block, first, last, &row, &end);
    dense_transpose_rows(s->a, s->b, row, end);
}

static yoke_status open_device(void *user, int number, yoke_device *opened, yoke_queue *queue)
{
    static const dense_program program = {.name = "transpose",
                                          .text = &dense_transpose_text[0],
                                          .options = {"-DDENSE_WORD=yoke_long -DDENSE_TRANSPOSE=transpose_double",
                                                      "-DDENSE_WORD=yoke_int -DDENSE_TRANSPOSE=transpose_single"},
                                          .kernels = {{"transpose_double", transpose_double}, {"transpose_single", transpose_single}}};
    state *s = user;
    device *d = &s->device[number];
    *d = (device){.device = opened, .queue = queue};
    return dense_program_create(opened, &program, s->a->precision == DENSE_SINGLE, &d->program, &d->function);
}

static void give_back(device *d)
{
    yoke_buffer_destroy(d->in);
    yoke_buffer_destroy(d->out);
    if (d->staging) yoke_host_release(d->device, d->staging);
    d->in = d->out = NULL;
    d->staging = NULL;
    d->rows = 0;
}

static void close_device(void *user, int number)
{
    device *d = &((state *)user)->device[number];
    if (!d->device) return;
    give_back(d);
    yoke_program_destroy(d->program);
    *d = (device){.device = NULL};
}

static int64_t row_bytes(const state *s) { return s->a->columns * (int64_t)s->a->precision; }

static yoke_status prepare(void *user, int number, int64_t units)
{
    const state *s = user;
    device *d = &((state *)user)->device[number];
    int64_t rows = units * s->options->block;
    if (rows > s->a->rows) rows = s->a->rows;
    if (rows <= d->rows) return YOKE_OK;
    give_back(d);
    yoke_status status = yoke_buffer_create(d->device, rows * row_bytes(s), &d->in);
    if (!status) status = yoke_buffer_create(d->device, rows * row_bytes(s), &d->out);
    if (!status) status = yoke_host_allocate(d->device, rows * row_bytes(s), &d->staging);
    if (!status) d->rows = rows;
    return status;
}

static yoke_status start(void *user, int number, int64_t first, int64_t last)
{
    const state *s = user;
    const device *d = &s->device[number];
    int64_t row, end;
    dense_matrix_block_rows(s->a, s->options->block, first, last, &row, &end);
    const int64_t rows = end - row, tiles = (rows + SIDE - 1) / SIDE * ((s->a->columns + SIDE - 1) / SIDE);
    const yoke_argument arguments[] = {yoke_argument_int64(rows), yoke_argument_int64(s->a->columns), yoke_argument_buffer(d->in),
                                       yoke_argument_buffer(d->out)};
    yoke_status status = yoke_queue_write(d->queue, d->in, 0, rows * row_bytes(s), (const char *)s->a->entries + row * row_bytes(s));
    if (!status)
        status = yoke_queue_launch(d->queue, d->function, tiles < MAX_GROUPS ? tiles : MAX_GROUPS, GROUP, last - first, arguments,
                                   sizeof arguments / sizeof *arguments);
    return status ? status : yoke_queue_read(d->queue, d->out, 0, rows * row_bytes(s), d->staging);
}

/* Copies the transposed rows to columns of B. */
static void finish(void *user, int number, int64_t first, int64_t last)
{
    const state *s = user;
    const device *d = &s->device[number];
    int64_t row, end;
    dense_matrix_block_rows(s->a, s->options->block, first, last, &row, &end);
    const int64_t size = (int64_t)s->a->precision, bytes = (end - row) * size;
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < s->a->columns; j++)
        memcpy((char *)s->b->entries + (j * s->b->columns + row) * size, d->staging + j * bytes, (size_t)bytes);
}

static int64_t most_units(void *user, int number)
{
    const state *s = user;
    const device *d = &s->device[number];
    int64_t left = 0, all = 0;
    if (yoke_device_memory(d->device, &left, &all) != YOKE_OK) return 0;
    left += 2 * d->rows * row_bytes(s); /* these are released before larger buffers are created */
    left -= left / 16;                  /* needed by drivers */
    return left / (2 * row_bytes(s) * s->options->block);
}

yoke_status dense_transpose_open(yoke_context *context, yoke_run *run, const dense_transpose_options *options, const dense_matrix *a,
                                 dense_matrix *b, dense_transpose_state **transposition)
{
    state *s = NULL;
    if (b->rows != a->columns || b->columns != a->rows || a->precision != b->precision || options->block < 1 || options->block > MAX_BLOCK)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a transposition of %lld x %lld to %lld x %lld, in blocks of %lld rows",
                         (long long)a->rows, (long long)a->columns, (long long)b->rows, (long long)b->columns, (long long)options->block);
    yoke_status status = yoke_allocate(context, 1, sizeof *s, &s);
    if (status) return status;
    *s = (state){.context = context, .options = options, .texts = {dense_transpose_text}, .a = a, .b = b};
    snprintf(s->work, sizeof s->work, "transpose %s n=%lld b=%lld", dense_precision_text(a->precision), (long long)a->columns,
             (long long)options->block);
    const double block_entries = (double)a->columns * (double)options->block;
    const dense_kernel kernel = {.work = s->work,
                                 .texts = s->texts,
                                 .num_texts = 1,
                                 .units = dense_matrix_blocks(a, options->block),
                                 .first_units = first_entries > block_entries ? (int64_t)(first_entries / block_entries) : 1,
                                 .host = on_host,
                                 .open = open_device,
                                 .close = close_device,
                                 .prepare = prepare,
                                 .start = start,
                                 .finish = finish,
                                 .most_units = most_units,
                                 .progress = options->progress,
                                 .user = s};
    s->kernel = kernel;
    status = dense_sharing_open(context, run, &s->kernel, &s->sharing);
    if (status)
        dense_transpose_close(s);
    else
        *transposition = s;
    return status;
}

dense_sharing *dense_transpose_sharing(dense_transpose_state *transposition) { return transposition->sharing; }

const char *dense_transpose_work(const dense_transpose_state *transposition) { return transposition->work; }

void dense_transpose_close(dense_transpose_state *transposition)
{
    if (!transposition) return;
    dense_sharing_close(transposition->sharing);
    yoke_release(transposition->context, transposition);
}

yoke_status dense_transpose(yoke_context *context, yoke_run *run, const dense_transpose_options *options, const dense_matrix *a,
                            dense_matrix *b, dense_shared *shared)
{
    state *s = NULL;
    *shared = (dense_shared){.num_parts = 0};
    yoke_status status = dense_transpose_open(context, run, options, a, b, &s);
    if (!status) status = dense_sharing_do(s->sharing, shared);
    dense_transpose_close(s);
    return status;
}
