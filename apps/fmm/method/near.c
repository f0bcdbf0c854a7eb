/*
 * near.c - the near field: sums over the particles of leaves that touch.
 *
 * The reciprocal distance of two particles serves both.  Each pair of near leaves is therefore visited once: the particles of the larger
 * leaf, or of the first of two equally large ones, are the targets, and those of the other leaves near it are packed together.  The sums of
 * the packed particles are then added to those of their leaves.  A thread thus writes to the sums of other leaves as well, so work is
 * divided into blocks, each of which consists of the children of one cell.  A block writes to its leaves, and to leaves of its level or
 * finer ones in cells at most one cell of its level away.  Blocks of a level whose cells are in the same octant of their parents are far
 * enough from each other to be processed concurrently.  So are blocks of two levels that write to leaves of different levels.  Such blocks
 * form a step, and the steps are taken one after the other.
 *
 * Leaves with a large part of all pairs (a few leaves have most particles, or there are few leaves) are cut into slices of targets instead.
 * A slice visits all sources in the leaf and near it, and writes to its own sums only.
 */
#include "method/batch.h"
#include "method/parts.h"
#include "method/turns.h"

enum {
    SLICE = 256,     /* targets of a slice */
    SMALL_PART = 256 /* a leaf with more than 1 / SMALL_PART of all ordered pairs is cut into slices */
};

/* ------------------------------------------------------------------------------------------------- the work */

static bool large(const fmm_method *m, int64_t leaf) { return m->slices > 0 && m->is_large[leaf]; }

/* The leaves first ... last - 1, whose sums are requested. */
typedef struct range {
    int64_t first, last;
} range;

static bool within(range r, int64_t leaf) { return leaf >= r.first && leaf < r.last; }

/* Whether a leaf, which is not large, and the leaf `near` are summed once for both. */
static bool meets(const fmm_method *m, range r, int64_t near) { return within(r, near) && !large(m, near); }

/* Whether two leaves that meet are summed with the first one's targets: those of the larger leaf, or else of the earlier one. */
static bool leads(const fmm_method *m, int64_t leaf, int64_t near)
{
    const unsigned char *level = m->tree->leaves.level;
    return level[leaf] < level[near] || (level[leaf] == level[near] && leaf < near);
}

/* Sums all sources for a slice of targets of a large leaf. */
static void sum_slice(const fmm_method *m, const fmm_slice *slice, fmm_batch *b)
{
    const int64_t end = m->tree->leaves.particle[slice->leaf + 1];
    fmm_batch_begin(b, m, slice->leaf, slice->first, end - slice->first < SLICE ? end - slice->first : SLICE);
    fmm_batch_add(b, slice->leaf);
    for (int64_t n = m->near.start[slice->leaf]; n < m->near.start[slice->leaf + 1]; n++) fmm_batch_add(b, m->near.cell[n]);
    fmm_batch_meet(b);
}

/* A leaf that is not large: first the leaf itself and the neighbours that are summed for this leaf alone, then those that are summed for
 * both. */
static void sum_leaf(const fmm_method *m, range r, int64_t leaf, fmm_batch *b)
{
    const int32_t *particle = m->tree->leaves.particle, *near = m->near.cell;
    fmm_batch_begin(b, m, leaf, particle[leaf], particle[leaf + 1] - particle[leaf]);
    fmm_batch_add(b, leaf);
    for (int64_t n = m->near.start[leaf]; n < m->near.start[leaf + 1]; n++)
        if (!meets(m, r, near[n])) fmm_batch_add(b, near[n]);
    fmm_batch_meet(b);
    b->mutual = true;
    for (int64_t n = m->near.start[leaf]; n < m->near.start[leaf + 1]; n++)
        if (meets(m, r, near[n]) && leads(m, leaf, near[n])) fmm_batch_add(b, near[n]);
    fmm_batch_meet(b);
}

static void sum_block(const fmm_method *m, range r, const fmm_siblings *block, fmm_batch *b)
{
    for (int32_t c = block->first; c < block->last; c++) {
        int64_t leaf = m->tree->level[block->level].leaf[c];
        if (fmm_is_leaf(m->tree, block->level, c) && within(r, leaf) && !large(m, leaf)) sum_leaf(m, r, leaf, b);
    }
}

