#include "tune/costs/bench_cubes.h"

#include <math.h>
#include <omp.h>

#include "particles/random.h"
#include "tree/lists.h"
#include "tune/costs/bench_parts.h"
#include "tune/costs/surface.h"

/*
 * The cube has so many particles, if there is room for them, that they do not stay in a core's cache, as in real runs.  Leaves have
 * different sizes, which a processor cannot predict: with a mean of 8 particles they take a sixth longer.
 */
static fmm_cube near_cube(int each)
{
    enum { PARTICLES = 1 << 18, FEWEST_LAYERS = 8 };
    fmm_cube of = {5, each, 32, .varies = 1};
    of.layers = (PARTICLES / each) >> 10;
    if (of.layers >= FEWEST_LAYERS) {
        of.layers = of.layers < 32 ? of.layers : 32;
        return of;
    }
    of.layers = (PARTICLES / each) >> 8;
    if (of.layers >= FEWEST_LAYERS) return (fmm_cube){4, each, of.layers < 16 ? of.layers : 16, .varies = 1};
    return (fmm_cube){3, each, 8, .varies = 1};
}

/*
 * With low orders, real runs have so many cells that the waves of four layers do not stay in a core's cache, which takes a fifth longer.
 * Waves of higher orders do not fit into it at depth 4 either.
 */
static fmm_cube family_cube(int order)
{
    enum { LOW_ORDER = 6 };
    const int depth = order <= LOW_ORDER ? 5 : 4;
    return (fmm_cube){depth, 1, 1 << depth, .lone = 0};
}

/*
 * The least depth at which a full cube has several groups of cells for each thread.  A surface has as many one level deeper.  With high
 * orders real runs have no deeper trees either, and expansions would take 1.4 GB at depth 5.
 */
static int deep_for_threads(int order)
{
    enum { FEW = 2, MANY = 16, HIGH_ORDER = 14 };
    const int threads = omp_get_max_threads();
    return threads <= FEW ? 3 : threads <= MANY || order > HIGH_ORDER ? 4 : 5;
}

/* With low orders the cube has many cells, as in real runs.  With higher orders this would take long. */
static fmm_cube pair_cube(int order)
{
    enum { LOW_ORDER = 5 };
    const int wanted = order <= LOW_ORDER ? 4 : 3, least = deep_for_threads(order), depth = wanted > least ? wanted : least;
    return (fmm_cube){depth, 1, 1 << depth, .lone = 0};
}

static fmm_cube surface_cube(int order)
{
    enum { HIGH_ORDER = 11 };
    const int depth = order < HIGH_ORDER ? 5 : 4, least = deep_for_threads(order) + 1;
    return (fmm_cube){.depth = depth > least ? depth : least, .each = 1, .surface = 1};
}

/* All trees have the same number of particles, as many as real ones.  They are in no order, because particles that are sorted already take
 * less time, and leaves have different sizes, without which they take half as long. */
static fmm_cube tree_cube(int each)
{
    enum { PARTICLES = 1 << 18, WIDE = 32 };
    const int layers = PARTICLES / (WIDE * WIDE * each);
    return (fmm_cube){.depth = 5, .each = each, .layers = layers < 1 ? 1 : layers > WIDE ? WIDE : layers, .varies = 1, .mixed = 1};
}

/* Each second cell has children.  Both trees have as many particles as those of uniform leaves. */
static fmm_cube adaptive_cube(int capacity)
{
    const int depth = capacity == FMM_LOW_CAPACITY ? 5 : 4;
    return (fmm_cube){.depth = depth,
                      .each = 1,
                      .layers = 1 << depth,
                      .varies = 1,
                      .mixed = 1,
                      .capacity = capacity,
                      .many = 3 * capacity,
                      .few = capacity};
}

/* The mean number of particles of a leaf is that of trees that are typically chosen. */
static fmm_cube uneven_cube(void)
{
    return (fmm_cube){.depth = 4, .each = 1, .layers = 16, .mixed = 1, .capacity = FMM_UNEVEN_CAPACITY, .many = 192, .few = 64};
}

