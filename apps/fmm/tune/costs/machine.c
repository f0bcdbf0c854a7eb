#include "tune/costs/machine_parts.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "method/sources.h"
#include "near/kernels/pairs.h"
#include "tune/costs/factor_store.h"

/* -------------------------------------------------------------------------------------------------------- works */

enum { TREE_SIZES = 2, NEAR_SIZES = 12, ORDERS = FMM_MEASURED_ORDERS };
static const int sort_sizes[1] = {FMM_SORT_PARTICLES};
static const int tree_sizes[TREE_SIZES] = {8, 32};
static const int capacities[2] = {FMM_LOW_CAPACITY, FMM_HIGH_CAPACITY};
static const int uneven_sizes[1] = {FMM_UNEVEN_CAPACITY};
static const int near_sizes[NEAR_SIZES] = {1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, FMM_MAX_BENCH_PARTICLES};
static const int orders[ORDERS] = {0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 17, 20, 24, 29, 35, 42, FMM_MAX_ORDER};
enum { FIRST_WAVES = 4, WAVE_SETS = 10 }; /* the part of these orders that plane waves have: its beginning and length */
static const int lone_sizes[2] = {8, FMM_MAX_BENCH_PARTICLES};

int fmm_measured_sizes(fmm_operation operation, const int **sizes)
{
    switch (operation) {
    case FMM_SORT:
        *sizes = sort_sizes;
        return 1;
    case FMM_TREE:
        *sizes = tree_sizes;
        return TREE_SIZES;
    case FMM_ADAPTIVE:
        *sizes = capacities;
        return 2;
    case FMM_UNEVEN:
    case FMM_SINGLE_UNEVEN:
        *sizes = uneven_sizes;
        return 1;
    case FMM_NEAR:
    case FMM_SINGLE_NEAR:
        *sizes = near_sizes;
        return NEAR_SIZES;
    case FMM_LONE:
    case FMM_SINGLE_LONE:
        *sizes = lone_sizes;
        return 2;
    case FMM_WAVES:
    case FMM_FAMILY:
        *sizes = orders + FIRST_WAVES;
        return WAVE_SETS;
    default:
        *sizes = orders;
        return ORDERS;
    }
}

fmm_naming fmm_naming_create(int gradient, fmm_measure measure)
{
    const int threads = omp_get_max_threads();
    fmm_naming naming = {.gradient = gradient, .measure = measure};
    if (threads != sysconf(_SC_NPROCESSORS_ONLN)) (void)snprintf(naming.threads, sizeof naming.threads, " threads=%d", threads);
    return naming;
}

/* Nonzero: the operation takes longer with gradients, and is measured with and without them. */
static int has_gradient(fmm_operation operation)
{
    return (operation >= FMM_UNEVEN && operation < FMM_TABLES) || operation >= FMM_VISIT_16;
}

void fmm_work_name(const fmm_naming *naming, fmm_operation operation, int size, char name[FMM_WORK_BYTES])
{
    static const char *const names[FMM_OPERATIONS] = {
        "sort n=%d",        "tree n=%d",        "adaptive n=%d",   "uneven n=%d",   "near n=%d",     "lone n=%d",   "single uneven n=%d",
        "single near n=%d", "single lone n=%d", "tables p=%d",     "waves p=%d",    "pair p=%d",     "sparse p=%d", "family p=%d",
        "cell p=%d",        "visit p=%d n=16",  "visit p=%d n=64", "leaf p=%d n=8", "leaf p=%d n=32"};
    char text[FMM_WORK_BYTES / 2];
    const fmm_measure measure = naming->measure;
    (void)snprintf(text, sizeof text, names[operation], size);
    (void)snprintf(name, FMM_WORK_BYTES, "fmm %s%s%s%s%s", text, has_gradient(operation) && !naming->gradient ? " potential" : "",
                   measure ? " " : "", measure ? fmm_measure_names[measure] : "", naming->threads);
}

