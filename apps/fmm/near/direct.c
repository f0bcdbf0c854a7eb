#include "near/direct.h"

#include "near/direct_block.h"
#include "near/direct_devices.h"
#include "near/kernels/pairs.h"
#include "particles/coincident.h"
#include "particles/scale.h"

#define SLICE_PAIRS 5e8 /* number of pairs between two reports of progress: about a tenth of a second */

static yoke_status sum_on_host(const fmm_particles *particles, const fmm_direct_options *options, fmm_field *field)
{
    int64_t count = particles->count, slice = FMM_BLOCK;
    while ((double)slice * (double)count < SLICE_PAIRS && slice < count) slice *= 2;
    for (int64_t begin = 0; begin < count; begin += slice) {
        int64_t end = count - begin < slice ? count : begin + slice;
        fmm_direct_range(particles, begin, end, field);
        yoke_status status = options && options->progress ? options->progress(end, count, options->user) : YOKE_OK;
        if (status) return status;
    }
    return YOKE_OK;
}

yoke_status fmm_direct(const fmm_particles *particles, const fmm_direct_options *options, fmm_field *field)
{
    fmm_scale scale;
    fmm_particles *scaled = NULL;
    if (field->count != particles->count)
        return yoke_fail(particles->context, YOKE_ERROR_ARGUMENT, "the field has %lld particles instead of %lld", (long long)field->count,
                         (long long)particles->count);
    yoke_status status = fmm_scale_create(particles, &scale, &scaled);
    if (!status && options && options->devices)
        status = fmm_direct_on_devices(scaled, options->devices, options->machine, field);
    else if (!status)
        status = sum_on_host(scaled, options, field);
    if (!status) status = fmm_coincident_add(scaled, field->count, NULL, field->potential);
    if (!status) status = fmm_scale_field(particles->charge, NULL, scale, field);
    fmm_particles_destroy(scaled);
    return status;
}

const char *fmm_direct_instructions(void) { return fmm_pairs_select()->name; }
