/*
 * lists.h - interaction lists: which leaves are summed directly, and which cells interact by their expansions.
 *
 * The lists U, V, W and X of H. Cheng, L. Greengard, V. Rokhlin, J. Comput. Phys. 155 (1999) 468.  Cells that share a point touch.
 *
 *     U, near: of a leaf, the leaves of any level that touch it, and itself: direct sums
 *     V, far:  of a cell, the cells of its level that do not touch it, but whose parents touch its own: multipole to local expansion
 *     W:       of a leaf, the cells of finer levels that do not touch it, but whose parents do: their multipoles at the leaf's particles
 *     X:       of a cell, the leaves whose list W contains it: their particles to its local expansion
 *
 * A cell of W and X with few particles (fmm_is_direct) is summed directly instead.  Together the lists contain every pair of particles
 * once.  In uniform trees W and X are empty.
 */
#ifndef FMM_TREE_LISTS_H
#define FMM_TREE_LISTS_H

#include <stdbool.h>

#include "tree/walk.h"

/*
 * Leaf t (a number of fmm_leaves) has the near leaves cell[start[t]] ... cell[start[t + 1] - 1] in ascending order, without itself.
 * Particles of leaves with successive numbers are contiguous.
 */
typedef struct fmm_near_list {
    int64_t *start; /* [leaves + 1] */
    int32_t *cell;
} fmm_near_list;

/* Zeroed lists are allowed. */
void fmm_near_list_destroy(const fmm_tree *tree, fmm_near_list *list);

/* The list W of leaf t has the cells cell[k] of levels level[k], start[t] <= k < start[t + 1], in the order of their particles, without
 * direct cells. */
typedef struct fmm_w_list {
    int64_t *start; /* [leaves + 1] */
    int32_t *cell;
    unsigned char *level;
} fmm_w_list;

/* Creates both lists; W has at most 26 entries for each cell of the tree.  Errors: MEMORY. */
yoke_status fmm_leaf_lists_create(const fmm_tree *tree, fmm_near_list *near, fmm_w_list *w);
/* Zeroed lists are allowed. */
void fmm_w_list_destroy(const fmm_tree *tree, fmm_w_list *list);

/* The list X of cell c of level l has the leaves leaf[k], start[l][c] <= k < start[l][c + 1], in ascending order.  If all lists W are empty,
 * start[0] is NULL. */
typedef struct fmm_x_list {
    int64_t *start[FMM_MAX_DEPTH + 1]; /* start[0] owns the memory of all levels */
    int32_t *leaf;
} fmm_x_list;

/* Finds the lists X for lists W.  Errors: MEMORY. */
yoke_status fmm_x_list_create(const fmm_tree *tree, const fmm_w_list *w, fmm_x_list *x);
/* Zeroed lists are allowed. */
void fmm_x_list_destroy(const fmm_tree *tree, fmm_x_list *list);

/*
 * Directions of far pairs: (dx, dy, dz) = source - target, in cells, has the number dx + 7 dy + 49 dz + FMM_NO_DIRECTION.  |dx|, |dy|, |dz|
 * are at most 3, and one of them is at least 2.  Direction d is opposite to FMM_DIRECTIONS - 1 - d.
 */
enum {
    FMM_DIRECTIONS = 343,
    FMM_NO_DIRECTION = 171,
    FMM_FAR_DIRECTIONS = 158, /* number of far directions, where two opposite ones count once */
    /* Maximum number of cells whose far pairs are found together.  With more, vectors are fuller, but expansions do not stay in the cache. */
    FMM_MAX_TARGETS = 128
};

/* Differences of numbers of directions: from octant 0 to an octant, and to a neighbour of the parent, which is two cells away. */
static inline int fmm_octant_offset(int octant)
{
    static const int offset[8] = {0, 1, 7, 8, 49, 50, 56, 57};
    return offset[octant];
}
static inline int fmm_neighbour_offset(int n) { return 2 * (n % 3 - 1 + 7 * (n / 3 % 3 - 1) + 49 * (n / 9 - 1)); }

/*
 * The far pairs of successive cells of a level, the targets, by direction.  Target t is cell first + t.  If bit t % 64 of has[d][t / 64] is
 * set, it has the source source[d][t] in direction d; otherwise that number has no meaning.  It must be zeroed before its first use.
 */
typedef struct fmm_far_list {
    int32_t first;
    int64_t pairs; /* of all directions */
    uint64_t has[FMM_DIRECTIONS][FMM_MAX_TARGETS / 64];
    int32_t source[FMM_DIRECTIONS][FMM_MAX_TARGETS];
} fmm_far_list;

static inline bool fmm_far_list_has(const fmm_far_list *list, int d, int target) { return list->has[d][target / 64] >> target % 64 & 1; }

/*
 * Finds the far pairs of `level` (1 ... depth) whose targets are the children of the cells first ... last - 1 of level - 1, at most
 * FMM_MAX_TARGETS.  The pairs of all parents of all levels are the far field.  The walk is a walk in the tree; it and the list belong to
 * the calling thread.
 */
void fmm_far_list_fill(fmm_far_list *list, fmm_walk *walk, int level, int64_t first, int64_t last);

#endif