void fmm_operation_text(fmm_operation operation, int size, int gradient, char text[FMM_TEXT_BYTES])
{
    static const char *const texts[FMM_OPERATIONS] = {"sorting particles, %d in a leaf",
                                                      "tree and lists, leaves of %d particles",
                                                      "adaptive trees, leaves of up to %d particles",
                                                      "near field of leaves of two levels, up to %d particles",
                                                      "near field, leaves of %d particles",
                                                      "near field of single leaves, %d particles",
                                                      "near field in single precision, two levels, up to %d particles",
                                                      "near field in single precision, leaves of %d particles",
                                                      "near field of single leaves in single precision, %d particles",
                                                      "tables of the operators, order %d",
                                                      "tables of plane waves, order %d",
                                                      "M2L, order %d",
                                                      "M2L on a surface, order %d",
                                                      "M2L by plane waves, order %d",
                                                      "M2M and L2L, order %d",
                                                      "M2P and P2L, order %d, leaves of 16 particles",
                                                      "M2P and P2L, order %d, leaves of 64 particles",
                                                      "P2M and L2P, order %d, leaves of 8 particles",
                                                      "P2M and L2P, order %d, leaves of 32 particles"};
    char of_size[FMM_TEXT_BYTES - 16];
    (void)snprintf(of_size, sizeof of_size, texts[operation], size);
    (void)snprintf(text, FMM_TEXT_BYTES, "%s%s", of_size, has_gradient(operation) && gradient ? ", with forces" : "");
}

/* Source texts of the benchmarks (yoke_embed_text). */
extern const char fmm_bench_text[], fmm_bench_cubes_text[], fmm_bench_expansions_text[];

yoke_status fmm_machine_tell_works(yoke_run *run, int gradient, fmm_measure measure)
{
    char threads[32], sources[FMM_FINGERPRINT_BYTES], name[FMM_WORK_BYTES];
    const char *const benchmarks[] = {fmm_bench_text, fmm_bench_cubes_text, fmm_bench_expansions_text};
    const char *const texts[] = {fmm_pairs_select()->name, threads, sources, fmm_counter_source()};
    const int num_texts = measure ? 4 : 3;
    const fmm_naming naming = fmm_naming_create(gradient, measure);
    fmm_fingerprint(3, benchmarks, sources); /* instead of the texts, because they are long and there are many works */
    yoke_status status = YOKE_OK;
    (void)snprintf(threads, sizeof threads, "%d threads", omp_get_max_threads());
    for (int o = 0; o < FMM_OPERATIONS; o++) {
        const int *sizes;
        const int count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count && !status; k++) {
            fmm_work_name(&naming, o, sizes[k], name);
            status = yoke_run_work(run, name, texts, num_texts);
        }
    }
    for (int f = 0; f < FMM_FACTOR_NUMBERS * FMM_TIMED_PARTS && !status && !measure; f++) {
        fmm_factor_name(&naming, f / FMM_FACTOR_NUMBERS, f % FMM_FACTOR_NUMBERS, name);
        status = yoke_run_work(run, name, texts, num_texts);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- what is known */

int fmm_is_measured(fmm_operation operation, int size)
{
    const int *sizes, count = fmm_measured_sizes(operation, &sizes);
    return size >= sizes[0] && size <= sizes[count - 1];
}

fmm_orders fmm_orders_around(int order)
{
    int below = ORDERS - 1, above = 0;
    while (orders[below] > order) below--;
    while (orders[above] < order) above++;
    return (fmm_orders)1 << below | (fmm_orders)1 << above;
}

/* The index of a size among those of an operation, which may be only a part of all orders. */
static int number_of(fmm_operation operation, int size)
{
    const int *sizes;
    int k = 0;
    (void)fmm_measured_sizes(operation, &sizes);
    while (sizes[k] < size) k++;
    return k;
}

int fmm_is_in(fmm_operation operation, fmm_precisions precisions)
{
    if (operation < FMM_UNEVEN) return 1;
    return (precisions & (operation < FMM_SINGLE_UNEVEN ? FMM_IN_DOUBLE : FMM_IN_SINGLE)) != 0;
}

static int knows_common(const fmm_machine *m, fmm_precisions precisions)
{
    int known = 1;
    for (int o = 0; o < FMM_TABLES; o++) {
        if (!fmm_is_in(o, precisions)) continue;
        const int *sizes, count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count; k++) known &= m->unit[o][k] > 0;
    }
    return known;
}

