/*
 * machine_table.c - finds the costs at all sizes and orders from those that were measured.
 */
#include <math.h>

#include "expansion/waves.h"
#include "tune/costs/machine_parts.h"

enum { TREE_SIZES = 2, NEAR_SIZES = 12, ORDERS = FMM_MEASURED_ORDERS }; /* as in fmm_measured_sizes */

/* Finds a and b of y = a x + b from two points with y > 0.  Both are limited so that neither is negative.  They are NaN if y is NaN at a
 * point. */
static void line(double x0, double y0, double x1, double y1, double *a, double *b)
{
    *a = *b = NAN;
    if (isnan(y0) || isnan(y1)) return;
    *a = fmin(fmax((y1 - y0) / (x1 - x0), 0), y1 / x1);
    *b = fmax(y1 - *a * x1, 0);
}

/* Gets the seconds [sizes] of a unit at all sizes of an operation; NaN: not measured. */
static void get_measured(const fmm_machine *m, fmm_operation operation, double *seconds)
{
    const int *sizes;
    const int count = fmm_measured_sizes(operation, &sizes);
    for (int k = 0; k < count; k++) seconds[k] = m->unit[operation][k] > 0 ? m->unit[operation][k] : NAN;
}

/*
 * Limits each time to that of the next larger size.  A larger size does not take less time, so if a time is longer than the next one, it
 * was measured while other programs used the cores.
 */
static void limit_by_next(int count, double *seconds)
{
    double next = INFINITY;
    for (int k = count - 1; k >= 0; k--)
        if (!isnan(seconds[k])) seconds[k] = next = fmin(seconds[k], next);
}

static void get_sizes(const fmm_machine *m, fmm_operation operation, double *seconds)
{
    const int *sizes;
    get_measured(m, operation, seconds);
    limit_by_next(fmm_measured_sizes(operation, &sizes), seconds);
}

static void find_trees(fmm_machine *m)
{
    double leaf[TREE_SIZES];
    const int *sizes;
    get_measured(m, FMM_SORT, &m->sort);
    (void)fmm_measured_sizes(FMM_TREE, &sizes);
    get_sizes(m, FMM_TREE, leaf);
    line(sizes[0], leaf[0], sizes[1], leaf[1], &m->tree_particle, &m->tree_leaf);
    get_sizes(m, FMM_ADAPTIVE, leaf);
    line(fmm_bench_leaf_particles(FMM_LOW_CAPACITY), leaf[0], fmm_bench_leaf_particles(FMM_HIGH_CAPACITY), leaf[1], &m->adaptive_particle,
         &m->adaptive_leaf);
}

/* full [NEAR_SIZES]: time of a leaf in a full cube in one precision, with all sources in and around it. */
static void get_full(const fmm_machine *m, fmm_operation operation, double full[NEAR_SIZES])
{
    const int *sizes;
    (void)fmm_measured_sizes(FMM_NEAR, &sizes);
    get_measured(m, operation, full);
    for (int k = 0; k < NEAR_SIZES; k++) full[k] *= fmm_bench_sources(sizes[k]);
    limit_by_next(NEAR_SIZES, full);
}

/*
 * Finds the costs of leaves and particles other than those for their sources.  A lone leaf has only its own particles as sources, whereas a
 * leaf of the same size in a full cube has many sources, and sums of its particles are begun and ended twice: for its own particles and
 * for those around it.  With n particles and s sources in all, and costs a of a leaf, b of a particle and c of a source, the times are
 * a + b n + c n and a + 2 b n + c s.  Without c, the former is a + b n (1 - n / (s - n)).
 * The costs of a leaf and of a particle are limited to a part of the time of leaves in full cubes: if more is measured, other programs
 * disturbed the measurement, and pairs would seem to take no time.
 */
static void find_leaves_alone(const fmm_machine *m, fmm_operation lone, const double full[NEAR_SIZES], fmm_pair_costs *pairs)
{
    const int *sizes, *lone_sizes, count = fmm_measured_sizes(lone, &lone_sizes);
    static const double most = 0.25; /* part of the time in full cubes */
    double beside[2], begun[2], most_of_particle = 0;
    (void)fmm_measured_sizes(FMM_NEAR, &sizes);
    for (int k = 0, same = 0; k < count; k++) {
        while (sizes[same] < lone_sizes[k]) same++;
        const double alone_s = m->unit[lone][k], own = sizes[same], others = fmm_bench_sources(sizes[same]) - own;
        beside[k] = fmin(fmax(alone_s - own * (full[same] - alone_s) / others, 0), most * full[same]);
        begun[k] = own * (1 - own / others);
        if (k == 0) most_of_particle = most * full[same] / own;
    }
    beside[1] = fmin(beside[1], beside[0] + most_of_particle * (begun[1] - begun[0]));
    line(begun[0], beside[0], begun[1], beside[1], &pairs->particle, &pairs->leaf);
    pairs->leaf = fmin(pairs->leaf, full[0]);
}

