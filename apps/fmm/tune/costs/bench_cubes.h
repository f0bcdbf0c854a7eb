/*
 * bench_cubes.h - the particles that the benchmark has for each operation; private to its files.
 */
#ifndef FMM_TUNE_COSTS_BENCH_CUBES_H
#define FMM_TUNE_COSTS_BENCH_CUBES_H

#include "tune/costs/bench.h"

/*
 * A cube whose leaves have so many particles each, or its lowest layers of leaves; or each third leaf in each direction, which have no others around them.
 * Where leaves vary `each` is the mean.  mixed: particles that follow one another are in any leaves.  surface: one particle in each cell of a sphere (surface.h).
 * capacity > 0: a cube of an adaptive tree.  One cell with `many` particles and one with `few` follow one another in each direction; depth is that of their
 * children.  With a capacity below `many` those with many have children, and leaves are of two levels, else none has.
 */
typedef struct fmm_cube {
    int depth, each, layers, lone, varies, mixed, surface;
    int capacity, many, few;
} fmm_cube;

static inline int fmm_is_uneven(fmm_operation operation) { return operation == FMM_UNEVEN || operation == FMM_SINGLE_UNEVEN; }
static inline int fmm_is_near(fmm_operation operation) { return operation == FMM_NEAR || operation == FMM_SINGLE_NEAR; }

static inline int fmm_is_lone(fmm_operation operation) { return operation == FMM_LONE || operation == FMM_SINGLE_LONE; }

/* Of the operations that the method does on particles. */
fmm_cube fmm_cube_of(fmm_operation operation, int size);
int64_t fmm_cube_particles(fmm_cube of);
/* Places and charges of so many particles: in the unit cube, which is the box around them. */
void fmm_cube_fill(fmm_cube of, fmm_particles *particles);

#endif
