#include "fem/variants.h"

#include <math.h>

#include "yoke/dialect.h"

#include "fem/axmebe_kernel.h"

enum { VECTOR_GROUP = 256, WRITE_BYTES = 1 << 28 };

/* The same kernels as text, for the compilers of other devices. */
extern const char fem_axmebe_text[];

typedef enum kernel { O2EL_VECTOR, O2EL_MATRIX, DSPMV, EL2O_VECTOR, PAR, TRIAD, KERNELS } kernel;

static const yoke_host_kernel host_kernels[KERNELS] = {
    [O2EL_VECTOR] = {"axmebe_o2el_vector", axmebe_o2el_vector},
    [O2EL_MATRIX] = {"axmebe_o2el_matrix", axmebe_o2el_matrix},
    [DSPMV] = {"axmebe_dspmv", axmebe_dspmv},
    [EL2O_VECTOR] = {"axmebe_el2o_vector", axmebe_el2o_vector},
    [PAR] = {"axmebe_par", axmebe_par},
    [TRIAD] = {"axmebe_triad", axmebe_triad},
};

/* Buffers on the device; MATRIX: the elements' matrices in their own order. */
typedef enum memory { NODE, PLACE, STORE, FIRST, ENTRY, ORDER, MATRIX, U, Y, ELEMENT_U, ELEMENT_Y, MEMORIES } memory;

struct fem_bench_device {
    yoke_context *context;
    yoke_device *device;
    yoke_queue *queue;
    const fem_bench_elements *elements;
    yoke_program *program, *blas; /* blas: created with its first product */
    yoke_function *function[KERNELS], *packed;
    yoke_buffer *buffer[MEMORIES];
    double *host_u, *host_y; /* in memory that the device reaches fast */
};

/* --------------------------------------------------------------------------------------------------- set-up */

static yoke_status make_program(yoke_device *device, yoke_program **program, yoke_function *function[KERNELS])
{
    const char *texts[] = {fem_axmebe_text};
    const yoke_program_source source = {
        .name = "axmebe", .texts = texts, .num_texts = 1, .host_kernels = host_kernels, .num_host_kernels = KERNELS};
    yoke_status status = yoke_program_create(device, &source, program);
    for (int i = 0; !status && i < KERNELS; i++) status = yoke_program_function(*program, host_kernels[i].name, &function[i]);
    return status;
}

static void list_bytes(const fem_bench_elements *elements, int64_t bytes[MEMORIES])
{
    const int64_t number = sizeof(int32_t), value = sizeof(double);
    const int64_t count = (int64_t)elements->elements * elements->nodes;
    bytes[NODE] = bytes[PLACE] = bytes[ENTRY] = count * number;
    bytes[FIRST] = ((int64_t)elements->num_nodes + 1) * number;
    bytes[ORDER] = elements->elements * number;
    bytes[STORE] = bytes[MATRIX] = elements->elements * fem_bench_packed(elements) * value;
    bytes[U] = bytes[Y] = (int64_t)elements->num_nodes * elements->components * value;
    bytes[ELEMENT_U] = bytes[ELEMENT_Y] = count * elements->components * value;
}

/* Writes in pieces, because drivers keep a copy of data in transfer. */
static yoke_status write_whole(fem_bench_device *bench, memory to, int64_t bytes, const void *from)
{
    yoke_status status = YOKE_OK;
    for (int64_t at = 0; !status && at < bytes; at += WRITE_BYTES) {
        int64_t piece = bytes - at < WRITE_BYTES ? bytes - at : WRITE_BYTES;
        status = yoke_queue_write(bench->queue, bench->buffer[to], at, piece, (const char *)from + at);
        if (!status) status = yoke_queue_finish(bench->queue);
    }
    return status;
}

static yoke_status fill(fem_bench_device *bench)
{
    const fem_bench_elements *elements = bench->elements;
    const void *from[MEMORIES] = {[NODE] = elements->node,   [PLACE] = elements->place, [STORE] = elements->store,
                                  [FIRST] = elements->first, [ENTRY] = elements->entry, [ORDER] = elements->order};
    int64_t bytes[MEMORIES];
    list_bytes(elements, bytes);
    yoke_status status = yoke_host_allocate(bench->device, bytes[U], &bench->host_u);
    if (!status) status = yoke_host_allocate(bench->device, bytes[Y], &bench->host_y);
    for (int64_t i = 0; !status && i < bytes[U] / (int64_t)sizeof(double); i++) bench->host_u[i] = 0;
    for (int i = 0; !status && i < MEMORIES; i++) {
        status = yoke_buffer_create(bench->device, bytes[i], &bench->buffer[i]);
        if (!status && from[i])
            status = write_whole(bench, (memory)i, bytes[i], from[i]);
        else if (!status)
            status = yoke_queue_clear(bench->queue, bench->buffer[i], 0, bytes[i]);
    }
    return status ? status : yoke_queue_finish(bench->queue);
}

