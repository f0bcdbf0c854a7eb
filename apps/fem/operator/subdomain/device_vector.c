/* device_vector.c - vectors of the device subdomain, and sparse rows between the vectors of two subdomains. */
#include <math.h>

#include "operator/subdomain/device.h"

static int64_t vector_bytes(const device_subdomain *d) { return d->subdomain.dofs * device_subdomain_real_size(d); }

/* ---------------------------------------------------------------------------------------------------- memory */

yoke_status device_vector_create(fem_subdomain *subdomain, fem_subdomain_vector **out)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    fem_subdomain_vector *v;
    if (subdomain->status) return subdomain->status;
    yoke_status status = yoke_allocate(subdomain->context, 1, sizeof *v, &v);
    if (status) return status;
    status = yoke_buffer_create(subdomain->device, vector_bytes(d) > 8 ? vector_bytes(d) : 8, &v->data);
    if (!status && subdomain->dofs) status = device_subdomain_keep(d, yoke_queue_clear(d->queue, v->data, 0, vector_bytes(d)));
    if (status) {
        yoke_buffer_destroy(v->data);
        yoke_release(subdomain->context, v);
        return status;
    }
    *out = v;
    return YOKE_OK;
}

void device_vector_destroy(fem_subdomain *subdomain, fem_subdomain_vector *vector)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    if (!vector) return;
    device_subdomain_keep(d, yoke_queue_finish(d->queue)); /* the kernels that use it have run */
    yoke_buffer_destroy(vector->data);
    yoke_release(subdomain->context, vector);
}

/* ------------------------------------------------------------------------------------- to and from the host */

static int64_t staged(const device_subdomain *d, int64_t begin)
{
    int64_t left = d->subdomain.dofs - begin;
    return left < d->staging_values ? left : d->staging_values;
}

void device_vector_write(fem_subdomain *subdomain, fem_subdomain_vector *to, const double *from)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    int64_t real = device_subdomain_real_size(d);
    for (int64_t begin = 0, count; begin < subdomain->dofs; begin += count) {
        count = staged(d, begin);
        if (subdomain->status || device_subdomain_keep(d, yoke_event_wait(d->staging_free, NULL))) return;
        for (int64_t i = 0; i < count; i++) {
            if (subdomain->precision == FEM_DOUBLE)
                ((double *)d->staging)[i] = from[begin + i];
            else
                ((float *)d->staging)[i] = (float)from[begin + i];
        }
        device_subdomain_keep(d, yoke_queue_write(d->queue, to->data, begin * real, count * real, d->staging));
        if (!subdomain->status) device_subdomain_keep(d, yoke_queue_record(d->queue, d->staging_free));
    }
}

void device_vector_read_wait(fem_subdomain *subdomain, const fem_subdomain_vector *from, double *to)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    int64_t real = device_subdomain_real_size(d);
    for (int64_t begin = 0, count; begin < subdomain->dofs; begin += count) {
        count = staged(d, begin);
        if (!subdomain->status) device_subdomain_keep(d, yoke_event_wait(d->staging_free, NULL));
        if (!subdomain->status) device_subdomain_keep(d, yoke_queue_read(d->queue, from->data, begin * real, count * real, d->staging));
        if (!subdomain->status) device_subdomain_keep(d, yoke_queue_record(d->queue, d->staging_free));
        if (!subdomain->status) device_subdomain_keep(d, yoke_event_wait(d->staging_free, NULL));
        for (int64_t i = 0; i < count; i++) {
            if (subdomain->status)
                to[begin + i] = (double)NAN;
            else
                to[begin + i] = subdomain->precision == FEM_DOUBLE ? ((double *)d->staging)[i] : (double)((float *)d->staging)[i];
        }
    }
}

/* -------------------------------------------------------------------------------------------------- arithmetic */

/* Launches a kernel over all dofs. */
static void over_dofs(device_subdomain *d, int kernel, const yoke_argument *arguments, int64_t count)
{
    device_subdomain_launch(d, device_launch_values(kernel, d->subdomain.dofs), arguments, count);
}