fmm_cube fmm_cube_of(fmm_operation operation, int size)
{
    enum { FEW_IN_LEAF = 32 };
    if (operation == FMM_FAMILY) return family_cube(size);
    if (operation == FMM_PAIR) return pair_cube(size);
    if (operation == FMM_SPARSE) return surface_cube(size);
    if (operation == FMM_SORT || operation == FMM_TREE) return tree_cube(size);
    if (operation == FMM_ADAPTIVE) return adaptive_cube(size);
    if (fmm_is_uneven(operation)) return uneven_cube();
    if (fmm_is_near(operation)) return near_cube(size);
    return size > FEW_IN_LEAF ? (fmm_cube){5, size, 11, .lone = 1, .varies = 1} : (fmm_cube){6, size, 22, .lone = 1, .varies = 1};
}

/* ------------------------------------------------------------------------------------------------------ units */

/* Number of leaves along an edge of the cube.  Lone ones lie in the first cell and in each third one after it. */
static int64_t along(fmm_cube of) { return of.lone ? (((int64_t)1 << of.depth) - 1) / 3 + 1 : (int64_t)1 << of.depth; }

/* Number of couples of an adaptive tree: a cell with many particles and one with few. */
static int64_t couples_of(fmm_cube of) { return ((int64_t)1 << 3 * (of.depth - 1)) / 2; }

static int64_t leaves_of(fmm_cube of)
{
    if (of.capacity) return couples_of(of) * (8 + 1);
    if (of.surface) return fmm_surface_count(of.depth).cells;
    return along(of) * along(of) * of.layers;
}

int64_t fmm_cube_particles(fmm_cube of) { return of.capacity ? couples_of(of) * (of.many + of.few) : of.each * leaves_of(of); }

double fmm_bench_leaf_particles(int capacity)
{
    const fmm_cube of = adaptive_cube(capacity);
    return (double)fmm_cube_particles(of) / (double)leaves_of(of);
}

/* Number of pairs of a leaf and itself or one that touches it, in a cube without lone leaves. */
static int64_t touching(fmm_cube of)
{
    const int64_t wide = 3 * along(of) - 2;
    return wide * wide * (3 * of.layers - 2);
}

/* Number of parents of the cells of all levels from 2 on. */
static int64_t families_of(fmm_cube of)
{
    int64_t families = 0;
    for (int l = 2; l <= of.depth; l++) families += (int64_t)1 << 3 * (l - 1);
    return families;
}

double fmm_bench_sources(int size)
{
    const fmm_cube of = fmm_cube_of(FMM_NEAR, size);
    return (double)(size * touching(of)) / (double)leaves_of(of);
}

/*
 * Of two touching cells that differ along an odd number of axes, one has many particles and the other has few.  All other touching cells
 * are of the same kind, half of them of each kind.  All children of a cell with many particles act on a cell with few: as neighbours, or
 * else as cells of W that are summed directly.  If two cells with many particles differ along two axes, two children of each touch.
 */
fmm_bench_pairs fmm_bench_uneven(void)
{
    enum { CHILDREN = 8 };
    const fmm_cube of = uneven_cube();
    const double many_in = of.many, few_in = of.few, child = many_in / CHILDREN;
    const double same = ldexp(1, of.depth - 1), next = same - 1; /* along an axis; unordered pairs that differ along k of three: */
    const double self = same * same * same, by_1 = 3 * same * same * next, by_2 = 3 * same * 2 * next * next, by_3 = 4 * next * next * next;
    const double unlike = by_1 + by_3, many = many_in * (many_in - 1) / 2, few = few_in * (few_in - 1) / 2;
    const double uneven = unlike * many_in * few_in;
    const double of_child =
        self / 2 * (many_in + CHILDREN * (CHILDREN - 1) * child) + unlike * CHILDREN * few_in + by_2 / 2 * 4 * 2 * child;
    const double of_few = self / 2 * few_in + unlike * many_in + by_2 / 2 * 2 * few_in;
    return (fmm_bench_pairs){.particles = (double)fmm_cube_particles(of),
                             .leaves = (double)leaves_of(of),
                             .near = uneven + self / 2 * (many + few) + by_2 / 2 * (4 * child * child + few_in * few_in),
                             .uneven = uneven,
                             .size = {of.many / CHILDREN, of.few},
                             .sources = {of_child, of_few}};
}

