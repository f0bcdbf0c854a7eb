#include "gemm/device.h"

#include <string.h>

#include "share/program.h"
/* clang-format off */
#define DENSE_REAL double
#define DENSE_PANEL multiply_panel_double
#include "gemm/kernels/panel_text.h"
#undef DENSE_REAL
#undef DENSE_PANEL
#define DENSE_REAL float
#define DENSE_PANEL multiply_panel_single
#include "gemm/kernels/panel_text.h"
/* clang-format on */

extern const char dense_panel_text[]; /* panel_text.h (yoke_embed_text) */

enum { GROUP = 64, MAX_GROUPS = 65536, ROWS = 4, COLUMNS = 16 }; /* items per group; tile of C per item, as in the kernel */

const char *dense_gemm_device_text(void) { return dense_panel_text; }

/* A product of rows of A, beginning at column `begin`, with a panel of B. */
typedef struct panel {
    int64_t rows, n, k, begin, depth, size, units;
    yoke_buffer *a, *b, *c;
} panel;

static yoke_status launch_blas(const dense_gemm_device *d, const panel *p)
{
    const yoke_argument arguments[] = {
        yoke_argument_int64(p->rows), yoke_argument_int64(p->n),          yoke_argument_int64(p->depth),
        yoke_argument_double(1),      yoke_argument_buffer(p->a),         yoke_argument_int64(p->begin * p->size),
        yoke_argument_int64(p->k),    yoke_argument_buffer(p->b),         yoke_argument_int64(0),
        yoke_argument_int64(p->n),    yoke_argument_double(p->begin > 0), yoke_argument_buffer(p->c),
        yoke_argument_int64(0),       yoke_argument_int64(p->n)};
    return yoke_queue_launch(d->queue, d->function, 1, 1, p->units, arguments, sizeof arguments / sizeof *arguments);
}

static void give_back_rows(dense_gemm_device *d)
{
    for (int x = 0; x < 2; x++) {
        yoke_buffer_destroy(d->a[x]);
        yoke_buffer_destroy(d->c[x]);
        d->a[x] = d->c[x] = NULL;
    }
    d->rows = 0;
    d->sets = 0;
}

static void give_back_buffers(dense_gemm_device *d)
{
    give_back_rows(d);
    for (int x = 0; x < 2; x++) {
        yoke_buffer_destroy(d->b[x]);
        d->b[x] = NULL;
    }
    d->depth = 0;
    d->sent = 0;
}

/* Returns UNAVAILABLE if there is no BLAS.  Only a product shows whether the library is present, so one of 1 x 1 matrices is computed. */
static yoke_status open_blas(const dense_gemm_state *g, dense_gemm_device *d)
{
    const double zero = 0;
    const int64_t size = (int64_t)g->precision;
    /* On cores, CLBlast reaches half the speed of the kernel (n = 1000, PoCL 3.1, two cores of Zen 5: 11 and 18 GFLOP/s). */
    if (yoke_device_info_get(d->device)->device_class == YOKE_DEVICE_CPU) return YOKE_ERROR_UNAVAILABLE;
    yoke_status status = yoke_program_create(d->device, &(yoke_program_source){.name = YOKE_BLAS}, &d->program);
    if (!status) status = yoke_program_function(d->program, g->precision == DENSE_DOUBLE ? "dgemm" : "sgemm", &d->function);
    if (status == YOKE_ERROR_ARGUMENT) status = YOKE_ERROR_UNAVAILABLE;
    if (!status) status = yoke_buffer_create(d->device, size, &d->a[0]);
    if (!status) status = yoke_buffer_create(d->device, size, &d->b[0]);
    if (!status) status = yoke_buffer_create(d->device, size, &d->c[0]);
    if (!status) status = yoke_queue_write(d->queue, d->a[0], 0, size, &zero);
    if (!status) status = yoke_queue_write(d->queue, d->b[0], 0, size, &zero);
    const panel one = {.rows = 1, .n = 1, .k = 1, .depth = 1, .size = size, .a = d->a[0], .b = d->b[0], .c = d->c[0]};
    if (!status) status = launch_blas(d, &one);
    const yoke_status finished = yoke_queue_finish(d->queue);
    if (!status) status = finished;
    give_back_buffers(d);
    d->blas = status == YOKE_OK;
    if (status) yoke_program_destroy(d->program);
    if (status) d->program = NULL;
    return status;
}

