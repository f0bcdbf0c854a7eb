/*
 * bench_cubes.h - the particles with which the benchmark measures each operation; private to its files.
 */
#ifndef FMM_TUNE_COSTS_BENCH_CUBES_H
#define FMM_TUNE_COSTS_BENCH_CUBES_H

#include "tune/costs/bench.h"

/*
 * A cube whose leaves have `each` particles.  layers: only its lowest layers of leaves.  lone: only each third leaf in each direction, so
 * that leaves have no others around them.  varies: the number of particles varies between leaves, and `each` is the mean.  mixed:
 * successive particles are in arbitrary leaves.  surface: one particle in each cell of a sphere (surface.h).  capacity > 0: a cube of an
 * adaptive tree, in which cells with `many` and with `few` particles alternate in each direction; depth is that of their children.  With a
 * capacity below `many` the cells with many particles have children, and leaves are on two levels; otherwise no cell has children.
 */
typedef struct fmm_cube {
    int depth, each, layers, lone, varies, mixed, surface;
    int capacity, many, few;
} fmm_cube;

static inline int fmm_is_uneven(fmm_operation operation) { return operation == FMM_UNEVEN || operation == FMM_SINGLE_UNEVEN; }
static inline int fmm_is_near(fmm_operation operation) { return operation == FMM_NEAR || operation == FMM_SINGLE_NEAR; }

static inline int fmm_is_lone(fmm_operation operation) { return operation == FMM_LONE || operation == FMM_SINGLE_LONE; }

/* The cube for an operation that the method performs on particles. */
fmm_cube fmm_cube_of(fmm_operation operation, int size);
int64_t fmm_cube_particles(fmm_cube of);
/* Sets positions and charges of fmm_cube_particles particles in the unit cube, which is the box around them. */
void fmm_cube_fill(fmm_cube of, fmm_particles *particles);

#endif
