#include "tree/walk.h"

static void find_separated(fmm_walk *walk)
{
    for (int t = 0; t < 8; t++)
        for (int n = 0; n < FMM_NEIGHBOURS; n++) {
            walk->separated[t][n] = 0;
            for (int s = 0; s < 8; s++) {
                int dx = 2 * (n % 3 - 1) + (s & 1) - (t & 1), dy = 2 * (n / 3 % 3 - 1) + (s >> 1 & 1) - (t >> 1 & 1);
                int dz = 2 * (n / 9 - 1) + (s >> 2) - (t >> 2);
                if (dx * dx > 1 || dy * dy > 1 || dz * dz > 1) walk->separated[t][n] |= (unsigned char)(1 << s);
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

static int32_t child_if_any(const fmm_level *level, int32_t cell, int octant)
{
    return cell < 0 || !(level->octants[cell] >> octant & 1) ? -1 : fmm_child(level, cell, octant);
}

void fmm_walk_down(fmm_walk *walk, int level, int32_t cell)
{
    const fmm_level *above = &walk->tree->level[level - 1];
    const int32_t *parents = walk->near[level - 1];
    int octant = fmm_octant(&walk->tree->level[level], cell), x = octant & 1, y = octant >> 1 & 1, z = octant >> 2;
    int32_t *near = walk->near[level];
    /* In each coordinate v - 1 is where the neighbour lies from the parent's lower half: the parent's neighbour is v + 1 >> 1, its half the last bit. */
    for (int w = z; w < z + 3; w++)
        for (int v = y; v < y + 3; v++)
            for (int u = x; u < x + 3; u++) {
                int parent = ((u + 1) >> 1) + 3 * ((v + 1) >> 1) + 9 * ((w + 1) >> 1);
                int half = ((u + 1) & 1) | ((v + 1) & 1) << 1 | ((w + 1) & 1) << 2;
                *near++ = child_if_any(above, parents[parent], half);
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
    int known = 0; /* the levels up to it are as they should be */
    while (known < level && walk->cell[known + 1] == path[known + 1]) known++;
    for (int l = known + 1; l <= level; l++) fmm_walk_down(walk, l, path[l]);
}

/* A leaf of a coarser level that touches the parent touches the cell with coordinates `at` of a level too, or is in its list X. */
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