const char *dense_gemm_device_by(const dense_gemm_state *g, int number)
{
    const dense_gemm_device *d = &g->device[number];
    const int in_core = d->depth == 0 || d->depth == g->b->rows;
    if (!d->device || !d->blas) return in_core ? "own kernel" : "own kernel, out of core";
    if (strcmp(yoke_device_info_get(d->device)->kind, "cuda") == 0) return in_core ? "cuBLAS" : "cuBLAS, out of core";
    return in_core ? "CLBlast" : "CLBlast, out of core";
}

static yoke_status open_kernel(const dense_gemm_state *g, dense_gemm_device *d)
{
    static const dense_program program = {
        .name = "gemm panel",
        .text = &dense_panel_text[0],
        .options = {"-DDENSE_REAL=double -DDENSE_PANEL=multiply_panel_double", "-DDENSE_REAL=float -DDENSE_PANEL=multiply_panel_single"},
        .kernels = {{"multiply_panel_double", multiply_panel_double}, {"multiply_panel_single", multiply_panel_single}}};
    return dense_program_create(d->device, &program, g->precision == DENSE_SINGLE, &d->program, &d->function);
}

/* The budget is the free memory minus what drivers need, or the limit from the options if that is less. */
static yoke_status find_budget(const dense_gemm_state *g, dense_gemm_device *d)
{
    const dense_gemm_options *o = g->options;
    int64_t left = 0, all = 0;
    yoke_status status = yoke_device_memory(d->device, &left, &all);
    d->budget = left - left / 16;
    for (int i = 0; i < o->num_limits; i++)
        if (!strcmp(o->limits[i].device, yoke_device_info_get(d->device)->name) && o->limits[i].bytes < d->budget)
            d->budget = o->limits[i].bytes;
    return status;
}

static yoke_status open_copies(const dense_gemm_state *g, dense_gemm_device *d)
{
    yoke_status status = YOKE_OK;
    if (g->options->version && g->options->version != DENSE_OVERLAPPED) return YOKE_OK;
    for (int x = 0; x < 2 && !status; x++) {
        yoke_event **const events[] = {&d->filled[x], &d->used[x], &d->ready[x], &d->done[x], &d->returned[x]};
        for (size_t i = 0; i < sizeof events / sizeof *events && !status; i++) status = yoke_event_create(d->device, events[i]);
    }
    if (!status) status = yoke_queue_create(d->device, 0, &d->copies);
    return status ? status : yoke_queue_create(d->device, 0, &d->returns);
}

yoke_status dense_gemm_device_open(dense_gemm_state *g, int number, yoke_device *device, yoke_queue *queue)
{
    dense_gemm_device *d = &g->device[number];
    *d = (dense_gemm_device){.device = device, .queue = queue};
    yoke_status status = open_blas(g, d);
    if (status == YOKE_ERROR_UNAVAILABLE) status = open_kernel(g, d);
    if (!status) status = open_copies(g, d);
    return status ? status : find_budget(g, d);
}

void dense_gemm_device_close(dense_gemm_state *g, int number)
{
    dense_gemm_device *d = &g->device[number];
    yoke_queue_destroy(d->copies);
    yoke_queue_destroy(d->returns);
    for (int x = 0; x < 2; x++) {
        yoke_event *const events[] = {d->filled[x], d->used[x], d->ready[x], d->done[x], d->returned[x]};
        for (size_t i = 0; i < sizeof events / sizeof *events; i++) yoke_event_destroy(events[i]);
    }
    give_back_buffers(d);
    yoke_program_destroy(d->program);
    *d = (dense_gemm_device){.device = NULL};
}

/* -------------------------------------------------------------------------------------------------- memory */

static int64_t row_bytes(const dense_matrix *matrix) { return matrix->columns * (int64_t)matrix->precision; }

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Finds the numbers of rows of A and C in memory, of sets of these rows, and of rows of a panel of B, for a range of `wanted` rows. */
static yoke_status divide(const dense_gemm_state *g, const dense_gemm_device *d, int64_t wanted, int64_t *rows, int *sets, int64_t *depth)
{
    const int64_t most = g->options->depth ? g->options->depth : DENSE_GEMM_DEPTH;
    const int64_t of_row = row_bytes(g->a) + row_bytes(g->c), of_b = row_bytes(g->b), buffers = d->copies ? 2 : 1;
    *rows = wanted;
    *sets = 1;
    *depth = g->b->rows;
    if (g->options->version != DENSE_MOVE_ALL && d->budget >= dense_matrix_bytes(g->b) &&
        (d->budget - dense_matrix_bytes(g->b)) / of_row >= wanted)
        return YOKE_OK;
    *depth = smaller(smaller(most, g->b->rows), d->budget / 4 / (buffers * of_b));
    if (*depth < 1) *depth = 1;
    const int64_t fit = (d->budget - buffers * *depth * of_b) / of_row;
    *rows = smaller(wanted, fit);
    /*
     * Two sets of half as many rows hide their copies, but send B twice as often.  Where the bus limits the time, these are no more bytes
     * if at least k n / (k + n) rows fit.
     */
    if (d->copies && fit < wanted && fit >= 2 && (double)fit * (double)of_row >= (double)g->b->rows * (double)of_b) {
        *sets = 2;
        *rows = fit / 2;
    }
    if (*rows >= 1) return YOKE_OK;
    return yoke_fail(g->context, YOKE_ERROR_DEVICE_MEMORY,
                     "a row of A and C and one of B need %lld bytes, and its limit is %lld: raise the limit, or leave the device out",
                     (long long)(of_row + buffers * of_b), (long long)d->budget);
}

