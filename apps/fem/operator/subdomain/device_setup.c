/* device_setup.c - memory, uploads, geometry factors and element matrices of the device subdomain. */
#include <math.h>

#include "operator/subdomain/device.h"

_Static_assert(FEM_SUBDOMAIN_FACTORS == FEM_FACTORS && FEM_SUBDOMAIN_DOTS == FEM_MAX_DOTS,
               "kernels and subdomains agree on what they share");

/* Number of elements whose factors are held at a time if only their matrices are needed. */
enum { STORED_AT_ONCE = 4096 };

static int32_t factors_at_once(const fem_subdomain *subdomain)
{
    int32_t n = subdomain->space->num_elements;
    return subdomain->operator_kind == FEM_STORED && n > STORED_AT_ONCE ? STORED_AT_ONCE : n;
}

yoke_status device_subdomain_take(device_subdomain *d, int64_t bytes, yoke_buffer **buffer)
{
    if (bytes < 8) bytes = 8;
    yoke_status status = yoke_buffer_create(d->subdomain.device, bytes, buffer);
    if (!status) d->bytes += bytes;
    return status;
}

/* ------------------------------------------------------------------------------------------------------ memory */

/* Buffers that are needed only during the set-up. */
typedef struct scratch {
    yoke_buffer *slopes, *position, *determinant, *factors, *results;
} scratch;

typedef struct request {
    yoke_buffer **buffer;
    int64_t bytes;
} request;

static yoke_status take_all(device_subdomain *d, const request *list, int count)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < count && !status; i++) status = device_subdomain_take(d, list[i].bytes, list[i].buffer);
    return status;
}

static yoke_status take_buffers(device_subdomain *d, const device_tables *t)
{
    const fem_space *space = d->subdomain.space;
    int64_t elements = space->num_elements, nodes = space->num_nodes, real = device_subdomain_real_size(d), n = space->components;
    int64_t block = device_subdomain_block_size(d), m = t->used * n, interface = d->subdomain.num_interface;
    int stored = d->subdomain.operator_kind == FEM_STORED;
    const request list[] = {
        {&d->nodes, elements * t->used * 4},
        {&d->pattern, elements * 2},
        {&d->row_start, ((int64_t)3 * t->patterns * space->slots + 1) * 4},
        {&d->row_entry, t->row_entries},
        {&d->row_weight, t->row_entries * 4},
        {&d->moduli, elements * 2 * real},
        {&d->sum_start, (nodes + 1) * 4},
        {&d->sum_place, elements * t->used * 4},
        {&d->masked, t->num_masked * 8},
        {&d->prescribed, nodes},
        {&d->blocks, nodes * block * real},
        {&d->dot_sums, (int64_t)d->dot_groups * FEM_SUBDOMAIN_DOTS * 8},
    };
    const request with_interface[] = {
        {&d->node_list, nodes * 4}, {&d->packed_own, interface * block * real}, {&d->packed_total, interface * block * real}};
    const request with_factors[] = {{&d->factors, (elements - t->num_affine) * space->slots * FEM_FACTORS * real},
                                    {&d->affine, t->num_affine * FEM_FACTORS * real}};
    yoke_status status = take_all(d, list, sizeof list / sizeof *list);
    if (!status && stored) status = device_subdomain_take(d, elements * m * (m + 1) / 2 * real, &d->stored);
    if (!status && !stored) status = take_all(d, with_factors, 2);
    if (!status && d->adding == FEM_ADD_SUM) status = device_subdomain_take(d, elements * m * real, &d->results);
    if (!status && interface) status = take_all(d, with_interface, 3);
    if (!status && d->subdomain.owned) status = device_subdomain_take(d, nodes, &d->owned);
    return status;
}

static yoke_status take_scratch(device_subdomain *d, scratch *s)
{
    const fem_space *space = d->subdomain.space;
    int64_t real = device_subdomain_real_size(d), elements = space->num_elements;
    const request list[] = {
        {&s->slopes, (int64_t)space->slots * space->slots * 3 * 8},
        {&s->position, (int64_t)space->num_nodes * 3 * 8},
        {&s->determinant, elements * 8},
        {&s->results, elements * d->used * device_subdomain_block_size(d) * real},
    };
    yoke_status status = take_all(d, list, sizeof list / sizeof *list);
    if (!status && !d->factors)
        status = device_subdomain_take(d, (int64_t)factors_at_once(&d->subdomain) * space->slots * FEM_FACTORS * real, &s->factors);
    return status;
}

