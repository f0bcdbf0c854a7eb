#include "tree/walk.h"

static void find_separated(fmm_walk *walk)
{
    for (int n = 0; n < FMM_NEIGHBOURS; n++) {
        walk->separated[n] = 0;
        for (int pair = 0; pair < 64; pair++) {
            const int t = pair / 8, s = pair % 8;
            int dx = 2 * (n % 3 - 1) + (s & 1) - (t & 1), dy = 2 * (n / 3 % 3 - 1) + (s >> 1 & 1) - (t >> 1 & 1);
            int dz = 2 * (n / 9 - 1) + (s >> 2) - (t >> 2);
            if (dx * dx > 1 || dy * dy > 1 || dz * dz > 1) walk->separated[n] |= UINT64_C(1) << pair;
        }
    }
}

void fmm_walk_start(fmm_walk *walk, const fmm_tree *tree)
{
    walk->tree = tree;
    find_separated(walk);
    for (int l = 0; l <= FMM_MAX_DEPTH; l++) walk->cell[l] = -1;
    for (int n = 0; n < FMM_NEIGHBOURS; n++) walk->near[0][n] = -1;
    walk->cell[0] = walk->near[0][FMM_SELF] = 0;
    walk->coarser = walk->num_touching[0] = walk->num_x[0] = 0;
}

/* The children of a cell.  Four bits for each octant: whether there is a child, and the number of children in earlier octants. */
typedef struct children {
    int32_t first;
    uint32_t there, before;
} children;

/* cell -1: there is no cell, and there are no children. */
static children children_of(const fmm_level *level, int32_t cell)
{
    if (cell < 0) return (children){0};
    uint32_t bits = level->octants[cell];
    bits = (bits | bits << 12) & 0x000F000F;
    bits = (bits | bits << 6) & 0x03030303;
    bits = (bits | bits << 3) & 0x11111111;
    return (children){level->child[cell], bits, (bits * 0x11111111) << 4};
}

/* Returns the child in an octant; -1: there is none. */
static int32_t child_if_any(children of, int octant)
{
    const int32_t missing = (int32_t)(of.there >> 4 * octant & 1) - 1; /* all bits, or none */
    return (of.first + (int32_t)(of.before >> 4 * octant & 0xF)) | missing;
}

/*
 * Finds the neighbours of a cell in half x, y, z of its parent.  These arguments are constants, so that all positions are known when this
 * is compiled.  In each coordinate the neighbours are three of the four children that lie side by side in `of`.
 */
static inline void find_near(const children of[8], int x, int y, int z, int32_t *near)
{
#pragma GCC unroll 3
    for (int w = 1 - z; w < 4 - z; w++)
#pragma GCC unroll 3
        for (int v = 1 - y; v < 4 - y; v++)
#pragma GCC unroll 3
            for (int u = 1 - x; u < 4 - x; u++)
                *near++ = child_if_any(of[u >> 1 | (v >> 1) << 1 | (w >> 1) << 2], (u & 1) | (v & 1) << 1 | (w & 1) << 2);
}

void fmm_walk_down(fmm_walk *walk, int level, int32_t cell)
{
    const fmm_level *above = &walk->tree->level[level - 1];
    const int32_t *parents = walk->near[level - 1];
    int octant = fmm_octant(&walk->tree->level[level], cell), x = octant & 1, y = octant >> 1 & 1, z = octant >> 2;
    int32_t *near = walk->near[level];
    children of[8]; /* children of the parent, and of its neighbours on the sides where the cell is */
    for (int k = 0; k < 8; k++) of[k] = children_of(above, parents[(x + (k & 1)) + 3 * (y + (k >> 1 & 1)) + 9 * (z + (k >> 2))]);
    switch (octant) {
    case 0:
        find_near(of, 0, 0, 0, near);
        break;
    case 1:
        find_near(of, 1, 0, 0, near);
        break;
    case 2:
        find_near(of, 0, 1, 0, near);
        break;
    case 3:
        find_near(of, 1, 1, 0, near);
        break;
    case 4:
        find_near(of, 0, 0, 1, near);
        break;
    case 5:
        find_near(of, 1, 0, 1, near);
        break;
    case 6:
        find_near(of, 0, 1, 1, near);
        break;
    default:
        find_near(of, 1, 1, 1, near);
        break;
    }
    walk->cell[level] = cell;
    if (walk->coarser >= level) walk->coarser = level - 1;
    if (level < FMM_MAX_DEPTH) walk->cell[level + 1] = -1;
}

void fmm_walk_to(fmm_walk *walk, int level, int32_t cell)
{
    int32_t path[FMM_MAX_DEPTH + 1];
    path[level] = cell;
    for (int l = level; l > 0; l--) path[l - 1] = walk->tree->level[l].parent[path[l]];
    int known = 0; /* down to this level, the walk's cells are already those of the path */
    while (known < level && walk->cell[known + 1] == path[known + 1]) known++;
    for (int l = known + 1; l <= level; l++) fmm_walk_down(walk, l, path[l]);
}

/* Adds a leaf of a coarser level that touches the parent of the cell with coordinates `at`: it touches the cell too, or is in its list
 * X. */
static void add_coarser(fmm_walk *walk, int level, const uint32_t at[3], int32_t leaf)
{
    const fmm_tree *tree = walk->tree;
    uint32_t of_leaf[3];
    int l = tree->leaves.level[leaf];
    fmm_key_coordinates(tree->level[l].key[tree->leaves.cell[leaf]], of_leaf);
    if (fmm_touches(at, of_leaf, level - l))
        walk->touching[level][walk->num_touching[level]++] = leaf;
    else
        walk->x[level][walk->num_x[level]++] = leaf;
}

static void find_coarser(fmm_walk *walk, int level)
{
    const fmm_tree *tree = walk->tree;
    uint32_t at[3];
    walk->num_touching[level] = walk->num_x[level] = 0;
    if (level <= tree->coarsest) return;
    fmm_key_coordinates(tree->level[level].key[walk->cell[level]], at);
    for (int i = 0; i < walk->num_touching[level - 1]; i++) add_coarser(walk, level, at, walk->touching[level - 1][i]);
    for (int n = 0; n < FMM_NEIGHBOURS; n++) {
        int32_t near = walk->near[level - 1][n];
        if (near >= 0 && fmm_is_leaf(tree, level - 1, near)) add_coarser(walk, level, at, tree->level[level - 1].leaf[near]);
    }
}

void fmm_walk_find_coarser(fmm_walk *walk, int level)
{
    for (; walk->coarser < level; walk->coarser++) find_coarser(walk, walk->coarser + 1);
}
