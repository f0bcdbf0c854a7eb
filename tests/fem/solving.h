/*
 * solving.h - for tests that solve: on devices that are open, or on the device openmp alone.
 */
#ifndef TEST_SOLVING_H
#define TEST_SOLVING_H

#include "solver/solve.h"

/* fem_solve with options->devices = devices and, where no cut is given, equal shares. */
static inline yoke_status solve_on(fem_devices *devices, const fem_space *space, const fem_boundary *boundary,
                                   const fem_constraints *constraints, const double *start, const fem_solve_options *options,
                                   const fem_hooks *hooks, fem_solution **solution)
{
    int32_t cut[FEM_MAX_DEVICES + 1];
    fem_solve_options own = *options;
    own.devices = devices;
    for (int i = 0; i <= devices->count; i++) cut[i] = (int32_t)((int64_t)space->num_elements * i / devices->count);
    if (!own.cut) own.cut = cut;
    return fem_solve(space, boundary, constraints, start, &own, hooks, solution);
}

static inline yoke_status solve_alone(const fem_space *space, const fem_boundary *boundary, const fem_constraints *constraints,
                                      const double *start, const fem_solve_options *options, const fem_hooks *hooks,
                                      fem_solution **solution)
{
    fem_devices *devices;
    yoke_status status = fem_devices_open(space->context, NULL, &devices);
    if (status) return status;
    status = solve_on(devices, space, boundary, constraints, start, options, hooks, solution);
    fem_devices_close(devices);
    return status;
}

#endif
