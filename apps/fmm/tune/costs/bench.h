/*
 * bench.h - measures the times of the method's operations on this machine, with all cores at work.
 *
 * The operations are executed as in a real run: by the method itself on cubes full of particles or on surfaces, others on as much memory as
 * trees have.
 */
#ifndef FMM_TUNE_COSTS_BENCH_H
#define FMM_TUNE_COSTS_BENCH_H

#include "method/method.h"

/* Operations.  The size of an operation is the number of particles of a leaf or the order of expansions. */
typedef enum fmm_operation {
    FMM_SORT,          /* sorting the particles, one size; a unit is a particle */
    FMM_TREE,          /* tree and lists of sorted particles, by particles of a leaf; a unit is a leaf */
    FMM_ADAPTIVE,      /* the same for adaptive trees with leaves of two levels, by capacity, FMM_LOW_CAPACITY or FMM_HIGH_CAPACITY */
    FMM_UNEVEN,        /* near field of leaves of two levels, by capacity, FMM_UNEVEN_CAPACITY; a unit is a leaf */
    FMM_NEAR,          /* near field, by particles; a unit is a source in or around a leaf, acting on all its particles */
    FMM_LONE,          /* the same for leaves without others around them; a unit is a leaf */
    FMM_SINGLE_UNEVEN, /* these three in single precision */
    FMM_SINGLE_NEAR,
    FMM_SINGLE_LONE,
    FMM_TABLES,   /* tables of the operators, by order; one unit */
    FMM_WAVES,    /* tables of plane waves, by order, which is also the number of their set; one unit */
    FMM_PAIR,     /* lists of far pairs and M2L, by order, on a full cube; a unit is a target and a source */
    FMM_SPARSE,   /* the same on the cells of a surface, most of whose neighbours are missing */
    FMM_FAMILY,   /* M2L by plane waves, sizes as FMM_WAVES; a unit is a parent, to and from all of its children */
    FMM_CELL,     /* M2M and L2L, by order; a unit is a child */
    FMM_VISIT_16, /* M2P and P2L, by order; a unit is a cell and a leaf, with a mean of 16 particles */
    FMM_VISIT_64, /* the same with a mean of 64 particles */
    FMM_LEAF_8,   /* P2M and L2P, by order; a unit is a leaf, with a mean of 8 particles */
    FMM_LEAF_32,  /* the same with a mean of 32 particles */
    FMM_OPERATIONS
} fmm_operation;

enum { FMM_MAX_BENCH_PARTICLES = 128, FMM_SORT_PARTICLES = 32, FMM_LOW_CAPACITY = 32, FMM_HIGH_CAPACITY = 256, FMM_UNEVEN_CAPACITY = 96 };

typedef struct fmm_bench fmm_bench;

/*
 * gradient: nonzero: with gradients of the potential.  clock: replaces seconds; borrowed until the benchmark is destroyed; NULL: seconds.
 * Errors: MEMORY.
 */
yoke_status fmm_bench_create(yoke_context *context, int gradient, const fmm_clock *clock, fmm_bench **bench);
/* NULL is allowed. */
void fmm_bench_destroy(fmm_bench *bench);

/* Mean number of pairs in a batch of FMM_PAIR or FMM_SPARSE (fmm_method_batches). */
double fmm_bench_batch(fmm_operation operation, int order);

/* Mean number of sources in and around a leaf of FMM_NEAR with `size` particles. */
double fmm_bench_sources(int size);

/* Mean number of particles in a leaf of FMM_ADAPTIVE. */
double fmm_bench_leaf_particles(int capacity);

/* Counts of the near field of FMM_UNEVEN, as in fmm_operations; sources: of leaves of the two sizes. */
typedef struct fmm_bench_pairs {
    double particles, leaves, near, uneven, sources[2];
    int size[2];
} fmm_bench_pairs;
fmm_bench_pairs fmm_bench_uneven(void);

/* The method, of order 0, on a cube full of particles; borrowed until the benchmark is used for something else. */
typedef struct fmm_bench_cube {
    fmm_method *method;
    const fmm_particles *particles;
    fmm_field *field;
} fmm_bench_cube;
/* Creates such a cube with `each` particles in each leaf of depth `depth`.  Errors: MEMORY. */
yoke_status fmm_bench_make_cube(fmm_bench *bench, int depth, int each, fmm_bench_cube *cube);

/* The number of units in one call. */
int64_t fmm_bench_units(fmm_operation operation, int size);

/*
 * Measures the seconds of the shortest of `calls` calls, or of fewer if they take long; longer calls are disturbed by other activity of the
 * machine.  size: 1 ... FMM_MAX_BENCH_PARTICLES particles, a capacity, children, or an order (for waves one that they have).
 * Errors: ARGUMENT (the size), MEMORY.
 */
yoke_status fmm_bench_run(fmm_bench *bench, fmm_operation operation, int size, int64_t calls, double *seconds);

#endif
