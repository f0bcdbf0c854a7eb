/* device.c - products, interface values, node blocks and element matrices of the device subdomain. */
#include "operator/subdomain/device.h"

#include <math.h>

yoke_status device_subdomain_keep(device_subdomain *d, yoke_status status)
{
    if (status && !d->subdomain.status) d->subdomain.status = status;
    return status;
}

/* --------------------------------------------------------------------------------------------------- launches */

/* Largest numbers of groups in a launch: enough to fill any device.  If there is more work, the groups loop over it. */
enum { MAX_GROUPS = 1 << 20, MAX_VALUE_GROUPS = 4096 };

device_launch device_launch_values(int kernel, int64_t values)
{
    int64_t groups = (values + FEM_BLOCK - 1) / FEM_BLOCK;
    return (device_launch){kernel, groups < MAX_VALUE_GROUPS ? groups : MAX_VALUE_GROUPS, FEM_BLOCK, 0};
}

device_launch device_launch_elements(const device_subdomain *d, int kernel, int64_t elements, int at_once, int items)
{
    int64_t groups = (elements + at_once - 1) / at_once;
    return (device_launch){kernel, groups < MAX_GROUPS ? groups : MAX_GROUPS, d->group_items ? d->group_items : items, 0};
}

device_launch device_launch_batch(const device_subdomain *d, int kernel, device_batch batch)
{
    int n = d->subdomain.space->slots_1d, c = d->subdomain.space->components, at_once = FEM_PRODUCT_ELEMENTS(n, c);
    device_launch launch = device_launch_elements(d, kernel, batch.middle - batch.begin, at_once, FEM_PRODUCT_ITEMS(n, c));
    int64_t groups = launch.groups + device_launch_elements(d, kernel, batch.end - batch.middle, at_once, 0).groups;
    launch.groups = groups < MAX_GROUPS ? groups : MAX_GROUPS;
    return launch;
}

/* The kernel under which a launch is profiled. */
static fem_kernel kernel_of(const device_subdomain *d, int kernel)
{
    switch (kernel) {
    case FEM_SUBDOMAIN_KERNEL_product:
    case FEM_SUBDOMAIN_KERNEL_product_stored:
    case FEM_SUBDOMAIN_KERNEL_sum_nodes:
        return d->at_interface ? FEM_KERNEL_INTERFACE : FEM_KERNEL_PRODUCT;
    case FEM_SUBDOMAIN_KERNEL_pack:
        return FEM_KERNEL_INTERFACE;
    case FEM_SUBDOMAIN_KERNEL_unpack:
        return FEM_KERNEL_HALO;
    case FEM_SUBDOMAIN_KERNEL_block_solve:
    case FEM_SUBDOMAIN_KERNEL_chebyshev_step:
        return FEM_KERNEL_SMOOTHER;
    case FEM_SUBDOMAIN_KERNEL_rows_add:
    case FEM_SUBDOMAIN_KERNEL_rows_set:
        return FEM_KERNEL_TRANSFER;
    default:
        return FEM_KERNEL_VECTORS;
    }
}

void device_subdomain_launch(device_subdomain *d, device_launch launch, const yoke_argument *arguments, int64_t count)
{
    if (d->subdomain.status || launch.groups == 0) return;
    device_subdomain_keep(d, fem_mark_begin(&d->profile, kernel_of(d, launch.kernel)));
    if (!d->subdomain.status)
        device_subdomain_keep(d, yoke_queue_launch(d->queue, d->program->function[launch.kernel], launch.groups, launch.items, launch.units,
                                                   arguments, count));
    device_subdomain_keep(d, fem_mark_end(&d->profile));
}

static void record(device_subdomain *d, yoke_queue *queue, yoke_event *event)
{
    if (!d->subdomain.status) device_subdomain_keep(d, yoke_queue_record(queue, event));
}

/* Commands that come later in `queue` wait for the event, which is recorded in the other queue. */
static void follow(device_subdomain *d, yoke_queue *queue, yoke_event *event)
{
    if (!d->subdomain.status && d->transfer != d->queue) device_subdomain_keep(d, yoke_event_wait(event, queue));
}

