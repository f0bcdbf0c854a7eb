/* Arrays of a kernel: which parts are copied to an accelerator before a piece, and back to the host after it. */
#include <string.h>

#include "run/kernel.h"

static yoke_status read_units(const run_device *device, const run_kernel_device *d, const yoke_run_array *array, int64_t k, int64_t first,
                              int64_t last)
{
    if (last <= first) return YOKE_OK;
    int64_t offset = first * array->unit_bytes;
    return yoke_queue_read(device->queue, d->buffers[k], offset, (last - first) * array->unit_bytes, (char *)array->memory + offset);
}

static yoke_status write_units(const run_device *device, const run_kernel_device *d, const yoke_run_array *array, int64_t k, int64_t first,
                               int64_t last)
{
    if (last <= first) return YOKE_OK;
    int64_t offset = first * array->unit_bytes;
    return yoke_queue_write(device->queue, d->buffers[k], offset, (last - first) * array->unit_bytes, (const char *)array->memory + offset);
}

yoke_status run_kernel_fetch(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel, int64_t first, int64_t last)
{
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < kernel->num_arrays && status == YOKE_OK; k++) {
        const run_held *held = &d->held[k];
        if (!held->dirty || held->last <= held->first) continue;
        status = read_units(device, d, &kernel->arrays[k], k, held->first, run_smaller(held->last, run_larger(first, held->first)));
        if (status == YOKE_OK)
            status = read_units(device, d, &kernel->arrays[k], k, run_larger(held->first, run_smaller(last, held->last)), held->last);
    }
    return status;
}

/* The part of the held units within [first, last); if there is none, an empty range at `first`. */
static run_held part_of(const run_held *held, int64_t first, int64_t last)
{
    const int64_t from = run_larger(first, held->first), to = run_smaller(last, held->last);
    return to > from ? (run_held){from, to, held->dirty} : (run_held){first, first, 0};
}

void run_kernel_trim(const run_kernel_device *d, const yoke_run_kernel *kernel, int64_t first, int64_t last)
{
    for (int64_t k = 0; k < kernel->num_arrays; k++)
        if (d->held[k].dirty) d->held[k] = part_of(&d->held[k], first, last);
}

yoke_status run_kernel_send_kept(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_status status = YOKE_OK;
    d->moved = 0;
    for (int64_t k = 0; k < kernel->num_arrays && status == YOKE_OK; k++) {
        const yoke_run_array *array = &kernel->arrays[k];
        run_held *held = &d->held[k];
        if (!array->keep) continue;
        if (!run_array_is_divided(array)) {
            if (!d->sent[k]) status = yoke_queue_write(device->queue, d->buffers[k], 0, array->bytes, array->memory);
            d->sent[k] = status == YOKE_OK;
            continue;
        }
        const run_held there = part_of(held, d->first, d->last);
        d->moved = run_larger(d->moved, d->last - d->first - (there.last - there.first));
        /* Arrays that are only written need not be sent: each unit writes all of its own bytes that matter. */
        if (array->access & YOKE_RUN_READ) {
            status = write_units(device, d, array, k, d->first, there.first);
            if (status == YOKE_OK) status = write_units(device, d, array, k, there.last, d->last);
        }
        *held = status == YOKE_OK ? (run_held){d->first, d->last, there.dirty} : there;
    }
    return status;
}

yoke_status run_kernel_send_others(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < kernel->num_arrays && status == YOKE_OK; k++) {
        const yoke_run_array *array = &kernel->arrays[k];
        if (array->keep || !(array->access & YOKE_RUN_READ)) continue;
        if (run_array_is_divided(array))
            status = write_units(device, d, array, k, d->first, d->last);
        else if (!d->sent[k])
            status = yoke_queue_write(device->queue, d->buffers[k], 0, array->bytes, array->memory);
        if (!run_array_is_divided(array)) d->sent[k] = status == YOKE_OK; /* until the end of this loop */
    }
    return status;
}

static int comes_back(const yoke_run_array *array) { return !array->keep && array->access & YOKE_RUN_WRITE; }

yoke_status run_kernel_bring(const run_device *device, const run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < kernel->num_arrays && status == YOKE_OK; k++) {
        yoke_run_array to = kernel->arrays[k];
        if (d->staging[k] != NULL) to.memory = d->staging[k];
        if (comes_back(&to)) status = read_units(device, d, &to, k, d->first, d->last);
    }
    return status;
}

void run_kernel_take_staged(const run_kernel_device *d, const yoke_run_kernel *kernel)
{
    for (int64_t k = 0; k < kernel->num_arrays; k++) {
        const yoke_run_array *array = &kernel->arrays[k];
        int64_t offset = d->first * array->unit_bytes;
        if (d->staging[k] != NULL)
            memcpy((char *)array->memory + offset, (const char *)d->staging[k] + offset,
                   (size_t)((d->last - d->first) * array->unit_bytes));
    }
}
