/* Arrays of a kernel: what goes to an accelerator before a piece, and comes back after it. */
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
        run_held *held = &d->held[k];
        if (!held->dirty || held->last <= held->first) continue;
        status = read_units(device, d, &kernel->arrays[k], k, held->first, run_smaller(held->last, run_larger(first, held->first)));
        if (status == YOKE_OK)
            status = read_units(device, d, &kernel->arrays[k], k, run_larger(held->first, run_smaller(last, held->last)), held->last);
        if (status == YOKE_OK && first >= last) *held = (run_held){0, 0, 0};
    }
    return status;
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
        int64_t from = run_larger(d->first, run_smaller(held->first, d->last)), to = run_smaller(d->last, run_larger(held->last, d->first)),
                moved;
        if (held->last <= held->first || to <= from) from = to = d->first; /* nothing of it is there */
        moved = d->last - d->first - (to - from);
        d->moved = run_larger(d->moved, moved);
        /* What is only written need not be sent: units write their own bytes, all of them that matter. */
        if (array->access & YOKE_RUN_READ) {
            status = write_units(device, d, array, k, d->first, from);
            if (status == YOKE_OK) status = write_units(device, d, array, k, to, d->last);
        }
        *held = (run_held){d->first, d->last, held->dirty && to > from};
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
