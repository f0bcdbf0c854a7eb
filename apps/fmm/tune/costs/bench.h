/*
 * bench.h - times of the method's operations on this machine, all cores at work.
 *
 * The operations run as they do in a real run: by the method itself on cubes full of particles or on surfaces, others on as much memory as trees have.
 */
#ifndef FMM_TUNE_COSTS_BENCH_H
#define FMM_TUNE_COSTS_BENCH_H

#include "method/method.h"

/* The size of an operation is the particles of a leaf or the order of expansions. */
typedef enum fmm_operation {
    FMM_TREE,          /* tree and lists, by particles; a unit is a leaf                                     */
    FMM_ADAPTIVE,      /* the same of adaptive trees, by capacity, FMM_LOW_CAPACITY (leaves of two levels) or FMM_HIGH_CAPACITY */
    FMM_UNEVEN,        /* near field of leaves of two levels, by capacity, FMM_UNEVEN_CAPACITY; a unit is a leaf */
    FMM_NEAR,          /* near field, by particles; a unit is a source in or around a leaf, on all its particles */
    FMM_LONE,          /* the same of leaves without others around them; a unit is a leaf                        */
    FMM_SINGLE_UNEVEN, /* these three in single precision                                     */
    FMM_SINGLE_NEAR,
    FMM_SINGLE_LONE,
    FMM_TABLES,  /* tables of the operators, by order; one unit                                          */
    FMM_WAVES,   /* tables of plane waves, by order, which is the number of their set too; one unit         */
    FMM_PAIR,    /* lists of far pairs and M2L, by order, of a full cube; a unit is a target and a source  */
    FMM_SPARSE,  /* the same of the cells of a surface, most of whose neighbours are missing                */
    FMM_FAMILY,  /* M2L by plane waves, as FMM_WAVES; a unit is a parent, to and from all of its children */
    FMM_CELL,    /* M2M and L2L, by order; a unit is a child                                             */
    FMM_VISIT,   /* M2P and P2L, by order; a unit is a particle                                           */
    FMM_LEAF_8,  /* P2M and L2P, by order; a unit is a leaf, which have 8 particles in the mean            */
    FMM_LEAF_32, /* the same with 32                                                                     */
    FMM_OPERATIONS
} fmm_operation;

enum { FMM_MAX_BENCH_PARTICLES = 128, FMM_LOW_CAPACITY = 32, FMM_HIGH_CAPACITY = 64, FMM_UNEVEN_CAPACITY = 96 };

typedef struct fmm_bench fmm_bench;

/*
 * gradient: nonzero: with gradients of the potential.  clock: what is told instead of seconds, borrowed until it is destroyed; NULL: seconds.
 * Errors: MEMORY.
 */
yoke_status fmm_bench_create(yoke_context *context, int gradient, const fmm_clock *clock, fmm_bench **bench);
/* NULL allowed. */
void fmm_bench_destroy(fmm_bench *bench);

/* Pairs of a batch of FMM_PAIR or FMM_SPARSE, mean (fmm_method_batches). */
double fmm_bench_batch(fmm_operation operation, int order);

/* Sources in and around a leaf of FMM_NEAR with so many particles, mean. */
double fmm_bench_sources(int size);

/* Particles of a leaf of FMM_ADAPTIVE, mean. */
double fmm_bench_leaf_particles(int capacity);

/* The near field of FMM_UNEVEN, as fmm_operations have it. */
typedef struct fmm_bench_pairs {
    double particles, leaves, near, uneven, sources;
} fmm_bench_pairs;
fmm_bench_pairs fmm_bench_uneven(void);

/* The method, of order 0, on a cube full of particles: borrowed until the bench is asked for something else. */
typedef struct fmm_bench_cube {
    fmm_method *method;
    const fmm_particles *particles;
    fmm_field *field;
} fmm_bench_cube;
/* With `each` particles in each leaf of that depth.  Errors: MEMORY. */
yoke_status fmm_bench_make_cube(fmm_bench *bench, int depth, int each, fmm_bench_cube *cube);

/* The tree of the cube that was asked for last; NULL: of none. */
const fmm_tree *fmm_bench_tree(const fmm_bench *bench);

/* Units of one call. */
int64_t fmm_bench_units(fmm_operation operation, int size);

/*
 * The seconds of the shortest of `calls` calls: others are disturbed by what else the machine does.  size: 1 ... FMM_MAX_BENCH_PARTICLES particles, a capacity, children, or an order (of waves one that they have).
 * Errors: ARGUMENT (the size), MEMORY.
 */
yoke_status fmm_bench_run(fmm_bench *bench, fmm_operation operation, int size, int64_t calls, double *seconds);

#endif
