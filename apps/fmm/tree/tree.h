/*
 * tree.h - octree over particles: each level has the cells that contain particles, in the order of their Morton keys.
 *
 * Level 0 is the box; level l has cells with edge side / 2^l.  Cells of a level are numbered from 0.  A level has no more cells than there
 * are particles, and a cell takes 29 bytes.  A cell without children is a leaf.  In a uniform tree all leaves are on the deepest level.  In
 * an adaptive tree a cell is split if it has more particles than the capacity of the leaves.
 */
#ifndef FMM_TREE_TREE_H
#define FMM_TREE_TREE_H

#include <stdbool.h>

#include "particles/particles.h"
#include "tree/key.h"

/* The cube [low, low + side] in each coordinate, in units of 2^length of the coordinates of the particles in it. */
typedef struct fmm_box {
    double low[3], side;
    int length;
} fmm_box;

typedef struct fmm_level {
    int64_t count;
    uint64_t *key;          /* [count] ascending                                                                              */
    int32_t *particle;      /* [count + 1] cell c has the particles particle[c] ... end[c] - 1 of the tree's order; last: all particles */
    int32_t *end;           /* [count] particle[c + 1], unless leaves of coarser levels lie between cells c and c + 1 */
    int32_t *child;         /* [count + 1] children child[c] ... child[c + 1] - 1 on the next level; NULL on the deepest level */
    int32_t *parent;        /* [count] parent on the level above; NULL on level 0 */
    int32_t *leaf;          /* [count] the first leaf in cell c, a number of fmm_leaves */
    unsigned char *octants; /* [count] bit o: the cell has the child of octant o; NULL on the deepest level */
} fmm_level;

/* The leaves of all levels, in the order of their particles; in a uniform tree leaf i is cell i of the deepest level. */
typedef struct fmm_leaves {
    int64_t count;
    int32_t *particle;    /* [count + 1] leaf i has the particles particle[i] ... particle[i + 1] - 1 */
    int32_t *cell;        /* [count] number of the cell on level level[i] */
    unsigned char *level; /* [count]                                                               */
} fmm_leaves;

typedef struct fmm_tree {
    yoke_context *context;
    fmm_box box;
    int64_t count;          /* number of particles */
    int key_level;          /* level of the keys */
    uint64_t *key;          /* [count] ascending: keys of the cells of key_level that contain the particles */
    int32_t *order;         /* [count] particle i of the tree is order[i] of the original particles */
    int depth;              /* the deepest level with cells; in a uniform tree the level of all leaves */
    int coarsest;           /* the first level with a leaf; `depth` if there are no particles */
    int asked_depth;        /* depth for which the levels were made; below 0: there are none yet */
    int64_t asked_capacity; /* capacity for which the levels were made */
    int32_t direct; /* set by the owner, or 0: cells of the lists W and X (lists.h) with at most this many particles are summed directly */
    fmm_leaves leaves;
    fmm_level level[FMM_MAX_DEPTH + 1];
} fmm_tree;

/*
 * The smallest cube around the particles that begins at their smallest coordinates, enlarged by up to 1e-9 of its side so that the centres
 * of all cells are exact.  The side is 1 if all particles are at one position or there are none.  Coordinates and their differences must be
 * finite (fmm_scale_create ensures this).
 */
fmm_box fmm_box_around(const fmm_particles *particles);

/*
 * The box for the particles in units of fmm_scale_positions, without a scaled copy of the particles.  Trees in this box are trees over the
 * scaled particles.
 * cells 0: as fmm_box_around, for trees of any depth.  cells 1 ... 2^FMM_MAX_DEPTH: for uniform trees with so many leaves along each side
 * of the particles, which have leaf sizes between those of two depths.  Along each side of the box there are 2^depth cells,
 * depth = fmm_depth_of_cells(cells), and the lowest `cells` of them contain all particles.  These cells reach beyond the particles on each
 * side by half the mean spacing of particles that fill a cube evenly.  Particles of a lattice then have the same positions in all cells if
 * the lattice has a multiple of `cells` points along a side.
 */
