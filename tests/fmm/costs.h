/*
 * costs.h - a store with costs that nobody measured, for choices of trees that are the same on each machine.
 */
#ifndef FMM_TESTS_COSTS_H
#define FMM_TESTS_COSTS_H

#include "context.h"
#include "tune/costs/machine.h"

/* user: what pairs of particles take, where other operations take 1e-9. */
static inline yoke_status cost_of_trial(void *user, fmm_operation operation, int size, int64_t calls, double *seconds)
{
    const double pair_s = *(const double *)user;
    (void)calls;
    *seconds =
        (double)fmm_bench_units(operation, size) * (operation == FMM_NEAR || operation == FMM_SINGLE_NEAR ? pair_s : 1e-9) * (size + 1);
    return YOKE_OK;
}

/* Of this machine's cores.  pair_s: 1e-6: trees are as deep as they can be; 1e-9: leaves have several particles. */
static inline void keep_costs(const char *store, double pair_s)
{
    const fmm_machine_options options = {.gradient = 1, .trial = cost_of_trial, .user = &pair_s};
    fmm_machine machine;
    yoke_run *costs = NULL;
    assert_int_equal(yoke_run_create(context, &(yoke_run_options){.devices = "openmp", .no_meters = 1, .store = store}, &costs), YOKE_OK);
    assert_int_equal(fmm_machine_measure(context, costs, 0, &options, &machine), YOKE_OK);
    assert_int_equal(yoke_run_save(costs, NULL), YOKE_OK);
    yoke_run_destroy(costs);
}

#endif
