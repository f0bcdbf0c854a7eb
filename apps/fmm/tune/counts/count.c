#include "tune/counts/count.h"

#include <math.h>

#include "tree/walk.h"

enum { SHARES = 64 };

/* Sums over the cells of each level. */
typedef struct tally {
    int64_t near[FMM_MAX_DEPTH + 1]; /* ordered pairs of particles, including those of a particle with itself */
    int64_t far[FMM_MAX_DEPTH + 1];  /* ordered pairs */
    int64_t y[FMM_MAX_DEPTH + 1], x[FMM_MAX_DEPTH + 1];
    int64_t neighbours[FMM_MAX_DEPTH + 1];                                            /* ordered pairs */
    int64_t sources[FMM_MAX_DEPTH + 1][FMM_SMALL_LEAF + 1], large[FMM_MAX_DEPTH + 1]; /* as in fmm_cell_counts */
    int64_t beside[FMM_MAX_DEPTH + 1];                                                /* as there */
} tally;

/* A subtree that is counted separately. */
typedef struct subtree {
    int level;
    int32_t cell;
} subtree;

typedef struct counter {
    const fmm_tree *tree;
    int32_t largest; /* maximum number of particles of a subtree */
    int64_t num_subtrees;
    subtree *subtrees;
} counter;

/* Number of layers of cells around a cell along one axis, including its own, that are inside the box. */
static int layers(uint32_t at, int level) { return 3 - (at == 0) - (at == (1U << level) - 1); }

/* Number of children of the walk's current cell of level l - 1 and of its neighbours.  For each child of this cell they are the child
 * itself, its neighbours, and its far cells. */
static int64_t count_around(const counter *c, const fmm_walk *walk, int l)
{
    int64_t children = 0;
    if (l < 2) return 0;
    for (int n = 0; n < FMM_NEIGHBOURS; n++) {
        const int32_t near = walk->near[l - 1][n], *child = c->tree->level[l - 1].child;
        if (near >= 0) children += child[near + 1] - child[near];
    }
    return children;
}

/* Counts the walk's current cell.  around: count_around of its parent. */
static void count_cell(const counter *c, const fmm_walk *walk, int l, int64_t around, tally *sum)
{
    const fmm_level *level = &c->tree->level[l];
    int32_t cell = walk->cell[l];
    int64_t particles = 0, neighbours = -1, own = fmm_particles_in(c->tree, l, cell);
    uint32_t at[3];
    for (int n = 0; n < FMM_NEIGHBOURS; n++) {
        int32_t near = walk->near[l][n];
        if (near < 0) continue;
        particles += fmm_particles_in(c->tree, l, near);
        neighbours++;
    }
    fmm_key_coordinates(level->key[cell], at);
    sum->near[l] += own * particles;
    if (own <= FMM_SMALL_LEAF)
        sum->sources[l][own] += particles;
    else
        sum->large[l] += own * particles;
    if (neighbours > 0) sum->beside[l] += own;
    if (l > 1) sum->far[l] += around - (neighbours + 1);
    sum->y[l] += 3 * layers(at[2], l);
    sum->x[l] += 3 * layers(at[2], l) * layers(at[1], l);
    sum->neighbours[l] += neighbours;
}

static void count_subtree(const counter *c, fmm_walk *walk, int l, int64_t around, tally *sum)
{
    count_cell(c, walk, l, around, sum);
    if (l == c->tree->depth) return;
    const int32_t *child = c->tree->level[l].child + walk->cell[l];
    const int64_t below = count_around(c, walk, l + 1);
    for (int32_t k = child[0]; k < child[1]; k++) {
        fmm_walk_down(walk, l + 1, k);
        count_subtree(c, walk, l + 1, below, sum);
    }
}

/* Counts the cells with more particles than a subtree may have, and lists their other children as subtrees. */
static void count_top(counter *c, fmm_walk *walk, int l, int64_t around, tally *sum)
{
    count_cell(c, walk, l, around, sum);
    if (l == c->tree->depth) return;
    const int32_t *child = c->tree->level[l].child + walk->cell[l];
    const int64_t below = count_around(c, walk, l + 1);
    for (int32_t k = child[0]; k < child[1]; k++) {
        if (fmm_particles_in(c->tree, l + 1, k) <= c->largest) {
            c->subtrees[c->num_subtrees++] = (subtree){l + 1, k};
            continue;
        }
        fmm_walk_down(walk, l + 1, k);
        count_top(c, walk, l + 1, below, sum);
    }
}

