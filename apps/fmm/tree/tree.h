/*
 * tree.h - octree over particles: on each level the cells that have particles, in the order of their Morton keys.
 *
 * Level 0 is the box, level l has cells of side / 2^l.  Cells of a level are numbered from 0; a level has no more of them than there are particles,
 * and a cell takes 29 bytes.  A cell without children is a leaf.  In a uniform tree all leaves are on the deepest level; in an adaptive one a cell is
 * split where it has more particles than leaves may have, its capacity.
 */
#ifndef FMM_TREE_TREE_H
#define FMM_TREE_TREE_H

#include "particles/particles.h"
#include "tree/key.h"

/* The cube [low, low + side] in each coordinate, in units of 2^length of the particles that lie in it. */
typedef struct fmm_box {
    double low[3], side;
    int length;
} fmm_box;

typedef struct fmm_level {
    int64_t count;
    uint64_t *key;          /* [count] ascending                                                                              */
    int32_t *particle;      /* [count + 1] particles particle[c] ... end[c] - 1, in the tree's order, lie in c; all particles   */
    int32_t *end;           /* [count] particle[c + 1], unless leaves of coarser levels lie between c and c + 1                 */
    int32_t *child;         /* [count + 1] children child[c] ... child[c + 1] - 1 on the next level; NULL on the deepest        */
    int32_t *parent;        /* [count] on the level before; NULL on level 0                                                   */
    int32_t *leaf;          /* [count] the first leaf in c, a number of fmm_leaves                                            */
    unsigned char *octants; /* [count] bit o: has the child of octant o; NULL on the deepest level                            */
} fmm_level;

/* The leaves of all levels, in the order of their particles; in a uniform tree leaf i is cell i of the deepest level. */
typedef struct fmm_leaves {
    int64_t count;
    int32_t *particle;    /* [count + 1] particles particle[i] ... particle[i + 1] - 1 lie in leaf i */
    int32_t *cell;        /* [count] of the level level[i]                                         */
    unsigned char *level; /* [count]                                                               */
} fmm_leaves;

typedef struct fmm_tree {
    yoke_context *context;
    fmm_box box;
    int64_t count;   /* particles                                                                                                  */
    int key_level;   /* of key                                                                                                     */
    uint64_t *key;   /* [count] ascending: of the cells of key_level where the particles lie                                         */
    int32_t *order;  /* [count] particle i of the tree is order[i] of those it was made of                                           */
    int depth;       /* the deepest level with cells; of a uniform tree that of all leaves                                           */
    int coarsest;    /* the first level with a leaf; depth without particles                                                        */
    int asked_depth; /* what the levels were made for, below 0: nothing yet, and ...                                           */
    int64_t asked_capacity; /* ... the same                                                                                       */
    int32_t direct; /* 0, or what the owner sets: cells of the lists W and X (lists.h) with at most so many particles are summed directly */
    fmm_leaves leaves;
    fmm_level level[FMM_MAX_DEPTH + 1];
} fmm_tree;

/*
 * The smallest cube around the particles that begins at their least coordinates, but for 1e-9 of its side, by which all centres of cells become numbers
 * that need no rounding; side 1 where they are all at one place or there are none.  Coordinates must be finite and their differences too
 * (fmm_scale_create makes them so).
 */
fmm_box fmm_box_around(const fmm_particles *particles);

/*
 * The box of a tree with `cells` (1 ... 2^FMM_MAX_DEPTH) leaves along each side of the particles, for leaves between those of two depths: of the
 * 2^depth cells of depth fmm_depth_of_cells(cells) along each side the lowest `cells` hold them all.  They reach half a mean spacing of particles that
 * fill a cube evenly beyond the particles on each side, so that those of a lattice lie alike in all cells where its sides have a multiple of `cells`.
 * Else as fmm_box_around.
 */
fmm_box fmm_box_around_cells(const fmm_particles *particles, int64_t cells);
/*
 * As fmm_box_around (cells 0) or fmm_box_around_cells of the particles in units of fmm_scale_positions, which need not be copied for it: trees in this box are over
 * those.
 */
fmm_box fmm_box_scaled(const fmm_particles *particles, int64_t cells);
/* The least depth with so many cells along a side; one that no tree has where cells is not 1 ... 2^FMM_MAX_DEPTH. */
int fmm_depth_of_cells(int64_t cells);

/*
 * The uniform tree whose leaves are the cells of level `depth`.  Particles on a face between two cells lie in the upper one, those on an upper face of the
 * box in it.  Particles of a leaf are in the order in which they are given; all is the same at each number of threads.
 * Errors: ARGUMENT (depth below 0 or above FMM_MAX_DEPTH, a box without a finite positive side, a particle outside of the box or not finite: which),
 * MEMORY.
 */
yoke_status fmm_tree_create(const fmm_particles *particles, fmm_box box, int depth, fmm_tree **tree);
/*
 * The adaptive tree whose leaves have at most `capacity` particles, or lie on level `depth`.  Particles of a leaf are in the order of their keys on
 * that level.  Errors: as above (also: a capacity below 1).
 */
yoke_status fmm_tree_create_adaptive(const fmm_particles *particles, fmm_box box, int depth, int64_t capacity, fmm_tree **tree);
/*
 * Divides the particles anew, without sorting them, where they are divided otherwise: capacity 0 gives the uniform tree of depth `depth`, others the adaptive tree whose leaves have at most so
 * many particles or lie on that level.  On an error the tree stays as it is.
 * Errors: ARGUMENT (depth below 0 or above key_level, a capacity below 0), MEMORY.
 */
yoke_status fmm_tree_divide(fmm_tree *tree, int depth, int64_t capacity);
/* The number of cells with particles on a level (0 ... key_level), whether the tree has them or not. */
int64_t fmm_tree_cells(const fmm_tree *tree, int level);
/* Cells of level `depth` (0 ... the tree's) become leaves, with their particles in the order that they have; those of coarser levels stay. */
void fmm_tree_cut(fmm_tree *tree, int depth);
/* NULL allowed. */
void fmm_tree_destroy(fmm_tree *tree);

static inline int fmm_is_leaf(const fmm_tree *tree, int level, int64_t cell)
{
    return level == tree->depth || !tree->level[level].octants[cell];
}

static inline int64_t fmm_particles_in(const fmm_tree *tree, int level, int64_t cell)
{
    return tree->level[level].end[cell] - tree->level[level].particle[cell];
}

/* Whether the pairs of a cell in the lists W and X are summed directly. */
static inline int fmm_is_direct(const fmm_tree *tree, int level, int64_t cell)
{
    return fmm_particles_in(tree, level, cell) <= tree->direct;
}

void fmm_tree_centre(const fmm_tree *tree, int level, int64_t cell, double centre[3]);
/* Of the cells of a level. */
double fmm_tree_edge(const fmm_tree *tree, int level);

/* sorted[i] = values[order[i]] and values[order[i]] = sorted[i], for i < count. */
void fmm_tree_sort(const fmm_tree *tree, const double *values, double *sorted);
void fmm_tree_restore(const fmm_tree *tree, const double *sorted, double *values);

#endif