/* --------------------------------------------------------------------------------------------- time measurement */

static double elapsed(device_subdomain *d, yoke_event *begin, yoke_event *end)
{
    double seconds = 0;
    if (!d->subdomain.status) device_subdomain_keep(d, yoke_event_elapsed_s(begin, end, &seconds));
    return seconds;
}

/*
 * The time of the elements, and the part of the interface values' transfer that the interior elements did not hide.  Between `read` and
 * `write` the host waits for the other subdomains; that time is not counted.
 */
static double seconds_of(device_subdomain *d, const device_marks *m)
{
    double seconds = elapsed(d, m->begin, m->end);
    if (!m->has_written) return seconds;
    if (d->transfer == d->queue) return seconds + elapsed(d, m->write, m->done);
    double way = elapsed(d, m->packed, m->read) + elapsed(d, m->write, m->written), interior = elapsed(d, m->packed, m->end);
    double after_end = elapsed(d, m->end, m->done), after_written = elapsed(d, m->written, m->done);
    return seconds + (way > interior ? way - interior : 0) + (after_end < after_written ? after_end : after_written);
}

static void read_marks(device_subdomain *d) { d->product_seconds += seconds_of(d, &d->marks[d->marks_read++ % DEVICE_MARKS]); }

static void begin_product(device_subdomain *d)
{
    d->product = NULL;
    if (!d->measured || d->subdomain.status) return;
    if (d->marks_started - d->marks_read == DEVICE_MARKS) read_marks(d);
    d->product = &d->marks[d->marks_started++ % DEVICE_MARKS];
    d->product->has_read = d->product->has_written = 0;
    record(d, d->queue, d->product->begin);
}

static double product_seconds_wait(fem_subdomain *subdomain)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    while (d->marks_read < d->marks_started && !subdomain->status) read_marks(d);
    return subdomain->status || !d->measured ? (double)NAN : d->product_seconds;
}

/* ----------------------------------------------------------------------------------------------------- products */

static void multiply_stored(device_subdomain *d, const device_batch *batch, const fem_subdomain_vector *x)
{
    int n = d->subdomain.space->slots_1d, c = d->subdomain.space->components;
    const yoke_argument arguments[] = {yoke_argument_int32(batch->begin), yoke_argument_int32(batch->end), yoke_argument_int32(d->used),
                                       yoke_argument_buffer(d->nodes),    yoke_argument_buffer(d->stored), yoke_argument_buffer(x->data),
                                       yoke_argument_buffer(d->results)};
    device_launch launch = device_launch_elements(d, FEM_SUBDOMAIN_KERNEL_product_stored, batch->end - batch->begin,
                                                  FEM_STORED_ELEMENTS(n, c), FEM_STORED_ITEMS(n, c));
    launch.units = batch->end - batch->begin;
    device_subdomain_launch(d, launch, arguments, 7);
}

static void multiply_free(device_subdomain *d, const device_batch *batch, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    static const int adding[] = {
        [FEM_ADD_SUM] = FEM_SUBDOMAIN_KEEP, [FEM_ADD_COLOUR] = FEM_SUBDOMAIN_ADD, [FEM_ADD_ATOMIC] = FEM_SUBDOMAIN_ADD_ATOMIC};
    const yoke_argument arguments[] = {yoke_argument_int32(batch->begin),
                                       yoke_argument_int32(batch->middle),
                                       yoke_argument_int32(batch->end),
                                       yoke_argument_int32(batch->curved_at),
                                       yoke_argument_int32(batch->affine_at),
                                       yoke_argument_int32(d->used),
                                       yoke_argument_int32(d->identity),
                                       yoke_argument_int32(d->patterns),
                                       yoke_argument_buffer(d->nodes),
                                       yoke_argument_buffer(d->pattern),
                                       yoke_argument_buffer(d->row_start),
                                       yoke_argument_buffer(d->row_entry),
                                       yoke_argument_buffer(d->row_weight),
                                       yoke_argument_buffer(d->factors),
                                       yoke_argument_buffer(d->affine),
                                       yoke_argument_buffer(d->moduli),
                                       yoke_argument_buffer(x->data),
                                       yoke_argument_int32(adding[d->adding]),
                                       yoke_argument_buffer(d->results ? d->results : y->data)};
    device_launch launch = device_launch_batch(d, FEM_SUBDOMAIN_KERNEL_product, *batch);
    launch.units = batch->end - batch->begin;
    device_subdomain_launch(d, launch, arguments, 19);
}

