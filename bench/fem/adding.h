/*
 * adding.h - ways in which the threads of a device add the products of their elements into one vector, in the solver itself (Lang's
 * dissertation, sect. 4.2).  They stand in a table of a subdomain of the solver (operator/subdomain/subdomain.h): all is that of yoke fem but the product.
 *
 * Each way takes the chunks, batches and kernels of the subdomain of yoke fem (operator/subdomain/cpu.h).  Where sums may meet, the kernel adds a
 * batch into a vector of its own in the first cache, from which the values go to y.
 */
#ifndef BENCH_FEM_ADDING_H
#define BENCH_FEM_ADDING_H

#include "operator/decomposition/decomposition.h"

typedef enum fem_bench_adding {
    FEM_BENCH_ADD_CHUNKS,         /* yoke fem: a chunk a thread; copies of shared nodes, which their owner adds (subdomain/cpu.h) */
    FEM_BENCH_ADD_PRIVATE,        /* a whole vector a thread, summed at the end (Alg. 4.1) */
    FEM_BENCH_ADD_SWAP,           /* compare-and-swap for each number (Alg. 4.5) */
    FEM_BENCH_ADD_LOCKS,          /* 256 locks, one for each node by its number (Alg. 4.6) */
    FEM_BENCH_ADD_COLOURS,        /* batches without common nodes at the same time */
    FEM_BENCH_ADD_OWNERS,         /* each thread computes all batches that touch its nodes, and adds to these only */
    FEM_BENCH_ADD_UNSYNCHRONISED, /* loads, adds, stores: wrong where threads meet */
    FEM_BENCH_ADDINGS
} fem_bench_adding;

/* "chunks", "private", "cas", "locks", "colouring", "owner", "unsynchronised". */
extern const char *const fem_bench_adding_name[FEM_BENCH_ADDINGS];

/*
 * The products of a subdomain of fem_subdomain_cpu_create are made so from here on, until it is destroyed.
 * Errors: ARGUMENT (single precision, or nodes that other subdomains have too), MEMORY; the subdomain is as it was.
 */
yoke_status fem_bench_adding_set(fem_subdomain *subdomain, fem_bench_adding way);

typedef struct fem_bench_adding_options {
    fem_bench_adding way; /* other than CHUNKS: for one device that runs host functions, on one rank */
    fem_devices *devices; /* borrowed; each gets the same share of the elements */
    fem_operator operator_kind;
    double relative_residual; /* as in fem_cg_options */
    int max_iterations;
} fem_bench_adding_options;

typedef struct fem_bench_adding_solution {
    int iterations;
    double strain_energy_j; /* u . A u / 2; NaN: it did not converge */
    double iteration_s;     /* mean over all but the first; NaN: there were fewer than two */
    double product_s;       /* mean busy time of the slowest device; NaN: not known */
} fem_bench_adding_solution;

/*
 * A solve by fem_cg from zero, with node blocks as the preconditioner, as fem_solve has it.  Collective.  *solution is written also after NUMERIC.
 * Errors: those of fem_decomposition_create, fem_bench_adding_set, fem_space_load and fem_cg.
 */
yoke_status fem_bench_adding_solve(const fem_space *space, const fem_boundary *boundary, const fem_constraints *constraints,
                                   const fem_bench_adding_options *options, fem_bench_adding_solution *solution);

#endif
