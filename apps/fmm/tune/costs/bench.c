#include "tune/costs/bench.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "expansion/waves.h"
#include "method/method.h"
#include "tune/costs/bench_parts.h"
#include "tune/costs/surface.h"

/*
 * A cube whose leaves have so many particles each, or its lowest layers of leaves; or each third leaf in each direction, which have no others around them.
 * Where leaves vary `each` is the mean.  mixed: particles that follow one another are in any leaves.  capacity > 0: a cube of an adaptive tree (adaptive_cube).
 * surface: one particle in each cell of a sphere (surface.h).
 */
typedef struct cube {
    int depth, each, layers, lone, varies, mixed, capacity, surface;
} cube;

/*
 * Of so many particles, where there is room for them, that they do not stay in a core's cache, as in real runs.  Leaves of different sizes, which a processor
 * does not foresee, take a sixth longer where they have 8 particles.
 */
static cube near_cube(int each)
{
    enum { PARTICLES = 1 << 17, FEWEST_LAYERS = 8 };
    cube of = {5, each, 32, .varies = 1};
    of.layers = (PARTICLES / each) >> 10;
    if (of.layers >= FEWEST_LAYERS) {
        of.layers = of.layers < 32 ? of.layers : 32;
        return of;
    }
    of.layers = (PARTICLES / each) >> 8;
    if (of.layers >= FEWEST_LAYERS) return (cube){4, each, of.layers < 16 ? of.layers : 16, .varies = 1};
    return (cube){3, each, 8, .varies = 1};
}

/*
 * Low orders have so many cells in real runs that the waves of four layers do not stay in a core's cache, which takes a fifth longer; higher ones do not fit
 * at depth 4 either.
 */
static cube family_cube(int order)
{
    enum { LOW_ORDER = 6 };
    const int depth = order <= LOW_ORDER ? 5 : 4;
    return (cube){depth, 1, 1 << depth, .lone = 0};
}

/* The least depth at which a full cube has several groups of cells for each thread; a surface has as many one level below. */
static int deep_for_threads(void)
{
    enum { FEW = 2, MANY = 16 };
    const int threads = omp_get_max_threads();
    return threads <= FEW ? 3 : threads <= MANY ? 4 : 5;
}

/* Low orders have many cells, as in real runs; with so many higher ones take long. */
static cube pair_cube(int order)
{
    enum { LOW_ORDER = 5 };
    const int wanted = order <= LOW_ORDER ? 4 : 3, least = deep_for_threads(), depth = wanted > least ? wanted : least;
    return (cube){depth, 1, 1 << depth, .lone = 0};
}

static cube surface_cube(int order)
{
    enum { LOW_ORDER = 3, MIDDLE_ORDER = 10 };
    const int depth = order <= LOW_ORDER ? 6 : order <= MIDDLE_ORDER ? 5 : 4, least = deep_for_threads() + 1;
    return (cube){.depth = depth > least ? depth : least, .each = 1, .surface = 1};
}

/* Trees have the same number of particles, as many as real ones, and in no order: sorting them takes half as long again as where they are sorted. */
static cube tree_cube(int each)
{
    enum { PARTICLES = 1 << 18, WIDE = 32 };
    const int layers = PARTICLES / (WIDE * WIDE * each);
    return (cube){.depth = 5, .each = each, .layers = layers < 1 ? 1 : layers > WIDE ? WIDE : layers, .mixed = 1};
}

/*
 * Cells of depth 4, one with many particles and one with few in turn in each direction: with the lower capacity those with many have children, and lists of leaves
 * are of two levels, with the higher one none has.
 */
enum { CELLS = 16, OF_MANY = 64, OF_FEW = 24, OF_BOTH = OF_MANY + OF_FEW, PAIRS_OF_CELLS = CELLS * CELLS * CELLS / 2 };
static cube adaptive_cube(int capacity) { return (cube){.depth = 5, .each = 1, .layers = 32, .mixed = 1, .capacity = capacity}; }

static int is_uneven(fmm_operation operation) { return operation == FMM_UNEVEN || operation == FMM_SINGLE_UNEVEN; }
static int is_near(fmm_operation operation) { return operation == FMM_NEAR || operation == FMM_SINGLE_NEAR; }

