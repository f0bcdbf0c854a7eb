#include "tune/machine.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "expansion/waves.h"
#include "near/kernels/pairs.h"
#include "tune/factor_store.h"

/* Of each trial the shortest of so many calls counts; trials of one size of an operation may take about budget_s. */
enum { CALLS = 2, LONG_ORDER = 20 }; /* calls of higher orders are long enough to be measured alone */
static const double budget_s = 0.03;

/* What is known. */
typedef struct reading {
    yoke_run *run;
    int64_t device;
    int gradient;
    fmm_measure measure;
    double *disturbed; /* the most of all that was read */
} reading;

typedef struct measuring {
    yoke_context *context;
    yoke_run *run;
    const fmm_machine_options *options;
    fmm_bench *bench; /* made where it is needed first */
    fmm_operation operation;
    int size;
    double least_s;              /* of its trials so far; infinity: none was */
    yoke_run_accuracy *accuracy; /* of the device, if there is only one; NULL: not asked for */
} measuring;

/* -------------------------------------------------------------------------------------------------------- works */

enum { TREE_SIZES = 2, NEAR_SIZES = 12, ORDERS = 18 };
static const int tree_sizes[TREE_SIZES] = {8, 32};
static const int near_sizes[NEAR_SIZES] = {1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, FMM_MAX_BENCH_PARTICLES};
static const int orders[ORDERS] = {0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 17, 20, 24, 29, 35, 42, FMM_MAX_ORDER};
enum { FIRST_WAVES = 4, WAVE_SETS = 10 }; /* of these orders, those that waves have */
static const int lone_sizes[1] = {8};
static const int children[2] = {FMM_FEW_CHILDREN, FMM_ALL_CHILDREN};
static const int no_size[1] = {0};

int fmm_measured_sizes(fmm_operation operation, const int **sizes)
{
    switch (operation) {
    case FMM_TREE:
        *sizes = tree_sizes;
        return TREE_SIZES;
    case FMM_NEAR:
        *sizes = near_sizes;
        return NEAR_SIZES;
    case FMM_LONE:
        *sizes = lone_sizes;
        return 1;
    case FMM_LIST:
        *sizes = children;
        return 2;
    case FMM_MEMORY:
        *sizes = no_size;
        return 1;
    case FMM_WAVES:
    case FMM_FAMILY:
        *sizes = orders + FIRST_WAVES;
        return WAVE_SETS;
    default:
        *sizes = orders;
        return ORDERS;
    }
}

void fmm_work_name(fmm_operation operation, int size, int gradient, fmm_measure measure, char name[FMM_WORK_BYTES])
{
    static const char *const names[FMM_OPERATIONS] = {"tree n=%d",   "near n=%d",  "lone n=%d",     "list n=%d",     "memory",
                                                      "tables p=%d", "waves p=%d", "pair p=%d",     "sparse p=%d",   "family p=%d",
                                                      "cell p=%d",   "visit p=%d", "leaf p=%d n=8", "leaf p=%d n=32"};
    const int has_gradient = operation == FMM_NEAR || operation == FMM_LONE || operation >= FMM_VISIT;
    char text[FMM_WORK_BYTES - 16];
    (void)snprintf(text, sizeof text, names[operation], size);
    (void)snprintf(name, FMM_WORK_BYTES, "fmm %s%s%s%s", text, has_gradient && !gradient ? " potential" : "", measure ? " " : "",
                   measure ? fmm_measure_names[measure] : "");
}

/* The sources of what is measured (yoke_embed_text). */
extern const char fmm_near_pairs_text[], fmm_translate_text[], fmm_waves_text[], fmm_wave_levels_text[], fmm_harmonics_text[],
    fmm_near_text[], fmm_levels_text[], fmm_bench_text[], fmm_bench_expansions_text[];

/* FNV-1a of these texts: they are long, and there are many works. */
static void fingerprint(char text[17])
{
    const char *const sources[] = {fmm_near_pairs_text, fmm_translate_text, fmm_waves_text, fmm_wave_levels_text,     fmm_harmonics_text,
                                   fmm_near_text,       fmm_levels_text,    fmm_bench_text, fmm_bench_expansions_text};
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        for (const char *p = sources[i]; *p; p++) sum = (sum ^ (unsigned char)*p) * 1099511628211u;
    (void)snprintf(text, 17, "%016llx", (unsigned long long)sum);
}

