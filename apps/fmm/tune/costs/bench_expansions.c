/* Seconds of operations on expansions, by calls with the data of trees. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "expansion/expansion.h"
#include "expansion/pages.h"
#include "tune/costs/bench_parts.h"

enum {
    MOST_SPARSE = 23,
    PARENTS = FMM_BENCH_TOGETHER,
    TARGETS = 8 * PARENTS,
    SOURCES = 8 * 6 * 4 * 4, /* children of 4 x 2 x 2 parents that follow each other, and of all those around */
    DIRECTIONS = 158,        /* of those opposite to each other one */
    FAMILIES = 9 * PARENTS,  /* children of some parents, and these */
    FEW_PARTICLES = 8,       /* of a leaf, mean */
    MANY_PARTICLES = 32,
    MOST_PARTICLES = 48,
    VISITS = 4096, /* of a cell and a leaf, ... */
    ALIKE = 4      /* ... some of a cell one after the other */
};

/*
 * Expansions and particles are more than caches hold, as in real runs, where each is needed again only after all others were: at low orders this takes most of the
 * time of P2M, M2M, L2L and L2P.
 */
enum {
    ALL_MEMORY = 1 << 26,      /* bytes of the expansions of all threads ... */
    LEAST_MEMORY = 1 << 22,    /* ... of one at least ... */
    MOST_EXPANSIONS = 1 << 16, /* ... and so many of them at most */
    ALL_PLACES = 1 << 18       /* particles of a thread */
};

/* What a thread works on. */
typedef struct pool {
    int64_t stride, expansions, groups; /* so many multipoles, SOURCES for each group */
    double *multipoles, *locals, *work,
        *places; /* locals: TARGETS for each group; places: [8][ALL_PLACES] x, y, z, charge, potential, gradient */
} pool;

typedef struct benched {
    fmm_operation operation;
    int order, gradient;
    const fmm_operators *operators;
    int direction[DIRECTIONS][3];
} benched;

/* --------------------------------------------------------------------------------------------------- directions */

/* Children of a parent that have a far pair in a direction, where no cell is empty: both octants in a coordinate with |d| < 3, else one. */
static int pairs_of(const int direction[3])
{
    int ways = 1;
    for (int c = 0; c < 3; c++) ways *= abs(direction[c]) == 3 ? 1 : 2;
    return ways;
}

/* Whether a target can have a source on each side. */
static int has_sides(const int direction[3]) { return abs(direction[0]) < 3 && abs(direction[1]) < 3 && abs(direction[2]) < 3; }

/* All that lead to a well separated cell, the second of two that are opposite to each other: they differ in their tables and orders. */
static void list_directions(benched *b)
{
    for (int d = 343 / 2 + 1, count = 0; d < 343; d++) {
        const int at[3] = {d % 7 - 3, d / 7 % 7 - 3, d / 49 - 3};
        if (abs(at[0]) < 2 && abs(at[1]) < 2 && abs(at[2]) < 2) continue;
        for (int c = 0; c < 3; c++) b->direction[count][c] = at[c];
        count++;
    }
}

/* The pairs of batch d, on both sides; four fifths of those where no cell is empty: some are missing at the surface of what is filled. */
static int batch_of(const benched *b, int d)
{
    return 2 * (b->operation == FMM_SPARSE ? 1 + d * 7 % MOST_SPARSE : PARENTS * pairs_of(b->direction[d]) * 4 / 5);
}

/*
 * Its targets with two sources: three quarters of the pairs that can be theirs, as where all cells of a cube of depth 4 are filled.  With one source a pair
 * takes up to 1.3 times as long.
 */
static int twice_of(const benched *b, int d) { return has_sides(b->direction[d]) ? batch_of(b, d) * 3 / 8 : 0; }

static int64_t pairs_of_all(const benched *b)
{
    int64_t pairs = 0;
    for (int d = 0; d < DIRECTIONS; d++) pairs += batch_of(b, d);
    return pairs;
}

double fmm_bench_batch(fmm_operation operation, int order)
{
    benched b = {.operation = operation, .order = order};
    list_directions(&b);
    return (double)pairs_of_all(&b) / DIRECTIONS;
}

static int64_t expansions_of(int64_t stride, int threads)
{
    const int64_t bytes = ALL_MEMORY / threads > LEAST_MEMORY ? ALL_MEMORY / threads : LEAST_MEMORY;
    const int64_t many = bytes / (stride * (int64_t)sizeof(double));
    return many > MOST_EXPANSIONS ? MOST_EXPANSIONS : many < SOURCES ? SOURCES : many;
}

/* Calls of what passes through all expansions take one half after the other. */
static int64_t half_of(int64_t expansions) { return expansions / 2; }

int64_t fmm_bench_expansions_units(fmm_operation operation, int order)
{
    benched b = {.operation = operation, .order = order};
    const int threads = omp_get_max_threads();
    const int64_t half = half_of(expansions_of(fmm_stride(order), threads));
    if (operation == FMM_CELL) return threads * (half / FAMILIES) * 8 * PARENTS;
    if (operation == FMM_VISIT) return (int64_t)threads * VISITS * MANY_PARTICLES;
    if (operation != FMM_PAIR && operation != FMM_SPARSE) return threads * half;
    list_directions(&b);
    return threads * pairs_of_all(&b);
}

