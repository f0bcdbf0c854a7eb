#include "tune/costs/bench.h"

#include <math.h>
#include <string.h>

#include "expansion/waves.h"
#include "method/method.h"
#include "tune/costs/bench_cubes.h"
#include "tune/costs/bench_parts.h"

struct fmm_bench {
    yoke_context *context;
    int gradient;
    const fmm_clock *clock; /* NULL: seconds */
    fmm_cube made;          /* the cube of the following members */
    fmm_particles *particles;
    fmm_field *field;
    fmm_method *method;
    int order;              /* of the method's expansions, ... */
    uint64_t waves;         /* ... and levels with plane waves */
    fmm_bench_pools *pools; /* of the last requested order; NULL: none yet */
};

yoke_status fmm_bench_create(yoke_context *context, int gradient, const fmm_clock *clock, fmm_bench **bench)
{
    fmm_bench *created = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    created->context = context;
    created->gradient = gradient;
    created->clock = clock;
    *bench = created;
    return YOKE_OK;
}

static void forget_method(fmm_bench *bench)
{
    fmm_method_destroy(bench->method);
    bench->method = NULL;
}

static void forget_cube(fmm_bench *bench)
{
    forget_method(bench);
    fmm_field_destroy(bench->field);
    fmm_particles_destroy(bench->particles);
    bench->field = NULL;
    bench->particles = NULL;
    bench->made = (fmm_cube){0};
}

void fmm_bench_destroy(fmm_bench *bench)
{
    if (!bench) return;
    fmm_bench_pools_destroy(bench->pools);
    forget_cube(bench);
    yoke_release(bench->context, bench);
}

static yoke_status have_cube(fmm_bench *bench, fmm_cube of)
{
    if (bench->particles && !memcmp(&bench->made, &of, sizeof of)) return YOKE_OK;
    forget_cube(bench);
    yoke_status status = fmm_particles_create(bench->context, fmm_cube_particles(of), &bench->particles);
    if (!status) status = fmm_field_create(bench->context, bench->particles->count, bench->gradient, &bench->field);
    if (status) {
        forget_cube(bench);
        return status;
    }
    fmm_cube_fill(of, bench->particles);
    bench->made = of;
    return YOKE_OK;
}

/* tree: NULL, or the sorted particles. */
static yoke_status make_method(fmm_bench *bench, fmm_tree *tree)
{
    const int order = 0;
    const fmm_method_options options = {.depth = bench->made.capacity ? FMM_MAX_DEPTH : bench->made.depth,
                                        .capacity = bench->made.capacity,
                                        .direct = bench->made.many,
                                        .order = &order,
                                        .gradient = bench->gradient,
                                        .clock = bench->clock,
                                        .tree = tree};
    forget_method(bench);
    bench->order = 0;
    bench->waves = 0;
    return fmm_method_create(bench->particles, &options, &bench->method);
}

static yoke_status have_method(fmm_bench *bench) { return bench->method && bench->order == 0 ? YOKE_OK : make_method(bench, NULL); }

yoke_status fmm_bench_make_cube(fmm_bench *bench, int depth, int each, fmm_bench_cube *of)
{
    yoke_status status = have_cube(bench, (fmm_cube){depth, each, 1 << depth, .lone = 0});
    if (!status) status = have_method(bench);
    if (!status) *of = (fmm_bench_cube){bench->method, bench->particles, bench->field};
    return status;
}

/* --------------------------------------------------------------------------------------------------- operations */

/* Writes to memory that is larger than the caches of a few cores: a run did other work since it used the particles. */
static void forget_caches(int64_t count, double *other)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) other[i] = (double)i;
}

/* Measures the sorting of particles, or the tree and lists of sorted particles. */
static yoke_status run_tree(fmm_bench *bench, fmm_operation operation, int64_t calls, double *seconds)
{
    enum { OTHER = 1 << 21 };
    double *other = NULL;
    yoke_status status = yoke_allocate_untouched(bench->context, OTHER, sizeof *other, &other);
    const double first_s = yoke_clock_s();
    *seconds = INFINITY;
    for (int64_t k = 0; !status && fmm_bench_goes_on(k, calls, first_s); k++) {
        fmm_tree *tree = NULL;
        forget_method(bench);
        forget_caches(OTHER, other);
        const double begin_s = fmm_clock_now_s(bench->clock);
        status = fmm_tree_create_undivided(bench->particles, 0, &tree);
        const double sorted_s = fmm_clock_now_s(bench->clock);
        if (status) break;
        forget_caches(OTHER, other);
        const double divide_s = fmm_clock_now_s(bench->clock);
        status = make_method(bench, tree);
        const double end_s = fmm_clock_now_s(bench->clock);
        *seconds = fmin(*seconds, operation == FMM_SORT ? sorted_s - begin_s : end_s - divide_s);
    }
    yoke_release(bench->context, other);
    return status;
}

static yoke_status run_near(fmm_bench *bench, fmm_operation operation, int64_t calls, double *seconds)
{
    yoke_status status = have_method(bench);
    if (!status) fmm_method_set_single(bench->method, operation >= FMM_SINGLE_UNEVEN);
    const double first_s = yoke_clock_s();
    *seconds = INFINITY;
    for (int64_t k = 0; !status && fmm_bench_goes_on(k, calls, first_s); k++) {
        double near_s = INFINITY;
        status = fmm_method_run_near(bench->method, bench->particles->charge, bench->field, &near_s);
        *seconds = fmin(*seconds, near_s);
    }
    return status;
}

