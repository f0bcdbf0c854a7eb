/*
 * count.h - counts how often the method performs each operation, without performing it.
 *
 * The counts and their names follow the loops of Algorithm 3.1 in J. Lang, Energie- und Ausfuehrungszeitmodelle (dissertation, Chemnitz
 * 2014), sect. 3.2: parents and their neighbours in z, y and x, the neighbours' children, near and far pairs.
 */
#ifndef FMM_TUNE_COUNTS_COUNT_H
#define FMM_TUNE_COUNTS_COUNT_H

#include "tree/tree.h"

/* All counts except near are sums over the levels 2 ... depth. */
typedef struct fmm_counts {
    int64_t parents;    /* cells with particles on the levels 1 ... depth - 1 */
    int64_t z, y, x;    /* 3 for each parent; 3 for each layer of its neighbours in the box; 3 for each of their rows in the box */
    int64_t neighbours; /* unordered pairs of near parents */
    int64_t near;       /* unordered pairs of particles in the same leaf or in leaves that touch */
    int64_t far;        /* unordered pairs of well-separated cells whose parents touch */
} fmm_counts;

/* Sources in and around leaves with 1 ... FMM_SMALL_LEAF particles are counted for each size, because the time of a pair depends on it. */
enum { FMM_SMALL_LEAF = 64 };

/* Further counts from the cells of a tree of one depth. */
typedef struct fmm_cell_counts {
    int64_t cells;                       /* with particles, on the levels 3 ... depth: each has one M2M and one L2L */
    int64_t leaves;                      /* with particles */
    int64_t beside;                      /* particles of leaves that touch others */
    int64_t sources[FMM_SMALL_LEAF + 1]; /* [n] sum over leaves of n particles of the particles in and around the leaf */
    int64_t large; /* sum over larger leaves of their particles times the particles in and around the leaf: ordered pairs */
} fmm_cell_counts;

/* Sets sources and large, as if all leaves had the same number of particles.  size: that number, 1 for less; pairs: ordered, including those
 * of a particle with itself. */
void fmm_cells_of_size(double size, double pairs, fmm_cell_counts *cells);
/*
 * counts and cells [depth + 1]: those of trees of depth 0 ... depth over the same particles; cells may be NULL.  They are the same for any
 * number of threads.  Errors: MEMORY.
 */
yoke_status fmm_count_cells(const fmm_tree *tree, fmm_counts *counts, fmm_cell_counts *cells);

#endif
