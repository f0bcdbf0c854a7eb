#include "tree/lists.h"

enum { MAX_ROOTS = FMM_NEIGHBOURS * (FMM_MAX_DEPTH + 2), CHUNK = 64 };

/* A neighbour of the leaf: a cell of its level, or (cell -1) a leaf by its number. */
typedef struct root {
    int32_t leaf, cell;
} root;

/* Collects what a leaf has in U and W.  Without room (NULL) it only counts. */
typedef struct collector {
    const fmm_tree *tree;
    int32_t first; /* leaves before it are left out */
    int level;
    uint32_t at[3]; /* the leaf's coordinates */
    int32_t *near;
    int32_t *w;
    unsigned char *w_level;
    int num_near, num_w;
} collector;

static void add_near(collector *c, int32_t leaf)
{
    if (leaf < c->first) return;
    if (c->near) c->near[c->num_near] = leaf;
    c->num_near++;
}

static void add_w(collector *c, int level, int32_t cell)
{
    if (fmm_is_direct(c->tree, level, cell)) {
        const fmm_level *cells = &c->tree->level[level];
        for (int32_t leaf = cells->leaf[cell]; c->tree->leaves.particle[leaf] < cells->end[cell]; leaf++) add_near(c, leaf);
        return;
    }
    if (c->w) {
        c->w[c->num_w] = cell;
        c->w_level[c->num_w] = (unsigned char)level;
    }
    c->num_w++;
}

/* What is in a cell with coordinates `at`, whose parent touches the leaf. */
static void descend(collector *c, int level, int32_t cell, const uint32_t at[3])
{
    const fmm_level *cells = &c->tree->level[level];
    if (!fmm_touches(at, c->at, level - c->level)) {
        add_w(c, level, cell);
        return;
    }
    if (fmm_is_leaf(c->tree, level, cell)) {
        add_near(c, cells->leaf[cell]);
        return;
    }
    for (int32_t k = cells->child[cell]; k < cells->child[cell + 1]; k++) {
        unsigned octant = (unsigned)fmm_octant(&c->tree->level[level + 1], k);
        descend(c, level + 1, k, (const uint32_t[3]){2 * at[0] + (octant & 1), 2 * at[1] + (octant >> 1 & 1), 2 * at[2] + (octant >> 2)});
    }
}

static void insert(root *roots, int *count, root added)
{
    int at = (*count)++;
    for (; at > 0 && roots[at - 1].leaf > added.leaf; at--) roots[at] = roots[at - 1];
    roots[at] = added;
}

/* The neighbours of the leaf where the walk is, and leaves in whose W direct cells around it are, in the order of their particles. */
static int find_roots(fmm_walk *walk, int level, root *roots)
{
    const fmm_tree *tree = walk->tree;
    int count = 0;
    fmm_walk_find_coarser(walk, level);
    for (int n = 0; n < FMM_NEIGHBOURS; n++) {
        int32_t cell = walk->near[level][n];
        if (cell >= 0 && n != FMM_SELF) insert(roots, &count, (root){tree->level[level].leaf[cell], cell});
    }
    for (int i = 0; i < walk->num_touching[level]; i++) insert(roots, &count, (root){walk->touching[level][i], -1});
    for (int l = tree->coarsest + 1; l <= level; l++)
        for (int i = 0; i < walk->num_x[l] && fmm_is_direct(tree, l, walk->cell[l]); i++) insert(roots, &count, (root){walk->x[l][i], -1});
    return count;
}

static void collect(collector *c, fmm_walk *walk, int32_t leaf)
{
    const fmm_tree *tree = c->tree;
    root roots[MAX_ROOTS];
    c->level = tree->leaves.level[leaf];
    fmm_walk_to(walk, c->level, tree->leaves.cell[leaf]);
    fmm_key_coordinates(tree->level[c->level].key[tree->leaves.cell[leaf]], c->at);
    int count = find_roots(walk, c->level, roots);
    for (int r = 0; r < count; r++) {
        uint32_t at[3];
        if (roots[r].cell < 0) {
            add_near(c, roots[r].leaf);
            continue;
        }
        fmm_key_coordinates(tree->level[c->level].key[roots[r].cell], at);
        descend(c, c->level, roots[r].cell, at);
    }
}

/* Counts into start[leaf + 1], or (fill) writes the cells where start says. */
static void visit_leaves(const fmm_tree *tree, fmm_pairs pairs, int fill, fmm_near_list *near, fmm_w_list *w)
{
#pragma omp parallel
    {
        fmm_walk walk;
        fmm_walk_start(&walk, tree);
#pragma omp for schedule(dynamic, CHUNK)
        for (int64_t t = 0; t < tree->leaves.count; t++) {
            collector c = {.tree = tree, .first = pairs == FMM_PAIRS_ONCE ? (int32_t)t : 0};
            if (fill) {
                c.near = near->cell + near->start[t];
                c.w = w->cell + w->start[t];
                c.w_level = w->level + w->start[t];
            }
            collect(&c, &walk, (int32_t)t);
            if (fill) continue;
            near->start[t + 1] = c.num_near;
            w->start[t + 1] = c.num_w;
        }
    }
}

static int64_t sum_starts(int64_t *start, int64_t leaves)
{
    for (int64_t t = 0; t < leaves; t++) start[t + 1] += start[t];
    return start[leaves];
}

yoke_status fmm_leaf_lists_create(const fmm_tree *tree, fmm_pairs pairs, fmm_near_list *near, fmm_w_list *w)
{
    int64_t leaves = tree->leaves.count;
    fmm_near_list in_u = {0};
    fmm_w_list in_w = {0};
    yoke_status status = yoke_allocate(tree->context, leaves + 1, sizeof *in_u.start, &in_u.start);
    if (!status) status = yoke_allocate(tree->context, leaves + 1, sizeof *in_w.start, &in_w.start);
    if (!status) {
        visit_leaves(tree, pairs, 0, &in_u, &in_w);
        int64_t in_all_u = sum_starts(in_u.start, leaves), in_all_w = sum_starts(in_w.start, leaves);
        status = yoke_allocate_untouched(tree->context, in_all_u, sizeof *in_u.cell, &in_u.cell);
        if (!status) status = yoke_allocate_untouched(tree->context, in_all_w, sizeof *in_w.cell, &in_w.cell);
        if (!status) status = yoke_allocate_untouched(tree->context, in_all_w, sizeof *in_w.level, &in_w.level);
    }
    if (status) {
        fmm_near_list_destroy(tree, &in_u);
        fmm_w_list_destroy(tree, &in_w);
        return status;
    }
    visit_leaves(tree, pairs, 1, &in_u, &in_w);
    *near = in_u;
    *w = in_w;
    return YOKE_OK;
}

yoke_status fmm_near_list_create(const fmm_tree *tree, fmm_pairs pairs, fmm_near_list *list)
{
    fmm_w_list w;
    yoke_status status = fmm_leaf_lists_create(tree, pairs, list, &w);
    if (!status) fmm_w_list_destroy(tree, &w);
    return status;
}

void fmm_near_list_destroy(const fmm_tree *tree, fmm_near_list *list)
{
    yoke_release(tree->context, list->start);
    yoke_release(tree->context, list->cell);
    *list = (fmm_near_list){0};
}

void fmm_w_list_destroy(const fmm_tree *tree, fmm_w_list *list)
{
    yoke_release(tree->context, list->start);
    yoke_release(tree->context, list->cell);
    yoke_release(tree->context, list->level);
    *list = (fmm_w_list){0};
}