void fmm_pass_near(fmm_method *m, int threads, int64_t first, int64_t last)
{
    const range r = {first, last};
    fmm_loops loops;
    fmm_loops_begin(&loops, m->tree->count, m->stop, threads);
    if (m->is_single) fmm_rounded_fill(m, threads);
#pragma omp parallel num_threads(threads)
    {
        fmm_batch b;
        fmm_batch_start(&b);
#pragma omp for schedule(dynamic)
        for (int64_t s = 0; s < m->slices; s++)
            if (within(r, m->slice[s].leaf) && !fmm_stops(m->stop)) sum_slice(m, &m->slice[s], &b);
        for (int step = 0; step < FMM_NEAR_STEPS; step++) {
            int64_t i, end;
            if (m->first_block[step] == m->first_block[step + 1]) continue;
            fmm_turns turns = fmm_turns_of_siblings(&loops, step, m->block, m->first_block[step], m->first_block[step + 1]);
            while (fmm_turns_next(&turns, 1, &i, &end)) sum_block(m, r, &m->block[i], &b);
#pragma omp barrier
        }
    }
}

/* ---------------------------------------------------------------------------------------------- planning */

/* Ordered pairs of the particles of a leaf with those of the leaf and the leaves near it. */
static int64_t pairs_of(const fmm_method *m, int64_t leaf) { return fmm_particles_of(m, leaf) * (m->around[leaf] - 1); }

static yoke_status cut_into_slices(fmm_method *m)
{
    const fmm_leaves *leaves = &m->tree->leaves;
    int64_t count = 0;
    yoke_status status = yoke_allocate_untouched(m->context, leaves->count, sizeof *m->is_large, &m->is_large);
    if (status) return status;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (int64_t c = 0; c < leaves->count; c++) {
        m->is_large[c] = pairs_of(m, c) > m->pairs.near / SMALL_PART;
        if (m->is_large[c]) count += (fmm_particles_of(m, c) + SLICE - 1) / SLICE;
    }
    if (count == 0) return YOKE_OK;
    status = yoke_allocate(m->context, count, sizeof *m->slice, &m->slice);
    for (int64_t c = 0; c < leaves->count && !status; c++)
        for (int64_t first = leaves->particle[c]; first < leaves->particle[c + 1] && m->is_large[c]; first += SLICE)
            m->slice[m->slices++] = (fmm_slice){(int32_t)c, (int32_t)first};
    return status;
}

/* Sets *block to the children of a cell.  Returns false if none of them is a leaf. */
static bool block_of(const fmm_tree *tree, int level, int64_t parent, fmm_siblings *block)
{
    if (fmm_is_leaf(tree, level, parent)) return false;
    const int32_t *child = tree->level[level].child + parent;
    *block = (fmm_siblings){level + 1, child[0], child[1], tree->level[level].particle[parent]};
    for (int32_t c = child[0]; c < child[1]; c++)
        if (fmm_is_leaf(tree, level + 1, c)) return true;
    return false;
}

/*
 * Divides the levels among groups: a block with leaves of level l writes to leaves of the levels l ... finest[l], which must not overlap
 * with those of another level of its group.  Blocks of these levels can then be processed concurrently.
 */
static void group_levels(const fmm_tree *tree, const int finest[FMM_MAX_DEPTH + 1], int group[FMM_MAX_DEPTH + 1])
{
    int reached[FMM_MAX_DEPTH + 1], groups = 0; /* the finest level that a group writes to */
    for (int l = 0; l <= tree->depth; l++) {
        int g = 0;
        while (g < groups && reached[g] >= l) g++;
        if (g == groups) groups++;
        reached[g] = finest[l];
        group[l] = g;
    }
}

/* For each level the finest level of leaves that are near its leaves, or the level itself. */
static void find_finest(const fmm_method *m, int finest[FMM_MAX_DEPTH + 1])
{
    const unsigned char *level = m->tree->leaves.level;
    for (int l = 0; l <= FMM_MAX_DEPTH; l++) finest[l] = l;
    if (m->tree->coarsest == m->tree->depth) return; /* all leaves are on the same level */
#pragma omp parallel for schedule(static) reduction(max : finest[:FMM_MAX_DEPTH + 1])
    for (int64_t leaf = 0; leaf < m->tree->leaves.count; leaf++)
        for (int64_t n = m->near.start[leaf]; n < m->near.start[leaf + 1]; n++)
            if (level[m->near.cell[n]] > finest[level[leaf]]) finest[level[leaf]] = level[m->near.cell[n]];
}