static void release_scratch(scratch *s)
{
    yoke_buffer *all[] = {s->slopes, s->position, s->determinant, s->factors, s->results};
    for (int i = 0; i < 5; i++) yoke_buffer_destroy(all[i]);
}

static yoke_status take_host_memory(device_subdomain *d)
{
    fem_subdomain *subdomain = &d->subdomain;
    yoke_device *device = subdomain->device;
    int64_t real = device_subdomain_real_size(d), most = DEVICE_STAGING / real;
    d->staging_values = subdomain->dofs < most ? subdomain->dofs : most;
    yoke_status status = yoke_host_allocate(device, d->staging_values * real + 8, &d->staging);
    if (!status) status = yoke_host_allocate(device, (int64_t)d->dot_groups * FEM_SUBDOMAIN_DOTS * 8, &d->dot_host);
    if (status || !subdomain->num_interface) return status;
    int64_t bytes = (int64_t)subdomain->num_interface * 6 * real;
    status = yoke_host_allocate(device, bytes, &subdomain->interface_own);
    if (!status) status = yoke_host_allocate(device, bytes, &subdomain->interface_total);
    return status;
}

static yoke_status make_events(device_subdomain *d)
{
    yoke_device *device = d->subdomain.device;
    yoke_event **always[] = {&d->staging_free, &d->dots_done, &d->plain.packed, &d->plain.read, &d->plain.written};
    yoke_status status = YOKE_OK;
    for (int i = 0; i < 5 && !status; i++) status = yoke_event_create(device, always[i]);
    for (int i = 0; i < DEVICE_MARKS && d->measured && !status; i++) {
        device_marks *m = &d->marks[i];
        yoke_event **marks[] = {&m->begin, &m->end, &m->packed, &m->read, &m->write, &m->written, &m->done};
        for (int k = 0; k < (d->subdomain.num_interface ? 7 : 2) && !status; k++) status = yoke_event_create(device, marks[k]);
    }
    return status;
}

/* Makes a second queue for transfers.  Only a GPU copies concurrently with its kernels. */
static yoke_status make_transfer_queue(device_subdomain *d)
{
    d->transfer = d->queue;
    if (!d->subdomain.num_interface || yoke_device_info_get(d->subdomain.device)->device_class != YOKE_DEVICE_GPU) return YOKE_OK;
    yoke_queue *own = NULL;
    yoke_status status = yoke_queue_create(d->subdomain.device, 0, &own);
    if (!status) d->transfer = own;
    return status;
}

/* ----------------------------------------------------------------------------------------------------- uploads */

static yoke_status upload(device_subdomain *d, yoke_buffer *to, int64_t bytes, const void *from)
{
    return bytes > 0 ? yoke_queue_write(d->queue, to, 0, bytes, from) : YOKE_OK;
}

static yoke_status upload_all(device_subdomain *d, const device_tables *t, const scratch *s)
{
    const fem_space *space = d->subdomain.space;
    int64_t elements = space->num_elements, nodes = space->num_nodes, real = device_subdomain_real_size(d);
    const struct {
        yoke_buffer *to;
        int64_t bytes;
        const void *from;
    } list[] = {
        {d->nodes, elements * t->used * 4, t->nodes},
        {d->pattern, elements * 2, t->pattern},
        {d->row_start, ((int64_t)3 * t->patterns * space->slots + 1) * 4, t->row_start},
        {d->row_entry, t->row_entries, t->row_entry},
        {d->row_weight, t->row_entries * 4, t->row_weight},
        {d->moduli, elements * 2 * real, t->moduli},
        {d->sum_start, (nodes + 1) * 4, t->sum_start},
        {d->sum_place, elements * t->used * 4, t->sum_place},
        {d->masked, t->num_masked * 8, t->masked},
        {d->prescribed, nodes, d->subdomain.constraints->prescribed},
        {s->slopes, (int64_t)space->slots * space->slots * 3 * 8, t->slopes},
        {s->position, nodes * 3 * 8, space->x},
        {d->node_list, t->node_list ? nodes * 4 : 0, t->node_list},
        {d->owned, d->subdomain.owned ? nodes : 0, d->subdomain.owned},
    };
    yoke_status status = YOKE_OK;
    for (size_t i = 0; i < sizeof list / sizeof *list && !status; i++) status = upload(d, list[i].to, list[i].bytes, list[i].from);
    return status;
}

