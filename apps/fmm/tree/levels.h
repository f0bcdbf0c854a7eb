/*
 * levels.h - builds the levels of a tree from the sorted keys of its particles.
 */
#ifndef FMM_TREE_LEVELS_H
#define FMM_TREE_LEVELS_H

#include "tree/tree.h"

/*
 * Sets depth, coarsest, level, leaves, asked_depth and asked_capacity from the other members.  Cells with more than `capacity` particles
 * are split, down to level `depth`.  capacity 0: all cells are split, and the tree has that depth.  On an error the tree is unchanged.
 * Errors: MEMORY.
 */
yoke_status fmm_levels_create(fmm_tree *tree, int depth, int64_t capacity);
/* Releases levels and leaves.  Zeroed ones are allowed. */
void fmm_levels_destroy(fmm_tree *tree);

#endif
