/*
 * lists.h - which leaves are summed directly, and which cells of a level interact by their expansions.
 *
 * Two cells of a level that touch are near each other; others are well separated.  Near field: pairs of particles in the same or in near leaves.  Far
 * field: on each level, pairs of well separated cells whose parents are near.  Together they have every pair of particles once.
 */
#ifndef FMM_TREE_LISTS_H
#define FMM_TREE_LISTS_H

#include "tree/walk.h"

typedef enum fmm_pairs {
    FMM_PAIRS_ONCE, /* of two cells one is the target and the other the source */
    FMM_PAIRS_BOTH  /* each is the target once */
} fmm_pairs;

/* Leaf t has the near leaves cell[start[t]] ... cell[start[t + 1] - 1], itself not among them, in ascending order; for ONCE those after t. */
typedef struct fmm_near_list {
    int64_t *start; /* [leaves + 1] */
    int32_t *cell;
} fmm_near_list;

/* Errors: MEMORY. */
yoke_status fmm_near_list_create(const fmm_tree *tree, fmm_pairs pairs, fmm_near_list *list);
/* Zeroed lists are allowed. */
void fmm_near_list_destroy(const fmm_tree *tree, fmm_near_list *list);

/*
 * Directions of far pairs: (dx, dy, dz) = source - target in cells is direction dx + 7 dy + 49 dz + FMM_NO_DIRECTION; |dx|, |dy|, |dz| <= 3, one of them
 * at least 2.  Direction d is opposite to FMM_DIRECTIONS - 1 - d.
 */
enum { FMM_DIRECTIONS = 343, FMM_NO_DIRECTION = 171, FMM_MAX_FAR = 8 * 189 /* far pairs of a parent's children */ };

/* The far pairs of some parents' children by direction: those of d are start[d] ... start[d + 1] - 1, in the order of their targets. */
typedef struct fmm_far_list {
    int64_t max_parents;
    int64_t start[FMM_DIRECTIONS + 1];
    int32_t *target, *source;
} fmm_far_list;

/* Room for the pairs of the children of so many parents: 12 KB for each.  Errors: MEMORY. */
yoke_status fmm_far_list_create(yoke_context *context, int64_t max_parents, fmm_far_list *list);
void fmm_far_list_destroy(yoke_context *context, fmm_far_list *list);
/*
 * The far pairs of `level` (1 ... depth) whose target is a child of the cells first ... last - 1 (at most max_parents) of level - 1.  The pairs of all
 * parents of all levels are the far field; for ONCE directions are above FMM_NO_DIRECTION.  The walk is one in the tree; it and the list belong to
 * the calling thread.
 */
void fmm_far_list_fill(fmm_far_list *list, fmm_walk *walk, int level, int64_t first, int64_t last, fmm_pairs pairs);

#endif
