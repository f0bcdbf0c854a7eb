/*
 * energy.c - measures the energy of a tree and of both its fields on the cores.
 */
#include <math.h>

#include "solve/parts.h"

yoke_status fmm_solver_open_meters(fmm_solver *s)
{
    const fmm_solver_options *o = &s->options;
    const yoke_meter_options options = {.declared = o->declared};
    const bool wanted = o->declared || o->objective != YOKE_OBJECTIVE_TIME;
    /* Devices have a run with meters of its own. */
    return wanted && !o->devices && !o->measure ? yoke_meters_open(s->context, &options, &s->meters) : YOKE_OK;
}

yoke_status fmm_solver_begin_energy(fmm_solver *s, yoke_region **region)
{
    *region = NULL;
    return s->meters ? yoke_region_begin(s->meters, region) : YOKE_OK;
}

yoke_status fmm_solver_end_energy(fmm_solver *s, yoke_region *region)
{
    yoke_energy now, *sum = &s->solution.energy;
    if (!region) return YOKE_OK;
    const bool first = sum->kind == YOKE_ENERGY_NONE && !*sum->why_not;
    yoke_status status = yoke_region_end(region, NULL, NULL, &now);
    if (status) return status;
    if (first || isnan(now.value_j)) {
        *sum = now;
    } else if (!isnan(sum->value_j)) {
        sum->value_j += now.value_j;
        sum->uncertainty_j += now.uncertainty_j;
    }
    return YOKE_OK;
}
