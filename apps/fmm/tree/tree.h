/*
 * tree.h - uniform octree over particles: on each level the cells that have particles, in the order of their Morton keys.
 *
 * Level 0 is the box, level l has cells of side / 2^l.  Cells of a level are numbered from 0; a level has no more of them than there are particles,
 * and a cell takes 21 bytes.
 */
#ifndef FMM_TREE_TREE_H
#define FMM_TREE_TREE_H

#include "particles/particles.h"
#include "tree/key.h"

/* The cube [low, low + side] in each coordinate. */
typedef struct fmm_box {
    double low[3], side;
} fmm_box;

typedef struct fmm_level {
    int64_t count;
    uint64_t *key;          /* [count] ascending                                                                        */
    int32_t *particle;      /* [count + 1] particles particle[c] ... particle[c + 1] - 1, in the tree's order, lie in c   */
    int32_t *child;         /* [count + 1] children child[c] ... child[c + 1] - 1 on the next level; NULL on the deepest  */
    int32_t *parent;        /* [count] on the level before; NULL on level 0                                             */
    unsigned char *octants; /* [count] bit o: has the child of octant o; NULL on the deepest level                      */
} fmm_level;

typedef struct fmm_tree {
    yoke_context *context;
    fmm_box box;
    int64_t count;  /* particles */
    int depth;      /* of the leaves */
    int32_t *order; /* [count] particle i of the tree is order[i] of those it was made of */
    fmm_level level[FMM_MAX_DEPTH + 1];
} fmm_tree;

/*
 * The smallest cube around the particles that begins at their least coordinates; side 1 where they are all at one place or there are none.  Coordinates
 * must be finite and their differences too (fmm_scale_create makes them so).
 */
fmm_box fmm_box_around(const fmm_particles *particles);

/*
 * The tree whose leaves are the cells of level `depth`.  Particles on a face between two cells lie in the upper one, those on an upper face of the box in
 * it.  Particles of a leaf are in the order in which they are given; all is the same at each number of threads.
 * Errors: ARGUMENT (depth below 0 or above FMM_MAX_DEPTH, a box without a finite positive side, a particle outside of the box or not finite: which),
 * MEMORY.
 */
yoke_status fmm_tree_create(const fmm_particles *particles, fmm_box box, int depth, fmm_tree **tree);
/* The leaves become the cells of level `depth` (0 ... the tree's), with their particles in the order that they have. */
void fmm_tree_cut(fmm_tree *tree, int depth);
/* NULL allowed. */
void fmm_tree_destroy(fmm_tree *tree);

void fmm_tree_centre(const fmm_tree *tree, int level, int64_t cell, double centre[3]);
/* Of the cells of a level. */
double fmm_tree_edge(const fmm_tree *tree, int level);

/* sorted[i] = values[order[i]] and values[order[i]] = sorted[i], for i < count. */
void fmm_tree_sort(const fmm_tree *tree, const double *values, double *sorted);
void fmm_tree_restore(const fmm_tree *tree, const double *sorted, double *values);

#endif