static int is_lone(fmm_operation operation) { return operation == FMM_LONE || operation == FMM_SINGLE_LONE; }

static cube cube_of(fmm_operation operation, int size)
{
    enum { FEW_IN_LEAF = 32 };
    if (operation == FMM_FAMILY) return family_cube(size);
    if (operation == FMM_PAIR) return pair_cube(size);
    if (operation == FMM_SPARSE) return surface_cube(size);
    if (operation == FMM_TREE) return tree_cube(size);
    if (operation == FMM_ADAPTIVE || is_uneven(operation)) return adaptive_cube(size);
    if (is_near(operation)) return near_cube(size);
    return size > FEW_IN_LEAF ? (cube){5, size, 11, .lone = 1} : (cube){6, size, 22, .lone = 1};
}

struct fmm_bench {
    yoke_context *context;
    int gradient;
    const fmm_clock *clock; /* NULL: seconds */
    cube made;              /* what the following are of */
    fmm_particles *particles;
    fmm_field *field;
    fmm_method *method;
    int order;              /* of the method's expansions, ... */
    uint64_t waves;         /* ... and levels with plane waves */
    fmm_bench_pools *pools; /* of the order asked last; NULL: none was */
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
    bench->made = (cube){0};
}

void fmm_bench_destroy(fmm_bench *bench)
{
    if (!bench) return;
    fmm_bench_pools_destroy(bench->pools);
    forget_cube(bench);
    yoke_release(bench->context, bench);
}

/* ------------------------------------------------------------------------------------------------------ units */

/* Leaves along an edge of the cube; lone ones lie in the first and in the last cell. */
static int64_t along(cube of) { return of.lone ? (((int64_t)1 << of.depth) - 1) / 3 + 1 : (int64_t)1 << of.depth; }

static int64_t leaves_of(cube of)
{
    if (of.capacity) return PAIRS_OF_CELLS * (of.capacity < OF_MANY ? 8 + 1 : 1 + 1);
    if (of.surface) return fmm_surface_count(of.depth).cells;
    return along(of) * along(of) * of.layers;
}

static int64_t particles_of(cube of) { return of.capacity ? PAIRS_OF_CELLS * OF_BOTH : of.each * leaves_of(of); }

double fmm_bench_leaf_particles(int capacity)
{
    const cube of = adaptive_cube(capacity);
    return (double)particles_of(of) / (double)leaves_of(of);
}

/* Pairs of a leaf and one that touches it, or itself, of a cube without lone leaves. */
static int64_t touching(cube of)
{
    const int64_t wide = 3 * along(of) - 2;
    return wide * wide * (3 * of.layers - 2);
}

/* Parents of all levels from 2 on. */
static int64_t families_of(cube of)
{
    int64_t families = 0;
    for (int l = 2; l <= of.depth; l++) families += (int64_t)1 << 3 * (l - 1);
    return families;
}

double fmm_bench_sources(int size)
{
    const cube of = cube_of(FMM_NEAR, size);
    return (double)(size * touching(of)) / (double)leaves_of(of);
}

/*
 * Cells that touch along an odd number of axes are one with many particles and one with few; the others are alike, half of them each kind.  All children of a cell act on
 * one with few, as cells of W that are summed directly if not as neighbours.  Where two cells with many touch along two axes, two children of each do.
 */
fmm_bench_pairs fmm_bench_uneven(void)
{
    enum { OF_CHILD = OF_MANY / 8, CHILDREN = 8 };
    const cube of = adaptive_cube(FMM_LOW_CAPACITY);
    const double same = CELLS, next = CELLS - 1; /* along an axis; unordered pairs that differ along k of three: */
    const double self = same * same * same, by_1 = 3 * same * same * next, by_2 = 3 * same * 2 * next * next, by_3 = 4 * next * next * next;
    const double unlike = by_1 + by_3, many = OF_MANY * (OF_MANY - 1) / 2., few = OF_FEW * (OF_FEW - 1) / 2.;
    const double uneven = unlike * OF_MANY * OF_FEW;
    return (fmm_bench_pairs){.particles = (double)particles_of(of),
                             .leaves = (double)leaves_of(of),
                             .near = uneven + self / 2 * (many + few) + by_2 / 2 * (4 * OF_CHILD * OF_CHILD + OF_FEW * OF_FEW),
                             .uneven = uneven,
                             .sources = (double)particles_of(of) + unlike * CHILDREN * (OF_CHILD + OF_FEW) +
                                        self / 2 * (CHILDREN * (CHILDREN - 1) / 2 * 2 * OF_CHILD) +
                                        by_2 / 2 * (4 * 2 * OF_CHILD + 2 * OF_FEW)};
}

