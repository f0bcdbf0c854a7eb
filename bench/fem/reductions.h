/*
 * reductions.h - methods to add the products of elements, in solves of a case on a mesh refined as by yoke fem (Lang's dissertation, sect.
 * 4.2.4): those of adding.h, one subdomain per core, and, under mpirun, ranks.
 */
#ifndef BENCH_FEM_REDUCTIONS_H
#define BENCH_FEM_REDUCTIONS_H

#include "case/case.h"
#include "common/machine/ceilings.h"
#include "fem/adding.h"
#include "space/problem/problem.h"

/*
 * The methods of adding.h, and one in which each core is a device with a subdomain (openmp:0-0,openmp:1-1,...) and the sums at their
 * interface are exchanged.
 */
enum { FEM_REDUCTIONS_SUBDOMAINS = FEM_BENCH_ADDINGS, FEM_REDUCTIONS_WAYS, FEM_REDUCTIONS_MAX_REPEATS = 100 };

/* Names: those of fem_bench_adding_name, then "subdomains". */
extern const char *const fem_reductions_name[FEM_REDUCTIONS_WAYS];

typedef struct fem_reductions_options {
    const fem_case *input;
    const fem_problem *problem; /* of the input */
    app_ranks *ranks;           /* NULL: one */
    int threads;                /* of this process */
    int64_t steps;              /* refinements of the mesh before the solves */
    unsigned ways;              /* bit i: method i; on several ranks, which share an interface, only chunks are possible */
    int repeats;                /* solves of each method, alternating */
    fem_operator operator_kind;
    double relative_residual;
} fem_reductions_options;

typedef struct fem_reductions_row {
    int way, solves;
    int64_t iterations;                                                                    /* of the last solve */
    double strain_energy_j;                                                                /* the same; NaN: not converged */
    double iteration_s[FEM_REDUCTIONS_MAX_REPEATS], product_s[FEM_REDUCTIONS_MAX_REPEATS]; /* means of each solve; NaN: not known */
    double median_iteration_s, median_product_s;
} fem_reductions_row;

typedef struct fem_reductions_result {
    int64_t elements, dofs;     /* over all ranks */
    double bytes_per_iteration; /* least traffic of an iteration, over all ranks */
    int num_rows;
    fem_reductions_row row[FEM_REDUCTIONS_WAYS];
} fem_reductions_result;

/*
 * Solves by conjugate gradients with node blocks as the preconditioner, beginning with zero.  Collective; sets the number of OpenMP
 * threads.  *result is also written on failure.
 * Errors: those of fem_solve; INPUT (fewer cores than subdomains); NUMERIC (the strain energy of a method differs by more than 1e-8).
 */
yoke_status fem_reductions_run(yoke_context *context, const fem_reductions_options *options, fem_reductions_result *result);

#endif
