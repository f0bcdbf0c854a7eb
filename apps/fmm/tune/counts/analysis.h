/*
 * analysis.h - what the method would do at each depth, found from the particles' places without doing it.
 */
#ifndef FMM_TUNE_COUNTS_ANALYSIS_H
#define FMM_TUNE_COUNTS_ANALYSIS_H

#include "tune/counts/count.h"
#include "tune/counts/operations.h"

typedef struct fmm_analysis {
    yoke_context *context;
    int64_t particles;
    fmm_tree *tree;                           /* over them, in units of fmm_scale_positions; whoever takes it sets NULL */
    int deepest;                              /* fmm_method_deepest of it */
    double sort_s;                            /* that the tree took: a run on it need not sort again */
    int depth;                                /* counted are 0 ... depth */
    int64_t cells_below;                      /* on level depth + 1; 0: the tree's keys do not tell */
    fmm_counts counts[FMM_MAX_DEPTH + 1];     /* of these depths */
    fmm_cell_counts cells[FMM_MAX_DEPTH + 1]; /* the same */
    int num_capacities;                       /* that are counted; 0: none */
    int64_t capacity[FMM_MAX_CAPACITIES], direct;
    fmm_operations operations[FMM_MAX_CAPACITIES];
} fmm_analysis;

/* Counts the depths 0 ... depth.  Errors: those of fmm_tree_create, MEMORY. */
yoke_status fmm_analysis_create(const fmm_particles *particles, int depth, fmm_analysis **analysis);
/*
 * Of the tree with so many cells along each side of the particles (fmm_box_around_cells) and those above it: its depths are 0 ... fmm_depth_of_cells.
 * Errors: those of fmm_tree_create, MEMORY.
 */
yoke_status fmm_analysis_create_cells(const fmm_particles *particles, int64_t cells, fmm_analysis **analysis);
/* Counts the depths 0 ... depth, if they are not counted yet, without sorting anew.  Errors: those of fmm_tree_divide, MEMORY. */
yoke_status fmm_analysis_deepen(fmm_analysis *analysis, int depth);
/*
 * Counts adaptive trees with leaves of at most so many particles (fmm_count_operations).  After the tree was taken what was counted last is kept: `direct`
 * is where expansions and direct sums take the same time, so for another one near it the time of what was counted is nearly the same.  The tree is
 * another one afterwards.  Errors: ARGUMENT (there is neither a tree nor these counts), those of fmm_tree_divide and fmm_count_operations.
 */
yoke_status fmm_analysis_capacities(fmm_analysis *analysis, int64_t direct, int num_capacities, const int64_t *capacities);
/* Frees the tree, and keeps the counts. */
void fmm_analysis_drop_tree(fmm_analysis *analysis);
/* NULL allowed. */
void fmm_analysis_destroy(fmm_analysis *analysis);

/* A depth at which evenly spread particles are so few in a leaf, 2 to 16, that none below is better. */
int fmm_deep_enough(int64_t particles);

#endif
