#include "tree/levels.h"

enum {
    FEW_CELLS = 256 /* up to this number, one thread takes less time than waking the others */,
    FEW_PARTICLES = 96 /* up to this number (at most 255), counting is faster than a search */
};

static unsigned octant_at(const uint64_t *key, int32_t particle, int shift) { return (unsigned)(key[particle] >> shift & 7); }

/* The first particle in begin ... end - 1 whose octant by `shift` is higher than `octant`.  Without branches, which would often be
 * mispredicted. */
static int32_t first_above(const uint64_t *key, int32_t begin, int32_t end, int shift, unsigned octant)
{
    for (int32_t count = end - begin; count > 0;) {
        const int32_t half = count / 2, middle = begin + half;
        const int is_above = octant_at(key, middle, shift) > octant;
        begin = is_above ? begin : middle + 1;
        count = is_above ? half : count - half - 1;
    }
    return begin;
}

/* The same as split, by one search less than there are octants with particles. */
static void split_by_search(const uint64_t *key, int32_t begin, int32_t end, int shift, int32_t start[9])
{
    const unsigned last = octant_at(key, end - 1, shift);
    unsigned octant = 0;
    for (int32_t at = begin;;) {
        for (const unsigned next = octant_at(key, at, shift); octant <= next; octant++) start[octant] = at;
        if (octant > last) break;
        at = first_above(key, at, end, shift, octant - 1);
    }
    for (; octant <= 8; octant++) start[octant] = end;
}

/* Divides the particles begin ... end - 1: start[o] ... start[o + 1] - 1 are in octant o.  Returns the set of octants with particles. */
static unsigned split(const uint64_t *key, int32_t begin, int32_t end, int shift, int32_t start[9])
{
    unsigned octants = 0;
    start[0] = begin;
    if (end - begin <= FEW_PARTICLES) {
        uint64_t counts = 0; /* a byte for each octant */
        for (int32_t i = begin; i < end; i++) counts += UINT64_C(1) << 8 * (key[i] >> shift & 7);
        for (int o = 0; o < 8; o++) start[o + 1] = start[o] + (int32_t)(counts >> 8 * o & 0xFF);
    } else {
        split_by_search(key, begin, end, shift, start);
    }
    for (unsigned o = 0; o < 8; o++) octants |= (unsigned)(start[o + 1] > start[o]) << o;
    return octants;
}

static yoke_status allocate_cells(yoke_context *context, int64_t count, fmm_level *level)
{
    level->count = count;
    yoke_status status = yoke_allocate_untouched(context, count, sizeof *level->key, &level->key);
    if (!status) status = yoke_allocate_untouched(context, count + 1, sizeof *level->particle, &level->particle);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof *level->end, &level->end);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof *level->leaf, &level->leaf);
    return status;
}

static yoke_status make_root(fmm_tree *tree)
{
    fmm_level *root = &tree->level[0];
    yoke_status status = allocate_cells(tree->context, tree->count > 0, root);
    if (status) return status;
    root->particle[0] = 0;
    if (tree->count == 0) return YOKE_OK;
    root->key[0] = 0;
    root->end[0] = root->particle[1] = (int32_t)tree->count;
    return YOKE_OK;
}

/* Replaces the numbers of children in child[1 ... count] by the positions of the first children.  Returns the number of all children. */
static int32_t sum_children(fmm_level *level)
{
    for (int64_t c = 0; c < level->count; c++) level->child[c + 1] += level->child[c];
    return level->child[level->count];
}

/* The first particle of each octant of a cell that has children, and the end. */
typedef struct division {
    int32_t start[9];
} division;

/* Divides the cells of level l: division[c], and the number of children in child[c + 1] and in `octants`. */
static void count_children(const fmm_tree *tree, int l, int64_t capacity, fmm_level *level, division *divisions)
{
    int shift = 3 * (tree->key_level - l - 1);
#pragma omp parallel for schedule(static) if (level->count > FEW_CELLS)
    for (int64_t c = 0; c < level->count; c++) {
        if (level->end[c] - level->particle[c] <= capacity) continue;
        unsigned octants = split(tree->key, level->particle[c], level->end[c], shift, divisions[c].start);
        level->octants[c] = (unsigned char)octants;
        for (; octants; octants &= octants - 1) level->child[c + 1]++;
    }
}

static void fill_children(const fmm_tree *tree, const fmm_level *level, const division *divisions, fmm_level *below)
{
#pragma omp parallel for schedule(static) if (level->count > FEW_CELLS)
    for (int64_t c = 0; c < level->count; c++) {
        const int32_t *start = divisions[c].start;
        int32_t next = level->child[c];
        if (!level->octants[c]) continue;
        for (int o = 0; o < 8; o++) {
            if (start[o] == start[o + 1]) continue;
            below->key[next] = level->key[c] << 3 | (unsigned)o;
            below->particle[next] = start[o];
            below->end[next] = start[o + 1];
            below->parent[next++] = (int32_t)c;
        }
    }
    below->particle[below->count] = (int32_t)tree->count;
}

static void release_children(yoke_context *context, fmm_level *level)
{
    yoke_release(context, level->child);
    yoke_release(context, level->octants);
    level->child = NULL;
    level->octants = NULL;
}

/* Splits the cells of level l, and sets *below to the number of their children.  If an adaptive tree has none, the level has no arrays
 * of children. */