/* Tells the run what the times of a work depend on beside the machine. */
static yoke_status tell_works(yoke_run *run, int gradient, fmm_measure measure)
{
    char threads[32], sources[17], name[FMM_WORK_BYTES];
    const char *const texts[] = {fmm_pairs_select()->name, threads, sources, fmm_counter_source()};
    const int num_texts = measure ? 4 : 3;
    fingerprint(sources);
    yoke_status status = YOKE_OK;
    (void)snprintf(threads, sizeof threads, "%d threads", omp_get_max_threads());
    for (int o = 0; o < FMM_OPERATIONS; o++) {
        const int *sizes;
        const int count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count && !status; k++) {
            fmm_work_name(o, sizes[k], gradient, measure, name);
            status = yoke_run_work(run, name, texts, num_texts);
        }
    }
    for (int f = 0; f < FMM_FACTOR_NUMBERS * FMM_TIMED_PARTS && !status && !measure; f++) {
        fmm_factor_name(f / FMM_FACTOR_NUMBERS, f % FMM_FACTOR_NUMBERS, gradient, name);
        status = yoke_run_work(run, name, texts, num_texts);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- measuring */

static yoke_status run_operation(measuring *m, int64_t calls, double *seconds)
{
    yoke_status status = YOKE_OK;
    if (m->options->trial) return m->options->trial(m->options->user, m->operation, m->size, calls, seconds);
    if (!m->bench) status = fmm_bench_create(m->context, m->options->gradient, m->options->clock, &m->bench);
    return status ? status : fmm_bench_run(m->bench, m->operation, m->size, calls, seconds);
}

/* The shortest of all trials counts too, not only of their calls: what else the machine does only adds to them. */
static yoke_status try_operation(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    measuring *m = user;
    double now_s = NAN;
    (void)device;
    (void)units;
    yoke_status status = run_operation(m, calls, &now_s);
    if (!status && m->options->measure && !isfinite(now_s))
        return yoke_fail(m->context, YOKE_ERROR_UNAVAILABLE, "%s cannot be read: other programs count on this processor, too",
                         fmm_measure_names[m->options->measure]);
    if (!status) *seconds = m->least_s = fmin(m->least_s, now_s);
    return status;
}

static yoke_status measure(measuring *m, fmm_operation operation, int size, int brief)
{
    char name[FMM_WORK_BYTES];
    const int64_t units = fmm_bench_units(operation, size);
    const yoke_run_calibration of = {.work = name,
                                     .min_units = units,
                                     .max_units = units,
                                     .sizes = 2,
                                     .brief = brief,
                                     .calls = operation >= FMM_TABLES && size > LONG_ORDER ? 1 : CALLS,
                                     .budget_s = budget_s,
                                     .trial = try_operation,
                                     .user = m,
                                     .shortest = 1};
    m->operation = operation;
    m->size = size;
    m->least_s = INFINITY;
    fmm_work_name(operation, size, m->options->gradient, m->options->measure, name);
    yoke_status status = m->options->progress ? m->options->progress(m->options->user, name) : YOKE_OK;
    return status ? status : yoke_run_calibrate(m->run, &of, m->accuracy);
}

yoke_status fmm_machine_measure_powers(yoke_context *context, yoke_run *run, const fmm_machine_options *options)
{
    measuring m = {.context = context, .run = run, .options = options};
    yoke_status status = measure(&m, FMM_NEAR, FMM_MAX_BENCH_PARTICLES, 1);
    fmm_bench_destroy(m.bench);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- table */

/* The seconds of a unit. */
static yoke_status get(const reading *r, fmm_operation operation, int size, double *unit_s)
{
    char name[FMM_WORK_BYTES];
    yoke_prediction known;
    const double units = (double)fmm_bench_units(operation, size);
    fmm_work_name(operation, size, r->gradient, r->measure, name);
    yoke_status status = yoke_run_predict(r->run, name, r->device, units, NAN, 0, &known);
    if (!status) *unit_s = known.seconds / units;
    if (!status) *r->disturbed = fmax(*r->disturbed, known.disturbed);
    return status;
}

/* a and b of y = a x + b through two points with y > 0; neither is negative. */
static void line(double x0, double y0, double x1, double y1, double *a, double *b)
{
    *a = fmin(fmax((y1 - y0) / (x1 - x0), 0), y1 / x1);
    *b = fmax(y1 - *a * x1, 0);
}

/* All measured sizes of an operation, into seconds [sizes]. */
static yoke_status get_measured(const reading *r, fmm_operation operation, double *seconds)
{
    const int *sizes;
    const int count = fmm_measured_sizes(operation, &sizes);
    yoke_status status = YOKE_OK;
    for (int k = 0; k < count && !status; k++) status = get(r, operation, sizes[k], &seconds[k]);
    return status;
}

/*
 * A larger size takes no less time, so one that seems to take longer than the next was measured while other programs had the cores: it counts as the
 * next.
 */
static void limit_by_next(int count, double *seconds)
{
    for (int k = count - 2; k >= 0; k--) seconds[k] = fmin(seconds[k], seconds[k + 1]);
}

static yoke_status get_sizes(const reading *r, fmm_operation operation, double *seconds)
{
    const int *sizes;
    yoke_status status = get_measured(r, operation, seconds);
    if (!status) limit_by_next(fmm_measured_sizes(operation, &sizes), seconds);
    return status;
}

static yoke_status get_tree(const reading *r, fmm_machine *machine)
{
    double leaf[TREE_SIZES];
    yoke_status status = get_sizes(r, FMM_TREE, leaf);
    if (!status) line(tree_sizes[0], leaf[0], tree_sizes[1], leaf[1], &machine->tree_particle, &machine->tree_leaf);
    return status;
}

/*
 * source [NEAR_SIZES] of a full leaf with others around it, as measured, becomes that without what the leaf takes, *leaf.  A lone leaf is its own source,
 * and full ones of the same size have many.
 */
static yoke_status split_near(const reading *r, double source[NEAR_SIZES], double *leaf)
{
    double lone = 0, full[NEAR_SIZES];
    yoke_status status = get(r, FMM_LONE, lone_sizes[0], &lone);
    if (status) return status;
    int same = 0;
    while (near_sizes[same] < lone_sizes[0]) same++;
    for (int k = 0; k < NEAR_SIZES; k++) full[k] = source[k] * fmm_bench_sources(near_sizes[k]);
    limit_by_next(NEAR_SIZES, full);
    const double own = near_sizes[same], others = fmm_bench_sources(near_sizes[same]) - own;
    *leaf = fmin(fmax(lone - own * (full[same] - lone) / others, 0), full[0]);
    for (int k = 0; k < NEAR_SIZES; k++) source[k] = (full[k] - *leaf) / fmm_bench_sources(near_sizes[k]);
    limit_by_next(NEAR_SIZES, source);
    return YOKE_OK;
}

/* Few pairs and many tell what a parent takes without any, and a pair. */
static yoke_status get_lists(const reading *r, fmm_machine *machine)
{
    double parent[2];
    yoke_status status = get_sizes(r, FMM_LIST, parent);
    if (!status)
        line(fmm_bench_list_pairs(FMM_FEW_CHILDREN), parent[0], fmm_bench_list_pairs(FMM_ALL_CHILDREN), parent[1], &machine->list_pair,
             &machine->list);
    return status;
}

/* Of a source, straight between the sizes that were measured. */
static yoke_status get_near(const reading *r, fmm_machine *machine)
{
    double source[NEAR_SIZES];
    yoke_status status = get_measured(r, FMM_NEAR, source);
    for (int k = 0; k < NEAR_SIZES; k++)
        if (near_sizes[k] == FMM_SMALL_LEAF) machine->near_unit = source[k];
    if (!status) status = split_near(r, source, &machine->near_leaf);
    for (int n = 1, k = 0; n <= FMM_SMALL_LEAF && !status; n++) {
        while (near_sizes[k + 1] < n) k++;
        const double part = (double)(n - near_sizes[k]) / (near_sizes[k + 1] - near_sizes[k]);
        machine->near[n] = source[k] + part * (source[k + 1] - source[k]);
    }
    if (!status) machine->large = source[NEAR_SIZES - 1] / near_sizes[NEAR_SIZES - 1];
    return status;
}

/* Between orders that were measured: straight in logarithms of order + 1 and cost. */
static void interpolate(const double measured[ORDERS], double cost[FMM_MAX_ORDER + 1])
{
    for (int p = 0, k = 0; p <= FMM_MAX_ORDER; p++) {
        while (orders[k + 1] < p) k++;
        const double low = orders[k] + 1, high = orders[k + 1] + 1, part = log((p + 1) / low) / log(high / low);
        cost[p] = measured[k] > 0 && measured[k + 1] > 0 ? measured[k] * pow(measured[k + 1] / measured[k], part)
                                                         : measured[k] + part * (measured[k + 1] - measured[k]);
    }
}

static yoke_status get_order_costs(const reading *r, fmm_operation operation, double cost[FMM_MAX_ORDER + 1])
{
    double measured[ORDERS];
    yoke_status status = get_sizes(r, operation, measured);
    if (!status) interpolate(measured, cost);
    return status;
}

/* Of plane waves, which have no other sets; between those that were measured as costs by order. */
static yoke_status get_wave_costs(const reading *r, fmm_operation operation, double cost[FMM_MAX_ORDER + 1])
{
    double measured[ORDERS] = {0};
    yoke_status status = get_sizes(r, operation, measured + FIRST_WAVES);
    if (!status) interpolate(measured, cost);
    for (int p = 0; p <= FMM_MAX_ORDER; p++)
        if (p < FMM_FIRST_WAVE_SET || p > FMM_LAST_WAVE_SET) cost[p] = 0;
    return status;
}

/* A pair takes pair + batch / n in batches of n. */
static yoke_status get_pairs(const reading *r, fmm_machine *machine)
{
    double dense[ORDERS], sparse[ORDERS], pair[ORDERS], batch[ORDERS];
    yoke_status status = get_measured(r, FMM_PAIR, dense);
    if (!status) status = get_sizes(r, FMM_SPARSE, sparse);
    if (status) return status;
    for (int k = 0; k < ORDERS; k++) machine->pair_unit[orders[k]] = dense[k];
    limit_by_next(ORDERS, dense);
    for (int k = 0; k < ORDERS; k++) {
        const double of_dense = 1 / fmm_bench_batch(FMM_PAIR, orders[k]), of_sparse = 1 / fmm_bench_batch(FMM_SPARSE, orders[k]);
        line(of_dense, dense[k], of_sparse, sparse[k], &batch[k], &pair[k]);
        pair[k] = dense[k] - batch[k] * of_dense;
    }
    interpolate(pair, machine->pair);
    interpolate(batch, machine->batch);
    return YOKE_OK;
}

static yoke_status get_leaves(const reading *r, fmm_machine *machine)
{
    double few[ORDERS], many[ORDERS], leaf[ORDERS], particle[ORDERS];
    yoke_status status = get_sizes(r, FMM_LEAF_8, few);
    if (!status) status = get_sizes(r, FMM_LEAF_32, many);
    if (status) return status;
    for (int k = 0; k < ORDERS; k++) line(8, few[k], 32, many[k], &particle[k], &leaf[k]);
    interpolate(particle, machine->particle);
    interpolate(leaf, machine->leaf);
    return YOKE_OK;
}

static yoke_status forget_factors(yoke_run *run, int gradient, fmm_measure measure)
{
    yoke_status status = YOKE_OK;
    for (int part = 0; part < FMM_TIMED_PARTS && !status && !measure; part++)
        status = fmm_factor_put(run, part, gradient, (fmm_factor){.value = 1});
    return status;
}

yoke_status fmm_machine_put_factors(yoke_run *run, int gradient, const fmm_machine *machine)
{
    yoke_status status = tell_works(run, gradient, FMM_MEASURE_SECONDS);
    for (int part = 0; part < FMM_TIMED_PARTS && !status; part++) status = fmm_factor_put(run, part, gradient, machine->factor[part]);
    return status;
}

static yoke_status read_all(yoke_run *run, int64_t device, int gradient, fmm_measure measure, fmm_machine *machine)
{
    fmm_machine found = {.measure = measure};
    const reading of = {run, device, gradient, measure, &found.disturbed}, *r = &of;
    yoke_status status = get_tree(r, &found);
    if (!status) status = get_near(r, &found);
    if (!status) status = get_lists(r, &found);
    if (!status) status = get(r, FMM_MEMORY, 0, &found.memory);
    if (!status) status = get_order_costs(r, FMM_TABLES, found.tables);
    if (!status) status = get_pairs(r, &found);
    if (!status) status = get_wave_costs(r, FMM_WAVES, found.waves);
    if (!status) status = get_wave_costs(r, FMM_FAMILY, found.family);
    if (!status) status = get_order_costs(r, FMM_CELL, found.cell);
    if (!status) status = get_order_costs(r, FMM_VISIT, found.visit);
    if (!status) status = get_leaves(r, &found);
    for (int part = 0; part < FMM_TIMED_PARTS; part++)
        found.factor[part] = measure ? (fmm_factor){.value = 1} : fmm_factor_get(r->run, r->device, part, r->gradient);
    if (measure) found.disturbed = 0; /* counts have no part of what other programs do */
    if (!status) *machine = found;
    return status;
}

yoke_status fmm_machine_get(yoke_run *run, int64_t device, int gradient, fmm_measure measure, fmm_machine *machine)
{
    yoke_status status = tell_works(run, gradient, measure);
    return status ? status : read_all(run, device, gradient, measure, machine);
}

static int is_measured(fmm_operation operation, int size)
{
    const int *sizes, count = fmm_measured_sizes(operation, &sizes);
    return size >= sizes[0] && size <= sizes[count - 1];
}

yoke_status fmm_machine_measure(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                fmm_machine *machine)
{
    measuring m = {.context = context, .run = run, .options = options};
    yoke_status status = tell_works(run, options->gradient, options->measure);
    for (int o = 0; o < FMM_TABLES; o++) {
        const int *sizes;
        const int count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count && !status; k++) status = measure(&m, o, sizes[k], 0);
    }
    for (int k = 0; k < ORDERS; k++) /* all of an order together: they share its tables */
        for (int o = FMM_TABLES; o < FMM_OPERATIONS && !status; o++)
            if (is_measured(o, orders[k])) status = measure(&m, o, orders[k], 0);
    fmm_bench_destroy(m.bench);
    if (!status) status = forget_factors(run, options->gradient, options->measure);
    return status ? status : read_all(run, device, options->gradient, options->measure, machine);
}

/* Seconds of calls that were measured again; 0: it was not. */
typedef double again[FMM_OPERATIONS][ORDERS];

/* In a run of its own.  *disturbed: nonzero: it was disturbed again. */
static yoke_status measure_if_disturbed(measuring *m, const reading *r, fmm_operation operation, int size, double *seconds, int *disturbed)
{
    char name[FMM_WORK_BYTES];
    yoke_prediction known;
    fmm_work_name(operation, size, r->gradient, r->measure, name);
    yoke_status status = yoke_run_predict(r->run, name, r->device, (double)fmm_bench_units(operation, size), NAN, 0, &known);
    if (status || !(known.disturbed > 0)) return status;
    status = measure(m, operation, size, 0);
    if (status) return status;
    *seconds = m->least_s;
    *disturbed = m->accuracy->disturbed > 0;
    return YOKE_OK;
}

static yoke_status measure_disturbed(yoke_context *context, const reading *r, const fmm_machine_options *options, again seconds,
                                     int *disturbed)
{
    const yoke_run_options alone = {.devices = "openmp", .keep_frequencies = 1, .no_meters = 1};
    yoke_run_accuracy accuracy;
    measuring m = {.context = context, .options = options, .accuracy = &accuracy};
    yoke_status status = yoke_run_create(context, &alone, &m.run);
    for (int o = 0; o < FMM_OPERATIONS; o++) {
        const int *sizes;
        const int count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count && !status && !*disturbed; k++)
            status = measure_if_disturbed(&m, r, o, sizes[k], &seconds[o][k], disturbed);
    }
    fmm_bench_destroy(m.bench);
    yoke_run_destroy(m.run);
    return status;
}

static yoke_status put_again(const reading *r, again seconds)
{
    char name[FMM_WORK_BYTES];
    yoke_status status = YOKE_OK;
    for (int o = 0; o < FMM_OPERATIONS; o++) {
        const int *sizes;
        const int count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count && !status; k++) {
            if (!(seconds[o][k] > 0)) continue;
            fmm_work_name(o, sizes[k], r->gradient, r->measure, name);
            status = fmm_number_put(r->run, name, fmm_bench_units(o, sizes[k]), seconds[o][k]);
        }
    }
    return status ? status : forget_factors(r->run, r->gradient, r->measure);
}

yoke_status fmm_machine_measure_again(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                      fmm_machine *machine)
{
    const reading r = {.run = run, .device = device, .gradient = options->gradient};
    again seconds = {{0}};
    int disturbed = 0;
    yoke_status status = tell_works(run, options->gradient, FMM_MEASURE_SECONDS);
    if (!status) status = measure_disturbed(context, &r, options, seconds, &disturbed);
    if (!status && !disturbed) status = put_again(&r, seconds);
    return status ? status : read_all(run, device, options->gradient, FMM_MEASURE_SECONDS, machine);
}