/* Ordered pairs of cells of a full level whose parents touch, and that do not touch. */
static double full_pairs(int level)
{
    const double parents = (double)((int64_t)1 << (level - 1)), around = 4 * (3 * parents - 2), near = 3 * 2 * parents - 2;
    return around * around * around - near * near * near;
}

/* Of all levels; batches may be NULL. */
static double pairs_of(cube of, double *batches)
{
    double pairs = 0, sum = 0;
    for (int l = 2; l <= of.depth; l++) {
        const fmm_surface_counts cut = fmm_surface_count(l);
        const double cells = of.surface ? (double)cut.cells : ldexp(1, 3 * l), far = of.surface ? (double)cut.pairs : full_pairs(l);
        pairs += far;
        sum += fmm_method_batches(cells, far);
    }
    if (batches) *batches = sum;
    return pairs;
}

double fmm_bench_batch(fmm_operation operation, int order)
{
    double batches;
    const double pairs = pairs_of(cube_of(operation, order), &batches);
    return pairs / batches;
}

int64_t fmm_bench_units(fmm_operation operation, int size)
{
    const cube of = cube_of(operation, size);
    if (operation == FMM_TREE || operation == FMM_ADAPTIVE || is_uneven(operation) || is_lone(operation)) return leaves_of(of);
    if (is_near(operation)) return of.each * touching(of);
    if (operation == FMM_TABLES || operation == FMM_WAVES) return 1;
    if (operation == FMM_PAIR || operation == FMM_SPARSE) return (int64_t)pairs_of(of, NULL);
    if (operation == FMM_FAMILY) return families_of(of);
    return fmm_bench_expansions_units(operation, size);
}

/* ------------------------------------------------------------------------------------------------------ cubes */

/* 0 ... 1, the same for the same number; Weyl sequences with the powers of the plastic number, which are far from rational. */
static double part(int64_t i, double step)
{
    const double at = step * (double)(i + 1);
    return at - (double)(int64_t)at;
}

/*
 * The leaf of particle i.  Of two leaves that follow one another the first has more than the mean where the second has less: by 0.8 of its root, as where
 * particles are anywhere.
 */
static int64_t leaf_of(cube of, int64_t i)
{
    if (!of.varies) return i / of.each;
    const int64_t pair = i / (2 * of.each), range = llround(1.6 * sqrt(of.each)), most = range < of.each ? range : of.each - 1;
    const int64_t more = (int64_t)(part(pair * pair, 0.6180339887498949) * (double)(most + 1));
    return 2 * pair + (i % (2 * of.each) >= of.each + (pair & 1 ? more : -more));
}

/* The leaf of particle i of cells with many and with few, of depth 5, along each axis. */
static void find_uneven(int64_t i, int64_t at[3])
{
    const int64_t pair = i / OF_BOTH, own = i % OF_BOTH, has_many = own < OF_MANY;
    const int64_t octant = has_many ? own * 8 / OF_MANY : (own - OF_MANY) * 8 / OF_FEW;
    const int64_t y = pair / (CELLS / 2) % CELLS, z = pair / (CELLS / 2 * CELLS), x = pair % (CELLS / 2) * 2 + ((y + z + has_many + 1) & 1);
    at[0] = 2 * x + (octant & 1), at[1] = 2 * y + (octant >> 1 & 1), at[2] = 2 * z + (octant >> 2);
}

