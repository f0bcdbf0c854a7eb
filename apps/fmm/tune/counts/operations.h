/*
 * operations.h - counts how often the method performs each operation in adaptive trees, by the capacity of their leaves, without performing
 * it.
 *
 * All capacities are counted in one pass over the finest tree: two touching cells of a level are in the tree of each capacity below the
 * numbers of particles of their parents, and there each is a leaf if it has no more particles than the capacity.
 */
#ifndef FMM_TUNE_COUNTS_OPERATIONS_H
#define FMM_TUNE_COUNTS_OPERATIONS_H

#include "tree/tree.h"
#include "tune/counts/count.h"

enum { FMM_MAX_CAPACITIES = 16 };

/* By level.  Expansions are needed from level 2 on, and far, w and w_particles are 0 above it. */
typedef struct fmm_level_operations {
    int64_t cells;          /* each has one M2M to its parent and one L2L from it */
    int64_t leaves;         /* P2M and L2P ... */
    int64_t particles;      /* ... of this number of particles */
    int64_t far;            /* unordered pairs of V: two M2L each */
    int directions;         /* directions of these pairs; opposite ones count once; with larger capacities some may have no pairs */
    int64_t w, w_particles; /* pairs of a cell of this level and a leaf of W; and of such a cell and a particle: one M2P, one P2L each */
} fmm_level_operations;

typedef struct fmm_operations {
    int depth;      /* the deepest level with cells */
    int64_t leaves; /* leaves of all levels */
    int64_t near;   /* unordered pairs of particles that are summed directly, including those of direct cells of W */
    int64_t uneven; /* those of them in leaves of different levels */
    /* Sums over leaves, with direct cells as leaves: [n] of those with n particles, the particles in and near the leaf; and of the larger
     * ones, these times those of the leaf (ordered pairs). */
    int64_t sources[FMM_SMALL_LEAF + 1], large;
    fmm_level_operations level[FMM_MAX_DEPTH + 1];
} fmm_operations;

/*
 * operations [num_capacities]: those of the adaptive trees with leaves of at most capacities[k] particles, down to the tree's depth, in
 * which cells of W with at most `direct` particles are summed directly.  `tree` is an adaptive tree of the first capacity or a smaller one,
 * or a uniform tree.  Capacities ascend.  Counts are the same for any number of threads.
 * Errors: ARGUMENT (num_capacities outside of 1 ... FMM_MAX_CAPACITIES, capacities below 1 or not ascending, a tree with larger leaves),
 * MEMORY.
 */
yoke_status fmm_count_operations(const fmm_tree *tree, int64_t direct, int num_capacities, const int64_t *capacities,
                                 fmm_operations *operations);

#endif
