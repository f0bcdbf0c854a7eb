/*
 * surface.h - cells that a sphere cuts: a tree in which most cells are missing, and none where one expects it.
 */
#ifndef FMM_TUNE_COSTS_SURFACE_H
#define FMM_TUNE_COSTS_SURFACE_H

#include <stdint.h>

enum { FMM_MAX_SURFACE_LEVEL = 7 };

/*
 * Of the cells of a level of the unit cube those that a sphere about its middle cuts, and those in its first and last corner: they are the parents of those of the
 * next level.  level: 1 ... FMM_MAX_SURFACE_LEVEL.
 */
int fmm_surface_cuts(int level, const int64_t at[3]);

/* How many they are, and how many ordered pairs of them are far. */
typedef struct fmm_surface_counts {
    int64_t cells, pairs;
} fmm_surface_counts;
fmm_surface_counts fmm_surface_count(int level);

#endif
