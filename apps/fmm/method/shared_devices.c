/* shared_devices.c - the near field on one device. */
#include <stdio.h>

#include "method/shared_parts.h"
/* clang-format off */
#include "near/kernels/pair_text.h"
#include "near/kernels/leaves_text.h"
/* clang-format on */

extern const char fmm_pair_text[], fmm_leaves_text[]; /* yoke_embed_text */

enum { SLICE = 64, GROUP = 64, MAX_GROUPS = 65536 }; /* targets of a slice, items of a group */

static const char *const texts[] = {fmm_pair_text, fmm_leaves_text};

/* ---------------------------------------------------------------------------------------------------- arrays */

/* Cuts all leaves into slices. */
static void fill_slices(const fmm_leaves *leaves, fmm_near_arrays *arrays)
{
#pragma omp parallel for schedule(static)
    for (int64_t l = 0; l < leaves->count; l++) {
        const int64_t end = leaves->particle[l + 1];
        for (int64_t s = arrays->first_slice[l], first = leaves->particle[l]; s < arrays->first_slice[l + 1]; s++, first += SLICE) {
            arrays->leaf_of[s] = (int32_t)l;
            arrays->slice[2 * s] = (int32_t)first;
            arrays->slice[2 * s + 1] = (int32_t)(end - first < SLICE ? end : first + SLICE);
        }
    }
}

/* Uses new memory for the first time, with all threads: copies from a device would have only one. */
static void touch(int64_t count, double *values)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) values[i] = 0;
}

static yoke_status allocate(const fmm_method *m, fmm_near_arrays *arrays)
{
    const int32_t *particle = m->tree->leaves.particle;
    const int64_t leaves = m->tree->leaves.count;
    yoke_status status = yoke_allocate(m->context, leaves + 1, sizeof *arrays->first_slice, &arrays->first_slice);
    if (status) return status;
    for (int64_t l = 0; l < leaves; l++)
        arrays->first_slice[l + 1] = arrays->first_slice[l] + (particle[l + 1] - particle[l] + SLICE - 1) / SLICE;
    arrays->slices = arrays->first_slice[leaves];
    arrays->width = m->sum->gx ? 4 : 1;
    status = yoke_allocate_untouched(m->context, 2 * arrays->slices, sizeof *arrays->slice, &arrays->slice);
    if (!status) status = yoke_allocate_untouched(m->context, arrays->slices, sizeof *arrays->leaf_of, &arrays->leaf_of);
    if (!status) status = yoke_allocate_untouched(m->context, 4 * m->tree->count, sizeof *arrays->place, &arrays->place);
    if (!status) status = yoke_allocate_untouched(m->context, arrays->width * m->tree->count, sizeof *arrays->field, &arrays->field);
    return status;
}

/* Creates the arrays unless they exist. */
static yoke_status have_arrays(const fmm_method *m, fmm_near_arrays *arrays)
{
    if (arrays->field) return YOKE_OK;
    yoke_status status = allocate(m, arrays);
    if (status) {
        fmm_near_arrays_destroy(m->context, arrays);
        return status;
    }
    fill_slices(&m->tree->leaves, arrays);
    touch(arrays->width * m->tree->count, arrays->field);
    return YOKE_OK;
}

void fmm_near_arrays_destroy(yoke_context *context, fmm_near_arrays *arrays)
{
    yoke_release(context, arrays->first_slice);
    yoke_release(context, arrays->slice);
    yoke_release(context, arrays->leaf_of);
    yoke_release(context, arrays->place);
    yoke_release(context, arrays->field);
    *arrays = (fmm_near_arrays){0};
}

void fmm_near_arrays_pack(const fmm_method *m, fmm_near_arrays *arrays)
{
    const fmm_particles *p = m->sorted;
    arrays->is_packed = true;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->count; i++) {
        double *at = arrays->place + 4 * i;
        at[0] = p->x[i], at[1] = p->y[i], at[2] = p->z[i], at[3] = p->charge[i];
    }
}

