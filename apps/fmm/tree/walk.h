/*
 * walk.h - finds the neighbours of cells on the path from the root.
 *
 * Nothing is stored per cell.  A walk holds one cell of each level, each the parent of the next, with its neighbours.  The neighbours of a
 * cell are children of its parent's neighbours, so a step down takes 27 look-ups.  A walk over all cells in order takes hardly more for
 * each cell.
 *
 * In adaptive trees, leaves of coarser levels may touch a cell, or only its parent.  Each of the latter leaves covers the position of at
 * least one neighbour of the parent, which bounds their number.
 */
#ifndef FMM_TREE_WALK_H
#define FMM_TREE_WALK_H

#include "tree/tree.h"

/* Neighbour dx + 3 dy + 9 dz + FMM_SELF lies dx, dy, dz = -1, 0, 1 cells away. */
enum { FMM_NEIGHBOURS = 27, FMM_SELF = 13 };

/* A set of pairs of a child of a cell and a child of another one: byte t is the set of the latter's octants paired with octant t. */
typedef uint64_t fmm_octant_pairs;

typedef struct fmm_walk {
    const fmm_tree *tree;
    fmm_octant_pairs separated[FMM_NEIGHBOURS];      /* pairs of children of a cell and of each neighbour that do not touch */
    int32_t cell[FMM_MAX_DEPTH + 1];                 /* -1: none yet; entries of deeper levels are then invalid */
    int32_t near[FMM_MAX_DEPTH + 1][FMM_NEIGHBOURS]; /* neighbours on the level of the cell; -1: there is no such cell */
    /* Numbers of leaves of coarser levels: `touching` has those that touch the cell; `x`, its list X, those that touch its parent but not
     * the cell. */
    int coarser; /* they are valid down to this level */
    int num_touching[FMM_MAX_DEPTH + 1], num_x[FMM_MAX_DEPTH + 1];
    int32_t touching[FMM_MAX_DEPTH + 1][FMM_NEIGHBOURS - 1], x[FMM_MAX_DEPTH + 1][FMM_NEIGHBOURS - 1];
} fmm_walk;

/* Starts at the root of a tree with particles.  A walk belongs to one thread; it owns no memory. */
void fmm_walk_start(fmm_walk *walk, const fmm_tree *tree);
/* Moves the walk to a cell from any position.  near[level] then has its neighbours, near[level - 1] those of its parent, and so on. */
void fmm_walk_to(fmm_walk *walk, int level, int32_t cell);
/* Moves the walk to a child of its current cell on level - 1. */
void fmm_walk_down(fmm_walk *walk, int level, int32_t cell);
/* Fills touching[] and x[] of the levels 1 ... level for the current cells of the walk. */
void fmm_walk_find_coarser(fmm_walk *walk, int level);

/* The number of bits in a set of octants. */
static inline int fmm_count_octants(unsigned octants)
{
    octants -= octants >> 1 & 0x55;
    octants = (octants & 0x33) + (octants >> 2 & 0x33);
    return (int)((octants + (octants >> 4)) & 0xF);
}

/* Byte o is 1 if octant o is in the set, and 0 otherwise. */
static inline uint64_t fmm_octant_bytes(unsigned octants)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t bits = octants * ones & UINT64_C(0x8040201008040201); /* byte o has bit o, or is 0 */
    return (bits + 0x7F * ones) >> 7 & ones;
}

/* Byte o is the number of octants before o in the set. */
static inline uint64_t fmm_octant_ranks(unsigned octants) { return fmm_octant_bytes(octants) * UINT64_C(0x0101010101010101) << 8; }

/* All pairs of two sets of octants. */
static inline fmm_octant_pairs fmm_pair_octants(unsigned targets, unsigned sources)
{
    return fmm_octant_bytes(targets) * 0xFF & sources * UINT64_C(0x0101010101010101);
}

static inline int fmm_count_octant_pairs(fmm_octant_pairs pairs)
{
    pairs -= pairs >> 1 & UINT64_C(0x5555555555555555);
    pairs = (pairs & UINT64_C(0x3333333333333333)) + (pairs >> 2 & UINT64_C(0x3333333333333333));
    pairs = (pairs + (pairs >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (int)(pairs * UINT64_C(0x0101010101010101) >> 56);
}

/* The number of a neighbour, as a child in `octant` of a cell sees it: the child in octant `other` of the cell's neighbour n (FMM_SELF: of
 * the cell itself).  They must touch. */
static inline int fmm_neighbour_of_child(int n, int octant, int other)
{
    static const int offset[8] = {0, 1, 3, 4, 9, 10, 12, 13};
    return FMM_SELF + 2 * (n - FMM_SELF) + offset[other] - offset[octant];
}

/* The child in an octant; the cell must have it. */
static inline int32_t fmm_child(const fmm_level *level, int32_t cell, int octant)
{
    return level->child[cell] + fmm_count_octants(level->octants[cell] & ((1U << octant) - 1));
}

/* Whether a cell touches a larger cell, `levels` levels above, or is inside it.  from: its coordinates relative to the first cell of its
 * level inside the larger one. */
static inline int fmm_touches_from(const int64_t from[3], int levels)
{
    int outside = 0;
    for (int c = 0; c < 3; c++) outside |= (from[c] < -1) | (from[c] > (int64_t)1 << levels);
    return !outside;
}

/* The same for a cell with coordinates `at` and a larger cell with coordinates `leaf`, `levels` levels above. */
static inline int fmm_touches(const uint32_t at[3], const uint32_t leaf[3], int levels)
{
    int64_t from[3];
    for (int c = 0; c < 3; c++) from[c] = (int64_t)at[c] - ((int64_t)leaf[c] << levels);
    return fmm_touches_from(from, levels);
}

/* The octant of a cell in its parent. */
static inline int fmm_octant(const fmm_level *level, int32_t cell) { return (int)(level->key[cell] & 7); }

#endif
