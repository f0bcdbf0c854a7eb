/* part_device_vector.c - vectors of the device part, and rows between those of two parts. */
#include <math.h>

#include "operator/part_device.h"

static int64_t vector_bytes(const device_part *d) { return d->part.dofs * device_part_real_size(d); }

/* ---------------------------------------------------------------------------------------------------- memory */

yoke_status device_vector_create(fem_part *part, fem_part_vector **out)
{
    device_part *d = (device_part *)part;
    fem_part_vector *v;
    if (part->status) return part->status;
    yoke_status status = yoke_allocate(part->context, 1, sizeof *v, (void **)&v);
    if (status) return status;
    status = yoke_buffer_create(part->device, vector_bytes(d) > 8 ? vector_bytes(d) : 8, &v->data);
    if (!status && part->dofs) status = device_part_keep(d, yoke_queue_clear(d->queue, v->data, 0, vector_bytes(d)));
    if (status) {
        yoke_buffer_destroy(v->data);
        yoke_release(part->context, v);
        return status;
    }
    *out = v;
    return YOKE_OK;
}

void device_vector_destroy(fem_part *part, fem_part_vector *vector)
{
    device_part *d = (device_part *)part;
    if (!vector) return;
    device_part_keep(d, yoke_queue_finish(d->queue)); /* its users have run */
    yoke_buffer_destroy(vector->data);
    yoke_release(part->context, vector);
}

/* ------------------------------------------------------------------------------------- to and from the host */

static int64_t staged(const device_part *d, int64_t begin)
{
    int64_t left = d->part.dofs - begin;
    return left < d->staging_values ? left : d->staging_values;
}

void device_vector_write(fem_part *part, fem_part_vector *to, const double *from)
{
    device_part *d = (device_part *)part;
    int64_t real = device_part_real_size(d);
    for (int64_t begin = 0, count; begin < part->dofs; begin += count) {
        count = staged(d, begin);
        if (part->status || device_part_keep(d, yoke_event_wait(d->staging_free))) return;
        for (int64_t i = 0; i < count; i++) {
            if (part->precision == FEM_DOUBLE)
                ((double *)d->staging)[i] = from[begin + i];
            else
                ((float *)d->staging)[i] = (float)from[begin + i];
        }
        device_part_keep(d, yoke_queue_write(d->queue, to->data, begin * real, count * real, d->staging));
        if (!part->status) device_part_keep(d, yoke_queue_record(d->queue, d->staging_free));
    }
}

void device_vector_read_wait(fem_part *part, const fem_part_vector *from, double *to)
{
    device_part *d = (device_part *)part;
    int64_t real = device_part_real_size(d);
    for (int64_t begin = 0, count; begin < part->dofs; begin += count) {
        count = staged(d, begin);
        if (!part->status) device_part_keep(d, yoke_event_wait(d->staging_free));
        if (!part->status) device_part_keep(d, yoke_queue_read(d->queue, from->data, begin * real, count * real, d->staging));
        if (!part->status) device_part_keep(d, yoke_queue_record(d->queue, d->staging_free));
        if (!part->status) device_part_keep(d, yoke_event_wait(d->staging_free));
        for (int64_t i = 0; i < count; i++) {
            if (part->status)
                to[begin + i] = (double)NAN;
            else
                to[begin + i] = part->precision == FEM_DOUBLE ? ((double *)d->staging)[i] : (double)((float *)d->staging)[i];
        }
    }
}

/* -------------------------------------------------------------------------------------------------- arithmetic */

/* Starts a kernel over all dofs. */
static void over_dofs(device_part *d, int kernel, const yoke_argument *arguments, int64_t count)
{
    device_part_launch(d, device_launch_values(kernel, d->part.dofs), arguments, count);
}

void device_vector_zero(fem_part *part, fem_part_vector *x)
{
    device_part *d = (device_part *)part;
    if (!part->status && part->dofs) device_part_keep(d, yoke_queue_clear(d->queue, x->data, 0, vector_bytes(d)));
}

void device_vector_copy_scaled(fem_part *part, double alpha, const fem_part *from_part, const fem_part_vector *from, fem_part_vector *to)
{
    const yoke_argument arguments[] = {ARGUMENT_LONG(part->dofs), ARGUMENT_DOUBLE(alpha), ARGUMENT_BUFFER(from->data),
                                       ARGUMENT_BUFFER(to->data)};
    over_dofs((device_part *)part,
              from_part->precision == FEM_DOUBLE ? FEM_PART_KERNEL_scale_from_double : FEM_PART_KERNEL_scale_from_float, arguments, 4);
}

void device_vector_axpy(fem_part *part, double alpha, const fem_part_vector *x, fem_part_vector *y)
{
    const yoke_argument arguments[] = {ARGUMENT_LONG(part->dofs), ARGUMENT_DOUBLE(alpha), ARGUMENT_BUFFER(x->data),
                                       ARGUMENT_BUFFER(y->data)};
    over_dofs((device_part *)part, FEM_PART_KERNEL_axpy, arguments, 4);
}

void device_vector_xpby(fem_part *part, const fem_part_vector *x, double beta, fem_part_vector *y)
{
    const yoke_argument arguments[] = {ARGUMENT_LONG(part->dofs), ARGUMENT_BUFFER(x->data), ARGUMENT_DOUBLE(beta),
                                       ARGUMENT_BUFFER(y->data)};
    over_dofs((device_part *)part, FEM_PART_KERNEL_xpby, arguments, 4);
}