void device_vector_zero(fem_subdomain *subdomain, fem_subdomain_vector *x)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    if (!subdomain->status && subdomain->dofs) device_subdomain_keep(d, yoke_queue_clear(d->queue, x->data, 0, vector_bytes(d)));
}

void device_vector_copy_scaled(fem_subdomain *subdomain, double alpha, const fem_subdomain *from_subdomain,
                               const fem_subdomain_vector *from, fem_subdomain_vector *to)
{
    const yoke_argument arguments[] = {yoke_argument_int64(subdomain->dofs), yoke_argument_double(alpha), yoke_argument_buffer(from->data),
                                       yoke_argument_buffer(to->data)};
    over_dofs((device_subdomain *)subdomain,
              from_subdomain->precision == FEM_DOUBLE ? FEM_SUBDOMAIN_KERNEL_scale_from_double : FEM_SUBDOMAIN_KERNEL_scale_from_float,
              arguments, 4);
}

void device_vector_axpy(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    const yoke_argument arguments[] = {yoke_argument_int64(subdomain->dofs), yoke_argument_double(alpha), yoke_argument_buffer(x->data),
                                       yoke_argument_buffer(y->data)};
    over_dofs((device_subdomain *)subdomain, FEM_SUBDOMAIN_KERNEL_axpy, arguments, 4);
}

void device_vector_xpby(fem_subdomain *subdomain, const fem_subdomain_vector *x, double beta, fem_subdomain_vector *y)
{
    const yoke_argument arguments[] = {yoke_argument_int64(subdomain->dofs), yoke_argument_buffer(x->data), yoke_argument_double(beta),
                                       yoke_argument_buffer(y->data)};
    over_dofs((device_subdomain *)subdomain, FEM_SUBDOMAIN_KERNEL_xpby, arguments, 4);
}

void device_vector_subtract(fem_subdomain *subdomain, const fem_subdomain_vector *x, const fem_subdomain_vector *y, fem_subdomain_vector *z)
{
    const yoke_argument arguments[] = {yoke_argument_int64(subdomain->dofs), yoke_argument_buffer(x->data), yoke_argument_buffer(y->data),
                                       yoke_argument_buffer(z->data)};
    over_dofs((device_subdomain *)subdomain, FEM_SUBDOMAIN_KERNEL_subtract, arguments, 4);
}

void device_vector_advance(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *p, const fem_subdomain_vector *q,
                           fem_subdomain_vector *x, fem_subdomain_vector *r)
{
    const yoke_argument arguments[] = {yoke_argument_int64(subdomain->dofs), yoke_argument_double(alpha),   yoke_argument_buffer(p->data),
                                       yoke_argument_buffer(q->data),        yoke_argument_buffer(x->data), yoke_argument_buffer(r->data)};
    over_dofs((device_subdomain *)subdomain, FEM_SUBDOMAIN_KERNEL_advance, arguments, 6);
}

/* ------------------------------------------------------------------------------------------------ dot products */

void device_vector_dots(fem_subdomain *subdomain, int count, const fem_subdomain_vector *const *x, const fem_subdomain_vector *const *y)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    yoke_argument arguments[4 + 2 * FEM_MAX_DOTS] = {yoke_argument_int64(subdomain->dofs), yoke_argument_int32(count),
                                                     yoke_argument_buffer(d->owned)};
    for (int i = 0; i < FEM_MAX_DOTS; i++) {
        arguments[3 + 2 * i] = yoke_argument_buffer(i < count ? x[i]->data : NULL);
        arguments[4 + 2 * i] = yoke_argument_buffer(i < count ? y[i]->data : NULL);
    }
    arguments[3 + 2 * FEM_MAX_DOTS] = yoke_argument_buffer(d->dot_sums);
    device_launch launch = {FEM_SUBDOMAIN_KERNEL_dots, d->dot_groups, FEM_BLOCK, 0};
    device_subdomain_launch(d, launch, arguments, 4 + 2 * FEM_MAX_DOTS);
    int64_t bytes = (int64_t)d->dot_groups * FEM_SUBDOMAIN_DOTS * 8;
    if (!subdomain->status) device_subdomain_keep(d, yoke_queue_read(d->queue, d->dot_sums, 0, bytes, d->dot_host));
    if (!subdomain->status) device_subdomain_keep(d, yoke_queue_record(d->queue, d->dots_done));
}