/* As upload_all, measured between two events. */
static yoke_status upload_measured(device_subdomain *d, const device_tables *t, const scratch *s)
{
    yoke_status status = yoke_queue_record(d->queue, d->plain.packed);
    if (!status) status = upload_all(d, t, s);
    if (!status) status = yoke_queue_record(d->queue, d->plain.read);
    yoke_status finished = yoke_queue_finish(d->queue); /* also after a failure: the caller then releases the tables */
    if (!status) status = finished;
    return status ? status : yoke_event_elapsed_s(d->plain.packed, d->plain.read, &d->subdomain.setup_moved_s);
}

/* ------------------------------------------------------------------------------------- factors, matrices, blocks */

void device_subdomain_matrices(device_subdomain *d, device_batch batch, yoke_buffer *factors, yoke_buffer *affine, yoke_buffer *stored,
                               int32_t stored_begin)
{
    int n = d->subdomain.space->slots_1d, c = d->subdomain.space->components;
    const yoke_argument arguments[] = {
        yoke_argument_int32(batch.begin),     yoke_argument_int32(batch.middle),    yoke_argument_int32(batch.end),
        yoke_argument_int32(batch.curved_at), yoke_argument_int32(batch.affine_at), yoke_argument_int32(stored_begin),
        yoke_argument_int32(d->used),         yoke_argument_int32(d->identity),     yoke_argument_int32(d->patterns),
        yoke_argument_buffer(d->pattern),     yoke_argument_buffer(d->row_start),   yoke_argument_buffer(d->row_entry),
        yoke_argument_buffer(d->row_weight),  yoke_argument_buffer(factors),        yoke_argument_buffer(affine),
        yoke_argument_buffer(d->moduli),      yoke_argument_buffer(stored),
    };
    device_subdomain_launch(
        d, device_launch_elements(d, FEM_SUBDOMAIN_KERNEL_matrices, batch.end - batch.begin, 1, FEM_PRODUCT_ITEMS(n, c)), arguments, 17);
}

/* Computes factors, determinants and node blocks of a batch. */
static void make_factors(device_subdomain *d, device_batch batch, const scratch *s, yoke_buffer *factors)
{
    const yoke_argument geometry[] = {
        yoke_argument_int32(batch.begin),     yoke_argument_int32(batch.middle),    yoke_argument_int32(batch.end),
        yoke_argument_int32(batch.curved_at), yoke_argument_int32(batch.affine_at), yoke_argument_int32(d->used),
        yoke_argument_int32(d->identity),     yoke_argument_int32(d->patterns),     yoke_argument_buffer(d->nodes),
        yoke_argument_buffer(d->pattern),     yoke_argument_buffer(d->row_start),   yoke_argument_buffer(d->row_entry),
        yoke_argument_buffer(d->row_weight),  yoke_argument_buffer(s->position),    yoke_argument_buffer(s->slopes),
        yoke_argument_buffer(factors),        yoke_argument_buffer(d->affine),      yoke_argument_buffer(s->determinant),
    };
    const yoke_argument diagonal[] = {
        yoke_argument_int32(batch.begin),     yoke_argument_int32(batch.middle),    yoke_argument_int32(batch.end),
        yoke_argument_int32(batch.curved_at), yoke_argument_int32(batch.affine_at), yoke_argument_int32(d->used),
        yoke_argument_int32(d->identity),     yoke_argument_int32(d->patterns),     yoke_argument_buffer(d->pattern),
        yoke_argument_buffer(d->row_start),   yoke_argument_buffer(d->row_entry),   yoke_argument_buffer(d->row_weight),
        yoke_argument_buffer(s->slopes),      yoke_argument_buffer(factors),        yoke_argument_buffer(d->affine),
        yoke_argument_buffer(d->moduli),      yoke_argument_buffer(s->results),
    };
    device_subdomain_launch(d, device_launch_batch(d, FEM_SUBDOMAIN_KERNEL_geometry, batch), geometry, 18);
    device_subdomain_launch(d, device_launch_batch(d, FEM_SUBDOMAIN_KERNEL_diagonal, batch), diagonal, 17);
}

