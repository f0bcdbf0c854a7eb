#include "adapt/distribution/trial.h"

#include <math.h>

#include "space/subspace.h"

/* Number of products that are started before the host waits for them; number of sizes that are kept for later calls. */
enum { PRODUCTS_AT_ONCE = 8, SIZES = 4 };

/* A device with the first elements of the space. */
typedef struct trial_site {
    int64_t device, units;
    fem_subspace *part;
    fem_decomposition *decomposition;
    fem_vector *x, *y;
} trial_site;

struct fem_trial {
    const fem_space *space;
    const fem_constraints *constraints;
    fem_devices *devices;
    fem_operator operator_kind;
    fem_precision precision;
    int next; /* site that is replaced next */
    trial_site sites[SIZES];
    trial_site beside[FEM_MAX_DEVICES]; /* devices that work at the same time */
};

yoke_status fem_trial_create(const fem_space *space, const fem_constraints *constraints, fem_devices *devices, fem_operator operator_kind,
                             fem_precision precision, fem_trial **out)
{
    fem_trial *trial;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *trial, &trial);
    if (status) return status;
    *trial =
        (fem_trial){.space = space, .constraints = constraints, .devices = devices, .operator_kind = operator_kind, .precision = precision};
    *out = trial;
    return YOKE_OK;
}

static void close_site(trial_site *site)
{
    fem_vector_destroy(site->x);
    fem_vector_destroy(site->y);
    fem_decomposition_destroy(site->decomposition);
    fem_subspace_destroy(site->part);
    *site = (trial_site){.units = 0};
}

void fem_trial_destroy(fem_trial *trial)
{
    if (!trial) return;
    for (int k = 0; k < SIZES; k++) close_site(&trial->sites[k]);
    for (int i = 0; i < FEM_MAX_DEVICES; i++) close_site(&trial->beside[i]);
    yoke_release(trial->space->context, trial);
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

static yoke_status open_site(fem_trial *t, int64_t device, int64_t units, trial_site *site)
{
    int32_t cut[FEM_MAX_DEVICES + 1] = {0};
    yoke_status status = YOKE_OK;
    site->device = device;
    site->units = units;
    if (units < t->space->num_elements) status = fem_subspace_create(t->space, t->constraints, 0, (int32_t)units, 0, NULL, &site->part);
    if (status) return status;
    for (int i = (int)device; i < t->devices->count; i++) cut[i + 1] = (int32_t)units;
    fem_decomposition_options options = {
        .devices = t->devices, .cut = cut, .alone = 1, .precision = t->precision, .operator_kind = t->operator_kind};
    status = fem_decomposition_create(site->part ? site->part->space : t->space, site->part ? site->part->constraints : t->constraints,
                                      &options, &site->decomposition);
    if (!status) status = fem_vector_create(site->decomposition, &site->x);
    if (!status) status = fem_vector_create(site->decomposition, &site->y);
    if (!status) status = fill(site->x, fem_decomposition_space(site->decomposition));
    if (!status) fem_decomposition_product(site->decomposition, 1, site->x, site->y); /* the first product may include start-up times */
    return status ? status : fem_decomposition_status(site->decomposition);
}

/* Returns the site for this many elements, or for as many as fit on the device. */
static yoke_status find_site(fem_trial *t, int64_t device, int64_t units, trial_site **found)
{
    for (int k = 0; k < SIZES; k++)
        if (t->sites[k].units == units && t->sites[k].device == device) {
            *found = &t->sites[k];
            return YOKE_OK;
        }
    trial_site *site = &t->sites[t->next];
    t->next = (t->next + 1) % SIZES;
    yoke_status status = YOKE_ERROR_DEVICE_MEMORY;
    while (status == YOKE_ERROR_DEVICE_MEMORY && units > 0) {
        close_site(site);
        t->devices->list[device].short_of_memory = 0;
        status = open_site(t, device, units, site);
        if (status == YOKE_ERROR_DEVICE_MEMORY) units /= 2;
    }
    if (status)
        close_site(site);
    else
        *found = site;
    return status;
}

static double busy_s(const trial_site *site)
{
    fem_decomposition_share share;
    fem_decomposition_get_share(site->decomposition, (int)site->device, &share);
    return share.product_seconds;
}

yoke_status fem_trial_run(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    fem_trial *trial = user;
    trial_site *site = NULL;
    int64_t count = 0;
    yoke_status status = find_site(trial, device, units, &site);
    if (status) return status;
    double before_s = busy_s(site);
    while (!status && count < calls) {
        for (int i = 0; i < PRODUCTS_AT_ONCE && count < calls; i++, count++)
            fem_decomposition_product(site->decomposition, 1, site->x, site->y);
        status = fem_decomposition_status(site->decomposition);
    }
    if (status) {
        close_site(site);
        return status;
    }
    *seconds = (busy_s(site) - before_s) / (double)count * ((double)units / (double)site->units);
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------- devices together */

static yoke_status open_beside(fem_trial *t, int64_t device, int64_t units)
{
    trial_site *site = &t->beside[device];
    if (site->units == units) return YOKE_OK;
    close_site(site);
    return units ? open_site(t, device, units, site) : YOKE_OK;
}

/* Starts one product on each device.  The device of the calling thread is the last one, and works while the others do. */
static void multiply_beside(const fem_trial *t)
{
    for (int inlined = 0; inlined < 2; inlined++)
        for (int i = 0; i < t->devices->count; i++)
            if (t->beside[i].units && t->devices->list[i].inlined == inlined)
                fem_decomposition_product(t->beside[i].decomposition, 1, t->beside[i].x, t->beside[i].y);
}

yoke_status fem_trial_run_together(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed)
{
    fem_trial *t = user;
    yoke_status status = YOKE_OK;
    for (int i = 0; i < t->devices->count && !status; i++) {
        *failed = i;
        status = open_beside(t, i, units[i]);
        if (status) close_site(&t->beside[i]);
        if (!status && units[i]) seconds[i] = -busy_s(&t->beside[i]);
    }
    for (int64_t k = 0; k < calls && !status; k++) multiply_beside(t);
    for (int i = 0; i < t->devices->count && !status; i++) {
        if (!units[i]) continue;
        *failed = i;
        status = fem_decomposition_status(t->beside[i].decomposition);
        if (status)
            close_site(&t->beside[i]);
        else
            seconds[i] = (seconds[i] + busy_s(&t->beside[i])) / (double)calls;
    }
    return status;
}