void device_vector_subtract(fem_part *part, const fem_part_vector *x, const fem_part_vector *y, fem_part_vector *z)
{
    const yoke_argument arguments[] = {ARGUMENT_LONG(part->dofs), ARGUMENT_BUFFER(x->data), ARGUMENT_BUFFER(y->data),
                                       ARGUMENT_BUFFER(z->data)};
    over_dofs((device_part *)part, FEM_PART_KERNEL_subtract, arguments, 4);
}

void device_vector_advance(fem_part *part, double alpha, const fem_part_vector *p, const fem_part_vector *q, fem_part_vector *x,
                           fem_part_vector *r)
{
    const yoke_argument arguments[] = {ARGUMENT_LONG(part->dofs), ARGUMENT_DOUBLE(alpha),   ARGUMENT_BUFFER(p->data),
                                       ARGUMENT_BUFFER(q->data),  ARGUMENT_BUFFER(x->data), ARGUMENT_BUFFER(r->data)};
    over_dofs((device_part *)part, FEM_PART_KERNEL_advance, arguments, 6);
}

/* ------------------------------------------------------------------------------------------------ dot products */

void device_vector_dots(fem_part *part, int count, const fem_part_vector *const *x, const fem_part_vector *const *y)
{
    device_part *d = (device_part *)part;
    yoke_argument arguments[4 + 2 * FEM_MOST_DOTS] = {ARGUMENT_LONG(part->dofs), ARGUMENT_INT(count), ARGUMENT_BUFFER(d->owned)};
    for (int i = 0; i < FEM_MOST_DOTS; i++) {
        arguments[3 + 2 * i] = ARGUMENT_BUFFER(i < count ? x[i]->data : NULL);
        arguments[4 + 2 * i] = ARGUMENT_BUFFER(i < count ? y[i]->data : NULL);
    }
    arguments[3 + 2 * FEM_MOST_DOTS] = ARGUMENT_BUFFER(d->dot_sums);
    device_launch launch = {FEM_PART_KERNEL_dots, d->dot_groups, FEM_BLOCK, 0};
    device_part_launch(d, launch, arguments, 4 + 2 * FEM_MOST_DOTS);
    int64_t bytes = (int64_t)d->dot_groups * FEM_PART_DOTS * 8;
    if (!part->status) device_part_keep(d, yoke_queue_read(d->queue, d->dot_sums, 0, bytes, d->dot_host));
    if (!part->status) device_part_keep(d, yoke_queue_record(d->queue, d->dots_done));
}

void device_vector_dots_wait(fem_part *part, int count, double *sums)
{
    device_part *d = (device_part *)part;
    if (!part->status) device_part_keep(d, yoke_event_wait(d->dots_done));
    for (int i = 0; i < count; i++) {
        sums[i] = part->status ? (double)NAN : 0;
        for (int g = 0; g < d->dot_groups && !part->status; g++) sums[i] += d->dot_host[g * FEM_PART_DOTS + i];
    }
}

/* -------------------------------------------------------------------------------------------------------- rows */

yoke_status device_rows_create(fem_part *part, int32_t num_rows, const fem_rows *rows, fem_part_rows **out)
{
    device_part *d = (device_part *)part;
    fem_part_rows *made;
    int64_t entries = rows->start[num_rows], before = d->bytes;
    if (part->status) return part->status;
    yoke_status status = yoke_allocate(part->context, 1, sizeof *made, (void **)&made);
    if (status) return status;
    made->num_rows = num_rows;
    status = device_part_take(d, ((int64_t)num_rows + 1) * 8, &made->start);
    if (!status) status = device_part_take(d, entries * 4, &made->node);
    if (!status) status = device_part_take(d, entries * 4, &made->weight);
    if (!status) status = yoke_queue_write(d->queue, made->start, 0, ((int64_t)num_rows + 1) * 8, rows->start);
    if (!status && entries) status = yoke_queue_write(d->queue, made->node, 0, entries * 4, rows->node);
    if (!status && entries) status = yoke_queue_write(d->queue, made->weight, 0, entries * 4, rows->weight);
    yoke_status finished = yoke_queue_finish(d->queue);
    if (!status) status = finished;
    made->bytes = d->bytes - before;
    if (status)
        device_rows_destroy(part, made);
    else
        *out = made;
    return status;
}

void device_rows_destroy(fem_part *part, fem_part_rows *rows)
{
    device_part *d = (device_part *)part;
    if (!rows) return;
    device_part_keep(d, yoke_queue_finish(d->queue));
    yoke_buffer_destroy(rows->start);
    yoke_buffer_destroy(rows->node);
    yoke_buffer_destroy(rows->weight);
    d->bytes -= rows->bytes;
    yoke_release(part->context, rows);
}

static void apply_rows(fem_part *part, int kernel, const fem_part_rows *rows, const fem_part_vector *from, fem_part_vector *to)
{
    const yoke_argument arguments[] = {ARGUMENT_INT(rows->num_rows),  ARGUMENT_BUFFER(rows->start), ARGUMENT_BUFFER(rows->node),
                                       ARGUMENT_BUFFER(rows->weight), ARGUMENT_BUFFER(from->data),  ARGUMENT_BUFFER(to->data)};
    device_part_launch((device_part *)part, device_launch_values(kernel, (int64_t)rows->num_rows * part->space->components), arguments, 6);
}

void device_rows_add(fem_part *part, const fem_part_rows *rows, const fem_part_vector *from, fem_part_vector *to)
{
    apply_rows(part, FEM_PART_KERNEL_rows_add, rows, from, to);
}

void device_rows_set(fem_part *part, const fem_part_rows *rows, const fem_part_vector *from, fem_part_vector *to)
{
    apply_rows(part, FEM_PART_KERNEL_rows_set, rows, from, to);
}
