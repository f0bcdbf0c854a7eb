/*
 * count.h - how often each operation of the method is done, without doing it.
 *
 * What is counted, and the names, follow the loops of Algorithm 3.1 in J. Lang, Energie- und Ausfuehrungszeitmodelle (dissertation, Chemnitz 2014),
 * sect. 3.2: parents and their neighbours in z, y and x, the neighbours' children, near and far pairs.
 */
#ifndef FMM_TUNE_COUNT_H
#define FMM_TUNE_COUNT_H

#include "tree/tree.h"

/* All but near are sums over the levels 2 ... depth. */
typedef struct fmm_counts {
    int64_t parents;    /* cells with particles on the levels 1 ... depth - 1                                                       */
    int64_t z, y, x;    /* 3 for each parent; for each of its neighbours' layers in the box; for each of their rows in the box        */
    int64_t neighbours; /* unordered pairs of near parents                                                                          */
    int64_t near;       /* unordered pairs of particles in the same leaf or in leaves that touch                                      */
    int64_t far;        /* unordered pairs of well separated cells whose parents touch                                              */
} fmm_counts;

/* counts [depth + 1]: those of trees of depth 0 ... depth over the same particles.  The same at each number of threads.  Errors: MEMORY. */
yoke_status fmm_count(const fmm_tree *tree, fmm_counts *counts);

#endif