static yoke_status check_precision(yoke_context *context, const yoke_device_info *info)
{
    if (info->double_precision) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "%s has no double precision", info->name);
}

yoke_status fem_bench_device_create(const fem_device *device, const fem_bench_elements *elements, fem_bench_device **out)
{
    fem_bench_device *bench = NULL;
    yoke_status status = check_precision(elements->context, device->info);
    if (!status) status = yoke_allocate(elements->context, 1, sizeof *bench, &bench);
    if (status) return status;
    *bench = (fem_bench_device){.context = elements->context, .device = device->device, .queue = device->queue, .elements = elements};
    status = make_program(bench->device, &bench->program, bench->function);
    if (!status) status = fill(bench);
    if (status)
        fem_bench_device_destroy(bench);
    else
        *out = bench;
    return status;
}

void fem_bench_device_destroy(fem_bench_device *bench)
{
    if (!bench) return;
    yoke_queue_finish(bench->queue); /* the buffers may be in use until then; a failure has been reported before */
    for (int i = 0; i < MEMORIES; i++) yoke_buffer_destroy(bench->buffer[i]);
    if (bench->host_u) yoke_host_release(bench->device, bench->host_u);
    if (bench->host_y) yoke_host_release(bench->device, bench->host_y);
    yoke_program_destroy(bench->blas);
    yoke_program_destroy(bench->program);
    yoke_release(bench->context, bench);
}

/* ------------------------------------------------------------------------------------------------- products */

static int64_t vector_bytes(const fem_bench_device *bench)
{
    return (int64_t)bench->elements->num_nodes * bench->elements->components * (int64_t)sizeof(double);
}

yoke_status fem_bench_device_write(fem_bench_device *bench, const double *u) { return write_whole(bench, U, vector_bytes(bench), u); }

yoke_status fem_bench_device_read(fem_bench_device *bench, double *y)
{
    yoke_status status = yoke_queue_read(bench->queue, bench->buffer[Y], 0, vector_bytes(bench), y);
    return status ? status : yoke_queue_finish(bench->queue);
}

yoke_status fem_bench_device_finish(fem_bench_device *bench) { return yoke_queue_finish(bench->queue); }

/* Launches a kernel with one item for each of `count` entries. */
static yoke_status launch_all(const fem_bench_device *bench, kernel number, int64_t count, const yoke_argument *arguments,
                              int64_t num_arguments)
{
    return yoke_queue_launch(bench->queue, bench->function[number], (count + VECTOR_GROUP - 1) / VECTOR_GROUP, VECTOR_GROUP, 0, arguments,
                             num_arguments);
}

static yoke_status o2el(const fem_bench_device *bench)
{
    const fem_bench_elements *elements = bench->elements;
    yoke_buffer *const *buffer = bench->buffer;
    const yoke_argument vector[] = {yoke_argument_int64(elements->elements),   yoke_argument_int32(elements->nodes),
                                    yoke_argument_int32(elements->components), yoke_argument_buffer(buffer[NODE]),
                                    yoke_argument_buffer(buffer[U]),           yoke_argument_buffer(buffer[ELEMENT_U])};
    const yoke_argument matrix[] = {yoke_argument_int64(elements->elements),   yoke_argument_int32(elements->nodes),
                                    yoke_argument_int32(elements->components), yoke_argument_buffer(buffer[PLACE]),
                                    yoke_argument_buffer(buffer[STORE]),       yoke_argument_buffer(buffer[MATRIX])};
    yoke_status status = launch_all(bench, O2EL_VECTOR, (int64_t)elements->elements * elements->nodes, vector, 6);
    if (status) return status;
    return yoke_queue_launch(bench->queue, bench->function[O2EL_MATRIX], elements->elements, fem_bench_order(elements), 0, matrix, 6);
}

