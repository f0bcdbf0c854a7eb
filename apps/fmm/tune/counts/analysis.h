/*
 * analysis.h - counts the operations of the method at each depth from the particles' positions, without performing them.
 */
#ifndef FMM_TUNE_COUNTS_ANALYSIS_H
#define FMM_TUNE_COUNTS_ANALYSIS_H

#include "tune/counts/count.h"
#include "tune/counts/operations.h"

typedef struct fmm_analysis {
    yoke_context *context;
    int64_t particles;
    fmm_tree *tree;                           /* over the particles, in units of fmm_scale_positions; whoever takes it sets NULL */
    int deepest;                              /* fmm_method_deepest of the tree */
    double sort_s;                            /* time of sorting: a run on the tree need not sort again; 0: not sorted */
    int depth;                                /* depths 0 ... depth are counted */
    int64_t cells_below;                      /* as fmm_analysis_cells_below; 0: not counted yet */
    fmm_counts counts[FMM_MAX_DEPTH + 1];     /* of these depths */
    fmm_cell_counts cells[FMM_MAX_DEPTH + 1]; /* of these depths */
    int num_capacities;                       /* number of capacities that are counted; 0: none */
    int64_t capacity[FMM_MAX_CAPACITIES], direct;
    fmm_operations operations[FMM_MAX_CAPACITIES];
} fmm_analysis;

/* Counts the depths 0 ... depth.  Errors: those of fmm_tree_create, MEMORY. */
yoke_status fmm_analysis_create(const fmm_particles *particles, int depth, fmm_analysis **analysis);
/*
 * Counts the tree with `cells` cells along each side of the particles (fmm_box_scaled) and those above it: its depths are 0 ...
 * fmm_depth_of_cells.
 * Errors: those of fmm_tree_create, MEMORY.
 */
yoke_status fmm_analysis_create_cells(const fmm_particles *particles, int64_t cells, fmm_analysis **analysis);
/* Counts the depths 0 ... depth, unless they are counted, without sorting again.  Errors: those of fmm_tree_divide, MEMORY. */
yoke_status fmm_analysis_deepen(fmm_analysis *analysis, int depth);
/* The number of cells on level depth + 1, which takes reading all keys; 0: it is not known, because the tree was taken or has no such
 * level. */
int64_t fmm_analysis_cells_below(fmm_analysis *analysis);
/*
 * Counts adaptive trees with leaves of at most capacities[k] particles (fmm_count_operations).  After the tree was taken, the last counts
 * are kept, with analysis->direct of that time: times hardly depend on it.  The tree is divided differently afterwards.
 * Errors: ARGUMENT (there is neither a tree nor these counts), those of fmm_tree_divide and fmm_count_operations.
 */
yoke_status fmm_analysis_capacities(fmm_analysis *analysis, int64_t direct, int num_capacities, const int64_t *capacities);
/* Destroys the tree, and keeps the counts. */
void fmm_analysis_drop_tree(fmm_analysis *analysis);
/* NULL is allowed. */
void fmm_analysis_destroy(fmm_analysis *analysis);

/* A depth at which evenly spread particles are so few in a leaf, 2 to 16, that no deeper tree is better. */
int fmm_deep_enough(int64_t particles);

#endif