fmm_box fmm_box_scaled(const fmm_particles *particles, int64_t cells);
/* The least depth with at least `cells` cells along a side; a depth that no tree has if cells is not 1 ... 2^FMM_MAX_DEPTH. */
int fmm_depth_of_cells(int64_t cells);

/*
 * Creates the uniform tree whose leaves are the cells of level `depth`.  Particles on a face between two cells are in the upper cell;
 * particles on an upper face of the box are in the box.  Particles of a leaf are in the order in which they are given.  The tree is the
 * same for any number of threads.
 * Errors: ARGUMENT (depth below 0 or above FMM_MAX_DEPTH, a box without a finite positive side, a particle outside of the box or not
 * finite; the message names it), MEMORY.
 */
yoke_status fmm_tree_create(const fmm_particles *particles, fmm_box box, int depth, fmm_tree **tree);
/*
 * Creates the adaptive tree whose leaves have at most `capacity` particles or are on level `depth`.  Particles of a leaf are in the order
 * of their keys on that level.  Errors: as above (also: a capacity below 1).
 */
yoke_status fmm_tree_create_adaptive(const fmm_particles *particles, fmm_box box, int depth, int64_t capacity, fmm_tree **tree);
/*
 * Sorts the particles in the box of fmm_box_scaled: for trees of any depth and capacity (cells 0), or for the uniform tree with `cells`
 * cells along each side.  fmm_tree_divide gives the tree its levels.  Errors: those of fmm_tree_create.
 */
yoke_status fmm_tree_create_undivided(const fmm_particles *particles, int64_t cells, fmm_tree **tree);
/*
 * Rebuilds the levels for another depth or capacity without sorting the particles again; it does nothing if the tree has them already.
 * capacity 0 gives the uniform tree of depth `depth`; other capacities give the adaptive tree whose leaves have at most `capacity`
 * particles or are on that level.  On an error the tree is unchanged.
 * Errors: ARGUMENT (depth below 0 or above key_level, a capacity below 0), MEMORY.
 */
yoke_status fmm_tree_divide(fmm_tree *tree, int depth, int64_t capacity);
/* The number of cells with particles on a level (0 ... key_level), also if the tree does not have this level. */
int64_t fmm_tree_cells(const fmm_tree *tree, int level);
/*
 * Whether particles may be at the same position: some with equal keys are, or many have equal keys, which are not compared.  Particles at
 * the same position have equal keys.  sorted: the particles in the tree's order, in any unit.
 */
bool fmm_tree_may_coincide(const fmm_tree *tree, const fmm_particles *sorted);
/* NULL is allowed. */
void fmm_tree_destroy(fmm_tree *tree);

static inline int fmm_is_leaf(const fmm_tree *tree, int level, int64_t cell)
{
    return level == tree->depth || !tree->level[level].octants[cell];
}

static inline int64_t fmm_particles_in(const fmm_tree *tree, int level, int64_t cell)
{
    return tree->level[level].end[cell] - tree->level[level].particle[cell];
}

/* Whether the pairs of this cell in the lists W and X are summed directly. */
static inline int fmm_is_direct(const fmm_tree *tree, int level, int64_t cell)
{
    return fmm_particles_in(tree, level, cell) <= tree->direct;
}

void fmm_tree_centre(const fmm_tree *tree, int level, int64_t cell, double centre[3]);
/* The edge of the cells of a level. */
double fmm_tree_edge(const fmm_tree *tree, int level);

/* fmm_tree_sort: sorted[i] = values[order[i]], fmm_tree_restore: values[order[i]] = sorted[i], for i < count. */
void fmm_tree_sort(const fmm_tree *tree, const double *values, double *sorted);
void fmm_tree_restore(const fmm_tree *tree, const double *sorted, double *values);

#endif