/* Finds the cost of a source, linear between the measured sizes, without the costs of the leaf and its particles. */
static void find_pairs_of_leaves(const double full[NEAR_SIZES], fmm_pair_costs *pairs)
{
    double source[NEAR_SIZES];
    const int *sizes;
    (void)fmm_measured_sizes(FMM_NEAR, &sizes);
    for (int k = 0; k < NEAR_SIZES; k++)
        source[k] = fmax(full[k] - pairs->leaf - 2 * pairs->particle * sizes[k], 0) / fmm_bench_sources(sizes[k]);
    limit_by_next(NEAR_SIZES, source);
    for (int n = 1, k = 0; n <= FMM_SMALL_LEAF; n++) {
        while (sizes[k + 1] < n) k++;
        const double part = (double)(n - sizes[k]) / (sizes[k + 1] - sizes[k]);
        pairs->near[n] = source[k] + part * (source[k + 1] - source[k]);
    }
    pairs->large = source[NEAR_SIZES - 1] / sizes[NEAR_SIZES - 1];
}

double fmm_machine_pair(const fmm_machine *machine, double size)
{
    const fmm_pair_costs *pairs = &machine->pairs;
    if (size >= FMM_SMALL_LEAF) return pairs->large;
    const int below = size > 1 ? (int)size : 1;
    const double part = size > 1 ? size - below : 0;
    return (pairs->near[below] + part * (pairs->near[below + 1] - pairs->near[below])) / (below + part);
}

/* Finds the cost factor of pairs in leaves of different levels: from the remaining time of a near field with leaves of two levels, if
 * all its pairs took as long as those in leaves of one level. */
static double find_uneven(const fmm_machine *m, fmm_operation uneven)
{
    const fmm_bench_pairs of = fmm_bench_uneven();
    const double pairs_s = of.sources[0] * m->pairs.near[of.size[0]] + of.sources[1] * m->pairs.near[of.size[1]];
    const double left_s = (m->unit[uneven][0] - m->pairs.leaf) * of.leaves - 2 * m->pairs.particle * of.particles - pairs_s;
    const double part = 2 * of.uneven / (2 * of.near + of.particles);
    return fmax(1 + left_s / (part * pairs_s), 1);
}

static int number_of_small_leaf(void)
{
    const int *sizes;
    int k = 0;
    (void)fmm_measured_sizes(FMM_NEAR, &sizes);
    while (sizes[k] < FMM_SMALL_LEAF) k++;
    return k;
}

/* Finds the costs of the near field in one precision. */
static void find_near_in(fmm_machine *m, fmm_operation uneven, fmm_operation near, fmm_operation lone, fmm_pair_costs *pairs)
{
    double full[NEAR_SIZES];
    const int small = number_of_small_leaf();
    if (!(m->unit[near][small] > 0)) {
        *pairs = (fmm_pair_costs){NAN, NAN, .large = NAN, .uneven = NAN, .unit = NAN};
        for (int n = 0; n <= FMM_SMALL_LEAF; n++) pairs->near[n] = NAN;
        return;
    }
    get_full(m, near, full);
    find_leaves_alone(m, lone, full, pairs);
    find_pairs_of_leaves(full, pairs);
    m->pairs = *pairs;
    pairs->uneven = find_uneven(m, uneven);
    pairs->unit = m->unit[near][small];
}

static void find_near(fmm_machine *m)
{
    find_near_in(m, FMM_SINGLE_UNEVEN, FMM_SINGLE_NEAR, FMM_SINGLE_LONE, &m->in_single);
    find_near_in(m, FMM_UNEVEN, FMM_NEAR, FMM_LONE, &m->in_double);
    fmm_machine_take_single(m, 0);
}

/* ---------------------------------------------------------------------------------------------------- by order */

static double between(double low, double high, double part)
{
    return low > 0 && high > 0 ? low * pow(high / low, part) : low + part * (high - low);
}

