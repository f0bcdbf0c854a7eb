/*
 * overhead.h - `yoke bench overhead`: the cost of the measurements that the balancer needs (Lang and Ruenger 2013, fig. 6).
 *
 * The case is solved on its adaptively refined meshes with fixed shares, many times on each mesh, alternately with and without measuring.
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
    double gpu_share;    /* share of the elements for devices other than the host's cores; NaN: equal shares of all devices */
    int steps;           /* refinements after the first solve, below FEM_OVERHEAD_MAX_STEPS */
    int pairs;           /* of solves at each step, 1 .. FEM_OVERHEAD_MAX_PAIRS */
} fem_overhead_options;

typedef struct fem_overhead_step {
    int step;
    int64_t elements, dofs, iterations;
    int pairs;
    double *measuring_s, *plain_s;   /* [pairs] seconds of the conjugate gradients; owned by the result */
    fem_bench_difference difference; /* measuring - plain */
} fem_overhead_step;

typedef struct fem_overhead_result {
    yoke_context *context;
    int num_steps;
    fem_overhead_step steps[FEM_OVERHEAD_MAX_STEPS];
    double *seconds; /* memory into which the steps point */
} fem_overhead_result;

/* Called for each step when it is complete. */
typedef void fem_overhead_report(const fem_overhead_step *step, void *user);

/*
 * *result is also written on failure, with the steps so far; release it with fem_overhead_result_destroy.  Ends early if the case's
 * max_elements or the error estimate ends the refinement.
 * Errors: INPUT (share without two kinds of devices), those of fem_devices_open and fem_solve; DEVICE (a device failed, so shares would not
 * be fixed); INTERRUPTED.
 */
yoke_status fem_overhead_run(yoke_context *context, const fem_overhead_options *options, fem_overhead_report *report, void *user,
                             fem_overhead_result *result);
void fem_overhead_result_destroy(fem_overhead_result *result);

/*
 * Writes overhead.dat, overhead.gp and, if gnuplot is installed (*drawn), overhead.svg into an existing directory.  Errors: INPUT, SYSTEM.
 */
yoke_status fem_overhead_write(const fem_overhead_result *result, const char *directory, bool *drawn);

#endif
