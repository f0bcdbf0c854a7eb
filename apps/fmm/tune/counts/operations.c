#include "tune/counts/operations.h"

#include <stdbool.h>

#include "tree/lists.h"
#include "tree/walk.h"

enum { CHUNK = 16 }; /* number of parents that a thread processes at a time */

/* Counts by level and by K.  A number that is added at K belongs to the capacities 0 ... K - 1. */
typedef int64_t histogram[FMM_MAX_DEPTH + 1][FMM_MAX_CAPACITIES + 1];

/* The directions of far pairs of a level, and their number (lists.h).  Of two opposite directions only one is included. */
typedef struct direction_set {
    int count;
    unsigned char has[FMM_DIRECTIONS];
    fmm_octant_pairs known[FMM_NEIGHBOURS]; /* pairs with each neighbour whose directions are included */
} direction_set;

typedef struct tally {
    histogram cells, leaves, particles, far, w, w_particles;
    int64_t uneven[FMM_MAX_CAPACITIES + 1];
    int64_t sources[FMM_SMALL_LEAF + 1][FMM_MAX_CAPACITIES + 1]; /* [0]: pairs of larger leaves */
} tally;

typedef struct counter {
    const fmm_tree *tree;
    int num_capacities;
    const int64_t *capacities;
    int64_t direct;
    const unsigned char *split[FMM_MAX_DEPTH + 1]; /* [cells] number of capacities at which a cell is split: the first ones */
    tally *sum;
    direction_set *directions; /* [FMM_MAX_DEPTH + 1] */
} counter;

/* Adds for the capacities first ... last - 1. */
static void add(int64_t *at, int first, int last, int64_t value)
{
    const int64_t some = first < last ? value : 0; /* a branch would often be mispredicted */
    at[last] += some;
    at[first] -= some;
}

static int splits(const counter *c, int level, int32_t cell) { return c->split[level][cell]; }

/* Adds the sources of a leaf with `own` particles. */
static void add_sources(tally *sum, int first, int last, int64_t own, int64_t sources)
{
    const bool small = own <= FMM_SMALL_LEAF;
    add(sum->sources[small ? own : 0], first, last, small ? sources : own * sources);
}

/* Adds the pairs of two leaves near each other, with a and b particles. */
static void add_near(tally *sum, int first, int last, int64_t a, int64_t b)
{
    add_sources(sum, first, last, a, b);
    add_sources(sum, first, last, b, a);
}

static int least(int a, int b) { return a < b ? a : b; }
static int largest(int a, int b) { return a > b ? a : b; }

/* A leaf whose pairs with the cells below a touching cell are counted. */
typedef struct one_side {
    const counter *counter;
    int level;
    int64_t particles;
} one_side;

/* Counts the pairs of the leaf with a cell or the cells below it, for the capacities first ... last - 1.  at: position of the cell
 * relative to the leaf's first cell of this level, in cells. */
static void descend(const one_side *side, int level, int32_t cell, const int64_t at[3], int first, int last)
{
    const counter *c = side->counter;
    tally *sum = c->sum;
    const fmm_level *cells = &c->tree->level[level];
    int64_t particles = fmm_particles_in(c->tree, level, cell);
    if (!fmm_touches_from(at, level - side->level)) {
        if (particles <= c->direct) {
            add_near(sum, first, last, side->particles, particles);
            add(sum->uneven, first, last, side->particles * particles);
            return;
        }
        add(sum->w[level], first, last, 1);
        add(sum->w_particles[level], first, last, side->particles);
        return;
    }
    int split = splits(c, level, cell);
    add(sum->uneven, largest(first, split), last, side->particles * particles);
    add_near(sum, largest(first, split), last, side->particles, particles);
    last = least(last, split);
    if (first >= last) return;
    for (int32_t k = cells->child[cell]; k < cells->child[cell + 1]; k++) {
        unsigned octant = (unsigned)fmm_octant(&c->tree->level[level + 1], k);
        const int64_t below[3] = {2 * at[0] + (octant & 1), 2 * at[1] + (octant >> 1 & 1), 2 * at[2] + (octant >> 2)};
        descend(side, level + 1, k, below, first, last);
    }
}

/* Adds the directions of pairs with neighbour n. */
static void find_directions(direction_set *set, int n, fmm_octant_pairs pairs)
{
    const int parents = FMM_NO_DIRECTION + fmm_neighbour_offset(n);
    for (int k = 0; k < 64; k++) {
        if (!(pairs >> k & 1)) continue;
        const int d = parents + fmm_octant_offset(k % 8) - fmm_octant_offset(k / 8),
                  one = d > FMM_NO_DIRECTION ? d : FMM_DIRECTIONS - 1 - d;
        set->count += !set->has[one];
        set->has[one] = 1;
    }
    set->known[n] |= pairs;
}

/* Number of pairs of a child of cell a and a child of cell b, its neighbour n, that do not touch.  Adds their directions. */
static int64_t far_children(const counter *c, const fmm_walk *walk, int level, int32_t a, int32_t b, int n)
{
    const unsigned char *octants = c->tree->level[level].octants;
    const fmm_octant_pairs far = fmm_pair_octants(octants[a], octants[b]) & walk->separated[n];
    direction_set *set = &c->directions[level + 1];
    if (far & ~set->known[n]) find_directions(set, n, far);
    return fmm_count_octant_pairs(far);
}