static yoke_status make_children(fmm_tree *tree, int l, int64_t capacity, int64_t *below)
{
    fmm_level *level = &tree->level[l], *next = &tree->level[l + 1];
    division *divisions = NULL;
    yoke_status status = yoke_allocate(tree->context, level->count + 1, sizeof *level->child, &level->child);
    if (!status) status = yoke_allocate(tree->context, level->count, sizeof *level->octants, &level->octants);
    if (!status) status = yoke_allocate_untouched(tree->context, level->count, sizeof *divisions, &divisions);
    if (status) return status;
    count_children(tree, l, capacity, level, divisions);
    *below = sum_children(level);
    if (*below == 0 && capacity > 0) {
        release_children(tree->context, level);
    } else {
        status = allocate_cells(tree->context, *below, next);
        if (!status) status = yoke_allocate_untouched(tree->context, *below, sizeof *next->parent, &next->parent);
        if (!status) fill_children(tree, level, divisions, next);
    }
    yoke_release(tree->context, divisions);
    return status;
}

/* Sets level[].leaf to the number of leaves in each cell, from the deepest level up. */
static void count_leaves(fmm_tree *tree)
{
    for (int l = tree->depth; l >= 0; l--) {
        fmm_level *level = &tree->level[l];
#pragma omp parallel for schedule(static) if (level->count > FEW_CELLS)
        for (int64_t c = 0; c < level->count; c++) {
            level->leaf[c] = fmm_is_leaf(tree, l, c);
            if (level->leaf[c]) continue;
            for (int32_t k = level->child[c]; k < level->child[c + 1]; k++) level->leaf[c] += tree->level[l + 1].leaf[k];
        }
    }
    tree->leaves.count = tree->count > 0 ? tree->level[0].leaf[0] : 0;
}

/* Records a leaf, or replaces the numbers of leaves in a cell's children by the numbers of their first leaves. */
static void number_cell(fmm_tree *tree, int l, int64_t c)
{
    fmm_level *level = &tree->level[l];
    int32_t number = level->leaf[c];
    if (fmm_is_leaf(tree, l, c)) {
        tree->leaves.particle[number] = level->particle[c];
        tree->leaves.cell[number] = (int32_t)c;
        tree->leaves.level[number] = (unsigned char)l;
        return;
    }
    for (int32_t k = level->child[c]; k < level->child[c + 1]; k++) {
        int32_t inside = tree->level[l + 1].leaf[k];
        tree->level[l + 1].leaf[k] = number;
        number += inside;
    }
}

static void number_leaves(fmm_tree *tree)
{
    if (tree->count > 0) tree->level[0].leaf[0] = 0;
    for (int l = 0; l <= tree->depth; l++) {
        int64_t cells = tree->level[l].count;
#pragma omp parallel for schedule(static) if (cells > FEW_CELLS)
        for (int64_t c = 0; c < cells; c++) number_cell(tree, l, c);
    }
    tree->leaves.particle[tree->leaves.count] = (int32_t)tree->count;
    tree->coarsest = tree->depth;
    for (int64_t i = 0; i < tree->leaves.count; i++)
        if (tree->leaves.level[i] < tree->coarsest) tree->coarsest = tree->leaves.level[i];
}

static yoke_status create_leaves(fmm_tree *tree)
{
    count_leaves(tree);
    int64_t count = tree->leaves.count;
    yoke_status status = yoke_allocate_untouched(tree->context, count + 1, sizeof *tree->leaves.particle, &tree->leaves.particle);
    if (!status) status = yoke_allocate_untouched(tree->context, count, sizeof *tree->leaves.cell, &tree->leaves.cell);
    if (!status) status = yoke_allocate_untouched(tree->context, count, sizeof *tree->leaves.level, &tree->leaves.level);
    if (!status) number_leaves(tree);
    return status;
}

yoke_status fmm_levels_create(fmm_tree *tree, int depth, int64_t capacity)
{
    fmm_tree created = *tree;
    for (int l = 0; l <= FMM_MAX_DEPTH; l++) created.level[l] = (fmm_level){0};
    created.leaves = (fmm_leaves){0};
    created.depth = 0;
    created.asked_depth = depth;
    created.asked_capacity = capacity;
    yoke_status status = make_root(&created);
    for (int64_t below = 1; created.depth < depth && !status;) {
        status = make_children(&created, created.depth, capacity, &below);
        if (below == 0 && capacity > 0) break;
        created.depth++;
    }
    if (!status) status = create_leaves(&created);
    fmm_levels_destroy(status ? &created : tree);
    if (!status) *tree = created;
    return status;
}

static void release_level(yoke_context *context, fmm_level *level)
{
    release_children(context, level);
    yoke_release(context, level->key);
    yoke_release(context, level->particle);
    yoke_release(context, level->end);
    yoke_release(context, level->parent);
    yoke_release(context, level->leaf);
    *level = (fmm_level){0};
}

void fmm_levels_destroy(fmm_tree *tree)
{
    for (int l = 0; l <= FMM_MAX_DEPTH; l++) release_level(tree->context, &tree->level[l]);
    yoke_release(tree->context, tree->leaves.particle);
    yoke_release(tree->context, tree->leaves.cell);
    yoke_release(tree->context, tree->leaves.level);
    tree->leaves = (fmm_leaves){0};
}