/* Multiplies the batches begin .. end - 1: computes the elements' own results, or adds them to y. */
static void multiply_batches(device_subdomain *d, int32_t begin, int32_t end, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    for (int32_t b = begin; b < end; b++) {
        if (d->stored)
            multiply_stored(d, &d->batch[b], x);
        else
            multiply_free(d, &d->batch[b], x, y);
    }
}

/* Sums y at the nodes begin .. end - 1 of the list. */
static void sum_nodes(device_subdomain *d, int32_t begin, int32_t end, fem_subdomain_vector *y)
{
    const yoke_argument arguments[] = {yoke_argument_int32(begin),         yoke_argument_int32(end),
                                       yoke_argument_buffer(d->node_list), yoke_argument_buffer(d->sum_start),
                                       yoke_argument_buffer(d->sum_place), yoke_argument_buffer(d->results),
                                       yoke_argument_buffer(y->data)};
    device_subdomain_launch(
        d, device_launch_values(FEM_SUBDOMAIN_KERNEL_sum_nodes, (int64_t)(end - begin) * d->subdomain.space->components), arguments, 7);
}

static void product_interface(fem_subdomain *subdomain, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    begin_product(d);
    d->at_interface = 1;
    if (d->adding != FEM_ADD_SUM) device_vector_zero(subdomain, y);
    multiply_batches(d, 0, d->border_batches, x, y);
    if (d->adding == FEM_ADD_SUM) sum_nodes(d, 0, subdomain->num_interface, y);
    d->at_interface = 0;
}

static void product_interior(fem_subdomain *subdomain, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    multiply_batches(d, d->border_batches, d->num_batches, x, y);
    if (d->adding == FEM_ADD_SUM) sum_nodes(d, subdomain->num_interface, d->num_nodes, y);
    if (!d->product) return;
    record(d, d->queue, d->product->end);
    if (!d->product->has_read) d->product = NULL; /* the product has no interface, so later transfers are not part of it */
}

static void mask(fem_subdomain *subdomain, fem_subdomain_vector *x)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    const yoke_argument arguments[] = {yoke_argument_int64(d->num_masked), yoke_argument_buffer(d->masked), yoke_argument_buffer(x->data)};
    device_subdomain_launch(d, device_launch_values(FEM_SUBDOMAIN_KERNEL_mask, d->num_masked), arguments, 3);
}

/* --------------------------------------------------------------------------------------------- interface values */

/* Copies between x [nodes][width] and packed [num_interface][width]. */
static void pack(device_subdomain *d, int kernel, int width, yoke_buffer *from, yoke_buffer *to)
{
    const yoke_argument arguments[] = {yoke_argument_int32(d->subdomain.num_interface), yoke_argument_int32(width),
                                       yoke_argument_buffer(d->node_list), yoke_argument_buffer(from), yoke_argument_buffer(to)};
    device_subdomain_launch(d, device_launch_values(kernel, d->subdomain.num_interface), arguments, 5);
}

static int64_t interface_bytes(const device_subdomain *d, int width)
{
    return d->subdomain.num_interface * width * device_subdomain_real_size(d);
}