void device_vector_dots_wait(fem_subdomain *subdomain, int count, double *sums)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    if (!subdomain->status) device_subdomain_keep(d, yoke_event_wait(d->dots_done, NULL));
    for (int i = 0; i < count; i++) {
        sums[i] = subdomain->status ? (double)NAN : 0;
        for (int g = 0; g < d->dot_groups && !subdomain->status; g++) sums[i] += d->dot_host[g * FEM_SUBDOMAIN_DOTS + i];
    }
}

/* -------------------------------------------------------------------------------------------------------- rows */

yoke_status device_rows_create(fem_subdomain *subdomain, int32_t num_rows, const fem_rows *rows, fem_subdomain_rows **out)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    fem_subdomain_rows *made;
    int64_t entries = rows->start[num_rows], before = d->bytes;
    if (subdomain->status) return subdomain->status;
    yoke_status status = yoke_allocate(subdomain->context, 1, sizeof *made, &made);
    if (status) return status;
    made->num_rows = num_rows;
    status = device_subdomain_take(d, ((int64_t)num_rows + 1) * 8, &made->start);
    if (!status) status = device_subdomain_take(d, entries * 4, &made->node);
    if (!status) status = device_subdomain_take(d, entries * 4, &made->weight);
    if (!status) status = yoke_queue_write(d->queue, made->start, 0, ((int64_t)num_rows + 1) * 8, rows->start);
    if (!status && entries) status = yoke_queue_write(d->queue, made->node, 0, entries * 4, rows->node);
    if (!status && entries) status = yoke_queue_write(d->queue, made->weight, 0, entries * 4, rows->weight);
    yoke_status finished = yoke_queue_finish(d->queue);
    if (!status) status = finished;
    made->bytes = d->bytes - before;
    if (status)
        device_rows_destroy(subdomain, made);
    else
        *out = made;
    return status;
}

void device_rows_destroy(fem_subdomain *subdomain, fem_subdomain_rows *rows)
{
    device_subdomain *d = (device_subdomain *)subdomain;
    if (!rows) return;
    device_subdomain_keep(d, yoke_queue_finish(d->queue));
    yoke_buffer_destroy(rows->start);
    yoke_buffer_destroy(rows->node);
    yoke_buffer_destroy(rows->weight);
    d->bytes -= rows->bytes;
    yoke_release(subdomain->context, rows);
}

static void apply_rows(fem_subdomain *subdomain, int kernel, const fem_subdomain_rows *rows, const fem_subdomain_vector *from,
                       fem_subdomain_vector *to)
{
    const yoke_argument arguments[] = {yoke_argument_int32(rows->num_rows), yoke_argument_buffer(rows->start),
                                       yoke_argument_buffer(rows->node),    yoke_argument_buffer(rows->weight),
                                       yoke_argument_buffer(from->data),    yoke_argument_buffer(to->data)};
    device_subdomain_launch((device_subdomain *)subdomain,
                            device_launch_values(kernel, (int64_t)rows->num_rows * subdomain->space->components), arguments, 6);
}

void device_rows_add(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from, fem_subdomain_vector *to)
{
    apply_rows(subdomain, FEM_SUBDOMAIN_KERNEL_rows_add, rows, from, to);
}

void device_rows_set(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from, fem_subdomain_vector *to)
{
    apply_rows(subdomain, FEM_SUBDOMAIN_KERNEL_rows_set, rows, from, to);
}