/* The step of the block that consists of a cell's children. */
static int step_of(const fmm_tree *tree, const int *group, int level, int32_t parent)
{
    return 8 * group[level + 1] + fmm_octant(&tree->level[level], parent);
}

/* Writes the blocks in a cell, in the order of their particles: blocks of a step from next[step] on. */
static void write_blocks(fmm_method *m, const int *group, int level, int32_t cell, int64_t next[FMM_NEAR_STEPS])
{
    const fmm_level *cells = &m->tree->level[level];
    fmm_siblings block;
    if (fmm_is_leaf(m->tree, level, cell)) return;
    if (block_of(m->tree, level, cell, &block)) m->block[next[step_of(m->tree, group, level, cell)]++] = block;
    for (int32_t c = cells->child[cell]; c < cells->child[cell + 1]; c++) write_blocks(m, group, level + 1, c, next);
}

/* Counts the blocks of each step. */
static void count_blocks(const fmm_tree *tree, const int *group, int64_t count[FMM_NEAR_STEPS])
{
#pragma omp parallel reduction(+ : count[:FMM_NEAR_STEPS])
    for (int l = 0; l < tree->depth; l++) {
#pragma omp for schedule(static) nowait
        for (int32_t p = 0; p < tree->level[l].count; p++) {
            fmm_siblings block;
            if (block_of(tree, l, p, &block)) count[step_of(tree, group, l, p)]++;
        }
    }
}

/* Sorts blocks by steps.  A tree of depth 0 has one block, its root. */
static yoke_status sort_blocks(fmm_method *m)
{
    const fmm_tree *tree = m->tree;
    int64_t next[FMM_NEAR_STEPS], count = tree->depth == 0 ? tree->count > 0 : 0;
    int finest[FMM_MAX_DEPTH + 1], group[FMM_MAX_DEPTH + 1];
    find_finest(m, finest);
    group_levels(tree, finest, group);
    m->first_block[1] = count;
    count_blocks(tree, group, m->first_block + 1);
    for (int step = 0; step < FMM_NEAR_STEPS; step++) {
        m->first_block[step + 1] += m->first_block[step];
        next[step] = m->first_block[step];
    }
    yoke_status status = yoke_allocate(m->context, m->first_block[FMM_NEAR_STEPS], sizeof *m->block, &m->block);
    if (status) return status;
    if (count > 0)
        m->block[0] = (fmm_siblings){0, 0, 1, 0};
    else if (tree->count > 0)
        write_blocks(m, group, 0, 0, next);
    return YOKE_OK;
}

static int64_t particles_around(const fmm_method *m, int64_t leaf)
{
    int64_t count = fmm_particles_of(m, leaf);
    for (int64_t n = m->near.start[leaf]; n < m->near.start[leaf + 1]; n++) count += fmm_particles_of(m, m->near.cell[n]);
    return count;
}

/* Number of pairs of a particle of a leaf and a cell of its list W. */
static int64_t w_pairs_of(const fmm_method *m, int64_t leaf)
{
    return fmm_particles_of(m, leaf) * (m->w.start[leaf + 1] - m->w.start[leaf]);
}

static yoke_status count_pairs(fmm_method *m)
{
    int64_t pairs = 0, w_pairs = 0;
    yoke_status status = yoke_allocate_untouched(m->context, m->tree->leaves.count, sizeof *m->around, &m->around);
    if (status) return status;
#pragma omp parallel for schedule(static) reduction(+ : pairs, w_pairs)
    for (int64_t c = 0; c < m->tree->leaves.count; c++) {
        m->around[c] = (int32_t)particles_around(m, c);
        pairs += pairs_of(m, c);
        w_pairs += w_pairs_of(m, c);
    }
    m->pairs.near = pairs;
    m->pairs.w = w_pairs;
    return YOKE_OK;
}

yoke_status fmm_near_plan(fmm_method *m)
{
    yoke_status status = count_pairs(m);
    if (!status) status = cut_into_slices(m);
    return status ? status : sort_blocks(m);
}
