#include "adapt/trial.h"

#include <math.h>

#include "space/subspace.h"

/* Work that is started before the host waits for it. */
enum { PRODUCTS_AT_ONCE = 8 };

static double busy_s(fem_decomposition *decomposition, int device)
{
    fem_decomposition_share share;
    fem_decomposition_get_share(decomposition, device, &share);
    return share.product_seconds;
}

static yoke_status fill(fem_vector *x, const fem_space *space)
{
    double *values;
    int64_t dofs = (int64_t)space->num_nodes * space->components;
    yoke_status status = yoke_allocate_untouched(space->context, dofs, sizeof *values, &values);
    if (status) return status;
    for (int64_t i = 0; i < dofs; i++) values[i] = 1 + 0.001 * (double)(i % 1000);
    fem_vector_write(x, values);
    fem_vector_mask(x);
    yoke_release(space->context, values);
    return YOKE_OK;
}

static yoke_status repeat(fem_decomposition *decomposition, const fem_trial_options *o, const fem_vector *x, fem_vector *y,
                          fem_trial *trial)
{
    const yoke_device *device = o->devices->list[o->device].device;
    double begin_s = yoke_device_clock_s(device), before_s = busy_s(decomposition, o->device);
    int64_t count = 0;
    yoke_status status = YOKE_OK;
    while (!status && count < o->most && (count < o->least || yoke_device_clock_s(device) - begin_s < o->min_s)) {
        for (int i = 0; i < PRODUCTS_AT_ONCE; i++, count++) fem_decomposition_product(decomposition, 1, x, y);
        status = fem_decomposition_status(decomposition);
    }
    trial->busy_s = busy_s(decomposition, o->device) - before_s;
    trial->seconds_per_product = trial->busy_s / (double)count;
    trial->seconds = yoke_device_clock_s(device) - begin_s;
    return status;
}

static yoke_status run(fem_decomposition *decomposition, const fem_trial_options *o, fem_trial *trial, yoke_energy *energies)
{
    fem_vector *x = NULL, *y = NULL;
    yoke_region *region = NULL;
    fem_decomposition_share share;
    yoke_status status = fem_vector_create(decomposition, &x);
    if (!status) status = fem_vector_create(decomposition, &y);
    if (!status) status = fill(x, fem_decomposition_space(decomposition));
    if (!status) fem_decomposition_product(decomposition, 1, x, y); /* the first one may have to wake something up */
    if (!status) status = fem_decomposition_status(decomposition);
    (void)busy_s(decomposition, o->device);
    if (!status && o->meter) status = yoke_region_begin(o->meter, &region);
    if (!status) status = repeat(decomposition, o, x, y, trial);
    if (region) {
        double seconds;
        yoke_status ended = yoke_region_end(region, &seconds, energies, &trial->total);
        if (!status) status = ended;
        if (!status) trial->seconds = seconds;
    }
    fem_decomposition_get_share(decomposition, o->device, &share);
    trial->moved_s = share.setup_moved_s;
    fem_vector_destroy(x);
    fem_vector_destroy(y);
    return status;
}

yoke_status fem_trial_run(const fem_space *space, const fem_constraints *constraints, const fem_trial_options *o, fem_trial *trial,
                          yoke_energy *energies)
{
    int32_t cut[FEM_MOST_DEVICES + 1] = {0};
    fem_subspace *part = NULL;
    fem_decomposition *decomposition = NULL;
    yoke_status status = YOKE_OK;
    *trial = (fem_trial){.seconds_per_product = NAN, .total = {.value_j = NAN, .uncertainty_j = NAN}};
    if (o->elements < space->num_elements) status = fem_subspace_create(space, constraints, 0, o->elements, 0, NULL, &part);
    if (status) return status;
    for (int i = o->device; i < o->devices->count; i++) cut[i + 1] = o->elements;
    fem_decomposition_options options = {.devices = o->devices, .cut = cut, .precision = FEM_DOUBLE, .operator_kind = o->operator_kind};
    status = fem_decomposition_create(part ? part->space : space, part ? part->constraints : constraints, &options, &decomposition);
    if (!status) status = run(decomposition, o, trial, energies);
    fem_decomposition_destroy(decomposition);
    fem_subspace_destroy(part);
    return status;
}