static void add(tally *sum, const tally *part)
{
    for (int l = 0; l <= FMM_MAX_DEPTH; l++) {
        sum->near[l] += part->near[l];
        sum->far[l] += part->far[l];
        sum->y[l] += part->y[l];
        sum->x[l] += part->x[l];
        sum->neighbours[l] += part->neighbours[l];
        for (int n = 1; n <= FMM_SMALL_LEAF; n++) sum->sources[l][n] += part->sources[l][n];
        sum->large[l] += part->large[l];
        sum->beside[l] += part->beside[l];
    }
}

static void count_all(counter *c, tally *sum)
{
    fmm_walk top;
    fmm_walk_start(&top, c->tree);
    count_top(c, &top, 0, 0, sum);
#pragma omp parallel
    {
        fmm_walk walk;
        tally part = {0};
        fmm_walk_start(&walk, c->tree);
#pragma omp for schedule(dynamic) nowait
        for (int64_t s = 0; s < c->num_subtrees; s++) {
            fmm_walk_to(&walk, c->subtrees[s].level, c->subtrees[s].cell);
            count_subtree(c, &walk, c->subtrees[s].level, count_around(c, &walk, c->subtrees[s].level), &part);
        }
#pragma omp critical(fmm_count)
        add(sum, &part);
    }
}

/* Computes counts [depth + 1] from the sums over cells.  The loops of level l run over the parents on level l - 1. */
static void sum_levels(const fmm_tree *tree, const tally *sum, fmm_counts *counts)
{
    for (int d = 0; d <= tree->depth; d++) {
        fmm_counts now = d > 1 ? counts[d - 1] : (fmm_counts){0};
        if (d > 1) {
            now.parents += tree->level[d - 1].count;
            now.y += sum->y[d - 1];
            now.x += sum->x[d - 1];
            now.neighbours += sum->neighbours[d - 1] / 2;
            now.far += sum->far[d] / 2;
        }
        now.z = 3 * now.parents;
        now.near = (sum->near[d] - tree->count) / 2;
        counts[d] = now;
    }
}

static void sum_cells(const fmm_tree *tree, const tally *sum, fmm_cell_counts *cells)
{
    for (int d = 0; d <= tree->depth; d++) {
        cells[d] = (fmm_cell_counts){.cells = d > 2 ? cells[d - 1].cells + tree->level[d].count : 0,
                                     .leaves = tree->level[d].count,
                                     .beside = sum->beside[d],
                                     .large = sum->large[d]};
        for (int n = 1; n <= FMM_SMALL_LEAF; n++) cells[d].sources[n] = sum->sources[d][n];
    }
}

void fmm_cells_of_size(double size, double pairs, fmm_cell_counts *cells)
{
    for (int n = 0; n <= FMM_SMALL_LEAF; n++) cells->sources[n] = 0;
    cells->large = 0;
    if (size > FMM_SMALL_LEAF) {
        cells->large = llround(pairs);
        return;
    }
    const double sources = pairs / fmax(size, 1);
    const int fewer = size > 1 ? (int)size : 1;
    const double part = size > 1 ? size - fewer : 0;
    cells->sources[fewer] = llround((1 - part) * sources);
    if (part > 0) cells->sources[fewer + 1] = llround(part * sources);
}

yoke_status fmm_count_cells(const fmm_tree *tree, fmm_counts *counts, fmm_cell_counts *cells)
{
    tally sum = {0};
    counter c = {.tree = tree, .largest = (int32_t)(tree->count / SHARES)};
    /* Fewer than SHARES cells of a level have more than `largest` particles, and only their children are subtrees. */
    yoke_status status = yoke_allocate(tree->context, (int64_t)8 * SHARES * (tree->depth + 1), sizeof *c.subtrees, &c.subtrees);
    if (status) return status;
    if (tree->count > 0) count_all(&c, &sum);
    sum_levels(tree, &sum, counts);
    if (cells) sum_cells(tree, &sum, cells);
    yoke_release(tree->context, c.subtrees);
    return YOKE_OK;
}