static yoke_status el2o(const fem_bench_device *bench)
{
    const fem_bench_elements *elements = bench->elements;
    yoke_buffer *const *buffer = bench->buffer;
    const yoke_argument arguments[] = {yoke_argument_int64(elements->num_nodes), yoke_argument_int32(elements->components),
                                       yoke_argument_buffer(buffer[FIRST]),      yoke_argument_buffer(buffer[ENTRY]),
                                       yoke_argument_buffer(buffer[ELEMENT_Y]),  yoke_argument_buffer(buffer[Y])};
    return launch_all(bench, EL2O_VECTOR, (int64_t)elements->num_nodes * elements->components, arguments, 6);
}

static yoke_status blas(fem_bench_device *bench)
{
    const int64_t m = fem_bench_order(bench->elements), value = sizeof(double);
    const int64_t matrix = fem_bench_packed(bench->elements) * value;
    yoke_buffer *const *buffer = bench->buffer;
    yoke_status status = YOKE_OK;
    if (!bench->blas) status = yoke_program_create(bench->device, &(yoke_program_source){.name = YOKE_BLAS}, &bench->blas);
    if (!status) status = yoke_program_function(bench->blas, "dspmv", &bench->packed);
    for (int64_t e = 0; !status && e < bench->elements->elements; e++) {
        const yoke_argument arguments[] = {yoke_argument_int64(m),
                                           yoke_argument_double(1),
                                           yoke_argument_buffer(buffer[MATRIX]),
                                           yoke_argument_int64(e * matrix),
                                           yoke_argument_buffer(buffer[ELEMENT_U]),
                                           yoke_argument_int64(e * m * value),
                                           yoke_argument_double(0),
                                           yoke_argument_buffer(buffer[ELEMENT_Y]),
                                           yoke_argument_int64(e * m * value)};
        status = yoke_queue_launch(bench->queue, bench->packed, 1, 1, 0, arguments, 9);
    }
    return status;
}

static yoke_status dspmv(const fem_bench_device *bench, int64_t begin, int64_t end)
{
    const int64_t m = fem_bench_order(bench->elements);
    yoke_buffer *const *buffer = bench->buffer;
    const yoke_argument arguments[] = {yoke_argument_int64(begin),
                                       yoke_argument_int64(end),
                                       yoke_argument_int32((int32_t)m),
                                       yoke_argument_buffer(buffer[MATRIX]),
                                       yoke_argument_buffer(buffer[ELEMENT_U]),
                                       yoke_argument_buffer(buffer[ELEMENT_Y])};
    return yoke_queue_launch(bench->queue, bench->function[DSPMV], end - begin, m, end - begin, arguments, 6);
}

static yoke_status fused(const fem_bench_device *bench)
{
    const fem_bench_elements *elements = bench->elements;
    yoke_buffer *const *buffer = bench->buffer;
    yoke_argument arguments[] = {yoke_argument_int64(0),
                                 yoke_argument_int64(0),
                                 yoke_argument_buffer(buffer[ORDER]),
                                 yoke_argument_int32(elements->nodes),
                                 yoke_argument_int32(elements->components),
                                 yoke_argument_buffer(buffer[NODE]),
                                 yoke_argument_buffer(buffer[PLACE]),
                                 yoke_argument_buffer(buffer[STORE]),
                                 yoke_argument_buffer(buffer[U]),
                                 yoke_argument_buffer(buffer[Y])};
    yoke_status status = yoke_queue_clear(bench->queue, buffer[Y], 0, vector_bytes(bench));
    for (int32_t c = 0; !status && c < elements->colours; c++) {
        int64_t count = elements->colour_first[c + 1] - elements->colour_first[c];
        arguments[0] = yoke_argument_int64(elements->colour_first[c]);
        arguments[1] = yoke_argument_int64(elements->colour_first[c + 1]);
        status = yoke_queue_launch(bench->queue, bench->function[PAR], count, fem_bench_order(elements), count, arguments, 10);
    }
    return status;
}

static yoke_status separate(fem_bench_device *bench, fem_bench_variant variant)
{
    yoke_status status = o2el(bench);
    if (!status && variant == FEM_BENCH_BLAS) status = blas(bench);
    for (int64_t e = 0; !status && variant == FEM_BENCH_EACH && e < bench->elements->elements; e++) status = dspmv(bench, e, e + 1);
    if (!status && variant == FEM_BENCH_ALL) status = dspmv(bench, 0, bench->elements->elements);
    return status ? status : el2o(bench);
}

