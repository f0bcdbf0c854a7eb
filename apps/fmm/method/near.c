/*
 * near.c - the near field: sums over the particles of leaves that touch.
 *
 * The reciprocal distance of two particles serves both.  Each pair of touching leaves is therefore visited once, by the thread that
 * processes the first of the two: the particles of this leaf are the targets, and those of its later neighbours are packed together.  The
 * sums of the packed particles are then added to those of their leaves.  A thread thus writes to the sums of other leaves as well, so work
 * is divided into blocks, each of which consists of the children of one cell.  A block writes to leaves at most one cell away.  Blocks
 * whose cells are in the same octant of their parents are far enough from each other to be processed concurrently.  The octants are
 * processed one after the other.
 *
 * Pairs of leaves of different levels, and pairs with leaves of direct cells of W and X, are summed separately in each direction, when the
 * target is processed.
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
static bool meets(const fmm_method *m, range r, int64_t leaf, int64_t near)
{
    return within(r, near) && !large(m, near) && m->tree->leaves.level[near] == m->tree->leaves.level[leaf];
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
        if (!meets(m, r, leaf, near[n])) fmm_batch_add(b, near[n]);
    fmm_batch_meet(b);
    b->mutual = true;
    for (int64_t n = m->near.start[leaf]; n < m->near.start[leaf + 1]; n++)
        if (near[n] > leaf && meets(m, r, leaf, near[n])) fmm_batch_add(b, near[n]);
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
    fmm_loops loops = {.particles = m->tree->count};
    if (m->is_single) fmm_rounded_fill(m, threads);
#pragma omp parallel num_threads(threads)
    {
        fmm_batch b;
        fmm_batch_start(&b);
#pragma omp for schedule(dynamic)
        for (int64_t s = 0; s < m->slices; s++)
            if (within(r, m->slice[s].leaf)) sum_slice(m, &m->slice[s], &b);
        for (int octant = 0; octant < 8; octant++) {
            int64_t i, end;
            fmm_turns turns = fmm_turns_of_siblings(&loops, octant, m->block, m->first_block[octant], m->first_block[octant + 1]);
            while (fmm_turns_next(&turns, 1, &i, &end)) sum_block(m, r, &m->block[i], &b);
#pragma omp barrier
        }
    }
}

/* ---------------------------------------------------------------------------------------------- planning */

/* Ordered pairs of the particles of a leaf with those of the leaf and the leaves near it. */
static int64_t pairs_of(const fmm_method *m, int64_t leaf)
{
    const int32_t *particle = m->tree->leaves.particle;
    int64_t targets = particle[leaf + 1] - particle[leaf], sources = targets - 1;
    for (int64_t n = m->near.start[leaf]; n < m->near.start[leaf + 1]; n++)
        sources += particle[m->near.cell[n] + 1] - particle[m->near.cell[n]];
    return targets * sources;
}

static yoke_status cut_into_slices(fmm_method *m)
{
    const fmm_leaves *leaves = &m->tree->leaves;
    int64_t count = 0;
    yoke_status status = yoke_allocate(m->context, leaves->count, sizeof *m->is_large, &m->is_large);
    if (status) return status;
    for (int64_t c = 0; c < leaves->count; c++) {
        m->is_large[c] = pairs_of(m, c) > m->pairs.near / SMALL_PART;
        if (m->is_large[c]) count += (leaves->particle[c + 1] - leaves->particle[c] + SLICE - 1) / SLICE;
    }
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

/* Writes the blocks in a cell, in the order of their particles: blocks of octant o from next[o] on. */
static void write_blocks(fmm_method *m, int level, int32_t cell, int64_t next[8])
{
    const fmm_level *cells = &m->tree->level[level];
    fmm_siblings block;
    if (fmm_is_leaf(m->tree, level, cell)) return;
    if (block_of(m->tree, level, cell, &block)) m->block[next[fmm_octant(cells, cell)]++] = block;
    for (int32_t c = cells->child[cell]; c < cells->child[cell + 1]; c++) write_blocks(m, level + 1, c, next);
}

/* Sorts blocks by the octants of their cells.  A tree of depth 0 has one block, its root. */
static yoke_status sort_blocks(fmm_method *m)
{
    const fmm_tree *tree = m->tree;
    int64_t next[8], count = tree->depth == 0 ? tree->count > 0 : 0;
    fmm_siblings block = {0, 0, 1, 0};
    m->first_block[1] = count;
    for (int l = 0; l < tree->depth; l++)
        for (int64_t p = 0; p < tree->level[l].count; p++)
            if (block_of(tree, l, p, &block)) m->first_block[fmm_octant(&tree->level[l], (int32_t)p) + 1]++;
    for (int octant = 0; octant < 8; octant++) {
        m->first_block[octant + 1] += m->first_block[octant];
        next[octant] = m->first_block[octant];
    }
    yoke_status status = yoke_allocate(m->context, m->first_block[8], sizeof *m->block, &m->block);
    if (status) return status;
    if (count > 0)
        m->block[0] = block;
    else if (tree->count > 0)
        write_blocks(m, 0, 0, next);
    return YOKE_OK;
}

/* Number of pairs of a particle of a leaf and a cell of its list W. */
static int64_t w_pairs_of(const fmm_method *m, int64_t leaf)
{
    const int32_t *particle = m->tree->leaves.particle;
    return (particle[leaf + 1] - particle[leaf]) * (m->w.start[leaf + 1] - m->w.start[leaf]);
}

yoke_status fmm_near_plan(fmm_method *m)
{
    int64_t pairs = 0, w_pairs = 0;
#pragma omp parallel for schedule(static) reduction(+ : pairs, w_pairs)
    for (int64_t c = 0; c < m->tree->leaves.count; c++) {
        pairs += pairs_of(m, c);
        w_pairs += w_pairs_of(m, c);
    }
    m->pairs.near = pairs;
    m->pairs.w = w_pairs;
    yoke_status status = cut_into_slices(m);
    return status ? status : sort_blocks(m);
}
