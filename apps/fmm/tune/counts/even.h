/*
 * even.h - particles that fill the box around them evenly: the operations of a uniform tree over them are estimated without sorting.
 */
#ifndef FMM_TUNE_COUNTS_EVEN_H
#define FMM_TUNE_COUNTS_EVEN_H

#include "tune/counts/analysis.h"

typedef struct fmm_even {
    int is_even;    /* nonzero: they fill it evenly */
    int64_t count;  /* number of particles */
    double side[3]; /* edges of the box around them, relative to the longest one */
} fmm_even;

/*
 * Counts some of the particles, at most 4096, in cells of about 32.  They fill the box evenly if these numbers scatter as for independent
 * random positions, or as for a density that differs by a fifth in addition.  Errors: MEMORY.
 */
yoke_status fmm_even_find(const fmm_particles *particles, fmm_even *found);

/*
 * Estimates the counts of the tree with `cells` cells along the longest side (a power of two: the tree of a depth; else as for
 * fmm_box_scaled) and of those above it, as if all leaves had the same number of particles.  It sets counts, without the loops of
 * fmm_counts, and cells, for the depths 0 ... fmm_depth_of_cells(cells).  `analysis` then has no tree and needs no fmm_analysis_destroy.
 */
void fmm_even_count(const fmm_even *even, int64_t cells, fmm_analysis *analysis);

#endif
