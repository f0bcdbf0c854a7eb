/*
 * known_costs.h - a machine whose costs are known: what each operation takes, by its size.
 */
#ifndef FMM_TESTS_KNOWN_COSTS_H
#define FMM_TESTS_KNOWN_COSTS_H

#include <math.h>

#include "context.h"
#include "near.h"
#include "tune/costs/machine.h"
#include "tune/tune.h"

/* Seconds of a unit of each operation by its size; and how often it was asked.  near_particle: once for its own leaf, once for others. */
typedef struct known {
    double near_start, near_pair, near_leaf, near_particle, pair, points, batch;
    double family; /* 0: never less than by pairs */
    int disturbed; /* size of each operation whose calls take longer, a thousand times or ... */
    double times;  /* so many times, if above 0; disturbed 0: none */
    int calls;
} known;

/* A source on a leaf of so many particles. */
static inline double source_of(const known *k, int size) { return k->near_start + k->near_pair * size; }

/* Pairs in single precision take half as long. */
static inline double precision_of(fmm_operation operation)
{
    return operation == FMM_SINGLE_NEAR || operation == FMM_SINGLE_UNEVEN || operation == FMM_SINGLE_LONE ? 0.5 : 1;
}

#define KNOWN_UNEVEN 1.2 /* factor of the cost of pairs in leaves of different levels */

/* A leaf of leaves of two levels. */
static inline double uneven_of(const known *k, double precision)
{
    const fmm_bench_pairs of = fmm_bench_uneven();
    const double pairs = precision * (of.sources[0] * source_of(k, of.size[0]) + of.sources[1] * source_of(k, of.size[1]));
    const double uneven = 2 * of.uneven / (2 * of.near + of.particles);
    return (1 + uneven * (KNOWN_UNEVEN - 1)) * pairs / of.leaves + k->near_leaf + 2 * k->near_particle * of.particles / of.leaves;
}

static inline double unit_of(const known *k, fmm_operation operation, int size)
{
    const double p = size + 1;
    switch (operation) {
    case FMM_SORT:
        return 2e-8;
    case FMM_TREE:
        return 3e-7 + 1e-8 * size;
    case FMM_ADAPTIVE:
        return 5e-7 + 1.2e-8 * fmm_bench_leaf_particles(size);
    case FMM_UNEVEN:
    case FMM_SINGLE_UNEVEN:
        return uneven_of(k, precision_of(operation));
    case FMM_NEAR:
    case FMM_SINGLE_NEAR:
        return precision_of(operation) * source_of(k, size) + (k->near_leaf + 2 * k->near_particle * size) / fmm_bench_sources(size);
    case FMM_LONE:
    case FMM_SINGLE_LONE:
        return precision_of(operation) * size * source_of(k, size) + k->near_leaf + k->near_particle * size;
    case FMM_TABLES:
        return 1e-7 * p * p * p;
    case FMM_SPARSE: /* a batch takes as long as so many pairs more */
    case FMM_PAIR:
        return k->pair * p * p * p * (1 + k->batch / fmm_bench_batch(operation, size));
    case FMM_WAVES:
        return 5e-8 * p * p * p;
    case FMM_FAMILY:
        return k->family > 0 ? k->family * p * p : p * p;
    case FMM_CELL:
        return 2 * k->pair * p * p * p;
    case FMM_VISIT_16:
    case FMM_VISIT_64:
        return p * p * (2e-9 + 5 * k->points * (operation == FMM_VISIT_16 ? 16 : 64));
    default:
        return p * p * (1e-9 + k->points * (operation == FMM_LEAF_8 ? 8 : 32));
    }
}

static inline yoke_status trial(void *user, fmm_operation operation, int size, int64_t calls, double *seconds)
{
    known *k = user;
    (void)calls;
    k->calls++;
    *seconds = (double)fmm_bench_units(operation, size) * unit_of(k, operation, size);
    if (k->disturbed > 0 && size == k->disturbed) *seconds *= k->times > 0 ? k->times : 1000;
    return YOKE_OK;
}

static const known usual = {
    .near_start = 1e-9, .near_pair = 3e-10, .near_leaf = 4e-8, .near_particle = 2e-9, .pair = 1e-10, .points = 2e-10};

static inline yoke_run *open_run(const char *store)
{
    const yoke_run_options options = {.devices = "openmp", .no_meters = 1, .store = store};
    yoke_run *run = NULL;
    assert_int_equal(yoke_run_create(context, &options, &run), YOKE_OK);
    return run;
}

static inline void measure(yoke_run *run, known *costs, fmm_machine *machine)
{
    const fmm_machine_options options = {.gradient = 1, .trial = trial, .user = costs};
    assert_int_equal(fmm_machine_measure(context, run, 0, &options, machine), YOKE_OK);
}

/* Keeps these costs in a store. */
static inline void keep_known_costs(const char *store, known *costs, fmm_machine *machine)
{
    yoke_run *run = open_run(store);
    measure(run, costs, machine);
    assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
    yoke_run_destroy(run);
}

/* Creates a tuner and chooses a tree for particles, with expansions of an order. */
static inline fmm_tuner *choose_tree(const fmm_tune_options *options, const fmm_particles *particles, int order, fmm_tuned *tuned)
{
    fmm_tuner *tuner = NULL;
    assert_int_equal(fmm_tuner_create(context, options, &tuner), YOKE_OK);
    fmm_tuner_set_particles(tuner, particles);
    assert_int_equal(fmm_tuner_choose(tuner, order, tuned), YOKE_OK);
    return tuner;
}

#endif