/* ---------------------------------------------------------------------------------------------------- one thread */

static double *expansion(double *expansions, const pool *own, int64_t i) { return expansions + i * own->stride; }

/* What is far from a group; the next call has another one, which is not in the cache then. */
static void translate(const benched *b, const pool *own, int64_t group, int directions)
{
    double *const multipoles = expansion(own->multipoles, own, group * SOURCES), *const locals =
                                                                                     expansion(own->locals, own, group * TARGETS);
    const double *ahead[TARGETS], *behind[TARGETS];
    double *to[TARGETS];
    int64_t next = 0;
    for (int d = 0; d < directions; d++) {
        const int twice = twice_of(b, d), targets = batch_of(b, d) - twice;
        for (int i = 0; i < targets; i++, next = (next + 5) % SOURCES) { /* not one after the other in memory */
            const double *const from = expansion(multipoles, own, next), *const other = expansion(multipoles, own, (next + 2) % SOURCES);
            ahead[i] = i < twice || i % 2 ? from : NULL;
            behind[i] = i < twice || !(i % 2) ? other : NULL;
            to[i] = expansion(locals, own, i);
        }
        fmm_m2l(b->operators, b->order, b->direction[d], targets, ahead, behind, to, own->work);
    }
}

/* M2M of all children of parents in a half, and L2L to those in the other one; parents are read only, so that nothing grows without end. */
static void shift(const benched *b, const pool *own, int64_t begin, int64_t other)
{
    const double *from[PARENTS];
    double *to[PARENTS];
    for (int64_t first = 0; first + FAMILIES <= half_of(own->expansions); first += FAMILIES)
        for (int octant = 0; octant < 8; octant++)
            for (int down = 0; down < 2; down++) {
                for (int i = 0; i < PARENTS; i++) {
                    const int64_t parent = first + 8 * PARENTS + i, child = first + 8 * i + octant;
                    from[i] = expansion(own->multipoles, own, begin + (down ? parent : child));
                    to[i] = down ? expansion(own->multipoles, own, other + child) : expansion(own->locals, own, i);
                }
                (down ? fmm_l2l : fmm_m2m)(b->operators, octant, PARENTS, from, to, own->work);
            }
}

/* The particles of leaf i: leaves have different numbers of them, which do not fill vectors. */
static int64_t particles_of(int64_t mean, int64_t i) { return mean / 2 + 1 + i * 5 % (mean - 1); }

/* Where those of the next leaf are: after the last one's. */
static int64_t next_place(int64_t at, int64_t count) { return at + count + MOST_PARTICLES > ALL_PLACES ? 0 : at + count; }

static fmm_sources sources_of(const pool *own, int64_t at, int64_t count)
{
    double *const p = own->places + at;
    return (fmm_sources){count, p, p + ALL_PLACES, p + 2 * ALL_PLACES, p + 3 * ALL_PLACES};
}

static fmm_targets targets_of(const benched *b, const pool *own, int64_t at, int64_t count)
{
    double *const p = own->places + at;
    fmm_targets targets = {count, p, p + ALL_PLACES, p + 2 * ALL_PLACES, p + 4 * ALL_PLACES, NULL, NULL, NULL};
    if (b->gradient) targets.gx = p + 5 * ALL_PLACES, targets.gy = p + 6 * ALL_PLACES, targets.gz = p + 7 * ALL_PLACES;
    return targets;
}

/* P2M of the leaves of a half, and L2P of those of the other one. */
static void visit_leaves(const benched *b, const pool *own, int64_t begin, int64_t other)
{
    const int64_t mean = b->operation == FMM_LEAF_8 ? FEW_PARTICLES : MANY_PARTICLES, leaves = half_of(own->expansions);
    const fmm_frame frame = {{0.5, 0.5, 0.5}, 1};
    for (int64_t i = 0, at = 0, count; i < leaves; i++, at = next_place(at, count)) {
        count = particles_of(mean, i);
        const fmm_sources sources = sources_of(own, at, count);
        double *multipole = expansion(own->multipoles, own, begin + i);
        memset(multipole, 0, (size_t)own->stride * sizeof *multipole);
        fmm_p2m(b->operators, &frame, &sources, multipole);
    }
    for (int64_t i = 0, at = 0, count; i < leaves; i++, at = next_place(at, count)) {
        count = particles_of(mean, i);
        const fmm_targets targets = targets_of(b, own, at, count);
        double *const sums[4] = {targets.potential, targets.gx, targets.gy, targets.gz};
        for (int c = 0; c < 4 && sums[c]; c++) memset(sums[c], 0, (size_t)count * sizeof(double));
        fmm_l2p(b->operators, &frame, expansion(own->multipoles, own, other + i), &targets);
    }
}