/* Starts the transfer of x's interface values to the host. */
static void start_reading(device_subdomain *d, int width, yoke_buffer *x, const device_marks *m)
{
    pack(d, FEM_SUBDOMAIN_KERNEL_pack, width, x, d->packed_own);
    record(d, d->queue, m->packed);
    follow(d, d->transfer, m->packed);
    if (!d->subdomain.status)
        device_subdomain_keep(d, yoke_queue_read(d->transfer, d->packed_own, 0, interface_bytes(d, width), d->subdomain.interface_own));
    record(d, d->transfer, m->read);
    d->reading = m->read;
}

/* Starts the transfer of the totals into x. */
static void start_writing(device_subdomain *d, int width, const device_marks *m, yoke_buffer *x)
{
    if (!d->subdomain.status)
        device_subdomain_keep(d,
                              yoke_queue_write(d->transfer, d->packed_total, 0, interface_bytes(d, width), d->subdomain.interface_total));
    record(d, d->transfer, m->written);
    follow(d, d->queue, m->written);
    pack(d, FEM_SUBDOMAIN_KERNEL_unpack, width, d->packed_total, x);
}

static void interface_read(fem_subdomain *subdomain, const fem_subdomain_vector *y)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    if (!subdomain->num_interface) return;
    start_reading(d, subdomain->space->components, y->data, d->product ? d->product : &d->plain);
    if (d->product) d->product->has_read = 1;
}

static void interface_wait(fem_subdomain *subdomain)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    if (subdomain->num_interface && !subdomain->status && d->reading) device_subdomain_keep(d, yoke_event_wait(d->reading, NULL));
}

static void interface_write(fem_subdomain *subdomain, fem_subdomain_vector *y)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    device_marks *m = d->product && d->product->has_read ? d->product : NULL;
    if (!subdomain->num_interface) return;
    if (m) record(d, d->transfer, m->write);
    start_writing(d, subdomain->space->components, m ? m : &d->plain, y->data);
    if (!m) return;
    record(d, d->queue, m->done);
    m->has_written = 1;
    d->product = NULL; /* later transfers do not belong to this product */
}

/* --------------------------------------------------------------------------------------------------- node blocks */

static void diagonal(fem_subdomain *subdomain)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    if (!subdomain->num_interface) return;
    start_reading(d, device_subdomain_block_size(d), d->blocks, &d->plain);
    interface_wait(subdomain);
}

static void diagonal_finish(fem_subdomain *subdomain)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    const yoke_argument arguments[] = {yoke_argument_int32(d->num_nodes), yoke_argument_buffer(d->prescribed),
                                       yoke_argument_buffer(d->blocks)};
    if (subdomain->num_interface) start_writing(d, device_subdomain_block_size(d), &d->plain, d->blocks);
    device_subdomain_launch(d, device_launch_values(FEM_SUBDOMAIN_KERNEL_invert_blocks, d->num_nodes), arguments, 3);
}

static void block_solve(fem_subdomain *subdomain, const fem_subdomain_vector *r, fem_subdomain_vector *z)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    const yoke_argument arguments[] = {yoke_argument_int32(d->num_nodes), yoke_argument_buffer(d->blocks), yoke_argument_buffer(r->data),
                                       yoke_argument_buffer(z->data)};
    device_subdomain_launch(d, device_launch_values(FEM_SUBDOMAIN_KERNEL_block_solve, d->num_nodes), arguments, 4);
}

static void chebyshev_step(fem_subdomain *subdomain, double a, double c, const fem_subdomain_vector *b, const fem_subdomain_vector *t,
                           fem_subdomain_vector *v, fem_subdomain_vector *x)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    const yoke_argument arguments[] = {yoke_argument_int32(d->num_nodes), yoke_argument_double(a),
                                       yoke_argument_double(c),           yoke_argument_buffer(d->blocks),
                                       yoke_argument_buffer(b->data),     yoke_argument_buffer(t ? t->data : NULL),
                                       yoke_argument_buffer(v->data),     yoke_argument_buffer(x->data)};
    device_subdomain_launch(d, device_launch_values(FEM_SUBDOMAIN_KERNEL_chebyshev_step, d->num_nodes), arguments, 8);
}

/* ------------------------------------------------------------------------------------------- element matrices */