static void find_leaf(cube of, int64_t i, int64_t at[3])
{
    const int64_t leaves = along(of), apart = of.lone ? 3 : 1, leaf = of.capacity ? 0 : leaf_of(of, i);
    if (of.capacity)
        find_uneven(i, at);
    else
        at[0] = leaf % leaves * apart, at[1] = leaf / leaves % leaves * apart, at[2] = leaf / leaves / leaves * apart;
}

/* Particle i, the k-th place, somewhere in a cell of which there are so many along each side. */
static void put(fmm_particles *p, int64_t i, int64_t k, const int64_t at[3], double side)
{
    p->x[i] = ((double)at[0] + part(k, 0.8191725133961645)) / side;
    p->y[i] = ((double)at[1] + part(k, 0.6710436067037893)) / side;
    p->z[i] = ((double)at[2] + part(k, 0.5497004779019703)) / side;
    p->charge[i] = k & 1 ? 1 : -1;
}

/* Particles in the leaves of the unit cube, and at its edges, so that it is the box around them. */
static void place(fmm_particles *p, cube of)
{
    enum { PRIME = 1000003 };
    const double side = ldexp(1, of.depth);
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t k = of.mixed ? i * PRIME % p->count : i, is_last = k + 1 == p->count;
        int64_t at[3];
        find_leaf(of, k, at);
        put(p, i, k, at, side);
        if (k == 0) p->x[i] = p->y[i] = p->z[i] = 0;
        if (is_last) p->x[i] = p->y[i] = 1;
        if (is_last && along(of) == of.layers) p->z[i] = 1;
    }
}

/* One in each cell of a surface, somewhere in it; the two in the corners are at the cube's, so that it is the box around them. */
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

static yoke_status have_cube(fmm_bench *bench, cube of)
{
    if (bench->particles && !memcmp(&bench->made, &of, sizeof of)) return YOKE_OK;
    forget_cube(bench);
    yoke_status status = fmm_particles_create(bench->context, particles_of(of), &bench->particles);
    if (!status) status = fmm_field_create(bench->context, bench->particles->count, bench->gradient, &bench->field);
    if (status) {
        forget_cube(bench);
        return status;
    }
    if (of.surface)
        place_surface(bench->particles, of.depth);
    else
        place(bench->particles, of);
    bench->made = of;
    return YOKE_OK;
}

static yoke_status have_method(fmm_bench *bench)
{
    static const int orders[FMM_MAX_DEPTH + 1] = {0};
    const fmm_method_options options = {.depth = bench->made.capacity ? FMM_MAX_DEPTH : bench->made.depth,
                                        .capacity = bench->made.capacity,
                                        .direct = -1,
                                        .order = orders,
                                        .gradient = bench->gradient,
                                        .clock = bench->clock};
    if (bench->method && bench->order == 0) return YOKE_OK;
    forget_method(bench);
    bench->order = 0;
    bench->waves = 0;
    return fmm_method_create(bench->particles, &options, &bench->method);
}

yoke_status fmm_bench_make_cube(fmm_bench *bench, int depth, int each, fmm_bench_cube *of)
{
    yoke_status status = have_cube(bench, (cube){depth, each, 1 << depth, .lone = 0});
    if (!status) status = have_method(bench);
    if (!status) *of = (fmm_bench_cube){bench->method, bench->particles, bench->field};
    return status;
}

const fmm_tree *fmm_bench_tree(const fmm_bench *bench) { return bench->method ? fmm_method_tree(bench->method) : NULL; }

/* --------------------------------------------------------------------------------------------------- operations */

static yoke_status run_tree(fmm_bench *bench, int64_t calls, double *seconds)
{
    yoke_status status = YOKE_OK;
    *seconds = INFINITY;
    for (int64_t k = 0; k < calls && !status; k++) {
        forget_method(bench);
        const double begin_s = fmm_bench_now_s(bench->clock);
        status = have_method(bench);
        *seconds = fmin(*seconds, fmm_bench_now_s(bench->clock) - begin_s);
    }
    return status;
}