/* M2P of cells two edges away in a half, and P2L of those of the other one, at leaves that follow one another. */
static void visit_cells(const benched *b, const pool *own, int64_t begin, int64_t other)
{
    const fmm_frame frame = {{2.5, 0.5, 0.5}, 1};
    for (int64_t i = 0, at = 0; i < VISITS; i++, at = next_place(at, MANY_PARTICLES)) {
        const int64_t cell = i / ALIKE % half_of(own->expansions);
        const fmm_sources sources = sources_of(own, at, MANY_PARTICLES);
        const fmm_targets targets = targets_of(b, own, at, MANY_PARTICLES);
        fmm_m2p(b->operators, &frame, expansion(own->multipoles, own, begin + cell), &targets);
        fmm_p2l(b->operators, &frame, &sources, expansion(own->multipoles, own, other + cell));
    }
}

static void work(const benched *b, const pool *own, int64_t call)
{
    const int64_t half = half_of(own->expansions), begin = call % 2 * half, other = half - begin;
    if (b->operation == FMM_PAIR || b->operation == FMM_SPARSE)
        translate(b, own, call % own->groups, DIRECTIONS);
    else if (b->operation == FMM_CELL)
        shift(b, own, begin, other);
    else if (b->operation == FMM_VISIT)
        visit_cells(b, own, begin, other);
    else
        visit_leaves(b, own, begin, other);
}

static void fill(const pool *own)
{
    for (int64_t i = 0; i < (own->expansions + own->groups * TARGETS) * own->stride; i++) own->multipoles[i] = 1. / (double)(i % 97 + 1);
    for (int64_t i = 0; i < 8 * ALL_PLACES; i++) own->places[i] = ((double)(i * 37 % 128) + 0.5) / 128;
}

/* --------------------------------------------------------------------------------------------------- all threads */

struct fmm_bench_pools {
    yoke_context *context;
    int order, threads;
    int64_t calls; /* that were */
    fmm_operators *operators;
    double *numbers;
    pool *of_thread; /* [threads] */
};

void fmm_bench_pools_destroy(fmm_bench_pools *pools)
{
    if (!pools) return;
    fmm_operators_destroy(pools->operators);
    yoke_release(pools->context, pools->of_thread);
    yoke_release(pools->context, pools->numbers);
    yoke_release(pools->context, pools);
}

static yoke_status fill_pools(fmm_bench_pools *p)
{
    yoke_status status = fmm_operators_create(p->context, p->order, &p->operators);
    if (!status) status = yoke_allocate(p->context, p->threads, sizeof *p->of_thread, &p->of_thread);
    if (status) return status;
    const int64_t stride = fmm_stride(p->order), expansions = expansions_of(stride, p->threads);
    const int64_t room = ((int64_t)fmm_translation_work(p->operators) + 7) / 8 * 8;
    const int64_t groups = expansions / SOURCES, numbers = (expansions + groups * TARGETS) * stride, each = numbers + room + 8 * ALL_PLACES;
    status = fmm_allocate_large(p->context, p->threads * each, sizeof *p->numbers, &p->numbers);
    if (status) return status;
#pragma omp parallel num_threads(p->threads)
    {
        const int t = omp_get_thread_num();
        double *own = p->numbers + t * each;
        p->of_thread[t] = (pool){stride, expansions, groups, own, own + expansions * stride, own + numbers, own + numbers + room};
        fill(&p->of_thread[t]);
    }
    return YOKE_OK;
}

yoke_status fmm_bench_pools_have(yoke_context *context, int order, fmm_bench_pools **pools)
{
    fmm_bench_pools *created = NULL;
    if (*pools && (*pools)->order == order && (*pools)->threads == omp_get_max_threads()) return YOKE_OK;
    fmm_bench_pools_destroy(*pools);
    *pools = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    created->context = context;
    created->order = order;
    created->threads = omp_get_max_threads();
    status = fill_pools(created);
    if (status)
        fmm_bench_pools_destroy(created);
    else
        *pools = created;
    return status;
}

/* The shortest call; it ends where the last thread has ended. */
double fmm_bench_expansions(fmm_bench_pools *pools, fmm_operation operation, int gradient, const fmm_clock *clock, int64_t calls)
{
    double begin_s = 0, shortest_s = INFINITY;
    benched b = {.operation = operation, .order = pools->order, .gradient = gradient, .operators = pools->operators};
    list_directions(&b);
#pragma omp parallel num_threads(pools->threads)
    {
        const pool *own = &pools->of_thread[omp_get_thread_num()];
        if (operation == FMM_PAIR || operation == FMM_SPARSE) translate(&b, own, 0, 1); /* so that the code is there */
        for (int64_t k = 0; k < calls; k++) {
#pragma omp barrier
#pragma omp master
            begin_s = fmm_bench_now_s(clock);
#pragma omp barrier
            work(&b, own, pools->calls + k);
#pragma omp barrier
#pragma omp master
            shortest_s = fmin(shortest_s, fmm_bench_now_s(clock) - begin_s);
        }
    }
    pools->calls += calls;
    return shortest_s;
}