void dense_gemm_device_renew(dense_gemm_state *g, int number)
{
    dense_gemm_device *d = &g->device[number];
    int64_t *sides = g->sides[number];
    d->sent = 0;
    if (d->device && (sides[0] != g->a->columns || sides[1] != g->c->columns)) give_back_buffers(d);
    sides[0] = g->a->columns;
    sides[1] = g->c->columns;
}

yoke_status dense_gemm_device_prepare(dense_gemm_state *g, int number, int64_t wanted)
{
    dense_gemm_device *d = &g->device[number];
    int64_t rows = 0, depth = 0;
    int sets = 1;
    yoke_status status = divide(g, d, wanted, &rows, &sets, &depth);
    if (status || (rows <= d->rows && sets <= d->sets && depth == d->depth)) return status;
    if (depth != d->depth) give_back_buffers(d);
    give_back_rows(d);
    d->depth = depth;
    for (int x = 0; x < sets && !status; x++) {
        status = yoke_buffer_create(d->device, rows * row_bytes(g->a), &d->a[x]);
        if (!status) status = yoke_buffer_create(d->device, rows * row_bytes(g->c), &d->c[x]);
    }
    if (!status && !d->b[0]) status = yoke_buffer_create(d->device, depth * row_bytes(g->b), &d->b[0]);
    if (!status && !d->b[1] && depth < g->b->rows && d->copies) status = yoke_buffer_create(d->device, depth * row_bytes(g->b), &d->b[1]);
    if (!status) d->rows = rows;
    if (!status) d->sets = sets;
    if (status || depth < g->b->rows || d->sent) return status;
    d->sent = 1;
    return yoke_queue_write(d->queue, d->b[0], 0, dense_matrix_bytes(g->b), g->b->entries);
}

/* -------------------------------------------------------------------------------------------------- work */

static yoke_status launch_kernel(const dense_gemm_device *d, const panel *p)
{
    const int64_t items = (p->rows + ROWS - 1) / ROWS * ((p->n + COLUMNS - 1) / COLUMNS), groups = (items + GROUP - 1) / GROUP;
    const yoke_argument arguments[] = {yoke_argument_int64(p->rows),  yoke_argument_int64(p->n),     yoke_argument_int64(p->k),
                                       yoke_argument_int64(p->begin), yoke_argument_int64(p->depth), yoke_argument_buffer(p->a),
                                       yoke_argument_buffer(p->b),    yoke_argument_buffer(p->c),    yoke_argument_int32(p->begin > 0)};
    return yoke_queue_launch(d->queue, d->function, smaller(groups, MAX_GROUPS), GROUP, p->units, arguments,
                             sizeof arguments / sizeof *arguments);
}

static yoke_status launch(const dense_gemm_device *d, const panel *p) { return d->blas ? launch_blas(d, p) : launch_kernel(d, p); }

/* Sends a panel of B to buffer x; the queue of products waits for it. */
static yoke_status send_panel(const dense_gemm_state *g, dense_gemm_device *d, int64_t begin, int64_t depth, int x)
{
    const char *from = (const char *)g->b->entries + begin * row_bytes(g->b);
    if (!d->copies) return yoke_queue_write(d->queue, d->b[0], 0, depth * row_bytes(g->b), from);
    yoke_status status = yoke_event_wait(d->used[x], d->copies);
    if (!status) status = yoke_queue_write(d->copies, d->b[x], 0, depth * row_bytes(g->b), from);
    if (!status) status = yoke_queue_record(d->copies, d->filled[x]);
    return status ? status : yoke_event_wait(d->filled[x], d->queue);
}

static yoke_status send_a(const dense_gemm_state *g, const dense_gemm_device *d, yoke_queue *queue, int64_t first, int64_t rows, int x)
{
    return yoke_queue_write(queue, d->a[x], 0, rows * row_bytes(g->a), (const char *)g->a->entries + first * row_bytes(g->a));
}

