/*
 * counts.h - what tests of counted and estimated operations share.
 */
#ifndef FMM_TESTS_COUNTS_H
#define FMM_TESTS_COUNTS_H

#include "tune/counts/count.h"

/* Ordered near pairs of a tree, including those of a particle with itself, from its counts by the sizes of leaves. */
static inline double pairs_in(const fmm_cell_counts *cells)
{
    double pairs = (double)cells->large;
    for (int n = 1; n <= FMM_SMALL_LEAF; n++) pairs += n * (double)cells->sources[n];
    return pairs;
}

#endif
