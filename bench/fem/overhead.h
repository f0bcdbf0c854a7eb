/*
 * overhead.h - `yoke bench overhead`: what measuring costs that the balancer lives from (Lang and Ruenger 2013, fig. 6).
 *
 * The case is solved on its adaptively refined meshes with fixed shares, on each of them many times, with and without measuring in turn.
 */
#ifndef BENCH_FEM_OVERHEAD_H
#define BENCH_FEM_OVERHEAD_H

#include <stdbool.h>

#include "case/case.h"
#include "fem/measure.h"
#include "solver/solve.h"

enum { FEM_OVERHEAD_MAX_PAIRS = 1001, FEM_OVERHEAD_MAX_STEPS = 64 };

typedef struct fem_overhead_options {
    const fem_case *input;
    const fem_problem *problem;
    const char *devices; /* as in fem_devices_open */
    double gpu_share;    /* of the elements, for devices that are not the host's cores; NaN: equal shares of all devices */
    int steps;           /* refinements after the first solve, below FEM_OVERHEAD_MAX_STEPS */
    int pairs;           /* of solves at each step, 1 .. FEM_OVERHEAD_MAX_PAIRS */
} fem_overhead_options;

typedef struct fem_overhead_step {
    int step;
    int64_t elements, dofs, iterations;
    int pairs;
    double *measuring_s, *plain_s;   /* [pairs] of the conjugate gradients: of the result */
    fem_bench_difference difference; /* measuring - plain */
} fem_overhead_step;

typedef struct fem_overhead_result {
    yoke_context *context;
    int num_steps;
    fem_overhead_step steps[FEM_OVERHEAD_MAX_STEPS];
    double *seconds; /* what the steps point into */
} fem_overhead_result;

/* Called for each step when it is done. */
typedef void fem_overhead_report(const fem_overhead_step *step, void *user);

/*
 * *result is written also on failure, with the steps before, and given back with fem_overhead_result_destroy.  Ends early where the case's
 * max_elements, or the error estimate, ends the refinement.
 * Errors: INPUT (share without two kinds of devices), those of fem_devices_open and fem_solve; DEVICE (a device failed: shares would not be
 * fixed); INTERRUPTED.
 */
yoke_status fem_overhead_run(yoke_context *context, const fem_overhead_options *options, fem_overhead_report *report, void *user,
                             fem_overhead_result *result);
void fem_overhead_result_destroy(fem_overhead_result *result);

/* overhead.dat, overhead.gp and, where gnuplot is installed (*drawn), overhead.svg into a directory that exists.  Errors: INPUT, SYSTEM. */
yoke_status fem_overhead_write(const fem_overhead_result *result, const char *directory, bool *drawn);

#endif
