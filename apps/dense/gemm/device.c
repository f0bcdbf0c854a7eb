#include "gemm/device.h"

#include <string.h>
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

enum { GROUP = 64, MAX_GROUPS = 65536, ROWS = 4, COLUMNS = 16 }; /* items of a group; a tile of an item, as in the kernel */

const char *dense_gemm_device_text(void) { return dense_panel_text; }

static yoke_status launch_blas(const dense_gemm_device *d, int64_t rows, int64_t n, int64_t k, int64_t units)
{
    const yoke_argument arguments[] = {yoke_argument_int64(rows), yoke_argument_int64(n),     yoke_argument_int64(k),
                                       yoke_argument_double(1),   yoke_argument_buffer(d->a), yoke_argument_int64(0),
                                       yoke_argument_int64(k),    yoke_argument_buffer(d->b), yoke_argument_int64(0),
                                       yoke_argument_int64(n),    yoke_argument_double(0),    yoke_argument_buffer(d->c),
                                       yoke_argument_int64(0),    yoke_argument_int64(n)};
    return yoke_queue_launch(d->queue, d->function, 1, 1, units, arguments, sizeof arguments / sizeof *arguments);
}

static void give_back_buffers(dense_gemm_device *d)
{
    yoke_buffer_destroy(d->a);
    yoke_buffer_destroy(d->b);
    yoke_buffer_destroy(d->c);
    d->a = d->b = d->c = NULL;
}

/* UNAVAILABLE: there is none.  Whether the library is there only a product shows: one of single numbers. */
static yoke_status open_blas(const dense_gemm_state *g, dense_gemm_device *d)
{
    const double zero = 0;
    const int64_t size = (int64_t)g->c->precision;
    /* On cores CLBlast reaches half the speed of the kernel (n = 1000, PoCL 3.1, two cores of Zen 5: 11 and 18 GFLOP/s). */
    if (yoke_device_info_get(d->device)->device_class == YOKE_DEVICE_CPU) return YOKE_ERROR_UNAVAILABLE;
    yoke_status status = yoke_program_create(d->device, &(yoke_program_source){.name = YOKE_BLAS}, &d->program);
    if (!status) status = yoke_program_function(d->program, g->c->precision == DENSE_DOUBLE ? "dgemm" : "sgemm", &d->function);
    if (status == YOKE_ERROR_ARGUMENT) status = YOKE_ERROR_UNAVAILABLE;
    if (!status) status = yoke_buffer_create(d->device, size, &d->a);
    if (!status) status = yoke_buffer_create(d->device, size, &d->b);
    if (!status) status = yoke_buffer_create(d->device, size, &d->c);
    if (!status) status = yoke_queue_write(d->queue, d->a, 0, size, &zero);
    if (!status) status = yoke_queue_write(d->queue, d->b, 0, size, &zero);
    if (!status) status = launch_blas(d, 1, 1, 1, 0);
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
    if (!d->device || !d->blas) return "own kernel";
    return strcmp(yoke_device_info_get(d->device)->kind, "cuda") == 0 ? "cuBLAS" : "CLBlast";
}

static yoke_status open_kernel(const dense_gemm_state *g, dense_gemm_device *d)
{
    static const yoke_host_kernel kernels[] = {{"multiply_panel_double", multiply_panel_double},
                                               {"multiply_panel_single", multiply_panel_single}};
    static const char *const texts[] = {dense_panel_text};
    const int single = g->c->precision == DENSE_SINGLE;
    const yoke_program_source source = {.name = "gemm panel",
                                        .texts = texts,
                                        .num_texts = 1,
                                        .options = single ? "-DDENSE_REAL=float -DDENSE_PANEL=multiply_panel_single"
                                                          : "-DDENSE_REAL=double -DDENSE_PANEL=multiply_panel_double",
                                        .host_kernels = kernels,
                                        .num_host_kernels = 2};
    yoke_status status = yoke_program_create(d->device, &source, &d->program);
    return status ? status : yoke_program_function(d->program, kernels[single].name, &d->function);
}