/* Interpolates between measured orders, linearly in the logarithms of order + 1 and of the cost. */
static void interpolate(const double measured[ORDERS], double cost[FMM_MAX_ORDER + 1])
{
    const int *orders;
    (void)fmm_measured_sizes(FMM_PAIR, &orders);
    for (int p = 0, k = 0; p <= FMM_MAX_ORDER; p++) {
        if (orders[k + 1] < p) k++;
        const double low = orders[k] + 1, high = orders[k + 1] + 1;
        cost[p] = p == orders[k]       ? measured[k]
                  : p == orders[k + 1] ? measured[k + 1]
                                       : between(measured[k], measured[k + 1], log((p + 1) / low) / log(high / low));
    }
}

static void find_order_costs(const fmm_machine *m, fmm_operation operation, double cost[FMM_MAX_ORDER + 1])
{
    double measured[ORDERS];
    get_sizes(m, operation, measured);
    interpolate(measured, cost);
}

/* Finds the costs of plane waves.  Between measured sets they are interpolated as costs by order; they are 0 if there is no such set. */
static void find_wave_costs(const fmm_machine *m, fmm_operation operation, double cost[FMM_MAX_ORDER + 1])
{
    double measured[ORDERS] = {0};
    const int *orders, *sets;
    int first = 0;
    (void)fmm_measured_sizes(FMM_PAIR, &orders);
    (void)fmm_measured_sizes(operation, &sets);
    while (orders[first] < sets[0]) first++;
    get_sizes(m, operation, measured + first);
    interpolate(measured, cost);
    for (int p = 0; p <= FMM_MAX_ORDER; p++)
        if (p < FMM_FIRST_WAVE_SET || p > FMM_LAST_WAVE_SET) cost[p] = 0;
}

/* Finds the costs of pairs and batches: in a batch of n pairs, each takes pair + batch / n. */
static void find_pairs(fmm_machine *m)
{
    double dense[ORDERS], sparse[ORDERS], pair[ORDERS], batch[ORDERS];
    const int *orders;
    (void)fmm_measured_sizes(FMM_PAIR, &orders);
    get_measured(m, FMM_PAIR, dense);
    get_sizes(m, FMM_SPARSE, sparse);
    for (int k = 0; k < ORDERS; k++) m->pair_unit[orders[k]] = dense[k];
    limit_by_next(ORDERS, dense);
    for (int k = 0; k < ORDERS; k++) {
        const double of_dense = 1 / fmm_bench_batch(FMM_PAIR, orders[k]), of_sparse = 1 / fmm_bench_batch(FMM_SPARSE, orders[k]);
        line(of_dense, dense[k], of_sparse, sparse[k], &batch[k], &pair[k]);
        pair[k] = dense[k] - batch[k] * of_dense;
    }
    interpolate(pair, m->pair);
    interpolate(batch, m->batch);
}

/* Costs of a leaf and of each of its particles, from the times of leaves with two mean numbers of particles. */
typedef struct leaf_sizes {
    fmm_operation few, many;
    double few_particles, many_particles;
} leaf_sizes;

static void find_leaves(const fmm_machine *m, leaf_sizes of, double leaf[FMM_MAX_ORDER + 1], double particle[FMM_MAX_ORDER + 1])
{
    double few[ORDERS], many[ORDERS], of_leaf[ORDERS], of_particle[ORDERS];
    get_sizes(m, of.few, few);
    get_sizes(m, of.many, many);
    for (int k = 0; k < ORDERS; k++) line(of.few_particles, few[k], of.many_particles, many[k], &of_particle[k], &of_leaf[k]);
    interpolate(of_particle, particle);
    interpolate(of_leaf, leaf);
}

void fmm_machine_find_costs(fmm_machine *m)
{
    find_trees(m);
    find_near(m);
    find_order_costs(m, FMM_TABLES, m->tables);
    find_pairs(m);
    find_wave_costs(m, FMM_WAVES, m->waves);
    find_wave_costs(m, FMM_FAMILY, m->family);
    find_order_costs(m, FMM_CELL, m->cell);
    find_leaves(m, (leaf_sizes){FMM_VISIT_16, FMM_VISIT_64, 16, 64}, m->visit, m->visited);
    find_leaves(m, (leaf_sizes){FMM_LEAF_8, FMM_LEAF_32, 8, 32}, m->leaf, m->particle);
}