static void add_directions(direction_set *sum, const direction_set *part)
{
    for (int d = 0; d < FMM_DIRECTIONS; d++) {
        sum->count += part->has[d] && !sum->has[d];
        sum->has[d] |= part->has[d];
    }
}

/* Counts the pairs of `leaf` with the cells below its neighbour n, `split`, at capacities first ... last - 1, at which the former is a
 * leaf and the latter is split. */
static void count_one_side(const counter *c, int level, int32_t leaf, int32_t split, int n, int first, int last)
{
    if (first >= last) return;
    const one_side side = {.counter = c, .level = level, .particles = fmm_particles_in(c->tree, level, leaf)};
    descend(&side, level, split, (const int64_t[3]){n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}, first, last);
}

/* Counts the pairs of two cells that touch.  b is the neighbour n of a; both exist at the first `there` capacities. */
static void count_pair(const counter *c, const fmm_walk *walk, int level, int32_t a, int32_t b, int n, int there)
{
    const int split_a = splits(c, level, a), split_b = splits(c, level, b), split_both = least(least(split_a, split_b), there);
    if (split_both > 0) add(c->sum->far[level + 1], 0, split_both, far_children(c, walk, level, a, b, n));
    add_near(c->sum, largest(split_a, split_b), there, fmm_particles_in(c->tree, level, a), fmm_particles_in(c->tree, level, b));
    count_one_side(c, level, a, b, n, split_a, least(split_b, there));
    count_one_side(c, level, b, a, FMM_NEIGHBOURS - 1 - n, split_b, least(split_a, there));
}

/* Counts the pairs of children of the walk's current cell of level - 1 that touch, and those with children of its neighbours on one side:
 * the others are counted from their side. */
static void count_pairs(const counter *c, const fmm_walk *walk, int level)
{
    static const fmm_octant_pairs later = UINT64_C(0x0080C0E0F0F8FCFE); /* byte t: the octants after t */
    const fmm_level *above = &c->tree->level[level - 1];
    const int32_t parent = walk->cell[level - 1];
    for (int n = FMM_SELF; n < FMM_NEIGHBOURS; n++) {
        const int32_t near = walk->near[level - 1][n];
        const int there = near < 0 ? 0 : least(splits(c, level - 1, parent), splits(c, level - 1, near));
        if (there == 0) continue;
        const uint64_t own = fmm_octant_ranks(above->octants[parent]), others = fmm_octant_ranks(above->octants[near]);
        fmm_octant_pairs touching = fmm_pair_octants(above->octants[parent], above->octants[near]) & ~walk->separated[n];
        if (n == FMM_SELF) touching &= later;
        for (; touching; touching &= touching - 1) {
            const int pair = __builtin_ctzll(touching), octant = pair / 8, other = pair % 8;
            const int32_t a = above->child[parent] + (int32_t)(own >> 8 * octant & 0xFF),
                          b = above->child[near] + (int32_t)(others >> 8 * other & 0xFF);
            count_pair(c, walk, level, a, b, fmm_neighbour_of_child(n, octant, other), there);
        }
    }
}

/* Counts a cell that exists at the first `there` capacities. */
static void count_cell(const counter *c, int level, int32_t cell, int there)
{
    tally *sum = c->sum;
    const int split = splits(c, level, cell);
    const int64_t particles = fmm_particles_in(c->tree, level, cell);
    add(sum->cells[level], 0, there, 1);
    add(sum->leaves[level], split, there, 1);
    add(sum->particles[level], split, there, particles);
    add_sources(sum, split, there, particles, particles);
}

static void add_tally(tally *sum, const tally *part)
{
    int64_t *to = (int64_t *)sum;
    const int64_t *from = (const int64_t *)part;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) to[i] += from[i];
}

static void count_children(const counter *c, fmm_walk *walk, int level, int32_t parent)
{
    const int32_t *child = c->tree->level[level - 1].child + parent;
    const int there = splits(c, level - 1, parent);
    if (there == 0) return;
    for (int32_t cell = child[0]; cell < child[1]; cell++) count_cell(c, level, cell, there);
    fmm_walk_to(walk, level - 1, parent);
    count_pairs(c, walk, level);
}

static void count_cells(const counter *c)
{
    count_cell(c, 0, 0, c->num_capacities);
#pragma omp parallel
    {
        tally sum = {0};
        direction_set directions[FMM_MAX_DEPTH + 1] = {{0}};
        counter own = *c;
        fmm_walk walk;
        own.sum = &sum;
        own.directions = directions;
        fmm_walk_start(&walk, c->tree);
        for (int l = 1; l <= c->tree->depth; l++) {
#pragma omp for schedule(dynamic, CHUNK) nowait
            for (int64_t parent = 0; parent < c->tree->level[l - 1].count; parent++) count_children(&own, &walk, l, (int32_t)parent);
        }
#pragma omp critical(fmm_count_operations)
        {
            add_tally(c->sum, &sum);
            for (int l = 0; l <= FMM_MAX_DEPTH; l++) add_directions(&c->directions[l], &directions[l]);
        }
    }
}