void fmm_near_arrays_add(fmm_method *m, const fmm_near_arrays *arrays, int64_t first, int64_t last)
{
    fmm_field *f = m->sum;
    const int32_t *particle = m->tree->leaves.particle;
#pragma omp parallel for schedule(static)
    for (int64_t i = particle[first]; i < particle[last]; i++) {
        const double *from = arrays->field + arrays->width * i;
        f->potential[i] += from[0];
        if (f->gx) f->gx[i] += from[1], f->gy[i] += from[2], f->gz[i] += from[3];
    }
}

/* -------------------------------------------------------------------------------------------------- a device */

static yoke_status make_buffer(const fmm_shared_device *d, int64_t count, int64_t size, const void *values, yoke_buffer **buffer)
{
    const int64_t bytes = count * size;
    yoke_status status = yoke_buffer_create(d->device, bytes > 0 ? bytes : size, buffer);
    return status || !values || bytes == 0 ? status : yoke_queue_write(d->queue, *buffer, 0, bytes, values);
}

static yoke_status make_program(fmm_shared_device *d)
{
    static const yoke_host_kernel kernels[] = {{"sum_near_leaves", sum_near_leaves}};
    const yoke_program_source source = {
        .name = "fmm leaves", .texts = texts, .num_texts = sizeof texts / sizeof *texts, .host_kernels = kernels, .num_host_kernels = 1};
    yoke_status status = yoke_program_create(d->device, &source, &d->program);
    return status ? status : yoke_program_function(d->program, "sum_near_leaves", &d->function);
}

yoke_status fmm_shared_device_open(fmm_shared *s, int i)
{
    fmm_shared_device *d = &s->device[i];
    const fmm_near_arrays *a = &s->arrays;
    const fmm_method *m = s->m;
    const int64_t leaves = m->tree->leaves.count, particles = m->tree->count;
    if (d->device) return YOKE_OK;
    yoke_status status = i == s->host ? YOKE_OK : have_arrays(m, &s->arrays);
    if (status) return status;
    d->device = s->list[i].device;
    status = yoke_queue_create(d->device, 0, &d->queue);
    for (int k = 0; k < 4 && !status; k++) status = yoke_event_create(d->device, &d->marks[k]);
    if (status || i == s->host) return status;
    status = make_program(d);
    if (!status) status = make_buffer(d, 2 * a->slices, sizeof *a->slice, a->slice, &d->slice);
    if (!status) status = make_buffer(d, a->slices, sizeof *a->leaf_of, a->leaf_of, &d->leaf_of);
    if (!status) status = make_buffer(d, leaves + 1, sizeof(int32_t), m->tree->leaves.particle, &d->particle);
    if (!status) status = make_buffer(d, leaves + 1, sizeof *m->near.start, m->near.start, &d->start);
    if (!status) status = make_buffer(d, m->near.start[leaves], sizeof *m->near.cell, m->near.cell, &d->cell);
    if (!status) status = make_buffer(d, 4 * particles, sizeof *a->place, NULL, &d->place);
    if (!status) status = make_buffer(d, a->width * particles, sizeof *a->field, NULL, &d->field);
    return status ? status : yoke_queue_finish(d->queue);
}

void fmm_shared_device_close(fmm_shared *s, int i)
{
    fmm_shared_device *d = &s->device[i];
    if (!d->device) return;
    yoke_buffer *const buffers[] = {d->slice, d->leaf_of, d->particle, d->start, d->cell, d->place, d->field};
    yoke_queue_destroy(d->queue);
    for (int k = 0; k < 4; k++) yoke_event_destroy(d->marks[k]);
    for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) yoke_buffer_destroy(buffers[k]);
    yoke_program_destroy(d->program);
}