static yoke_status run_tables(const fmm_bench *bench, int order, int64_t calls, double *seconds)
{
    yoke_status status = YOKE_OK;
    const double first_s = yoke_clock_s();
    *seconds = INFINITY;
    for (int64_t k = 0; !status && fmm_bench_goes_on(k, calls, first_s); k++) {
        fmm_operators *operators = NULL;
        const double begin_s = fmm_clock_now_s(bench->clock);
        status = fmm_operators_create(bench->context, order, &operators);
        *seconds = fmin(*seconds, fmm_clock_now_s(bench->clock) - begin_s);
        fmm_operators_destroy(operators);
    }
    return status;
}

static yoke_status run_waves(const fmm_bench *bench, int order, int64_t calls, double *seconds)
{
    yoke_status status = YOKE_OK;
    const double first_s = yoke_clock_s();
    *seconds = INFINITY;
    for (int64_t k = 0; !status && fmm_bench_goes_on(k, calls, first_s); k++) {
        fmm_waves *waves = NULL;
        const double begin_s = fmm_clock_now_s(bench->clock);
        status = fmm_waves_create(bench->context, order, order, (fmm_held){order, order}, &waves);
        *seconds = fmin(*seconds, fmm_clock_now_s(bench->clock) - begin_s);
        fmm_waves_destroy(waves);
    }
    return status;
}

/* Prepares the method with expansions and plane waves of an order.  This includes a first run, which uses new memory: its time is
 * predicted separately. */
static yoke_status have_expansions(fmm_bench *bench, int order, uint64_t waves)
{
    if (bench->method && bench->order == order && bench->waves == waves) return YOKE_OK;
    yoke_status status = have_method(bench);
    if (!status) status = fmm_method_set_order(bench->method, order);
    if (!status) status = fmm_method_set_waves(bench->method, waves, order);
    if (!status) status = fmm_method_run(bench->method, bench->particles->charge, bench->field, NULL);
    if (status) forget_method(bench);
    bench->order = order;
    bench->waves = waves;
    return status;
}

/* Measures M2L of all levels, including its lists, by plane waves or by rotations. */
static yoke_status run_between(fmm_bench *bench, int order, uint64_t waves, int64_t calls, double *seconds)
{
    fmm_method_seconds of;
    yoke_status status = have_expansions(bench, order, waves);
    const double first_s = yoke_clock_s();
    *seconds = INFINITY;
    for (int64_t k = 0; !status && fmm_bench_goes_on(k, calls, first_s); k++) {
        status = fmm_method_run_far(bench->method, bench->particles->charge, bench->field, &of);
        if (!status) *seconds = fmin(*seconds, of.between);
    }
    return status;
}

static yoke_status check(const fmm_bench *bench, fmm_operation operation, int size)
{
    const int of_particles = operation < FMM_TABLES, of_waves = operation == FMM_WAVES || operation == FMM_FAMILY;
    const int least = of_particles ? 1 : of_waves ? FMM_FIRST_WAVE_ORDER : 0;
    const int most = of_particles ? FMM_MAX_BENCH_PARTICLES : of_waves ? FMM_LAST_WAVE_SET : FMM_MAX_ORDER;
    if (fmm_is_uneven(operation) && size != FMM_UNEVEN_CAPACITY)
        return yoke_fail(bench->context, YOKE_ERROR_ARGUMENT, "capacity %d of the benchmark: give %d", size, FMM_UNEVEN_CAPACITY);
    if (operation == FMM_ADAPTIVE) {
        if (size == FMM_LOW_CAPACITY || size == FMM_HIGH_CAPACITY) return YOKE_OK;
        return yoke_fail(bench->context, YOKE_ERROR_ARGUMENT, "capacity %d of the benchmark: give %d or %d", size, FMM_LOW_CAPACITY,
                         FMM_HIGH_CAPACITY);
    }
    if (size >= least && size <= most) return YOKE_OK;
    return yoke_fail(bench->context, YOKE_ERROR_ARGUMENT, "%s %d of the benchmark: give %d to %d", of_particles ? "particles" : "order",
                     size, least, most);
}

yoke_status fmm_bench_run(fmm_bench *bench, fmm_operation operation, int size, int64_t calls, double *seconds)
{
    yoke_status status = check(bench, operation, size);
    const int is_pair = operation == FMM_PAIR || operation == FMM_SPARSE;
    if (!status && (operation < FMM_TABLES || is_pair || operation == FMM_FAMILY)) status = have_cube(bench, fmm_cube_of(operation, size));
    if (status) return status;
    if (operation <= FMM_ADAPTIVE) return run_tree(bench, operation, calls, seconds);
    if (fmm_is_uneven(operation) || fmm_is_near(operation) || fmm_is_lone(operation)) return run_near(bench, operation, calls, seconds);
    if (operation == FMM_TABLES) return run_tables(bench, size, calls, seconds);
    if (operation == FMM_WAVES) return run_waves(bench, size, calls, seconds);
    if (is_pair || operation == FMM_FAMILY) return run_between(bench, size, is_pair ? 0 : ~(uint64_t)0, calls, seconds);
    status = fmm_bench_pools_have(bench->context, size, &bench->pools);
    if (!status) *seconds = fmm_bench_expansions(bench->pools, operation, bench->gradient, bench->clock, calls);
    return status;
}
