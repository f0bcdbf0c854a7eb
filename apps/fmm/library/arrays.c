#include "library/arrays.h"

#include <math.h>

static int64_t step_of(int64_t stride) { return stride ? stride : 1; }

/* Copies values.  Returns the first particle whose value is not finite; count: none. */
static int64_t copy_finite(int64_t count, const double *from, int64_t stride, double *to)
{
    int64_t bad = count;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < count; i++) {
        to[i] = from[i * stride];
        if (!isfinite(to[i]) && i < bad) bad = i;
    }
    return bad;
}

static yoke_status check(yoke_context *context, const yoke_fmm_particles *given)
{
    if (!given) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "particles is NULL: pass the address of a yoke_fmm_particles");
    if (given->stride < 0 || given->charge_stride < 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "a stride of the particles is negative; it is the number of doubles from one to the next, 0 for 1");
    if (given->count > 0 && (!given->x || !given->y || !given->z || !given->charge))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld particles, but x, y, z or charge is NULL: give all four arrays",
                         (long long)given->count);
    return YOKE_OK;
}

yoke_status fmm_arrays_take(yoke_context *context, const yoke_fmm_particles *given, fmm_particles **particles)
{
    static const char *const names[] = {"x", "y", "z", "charge"};
    fmm_particles *taken = NULL;
    yoke_status status = check(context, given);
    if (!status) status = fmm_particles_create(context, given->count, &taken);
    if (status) return status;
    const double *const from[] = {given->x, given->y, given->z, given->charge};
    double *const to[] = {taken->x, taken->y, taken->z, taken->charge};
    for (int k = 0; k < 4 && !status; k++) {
        int64_t bad = copy_finite(given->count, from[k], step_of(k < 3 ? given->stride : given->charge_stride), to[k]);
        if (bad < given->count)
            status = yoke_fail(context, YOKE_ERROR_INPUT, "%s of particle %lld is %g; positions and charges have to be finite", names[k],
                               (long long)bad + 1, to[k][bad]);
    }
    if (status)
        fmm_particles_destroy(taken);
    else
        *particles = taken;
    return status;
}

yoke_status fmm_arrays_check(yoke_context *context, const yoke_fmm_field *wanted, int gradient)
{
    if (!wanted || !wanted->potential)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "there is no array for the potentials: pass a yoke_fmm_field that has one");
    if (wanted->potential_stride < 0 || wanted->gradient_stride < 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "a stride of the field is negative; it is the number of doubles from one to the next, 0 for 1");
    const int components = (wanted->gx != NULL) + (wanted->gy != NULL) + (wanted->gz != NULL);
    if (components != 0 && components != 3)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%d of gx, gy and gz are given: give all three, or none", components);
    if (components && !gradient)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "gradients are wanted, but the object was made with potential_only");
    return YOKE_OK;
}

static void copy(int64_t count, const double *from, double *to, int64_t stride)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) to[i * stride] = from[i];
}

void fmm_arrays_give(const fmm_field *field, const yoke_fmm_field *wanted)
{
    copy(field->count, field->potential, wanted->potential, step_of(wanted->potential_stride));
    if (!wanted->gx) return;
    copy(field->count, field->gx, wanted->gx, step_of(wanted->gradient_stride));
    copy(field->count, field->gy, wanted->gy, step_of(wanted->gradient_stride));
    copy(field->count, field->gz, wanted->gz, step_of(wanted->gradient_stride));
}