static yoke_status run_near(fmm_bench *bench, fmm_operation operation, int64_t calls, double *seconds)
{
    yoke_status status = have_method(bench);
    if (!status) fmm_method_set_single(bench->method, operation >= FMM_SINGLE_UNEVEN);
    *seconds = INFINITY;
    for (int64_t k = 0; k < calls && !status; k++) {
        double near_s = INFINITY;
        status = fmm_method_run_near(bench->method, bench->particles->charge, bench->field, &near_s);
        *seconds = fmin(*seconds, near_s);
    }
    return status;
}

static yoke_status run_tables(const fmm_bench *bench, int order, int64_t calls, double *seconds)
{
    yoke_status status = YOKE_OK;
    *seconds = INFINITY;
    for (int64_t k = 0; k < calls && !status; k++) {
        fmm_operators *operators = NULL;
        const double begin_s = fmm_bench_now_s(bench->clock);
        status = fmm_operators_create(bench->context, order, &operators);
        *seconds = fmin(*seconds, fmm_bench_now_s(bench->clock) - begin_s);
        fmm_operators_destroy(operators);
    }
    return status;
}

static yoke_status run_waves(const fmm_bench *bench, int order, int64_t calls, double *seconds)
{
    yoke_status status = YOKE_OK;
    *seconds = INFINITY;
    for (int64_t k = 0; k < calls && !status; k++) {
        fmm_waves *waves = NULL;
        const double begin_s = fmm_bench_now_s(bench->clock);
        status = fmm_waves_create(bench->context, order, order, (fmm_held){order, order}, &waves);
        *seconds = fmin(*seconds, fmm_bench_now_s(bench->clock) - begin_s);
        fmm_waves_destroy(waves);
    }
    return status;
}

/* The method with expansions and plane waves of an order, after a first run, which gets new memory: that is predicted apart. */
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

/* M2L of all levels, lists among it, by plane waves or by rotations. */
static yoke_status run_between(fmm_bench *bench, int order, uint64_t waves, int64_t calls, double *seconds)
{
    fmm_method_seconds of;
    yoke_status status = have_expansions(bench, order, waves);
    *seconds = INFINITY;
    for (int64_t k = 0; k < calls && !status; k++) {
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
    if (is_uneven(operation) && size != FMM_LOW_CAPACITY)
        return yoke_fail(bench->context, YOKE_ERROR_ARGUMENT, "capacity %d of the benchmark: give %d", size, FMM_LOW_CAPACITY);
    if (operation == FMM_ADAPTIVE && size != FMM_LOW_CAPACITY && size != FMM_HIGH_CAPACITY)
        return yoke_fail(bench->context, YOKE_ERROR_ARGUMENT, "capacity %d of the benchmark: give %d or %d", size, FMM_LOW_CAPACITY,
                         FMM_HIGH_CAPACITY);
    if (size >= least && size <= most) return YOKE_OK;
    return yoke_fail(bench->context, YOKE_ERROR_ARGUMENT, "%s %d of the benchmark: give %d to %d", of_particles ? "particles" : "order",
                     size, least, most);
}

yoke_status fmm_bench_run(fmm_bench *bench, fmm_operation operation, int size, int64_t calls, double *seconds)
{
    yoke_status status = check(bench, operation, size);
    const int is_pair = operation == FMM_PAIR || operation == FMM_SPARSE;
    if (!status && (operation < FMM_TABLES || is_pair || operation == FMM_FAMILY)) status = have_cube(bench, cube_of(operation, size));
    if (status) return status;
    if (operation == FMM_TREE || operation == FMM_ADAPTIVE) return run_tree(bench, calls, seconds);
    if (is_uneven(operation) || is_near(operation) || is_lone(operation)) return run_near(bench, operation, calls, seconds);
    if (operation == FMM_TABLES) return run_tables(bench, size, calls, seconds);
    if (operation == FMM_WAVES) return run_waves(bench, size, calls, seconds);
    if (is_pair || operation == FMM_FAMILY) return run_between(bench, size, is_pair ? 0 : ~(uint64_t)0, calls, seconds);
    status = fmm_bench_pools_have(bench->context, size, &bench->pools);
    if (!status) *seconds = fmm_bench_expansions(bench->pools, operation, bench->gradient, bench->clock, calls);
    return status;
}