int fmm_machine_knows_order(const fmm_machine *m, int order)
{
    int known = 1;
    for (int o = FMM_TABLES; o < FMM_OPERATIONS; o++)
        if (fmm_is_measured(o, order)) known &= m->unit[o][number_of(o, order)] > 0;
    return known;
}

fmm_orders fmm_machine_missing(const fmm_machine *machine, fmm_orders wanted, fmm_precisions precisions)
{
    fmm_orders missing = 0;
    for (int k = 0; k < ORDERS; k++)
        if (wanted >> k & 1 && !(knows_common(machine, precisions) && fmm_machine_knows_order(machine, orders[k])))
            missing |= (fmm_orders)1 << k;
    return missing;
}

/* A store can contain any number.  What no machine takes is measured again. */
static int is_possible(double seconds) { return seconds > 1e-15 && seconds < 1e4; }

/* Reads the seconds of a unit, if they are known. */
static yoke_status read_unit(yoke_run *run, int64_t device, const fmm_naming *naming, fmm_operation operation, int k, fmm_machine *m)
{
    char name[FMM_WORK_BYTES];
    const int *sizes;
    yoke_prediction known;
    (void)fmm_measured_sizes(operation, &sizes);
    const double units = (double)fmm_bench_units(operation, sizes[k]);
    fmm_work_name(naming, operation, sizes[k], name);
    yoke_status status = yoke_run_predict(run, name, device, units, NAN, 0, &known);
    if (status == YOKE_ERROR_UNAVAILABLE) return YOKE_OK;
    if (!status && (m->measure || is_possible(known.seconds / units))) m->unit[operation][k] = known.seconds / units;
    if (!status) m->disturbed = fmax(m->disturbed, known.disturbed);
    return status;
}

yoke_status fmm_machine_read(yoke_run *run, int64_t device, int gradient, fmm_machine *machine)
{
    const fmm_naming naming = fmm_naming_create(gradient, machine->measure);
    yoke_status status = YOKE_OK;
    for (int o = 0; o < FMM_OPERATIONS; o++) {
        const int *sizes, count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count && !status; k++) status = read_unit(run, device, &naming, o, k, machine);
    }
    for (int part = 0; part < FMM_TIMED_PARTS; part++)
        machine->factor[part] = machine->measure ? (fmm_factor){.value = 1} : fmm_factor_get(run, device, &naming, part);
    if (machine->measure) machine->disturbed = 0; /* other programs do not change counts */
    if (!status) fmm_machine_find_costs(machine);
    return status;
}

yoke_status fmm_machine_get(yoke_run *run, int64_t device, int gradient, fmm_measure measure, fmm_machine *machine)
{
    fmm_machine found = {.measure = measure};
    yoke_status status = fmm_machine_tell_works(run, gradient, measure);
    if (!status) status = fmm_machine_read(run, device, gradient, &found);
    if (status) return status;
    *machine = found;
    const fmm_orders in_both =
        fmm_machine_missing(&found, FMM_ALL_ORDERS, FMM_IN_DOUBLE) & fmm_machine_missing(&found, FMM_ALL_ORDERS, FMM_IN_SINGLE);
    if (in_both != FMM_ALL_ORDERS) return YOKE_OK;
    return YOKE_ERROR_UNAVAILABLE; /* the message is that of the run for an unknown work */
}

yoke_status fmm_machine_put_factors(yoke_run *run, int gradient, const fmm_machine *machine)
{
    const fmm_naming naming = fmm_naming_create(gradient, FMM_MEASURE_SECONDS);
    yoke_status status = YOKE_OK;
    for (int part = 0; part < FMM_TIMED_PARTS && !status; part++) status = fmm_factor_put(run, &naming, part, machine->factor[part]);
    return status;
}