enum { VISIT_AT_ONCE = 256 };

/* Memory for matrices that are passed to the visitor. */
typedef struct visit_memory {
    yoke_buffer *made; /* NULL: the matrices are stored on the device */
    void *read;        /* [VISIT_AT_ONCE][size] in the subdomain's precision */
    double *packed;    /* [size] */
    int64_t size;
} visit_memory;

static yoke_status visit_some(device_subdomain *d, const visit_memory *v, int32_t begin, int32_t end, fem_matrix_visitor *visit, void *user)
{
    int64_t real = device_subdomain_real_size(d), bytes = v->size * real;
    for (int32_t b = 0; b < d->num_batches && v->made; b++)
        device_subdomain_matrices(d, device_batch_cut(d->batch[b], begin, end), d->factors, d->affine, v->made, begin);
    if (d->subdomain.status) return d->subdomain.status;
    yoke_status status = v->made ? yoke_queue_read(d->queue, v->made, 0, (end - begin) * bytes, v->read)
                                 : yoke_queue_read(d->queue, d->stored, begin * bytes, (end - begin) * bytes, v->read);
    if (!status) status = yoke_queue_finish(d->queue);
    if (device_subdomain_keep(d, status)) return status;
    for (int32_t p = begin; p < end; p++) {
        for (int64_t i = 0, at = (p - begin) * v->size; i < v->size; i++, at++)
            v->packed[i] = real == 8 ? ((const double *)v->read)[at] : (double)((const float *)v->read)[at];
        visit(d->element[p], v->packed, user);
    }
    return YOKE_OK;
}

static yoke_status visit_matrices(fem_subdomain *subdomain, fem_matrix_visitor *visit, void *user)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    int64_t m = (int64_t)d->used * subdomain->space->components, real = device_subdomain_real_size(d);
    visit_memory v = {.size = m * (m + 1) / 2};
    if (subdomain->status) return subdomain->status;
    yoke_status status = d->stored ? YOKE_OK : yoke_buffer_create(subdomain->device, VISIT_AT_ONCE * v.size * real, &v.made);
    if (!status) status = yoke_allocate(subdomain->context, VISIT_AT_ONCE * v.size, (size_t)real, &v.read);
    if (!status) status = yoke_allocate(subdomain->context, v.size, sizeof(double), &v.packed);
    for (int32_t begin = 0; begin < d->num_elements && !status; begin += VISIT_AT_ONCE) {
        int32_t end = d->num_elements - begin < VISIT_AT_ONCE ? d->num_elements : begin + VISIT_AT_ONCE;
        status = visit_some(d, &v, begin, end, visit, user);
    }
    yoke_release(subdomain->context, v.packed);
    yoke_release(subdomain->context, v.read);
    yoke_buffer_destroy(v.made);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- the subdomain */

static int64_t memory_bytes(const fem_subdomain *subdomain) { return ((const device_subdomain *)subdomain)->bytes; }

static void finish(fem_subdomain *subdomain)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    device_subdomain_keep(d, yoke_queue_finish(d->queue));
    if (d->transfer != d->queue) device_subdomain_keep(d, yoke_queue_finish(d->transfer));
}

static void destroy(fem_subdomain *subdomain)
{
    if (!subdomain) return;
    finish(subdomain);
    device_subdomain_release((device_subdomain *)subdomain);
}

static const fem_subdomain_functions functions = {
    .kind = "device",
    .destroy = destroy,
    .vector_create = device_vector_create,
    .vector_destroy = device_vector_destroy,
    .write = device_vector_write,
    .read_wait = device_vector_read_wait,
    .zero = device_vector_zero,
    .copy_scaled = device_vector_copy_scaled,
    .axpy = device_vector_axpy,
    .xpby = device_vector_xpby,
    .subtract = device_vector_subtract,
    .advance = device_vector_advance,
    .dots = device_vector_dots,
    .dots_wait = device_vector_dots_wait,
    .product_interface = product_interface,
    .product_interior = product_interior,
    .mask = mask,
    .interface_read = interface_read,
    .interface_wait = interface_wait,
    .interface_write = interface_write,
    .diagonal = diagonal,
    .diagonal_finish = diagonal_finish,
    .block_solve = block_solve,
    .chebyshev_step = chebyshev_step,
    .rows_create = device_rows_create,
    .rows_destroy = device_rows_destroy,
    .rows_add = device_rows_add,
    .rows_set = device_rows_set,
    .visit_matrices = visit_matrices,
    .memory_bytes = memory_bytes,
    .product_seconds_wait = product_seconds_wait,
    .finish = finish,
};

