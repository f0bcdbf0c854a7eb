/*
 * levels.h - the levels of a tree from the sorted keys of its particles.
 */
#ifndef FMM_TREE_LEVELS_H
#define FMM_TREE_LEVELS_H

#include "tree/tree.h"

/*
 * Fills depth, coarsest, level, leaves and what they were made for from the rest: cells with more than `capacity` particles are split, down to level `depth`; capacity 0: all
 * cells, and the tree has that depth.  On an error the tree stays as it is.  Errors: MEMORY.
 */
yoke_status fmm_levels_create(fmm_tree *tree, int depth, int64_t capacity);
/* Gives levels and leaves back.  Zeroed ones are allowed. */
void fmm_levels_destroy(fmm_tree *tree);

/* Leaves a level without children, or nothing of it. */
void fmm_level_release_children(yoke_context *context, fmm_level *level);
void fmm_level_release(yoke_context *context, fmm_level *level);

/* Numbers the leaves anew, which have become fewer. */
void fmm_leaves_number(fmm_tree *tree);

#endif