yoke_status fmm_shared_device_copy(fmm_shared *s, int i, int64_t count)
{
    fmm_shared_device *d = &s->device[i];
    if (!s->arrays.is_packed) fmm_near_arrays_pack(s->m, &s->arrays); /* the first accelerator was opened after the run began */
    yoke_status status = yoke_queue_record(d->queue, d->marks[0]);
    if (!status) status = yoke_queue_write(d->queue, d->place, 0, 4 * count * (int64_t)sizeof *s->arrays.place, s->arrays.place);
    if (!status) status = yoke_queue_record(d->queue, d->marks[1]);
    d->has_places = !status;
    return status;
}

/* Launches the kernel for slices first ... first + slices - 1. */
static yoke_status launch(fmm_shared *s, fmm_shared_device *d, int64_t first, int64_t slices, int64_t units)
{
    const fmm_near_arrays *a = &s->arrays;
    const int64_t groups = slices < 1 ? 1 : slices < MAX_GROUPS ? slices : MAX_GROUPS;
    const yoke_argument arguments[] = {yoke_argument_int64(first),
                                       yoke_argument_int64(first + slices),
                                       yoke_argument_buffer(d->slice),
                                       yoke_argument_buffer(d->leaf_of),
                                       yoke_argument_buffer(d->particle),
                                       yoke_argument_buffer(d->start),
                                       yoke_argument_buffer(d->cell),
                                       yoke_argument_buffer(d->place),
                                       yoke_argument_buffer(d->field),
                                       yoke_argument_int32(a->width > 1),
                                       yoke_argument_double(s->m->sorted->softening)};
    yoke_status status = yoke_queue_launch(d->queue, d->function, groups, GROUP, units, arguments, sizeof arguments / sizeof *arguments);
    return status ? status : yoke_queue_record(d->queue, d->marks[2]);
}

static yoke_status read_back(fmm_shared *s, fmm_shared_device *d, int64_t begin, int64_t count)
{
    const fmm_near_arrays *a = &s->arrays;
    const int64_t size = a->width * (int64_t)sizeof *a->field;
    yoke_status status = yoke_queue_read(d->queue, d->field, begin * size, count * size, a->field + a->width * begin);
    return status ? status : yoke_queue_record(d->queue, d->marks[3]);
}

yoke_status fmm_shared_device_start(fmm_shared *s, int i, int64_t units)
{
    fmm_shared_device *d = &s->device[i];
    const int32_t *particle = s->m->tree->leaves.particle;
    const int64_t first = s->arrays.first_slice[d->first], slices = s->arrays.first_slice[d->last] - first;
    yoke_status status = launch(s, d, first, slices, units);
    return status ? status : read_back(s, d, particle[d->first], particle[d->last] - particle[d->first]);
}

yoke_status fmm_shared_device_return(fmm_shared *s, int i, int64_t count)
{
    yoke_status status = yoke_queue_record(s->device[i].queue, s->device[i].marks[2]);
    return status ? status : read_back(s, &s->device[i], 0, count);
}

yoke_status fmm_shared_device_pretend(fmm_shared *s, int i, int64_t units)
{
    yoke_status status = yoke_queue_record(s->device[i].queue, s->device[i].marks[1]);
    return status ? status : launch(s, &s->device[i], 0, 0, units);
}

yoke_status fmm_shared_device_finish(fmm_shared *s, int i)
{
    fmm_shared_device *d = &s->device[i];
    const bool host = i == s->host, near = d->last > d->first;
    yoke_status status = d->queue ? yoke_queue_finish(d->queue) : YOKE_OK; /* NULL: the device could not be opened */
    if (status || d->failed) return status;
    if (near) status = yoke_event_elapsed_s(d->marks[1], d->marks[2], &d->near_s);
    if (!status && !host && near && d->has_places) status = yoke_event_elapsed_s(d->marks[0], d->marks[1], &d->places_s);
    if (!status && !host && near) status = yoke_event_elapsed_s(d->marks[2], d->marks[3], &d->results_s);
    if (!status && host && s->far) status = yoke_event_elapsed_s(d->marks[0], d->marks[1], &d->far_s);
    return status;
}