static yoke_status setup(device_subdomain *d, fem_programs *programs)
{
    const fem_space *space = d->subdomain.space;
    const yoke_device_info *info = yoke_device_info_get(d->subdomain.device);
    if (!info->double_precision)
        return yoke_fail(d->subdomain.context, YOKE_ERROR_UNAVAILABLE, "%s has no double precision, which the solver needs; leave it out",
                         info->name);
    yoke_status status = programs ? YOKE_OK : fem_programs_create(d->subdomain.context, d->subdomain.device, &d->own_programs);
    if (!programs) programs = d->own_programs;
    if (!status)
        status = device_programs_get(programs, d->subdomain.precision, space->slots_1d, space->components, d->adding == FEM_ADD_ATOMIC,
                                     &d->program);
    return status ? status : device_subdomain_setup(d);
}

/*
 * Runs a product before any is measured.  A driver may postpone work (compiling, loading) until a kernel's first launch, and that must not
 * count as the time of the elements.
 */
static yoke_status warm_up(device_subdomain *d)
{
    fem_subdomain *subdomain = &d->subdomain;
    int *warm = &d->program->warm[subdomain->operator_kind][d->adding], measured = d->measured;
    fem_subdomain_vector *x = NULL, *y = NULL;
    if (*warm || !d->num_elements) return YOKE_OK;
    yoke_status status = device_vector_create(subdomain, &x);
    if (!status) status = device_vector_create(subdomain, &y);
    if (!status) {
        d->measured = 0;
        product_interface(subdomain, x, y);
        product_interior(subdomain, x, y);
        finish(subdomain);
        d->measured = measured;
        *warm = 1;
        status = subdomain->status;
    }
    device_vector_destroy(subdomain, y);
    device_vector_destroy(subdomain, x);
    return status;
}

/*
 * Where a core runs the items of a group one after the other, barriers split its loops, and neighbouring items write far apart.  One item
 * that does everything is then faster (docs/notes/benchmarks.md).  0: the kernel's own number.
 */
static int items_on(const yoke_device *device) { return yoke_device_info_get(device)->device_class == YOKE_DEVICE_CPU; }

yoke_status fem_subdomain_device_create(const fem_space *space, const fem_constraints *constraints, const fem_subdomain_options *options,
                                        fem_subdomain **out)
{
    device_subdomain *d;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *d, &d);
    if (status) return status;
    d->subdomain = (fem_subdomain){.call = &functions,
                                   .context = space->context,
                                   .device = options->device,
                                   .space = space,
                                   .constraints = constraints,
                                   .precision = options->precision,
                                   .operator_kind = options->operator_kind,
                                   .dofs = (int64_t)space->num_nodes * space->components,
                                   .num_interface = options->num_interface,
                                   .interface_nodes = options->interface_nodes,
                                   .owned = options->owned};
    d->queue = options->queue;
    d->group_items = options->group_items ? options->group_items : items_on(d->subdomain.device);
    d->adding = options->operator_kind == FEM_STORED ? FEM_ADD_SUM : options->adding;
    d->all_curved = options->operator_kind == FEM_STORED || options->all_curved;
    d->measured = !options->unmeasured;
    d->profile = options->profile;
    status = setup(d, options->programs);
    if (!status) status = warm_up(d);
    if (status) {
        device_subdomain_release(d);
        return status;
    }
    *out = &d->subdomain;
    return YOKE_OK;
}