static yoke_status send_c(const dense_gemm_state *g, const dense_gemm_device *d, int64_t first, int64_t rows)
{
    return yoke_queue_write(d->queue, d->c[0], 0, rows * row_bytes(g->c), (const char *)g->to->entries + first * row_bytes(g->c));
}

static yoke_status bring_c(const dense_gemm_state *g, const dense_gemm_device *d, yoke_queue *queue, int64_t first, int64_t rows, int x)
{
    return yoke_queue_read(queue, d->c[x], 0, rows * row_bytes(g->c), (char *)g->to->entries + first * row_bytes(g->c));
}

/* Sends rows of A to set x, after C of its previous rows has been read back. */
static yoke_status begin_rows(const dense_gemm_state *g, const dense_gemm_device *d, int64_t first, int64_t rows, int x)
{
    if (!d->copies) return send_a(g, d, d->queue, first, rows, x);
    yoke_status status = yoke_event_wait(d->returned[x], d->copies);
    if (!status) status = send_a(g, d, d->copies, first, rows, x);
    if (!status) status = yoke_queue_record(d->copies, d->ready[x]);
    return status ? status : yoke_event_wait(d->ready[x], d->queue);
}

/* Reads rows of C from set x after they are computed. */
static yoke_status end_rows(const dense_gemm_state *g, const dense_gemm_device *d, int64_t first, int64_t rows, int x)
{
    if (!d->copies) return bring_c(g, d, d->queue, first, rows, x);
    yoke_status status = yoke_queue_record(d->queue, d->done[x]);
    if (!status) status = yoke_event_wait(d->done[x], d->returns);
    if (!status) status = bring_c(g, d, d->returns, first, rows, x);
    return status ? status : yoke_queue_record(d->returns, d->returned[x]);
}

/* If all panels move C: C is sent before a panel, and read back after it to the same place. */
static yoke_status begin_move(const dense_gemm_state *g, const dense_gemm_device *d, int64_t first, const panel *p)
{
    return p->begin ? send_c(g, d, first, p->rows) : YOKE_OK;
}

static yoke_status end_move(const dense_gemm_state *g, const dense_gemm_device *d, int64_t first, const panel *p)
{
    yoke_status status = bring_c(g, d, d->queue, first, p->rows, 0);
    return status ? status : yoke_queue_finish(d->queue);
}

/* Computes all panels for some rows, using set x. */
static yoke_status work_on_rows(const dense_gemm_state *g, dense_gemm_device *d, int64_t first, int64_t rows, int64_t units, int x)
{
    const int64_t k = g->a->columns, panels = (k + d->depth - 1) / d->depth;
    const int all_moves = g->options->version == DENSE_MOVE_ALL;
    yoke_status status = begin_rows(g, d, first, rows, x);
    for (int64_t i = 0; i < panels && !status; i++) {
        const int y = d->copies && !d->sent ? (int)(i % 2) : 0;
        const int64_t begin = i * d->depth;
        const panel p = {.rows = rows,
                         .n = g->c->columns,
                         .k = k,
                         .begin = begin,
                         .depth = smaller(d->depth, k - begin),
                         .size = (int64_t)g->c->precision,
                         .units = units * (i + 1) / panels - units * i / panels,
                         .a = d->a[x],
                         .b = d->b[y],
                         .c = d->c[x]};
        if (all_moves) status = begin_move(g, d, first, &p);
        if (!status && !d->sent) status = send_panel(g, d, begin, p.depth, y);
        if (!status) status = launch(d, &p);
        if (!status && !d->sent && d->copies) status = yoke_queue_record(d->queue, d->used[y]);
        if (!status && all_moves) status = end_move(g, d, first, &p);
    }
    return status || all_moves ? status : end_rows(g, d, first, rows, x);
}

yoke_status dense_gemm_device_start(dense_gemm_state *g, int number, int64_t first, int64_t last, int64_t units)
{
    dense_gemm_device *d = &g->device[number];
    const int64_t all = last - first;
    yoke_status status = YOKE_OK;
    int x = 0;
    for (int64_t done = 0; done < all && !status; done += d->rows) {
        const int64_t rows = smaller(d->rows, all - done);
        status = work_on_rows(g, d, first + done, rows, units * (done + rows) / all - units * done / all, x);
        x = (x + 1) % d->sets;
    }
    for (x = 0; x < d->sets && d->copies && !status; x++) status = yoke_event_wait(d->returned[x], d->queue);
    if (!status || !d->copies) return status;
    yoke_queue_finish(d->copies); /* after an error, other devices compute these rows again, so no copy may still write to C */
    yoke_queue_finish(d->returns);
    return status;
}