/* As make_factors, and computes the matrices.  It proceeds by runs of elements whose factors are used immediately. */
static void make_stored(device_subdomain *d, device_batch batch, const scratch *s)
{
    int32_t at_once = factors_at_once(&d->subdomain);
    for (int32_t begin = batch.begin; begin < batch.end; begin += at_once) {
        device_batch run = device_batch_cut(batch, begin, batch.end - begin < at_once ? batch.end : begin + at_once);
        run.curved_at = 0;
        make_factors(d, run, s, s->factors);
        device_subdomain_matrices(d, run, s->factors, NULL, d->stored, 0);
    }
}

/* Fails if an element folds; reports the first one in the space's order. */
static yoke_status check_determinants(device_subdomain *d, const scratch *s)
{
    const fem_space *space = d->subdomain.space;
    int32_t folded = -1;
    double *value, folded_value = 0;
    yoke_status status = yoke_allocate(d->subdomain.context, d->num_elements, sizeof *value, &value);
    if (status) return status;
    if (d->num_elements) status = yoke_queue_read(d->queue, s->determinant, 0, (int64_t)d->num_elements * 8, value);
    yoke_status finished = yoke_queue_finish(d->queue);
    if (!status) status = finished;
    for (int32_t p = 0; p < d->num_elements && !status; p++) {
        if ((value[p] > 0 && isfinite(value[p])) || (folded >= 0 && d->element[p] > folded)) continue;
        folded = d->element[p];
        folded_value = value[p];
    }
    yoke_release(d->subdomain.context, value);
    if (status || d->subdomain.status || folded < 0) return status; /* after a failure the values are meaningless */
    const fem_mesh *mesh = space->problem->mesh;
    return yoke_fail(d->subdomain.context, YOKE_ERROR_INPUT,
                     "%s: element %lld folds where it is refined (level %d): weighted Jacobian determinant %g at a quadrature point; "
                     "make the mesh finer or its element less curved there",
                     mesh->path, (long long)mesh->element_tag[space->tree[folded]], space->level[folded], folded_value);
}

static yoke_status make_operator(device_subdomain *d, const scratch *s)
{
    for (int32_t b = 0; b < d->num_batches; b++) {
        if (d->stored)
            make_stored(d, d->batch[b], s);
        else
            make_factors(d, d->batch[b], s, d->factors);
    }
    const yoke_argument sums[] = {yoke_argument_int32(d->num_nodes), yoke_argument_buffer(d->sum_start), yoke_argument_buffer(d->sum_place),
                                  yoke_argument_buffer(s->results), yoke_argument_buffer(d->blocks)};
    device_subdomain_launch(
        d, device_launch_values(FEM_SUBDOMAIN_KERNEL_sum_blocks, (int64_t)d->num_nodes * device_subdomain_block_size(d)), sums, 5);
    yoke_status status = check_determinants(d, s); /* waits even after a failure */
    return d->subdomain.status ? d->subdomain.status : status;
}

/* --------------------------------------------------------------------------------------------------- creation */

static yoke_status setup(device_subdomain *d, device_tables *t, scratch *s)
{
    yoke_status status = device_tables_make(&d->subdomain, d->adding, d->all_curved, t);
    if (status) return status;
    d->num_affine = t->num_affine;
    d->num_batches = t->num_batches;
    d->border_batches = t->border_batches;
    d->batch = t->batch;
    t->batch = NULL;
    d->used = t->used;
    d->identity = t->identity;
    d->patterns = t->patterns;
    d->num_masked = t->num_masked;
    d->element = t->element;
    t->element = NULL;
    status = make_transfer_queue(d);
    if (!status) status = take_buffers(d, t);
    if (!status) status = take_host_memory(d);
    if (!status) status = make_events(d);
    int64_t kept = d->bytes;
    if (!status) status = take_scratch(d, s);
    if (!status) status = upload_measured(d, t, s);
    if (!status) status = make_operator(d, s);
    d->bytes = kept;
    return status;
}