/* Number of ordered pairs of cells of a full level that do not touch, but whose parents do. */
static double full_pairs(int level)
{
    const double parents = (double)((int64_t)1 << (level - 1)), around = 4 * (3 * parents - 2), near = 3 * 2 * parents - 2;
    return around * around * around - near * near * near;
}

/* Number of these pairs on all levels.  *batches: number of their batches; NULL is allowed. */
static double pairs_of(fmm_cube of, double *batches)
{
    double pairs = 0, sum = 0;
    for (int l = 2; l <= of.depth; l++) {
        const fmm_surface_counts cut = fmm_surface_count(l);
        const double cells = of.surface ? (double)cut.cells : ldexp(1, 3 * l), far = of.surface ? (double)cut.pairs : full_pairs(l);
        pairs += far;
        sum += of.surface ? (double)cut.batches : fmm_method_batches(cells, far, FMM_FAR_DIRECTIONS);
    }
    if (batches) *batches = sum;
    return pairs;
}

double fmm_bench_batch(fmm_operation operation, int order)
{
    double batches;
    const double pairs = pairs_of(fmm_cube_of(operation, order), &batches);
    return pairs / batches;
}

int64_t fmm_bench_units(fmm_operation operation, int size)
{
    const fmm_cube of = fmm_cube_of(operation, size);
    if (operation == FMM_SORT) return fmm_cube_particles(of);
    if (operation == FMM_TREE || operation == FMM_ADAPTIVE || fmm_is_uneven(operation) || fmm_is_lone(operation)) return leaves_of(of);
    if (fmm_is_near(operation)) return of.each * touching(of);
    if (operation == FMM_TABLES || operation == FMM_WAVES) return 1;
    if (operation == FMM_PAIR || operation == FMM_SPARSE) return (int64_t)pairs_of(of, NULL);
    if (operation == FMM_FAMILY) return families_of(of);
    return fmm_bench_expansions_units(operation, size);
}

/* ------------------------------------------------------------------------------------------------------ places */

/* A point of a Weyl sequence, between 0 and 1.  Steps for coordinates are powers of 1 / g, where g^4 = g + 1: they are far from rational
 * numbers. */
static double part(int64_t i, double step)
{
    const double at = step * (double)(i + 1);
    return at - (double)(int64_t)at;
}

/* The leaf of particle i: an arbitrary one, so that leaves have different sizes, as for random positions; but each has a particle. */
static int64_t leaf_of(int64_t i, int64_t leaves)
{
    uint64_t number = (uint64_t)i;
    return i < leaves ? i : (int64_t)(fmm_random(&number) % (uint64_t)leaves);
}

/* Returns the place of i in an arbitrary order of the numbers 0 ... count - 1. */
static int64_t shuffled(int64_t i, int64_t count)
{
    int bits = 1;
    while ((int64_t)1 << bits < count) bits++;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t k = (uint64_t)i;
    do /* each step maps the numbers below 2^bits one to one */
        for (int round = 0; round < 3; round++) k = (k * 0x9E3779B97F4A7C15u + 0x5851F42Du) & mask, k ^= k >> (bits + 1) / 2;
    while (k >= (uint64_t)count);
    return (int64_t)k;
}

/*
 * Whether the second cell of a couple has many particles, instead of the first one: of each second couple along y and z, or of arbitrary
 * couples, which a processor cannot predict: trees take two fifths longer.  The first and last particle stay at corners of the cube.
 */