static unsigned char count_splits(const counter *c, int level, int32_t cell)
{
    if (fmm_is_leaf(c->tree, level, cell)) return 0;
    const int64_t particles = fmm_particles_in(c->tree, level, cell);
    int k = 0;
    while (k < c->num_capacities && c->capacities[k] < particles) k++;
    return (unsigned char)k;
}

/* Sets c->split, in the array `splits`, which has a byte for each cell of all levels. */
static void fill_splits(counter *c, unsigned char *splits)
{
    for (int l = 0; l <= c->tree->depth; splits += c->tree->level[l++].count) {
        unsigned char *level = splits;
        c->split[l] = level;
#pragma omp parallel for schedule(static)
        for (int64_t cell = 0; cell < c->tree->level[l].count; cell++) level[cell] = count_splits(c, l, (int32_t)cell);
    }
}

static int64_t at_capacity(const int64_t *at, int capacity)
{
    int64_t sum = 0;
    for (int k = capacity + 1; k <= FMM_MAX_CAPACITIES; k++) sum += at[k];
    return sum;
}

/* Sets the sources, and the pairs: all sources act on all particles of a leaf, which are sources themselves. */
static void sum_near(const tally *sum, int64_t particles, int k, fmm_operations *operations)
{
    operations->large = at_capacity(sum->sources[0], k);
    int64_t ordered = operations->large;
    for (int n = 1; n <= FMM_SMALL_LEAF; n++) {
        operations->sources[n] = at_capacity(sum->sources[n], k);
        ordered += n * operations->sources[n];
    }
    operations->near = (ordered - particles) / 2;
}

static void sum_capacity(const tally *sum, int64_t particles, const direction_set *directions, int k, fmm_operations *operations)
{
    *operations = (fmm_operations){.uneven = at_capacity(sum->uneven, k)};
    sum_near(sum, particles, k, operations);
    for (int l = 0; l <= FMM_MAX_DEPTH; l++) {
        operations->level[l] = (fmm_level_operations){
            .cells = at_capacity(sum->cells[l], k),
            .leaves = at_capacity(sum->leaves[l], k),
            .particles = at_capacity(sum->particles[l], k),
            .far = at_capacity(sum->far[l], k),
            .directions = directions[l].count,
            .w = at_capacity(sum->w[l], k),
            .w_particles = at_capacity(sum->w_particles[l], k),
        };
        operations->leaves += operations->level[l].leaves;
        if (operations->level[l].cells > 0) operations->depth = l;
    }
}

/* The largest number of particles of a leaf above the deepest level. */
static int64_t largest_leaf(const fmm_tree *tree)
{
    int64_t most = 0;
    for (int64_t i = 0; i < tree->leaves.count; i++)
        if (tree->leaves.level[i] < tree->depth && tree->leaves.particle[i + 1] - tree->leaves.particle[i] > most)
            most = tree->leaves.particle[i + 1] - tree->leaves.particle[i];
    return most;
}

yoke_status fmm_count_operations(const fmm_tree *tree, int64_t direct, int num_capacities, const int64_t *capacities,
                                 fmm_operations *operations)
{
    tally sum = {0};
    direction_set directions[FMM_MAX_DEPTH + 1] = {{0}};
    if (num_capacities < 1 || num_capacities > FMM_MAX_CAPACITIES)
        return yoke_fail(tree->context, YOKE_ERROR_ARGUMENT, "%d capacities; 1 to %d can be counted at once", num_capacities,
                         FMM_MAX_CAPACITIES);
    for (int k = 0; k < num_capacities; k++)
        if (capacities[k] < 1 || (k > 0 && capacities[k] <= capacities[k - 1]))
            return yoke_fail(tree->context, YOKE_ERROR_ARGUMENT, "capacity %d is %lld; they must be positive and ascend", k + 1,
                             (long long)capacities[k]);
    if (largest_leaf(tree) > capacities[0])
        return yoke_fail(tree->context, YOKE_ERROR_ARGUMENT,
                         "leaves of at most %lld particles in a tree with a leaf of %lld; make a finer tree", (long long)capacities[0],
                         (long long)largest_leaf(tree));
    counter c = {
        .tree = tree, .num_capacities = num_capacities, .capacities = capacities, .direct = direct, .sum = &sum, .directions = directions};
    int64_t cells = 0;
    unsigned char *splits = NULL;
    for (int l = 0; l <= tree->depth; l++) cells += tree->level[l].count;
    yoke_status status = yoke_allocate_untouched(tree->context, cells, sizeof *splits, &splits);
    if (status) return status;
    fill_splits(&c, splits);
    if (tree->count > 0) count_cells(&c);
    yoke_release(tree->context, splits);
    for (int k = 0; k < num_capacities; k++) sum_capacity(&sum, tree->count, directions, k, &operations[k]);
    return YOKE_OK;
}