yoke_status device_subdomain_setup(device_subdomain *d)
{
    device_tables tables = {0};
    scratch s = {0};
    const fem_space *space = d->subdomain.space;
    int64_t blocks = (d->subdomain.dofs + FEM_BLOCK - 1) / FEM_BLOCK;
    d->num_nodes = space->num_nodes;
    d->num_elements = space->num_elements;
    d->dot_groups = blocks < 1 ? 1 : blocks > DEVICE_DOT_GROUPS ? DEVICE_DOT_GROUPS : (int)blocks;
    yoke_status status = setup(d, &tables, &s);
    release_scratch(&s);
    device_tables_release(d->subdomain.context, &tables);
    return status;
}

void device_subdomain_release(device_subdomain *d)
{
    yoke_context *context = d->subdomain.context;
    yoke_buffer *buffers[] = {d->nodes,      d->pattern, d->row_start, d->row_entry,  d->row_weight,   d->moduli,    d->factors,
                              d->affine,     d->stored,  d->results,   d->sum_start,  d->sum_place,    d->node_list, d->masked,
                              d->prescribed, d->owned,   d->blocks,    d->packed_own, d->packed_total, d->dot_sums};
    void *host[] = {d->staging, d->dot_host, d->subdomain.interface_own, d->subdomain.interface_total};
    yoke_event *events[] = {d->staging_free, d->dots_done, d->plain.packed, d->plain.read, d->plain.written};
    if (d->transfer && d->transfer != d->queue) yoke_queue_destroy(d->transfer);
    for (int i = 0; i < DEVICE_MARKS; i++) {
        const device_marks *m = &d->marks[i];
        yoke_event *marks[] = {m->begin, m->packed, m->end, m->read, m->write, m->written, m->done};
        for (int k = 0; k < 7; k++) yoke_event_destroy(marks[k]);
    }
    for (int i = 0; i < 5; i++) yoke_event_destroy(events[i]);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) yoke_buffer_destroy(buffers[i]);
    for (int i = 0; i < 4; i++)
        if (host[i]) yoke_host_release(d->subdomain.device, host[i]);
    fem_programs_destroy(d->own_programs);
    yoke_release(context, d->batch);
    yoke_release(context, d->element);
    yoke_release(context, d);
}

double fem_subdomain_device_bytes(const fem_space *space, const fem_subdomain_options *options, double elements, int vectors)
{
    /* Nodes per element as in this space; if it has no elements, as in a large regular mesh. */
    double per_element = space->element == FEM_Q1 ? 1 : space->element == FEM_S2 ? 4 : 8;
    if (space->num_elements > 0) per_element = (double)space->num_nodes / space->num_elements;
    int is_stored = options->operator_kind == FEM_STORED, curved = is_stored || options->all_curved;
    double real = options->precision == FEM_DOUBLE ? 8 : 4, n = space->components, block = n == 3 ? 6 : 1;
    double used = space->element == FEM_Q1 ? 8 : space->element == FEM_S2 ? 20 : 27, m = used * n;
    double affine = curved ? 0 : fem_subdomain_affine_fraction(space);
    double factors = ((1 - affine) * space->slots + affine) * FEM_FACTORS * real, stored = m * (m + 1) / 2 * real;
    double tables = used * 8 + 2 + 2 * real + (is_stored || options->adding == FEM_ADD_SUM ? m * real : 0);
    double setup = 8 + used * block * real;
    double node = 4 + 1 + 1 + 4 + block * real + vectors * n * real, node_setup = 24;
    double kept = tables + (is_stored ? stored : factors) + setup + per_element * (node + node_setup);
    double most_at_once = elements < STORED_AT_ONCE ? elements : STORED_AT_ONCE;
    return elements * kept + (is_stored ? most_at_once * factors : 0) + options->num_interface * 2.0 * block * real;
}