yoke_status dense_gemm_device_open(dense_gemm_state *g, int number, yoke_device *device, yoke_queue *queue)
{
    dense_gemm_device *d = &g->device[number];
    *d = (dense_gemm_device){.device = device, .queue = queue};
    const yoke_status status = open_blas(g, d);
    return status == YOKE_ERROR_UNAVAILABLE ? open_kernel(g, d) : status;
}

void dense_gemm_device_close(dense_gemm_state *g, int number)
{
    dense_gemm_device *d = &g->device[number];
    give_back_buffers(d);
    yoke_program_destroy(d->program);
    *d = (dense_gemm_device){.device = NULL};
}

static int64_t row_bytes(const dense_matrix *matrix) { return matrix->columns * (int64_t)matrix->precision; }

int64_t dense_gemm_device_most_rows(const dense_gemm_state *g, int number)
{
    const dense_gemm_device *d = &g->device[number];
    const int64_t of_a_row = row_bytes(g->a) + row_bytes(g->c);
    int64_t left = 0, all = 0;
    if (yoke_device_memory(d->device, &left, &all) != YOKE_OK) return 0;
    left += d->rows * of_a_row; /* which are given back before larger ones are made */
    if (!d->b) left -= dense_matrix_bytes(g->b);
    left -= left / 16; /* for what drivers need themselves */
    return left > 0 ? left / of_a_row : 0;
}

static yoke_status make_room(dense_gemm_state *g, dense_gemm_device *d, int64_t rows)
{
    if (rows <= d->rows) return YOKE_OK;
    yoke_buffer_destroy(d->a);
    yoke_buffer_destroy(d->c);
    d->a = d->c = NULL;
    d->rows = 0;
    yoke_status status = yoke_buffer_create(d->device, rows * row_bytes(g->a), &d->a);
    if (!status) status = yoke_buffer_create(d->device, rows * row_bytes(g->c), &d->c);
    if (!status) d->rows = rows;
    return status;
}

yoke_status dense_gemm_device_prepare(dense_gemm_state *g, int number, int64_t rows)
{
    dense_gemm_device *d = &g->device[number];
    yoke_status status = d->b ? YOKE_OK : yoke_buffer_create(d->device, dense_matrix_bytes(g->b), &d->b);
    if (!status) status = make_room(g, d, rows);
    if (status || d->sent) return status;
    d->sent = 1;
    return yoke_queue_write(d->queue, d->b, 0, dense_matrix_bytes(g->b), g->b->entries);
}

static yoke_status launch_kernel(const dense_gemm_device *d, int64_t rows, int64_t n, int64_t k, int64_t units)
{
    const int64_t items = (rows + ROWS - 1) / ROWS * ((n + COLUMNS - 1) / COLUMNS), groups = (items + GROUP - 1) / GROUP;
    const yoke_argument arguments[] = {yoke_argument_int64(rows),  yoke_argument_int64(n),     yoke_argument_int64(k),
                                       yoke_argument_int64(0),     yoke_argument_int64(k),     yoke_argument_buffer(d->a),
                                       yoke_argument_buffer(d->b), yoke_argument_buffer(d->c), yoke_argument_int32(0)};
    return yoke_queue_launch(d->queue, d->function, groups < MAX_GROUPS ? groups : MAX_GROUPS, GROUP, units, arguments,
                             sizeof arguments / sizeof *arguments);
}

yoke_status dense_gemm_device_start(dense_gemm_state *g, int number, int64_t first, int64_t last, int64_t units)
{
    dense_gemm_device *d = &g->device[number];
    const int64_t rows = last - first, n = g->c->columns, k = g->a->columns;
    yoke_status status = yoke_queue_write(d->queue, d->a, 0, rows * row_bytes(g->a), (const char *)g->a->entries + first * row_bytes(g->a));
    if (!status) status = d->blas ? launch_blas(d, rows, n, k, units) : launch_kernel(d, rows, n, k, units);
    if (status) return status;
    return yoke_queue_read(d->queue, d->c, 0, rows * row_bytes(g->c), (char *)g->c->entries + first * row_bytes(g->c));
}
