/*
 * even.h - particles that fill the box around them evenly: what a uniform tree over them does is known without sorting them.
 */
#ifndef FMM_TUNE_COUNTS_EVEN_H
#define FMM_TUNE_COUNTS_EVEN_H

#include "tune/counts/analysis.h"

typedef struct fmm_even {
    int is_even;    /* nonzero: they do */
    int64_t count;  /* of particles */
    double side[3]; /* edges of the box around them, by the longest one */
} fmm_even;

/*
 * Counts some of them, 4096 at most, in cells of about 32.  They fill the box evenly if these numbers scatter as where each particle is at any place, or as where
 * the density differs by a fifth besides.  Errors: MEMORY.
 */
yoke_status fmm_even_find(const fmm_particles *particles, fmm_even *found);

/*
 * The tree with so many cells along the longest side (a power of two: that of a depth; else as fmm_box_around_cells has it) and those above it, as if all
 * leaves had the same number of particles: their counts, without the loops of fmm_counts, and cells, of depths 0 ... fmm_depth_of_cells(cells).  analysis
 * has no tree then and needs no fmm_analysis_destroy.
 */
void fmm_even_count(const fmm_even *even, int64_t cells, fmm_analysis *analysis);

#endif
