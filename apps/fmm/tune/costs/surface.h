/*
 * surface.h - cells that a sphere cuts: a tree in which most cells are missing, in an irregular pattern.
 */
#ifndef FMM_TUNE_COSTS_SURFACE_H
#define FMM_TUNE_COSTS_SURFACE_H

#include <stdint.h>

enum { FMM_MAX_SURFACE_LEVEL = 7 };

/*
 * Whether a cell of a level of the unit cube is cut by a sphere about the cube's centre, or is in its first or last corner.  Such cells are
 * the parents of those of the next level.  level: 1 ... FMM_MAX_SURFACE_LEVEL.
 */
int fmm_surface_cuts(int level, const int64_t at[3]);

/* The number of these cells, of their ordered far pairs, and of the batches of these pairs in M2L by rotations (fmm_method_batches). */
typedef struct fmm_surface_counts {
    int64_t cells, pairs, batches;
} fmm_surface_counts;
fmm_surface_counts fmm_surface_count(int level);

#endif
