/*
 * adding.h - methods by which the threads of a device add the products of their elements to one vector, within the solver itself (Lang's
 * dissertation, sect. 4.2).  They are functions in the table of a subdomain of the solver (operator/subdomain/subdomain.h); everything
 * except the product is that of yoke fem.
 *
 * Each method uses the chunks, batches and kernels of the subdomain of yoke fem (operator/subdomain/cpu.h).  Where threads may add to the
 * same sums, the kernel adds a batch to a vector of its own in the first-level cache, from which the values are added to y.
 */
#ifndef BENCH_FEM_ADDING_H
#define BENCH_FEM_ADDING_H

#include "operator/decomposition/decomposition.h"

typedef enum fem_bench_adding {
    FEM_BENCH_ADD_CHUNKS,         /* yoke fem: a chunk per thread; its owner adds the copies of shared nodes (subdomain/cpu.h) */
    FEM_BENCH_ADD_PRIVATE,        /* a whole vector per thread, summed at the end (Alg. 4.1) */
    FEM_BENCH_ADD_SWAP,           /* compare-and-swap for each number (Alg. 4.5) */
    FEM_BENCH_ADD_LOCKS,          /* 256 locks, the lock of a node being given by its number (Alg. 4.6) */
    FEM_BENCH_ADD_COLOURS,        /* batches without common nodes at the same time */
    FEM_BENCH_ADD_OWNERS,         /* each thread computes all batches that touch its nodes, and adds only to these nodes */
    FEM_BENCH_ADD_UNSYNCHRONISED, /* load, add, store: wrong where threads add to the same sum */
    FEM_BENCH_ADDINGS
} fem_bench_adding;

/* "chunks", "private", "cas", "locks", "colouring", "owner", "unsynchronised". */
extern const char *const fem_bench_adding_name[FEM_BENCH_ADDINGS];

/*
 * From this call until its destruction, a subdomain created by fem_subdomain_cpu_create computes its products by this method.
 * Errors: ARGUMENT (single precision, or nodes that other subdomains have too), MEMORY; the subdomain then stays unchanged.
 */
yoke_status fem_bench_adding_set(fem_subdomain *subdomain, fem_bench_adding way);

typedef struct fem_bench_adding_options {
    fem_bench_adding way; /* methods other than CHUNKS: for one device that runs host functions, on one rank */
    fem_devices *devices; /* borrowed; each gets the same share of the elements */
    fem_operator operator_kind;
    double relative_residual; /* as in fem_cg_options */
    int max_iterations;
} fem_bench_adding_options;

typedef struct fem_bench_adding_solution {
    int iterations;
    double strain_energy_j; /* u . A u / 2; NaN: not converged */
    double iteration_s;     /* mean over all except the first; NaN: fewer than two */
    double product_s;       /* mean busy time of the slowest device; NaN: not known */
} fem_bench_adding_solution;

/*
 * Solves by fem_cg, beginning with zero, with node blocks as the preconditioner, as in fem_solve.  Collective.  *solution is also written
 * after NUMERIC.
 * Errors: those of fem_decomposition_create, fem_bench_adding_set, fem_space_load and fem_cg.
 */
yoke_status fem_bench_adding_solve(const fem_space *space, const fem_boundary *boundary, const fem_constraints *constraints,
                                   const fem_bench_adding_options *options, fem_bench_adding_solution *solution);

#endif