static int is_reversed(fmm_cube of, int64_t couple, int64_t y, int64_t z)
{
    const int is_corner = couple == 0 || couple + 1 == couples_of(of);
    return (of.varies && !is_corner ? shuffled(couple, couples_of(of)) : y + z) & 1;
}

/* The child of a cell with many particles that its particle `own` is in. */
static int64_t child_of_many(int64_t couple, int64_t own)
{
    enum { CHILDREN = 8, MOST = 1 << 16 };
    uint64_t number = (uint64_t)(couple * MOST + own);
    return own < CHILDREN ? own : (int64_t)(fmm_random(&number) % CHILDREN);
}

/* Finds the coordinates of the leaf of particle i in a cube of cells with many and with few particles, as if all cells had children. */
static void find_uneven(fmm_cube of, int64_t i, int64_t at[3])
{
    const int64_t cells = (int64_t)1 << (of.depth - 1), both = of.many + of.few, couple = i / both, own = i % both,
                  has_many = own < of.many;
    const int64_t each = of.many / 8, child = of.varies ? child_of_many(couple, own) : own / each;
    const int64_t octant = has_many ? child : (own - of.many) * 8 / of.few;
    const int64_t y = couple / (cells / 2) % cells, z = couple / (cells / 2 * cells),
                  x = couple % (cells / 2) * 2 + (is_reversed(of, couple, y, z) == has_many);
    at[0] = 2 * x + (octant & 1), at[1] = 2 * y + (octant >> 1 & 1), at[2] = 2 * z + (octant >> 2);
}

static void find_leaf(fmm_cube of, int64_t i, int64_t at[3])
{
    const int64_t leaves = along(of), apart = of.lone ? 3 : 1, leaf = of.varies ? leaf_of(i, leaves_of(of)) : i / of.each;
    if (of.capacity)
        find_uneven(of, i, at);
    else
        at[0] = leaf % leaves * apart, at[1] = leaf / leaves % leaves * apart, at[2] = leaf / leaves / leaves * apart;
}

/* Sets particle i to the k-th position, in the cell with coordinates `at`.  side: number of cells along each side. */
static void put(fmm_particles *p, int64_t i, int64_t k, const int64_t at[3], double side)
{
    p->x[i] = ((double)at[0] + part(k, 0.8191725133961645)) / side;
    p->y[i] = ((double)at[1] + part(k, 0.6710436067037893)) / side;
    p->z[i] = ((double)at[2] + part(k, 0.5497004779019703)) / side;
    p->charge[i] = k & 1 ? 1 : -1;
}

/* Places particles in the leaves of the unit cube, and some on its boundary, so that it is the box around them. */
static void place_leaves(fmm_particles *p, fmm_cube of)
{
    const double side = ldexp(1, of.depth);
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t k = of.mixed ? shuffled(i, p->count) : i, is_last = k + 1 == p->count;
        int64_t at[3];
        find_leaf(of, k, at);
        put(p, i, k, at, side);
        if (k == 0) p->x[i] = p->y[i] = p->z[i] = 0;
        if (is_last) p->x[i] = p->y[i] = 1;
        if (is_last && along(of) == of.layers) p->z[i] = 1;
    }
}

/* Places a particle in each cell of a surface.  Those of the two cells in corners are at the corners of the cube, so that it is the box
 * around all. */
static void place_surface(fmm_particles *p, int depth)
{
    const int64_t side = (int64_t)1 << depth;
    int64_t i = 0, at[3];
    for (at[2] = 0; at[2] < side; at[2]++)
        for (at[1] = 0; at[1] < side; at[1]++)
            for (at[0] = 0; at[0] < side; at[0]++) {
                if (!fmm_surface_cuts(depth, at)) continue;
                put(p, i, i, at, (double)side);
                i++;
            }
    p->x[0] = p->y[0] = p->z[0] = 0;
    p->x[i - 1] = p->y[i - 1] = p->z[i - 1] = 1;
}

void fmm_cube_fill(fmm_cube of, fmm_particles *particles)
{
    if (of.surface)
        place_surface(particles, of.depth);
    else
        place_leaves(particles, of);
}