yoke_status fem_bench_device_product(fem_bench_device *bench, fem_bench_variant variant, int transfers)
{
    const int64_t bytes = vector_bytes(bench);
    yoke_status status = transfers ? yoke_queue_write(bench->queue, bench->buffer[U], 0, bytes, bench->host_u) : YOKE_OK;
    if (!status) status = variant == FEM_BENCH_FUSED ? fused(bench) : separate(bench, variant);
    if (!status && transfers) status = yoke_queue_read(bench->queue, bench->buffer[Y], 0, bytes, bench->host_y);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- triad */

enum { TRIAD_REPETITIONS = 12 };

typedef struct host_triad {
    int64_t count;
    double *a, *b, *c;
    double best_s;
} host_triad;

static void run_host_triad(void *user)
{
    host_triad *t = user;
    double *restrict a = t->a, *restrict b = t->b, *restrict c = t->c;
    const int64_t count = t->count;
    for (int r = 0; r < TRIAD_REPETITIONS; r++) {
        double start_s = yoke_clock_s();
        if (r == 0) { /* first touch by the thread that works on the page */
#pragma omp parallel for simd schedule(static)
            for (int64_t i = 0; i < count; i++) b[i] = 1, c[i] = 2, a[i] = 0;
            continue;
        }
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < count; i++) a[i] = b[i] + 3 * c[i];
        double took_s = yoke_clock_s() - start_s;
        if (r == 1 || took_s < t->best_s) t->best_s = took_s;
    }
}

static yoke_status triad_on_host(const fem_device *device, yoke_context *context, int64_t count, double *best_s)
{
    host_triad t = {.count = count};
    yoke_status status = yoke_allocate_untouched(context, count, sizeof(double), &t.a);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof(double), &t.b);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof(double), &t.c);
    if (!status) status = yoke_queue_call(device->queue, run_host_triad, &t, 0);
    if (!status) status = yoke_queue_finish(device->queue);
    *best_s = t.best_s;
    yoke_release(context, t.a);
    yoke_release(context, t.b);
    yoke_release(context, t.c);
    return status;
}

static yoke_status repeat_triad(const fem_device *device, yoke_function *function, yoke_event *event[2], yoke_buffer *buffer[3],
                                int64_t count, double *best_s)
{
    const yoke_argument arguments[] = {yoke_argument_int64(count), yoke_argument_double(3), yoke_argument_buffer(buffer[0]),
                                       yoke_argument_buffer(buffer[1]), yoke_argument_buffer(buffer[2])};
    yoke_status status = YOKE_OK;
    for (int i = 0; !status && i < 3; i++) status = yoke_queue_clear(device->queue, buffer[i], 0, count * (int64_t)sizeof(double));
    for (int r = 0; !status && r < TRIAD_REPETITIONS; r++) {
        double took_s = 0;
        status = yoke_queue_record(device->queue, event[0]);
        if (!status)
            status = yoke_queue_launch(device->queue, function, (count + VECTOR_GROUP - 1) / VECTOR_GROUP, VECTOR_GROUP, 0, arguments, 5);
        if (!status) status = yoke_queue_record(device->queue, event[1]);
        if (!status) status = yoke_event_elapsed_s(event[0], event[1], &took_s);
        if (r == 1 || took_s < *best_s) *best_s = took_s;
    }
    return status;
}

static yoke_status triad_on_device(const fem_device *device, int64_t count, double *best_s)
{
    yoke_program *program = NULL;
    yoke_function *function[KERNELS];
    yoke_event *event[2] = {NULL};
    yoke_buffer *buffer[3] = {NULL};
    yoke_status status = make_program(device->device, &program, function);
    for (int i = 0; !status && i < 2; i++) status = yoke_event_create(device->device, &event[i]);
    for (int i = 0; !status && i < 3; i++) status = yoke_buffer_create(device->device, count * (int64_t)sizeof(double), &buffer[i]);
    if (!status) status = repeat_triad(device, function[TRIAD], event, buffer, count, best_s);
    for (int i = 0; i < 2; i++) yoke_event_destroy(event[i]);
    for (int i = 0; i < 3; i++) yoke_buffer_destroy(buffer[i]);
    yoke_program_destroy(program);
    return status;
}

yoke_status fem_bench_triad(yoke_context *context, const fem_device *device, int64_t count, double *bytes_per_s)
{
    double best_s = 0;
    yoke_status status = check_precision(context, device->info);
    if (!status) status = device->host_functions ? triad_on_host(device, context, count, &best_s) : triad_on_device(device, count, &best_s);
    if (!status) *bytes_per_s = best_s > 0 ? 24 * (double)count / best_s : (double)NAN; /* a simulated device takes no time for it */
    return status;
}
