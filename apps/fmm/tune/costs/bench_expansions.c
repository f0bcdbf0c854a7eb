/* bench_expansions.c - measures operations on expansions, by calls with data as those of trees. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "expansion/expansion.h"
#include "expansion/pages.h"
#include "tune/costs/bench_parts.h"

enum {
    PARENTS = FMM_BENCH_TOGETHER,
    FAMILIES = 9 * PARENTS, /* expansions of PARENTS parents and their children */
    MOST_PARTICLES = 96,    /* of a leaf */
    VISITS = 4096,          /* number of pairs of a cell and a leaf, where a list W has ... */
    CELLS = 8,              /* ... so many cells, and a list X ... */
    LEAVES = 4              /* ... so many leaves, as in trees whose leaves have at most 128 particles */
};

/*
 * Expansions and particles do not fit into the caches, as in real runs, where each is used again only after all others.  At low orders
 * loading them from memory takes most of the time of P2M, M2M, L2L and L2P.
 */
enum {
    ALL_MEMORY = 1 << 26,      /* bytes of the expansions of all threads, ... */
    LEAST_MEMORY = 1 << 22,    /* ... at least this many of one thread, ... */
    MOST_EXPANSIONS = 1 << 16, /* ... and at most this number of its expansions */
    ALL_PLACES = 1 << 18       /* number of particles of a thread */
};

/* Data of a thread. */
typedef struct pool {
    int64_t stride, expansions;                  /* expansions: number of multipoles; there are PARENTS locals */
    double *multipoles, *locals, *work, *places; /* [8][ALL_PLACES] x, y, z, charge, potential, gradient */
} pool;

typedef struct benched {
    fmm_operation operation;
    int gradient;
    const fmm_operators *operators;
} benched;

static int64_t expansions_of(int64_t stride, int threads)
{
    const int64_t bytes = ALL_MEMORY / threads > LEAST_MEMORY ? ALL_MEMORY / threads : LEAST_MEMORY;
    const int64_t many = bytes / (stride * (int64_t)sizeof(double));
    return many > MOST_EXPANSIONS ? MOST_EXPANSIONS : many < 2 * FAMILIES ? 2 * FAMILIES : many;
}

/* Number of expansions in a half.  Operations that use all expansions swap the two halves from one call to the next. */
static int64_t half_of(int64_t expansions) { return expansions / 2; }

int64_t fmm_bench_expansions_units(fmm_operation operation, int order)
{
    const int threads = omp_get_max_threads();
    const int64_t half = half_of(expansions_of(fmm_stride(order), threads));
    if (operation == FMM_CELL) return threads * (half / FAMILIES) * 8 * PARENTS;
    if (operation == FMM_VISIT_16 || operation == FMM_VISIT_64) return (int64_t)threads * VISITS;
    return threads * half;
}

/* ---------------------------------------------------------------------------------------------------- one thread */

static double *expansion(double *expansions, const pool *own, int64_t i) { return expansions + i * own->stride; }

/* Performs M2M of all children in one half, and L2L from parents in this half to children in the other one, which are zero at first.
 * Parents are only read, so that numbers do not grow without bound. */
static void shift(const benched *b, const pool *own, int64_t begin, int64_t other)
{
    for (int64_t first = 0; first + FAMILIES <= half_of(own->expansions); first += FAMILIES)
        memset(expansion(own->multipoles, own, other + first), 0, (size_t)(8 * PARENTS * own->stride) * sizeof(double));
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

/* Number of particles of leaf i.  Leaves have different numbers of particles, which do not fill vectors. */
static int64_t particles_of(int64_t mean, int64_t i) { return mean / 2 + 1 + i * 5 % (mean - 1); }

/* Position of the next leaf's particles: after those of this leaf, or at the beginning if they do not fit. */
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

/* Performs P2M of the leaves of one half, and L2P of those of the other one. */
static void visit_leaves(const benched *b, const pool *own, int64_t begin, int64_t other)
{
    const int64_t mean = b->operation == FMM_LEAF_8 ? 8 : 32, leaves = half_of(own->expansions);
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

/* A leaf of list W or X.  As in runs, successive ones are near each other, but not side by side in memory. */
typedef struct visited {
    int64_t at, count;
} visited;

static visited leaf_of_visit(const benched *b, int64_t i)
{
    enum { NEAR_LEAVES = 64, STEP = 37 };
    const int64_t leaf = i / NEAR_LEAVES * NEAR_LEAVES + i * STEP % NEAR_LEAVES, mean = b->operation == FMM_VISIT_16 ? 16 : 64;
    return (visited){leaf * MOST_PARTICLES % (ALL_PLACES - MOST_PARTICLES), particles_of(mean, leaf)};
}

/* Performs M2P of the cells of one half, and P2L of those of the other one, at leaves that are two edges away. */
static void visit_cells(const benched *b, const pool *own, int64_t begin, int64_t other)
{
    const int64_t half = half_of(own->expansions);
    const fmm_frame frame = {{2.5, 0.5, 0.5}, 1};
    for (int64_t i = 0; i < VISITS; i++) {
        const visited leaf = leaf_of_visit(b, i / CELLS);
        const fmm_targets targets = targets_of(b, own, leaf.at, leaf.count);
        fmm_m2p(b->operators, &frame, expansion(own->multipoles, own, begin + i % half), &targets);
    }
    for (int64_t i = 0; i < VISITS; i++) {
        const visited leaf = leaf_of_visit(b, i);
        const fmm_sources sources = sources_of(own, leaf.at, leaf.count);
        fmm_p2l(b->operators, &frame, &sources, expansion(own->multipoles, own, other + i / LEAVES % half));
    }
}

static void work(const benched *b, const pool *own, int64_t call)
{
    const int64_t half = half_of(own->expansions), begin = call % 2 * half, other = half - begin;
    if (b->operation == FMM_CELL)
        shift(b, own, begin, other);
    else if (b->operation == FMM_VISIT_16 || b->operation == FMM_VISIT_64)
        visit_cells(b, own, begin, other);
    else
        visit_leaves(b, own, begin, other);
}

static void fill(const pool *own)
{
    for (int64_t i = 0; i < (own->expansions + PARENTS) * own->stride; i++) own->multipoles[i] = 1. / (double)(i % 97 + 1);
    for (int64_t i = 0; i < 8 * ALL_PLACES; i++) own->places[i] = ((double)(i * 37 % 128) + 0.5) / 128;
}

/* --------------------------------------------------------------------------------------------------- all threads */

struct fmm_bench_pools {
    yoke_context *context;
    int order, threads;
    int64_t calls; /* number of earlier calls */
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
    const int64_t numbers = (expansions + PARENTS) * stride, each = numbers + room + 8 * ALL_PLACES;
    status = fmm_allocate_large(p->context, p->threads * each, sizeof *p->numbers, &p->numbers);
    if (status) return status;
#pragma omp parallel num_threads(p->threads)
    {
        const int t = omp_get_thread_num();
        double *own = p->numbers + t * each;
        p->of_thread[t] = (pool){stride, expansions, own, own + expansions * stride, own + numbers, own + numbers + room};
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

/* Returns the seconds of the shortest call.  A call ends when the last thread ends. */
double fmm_bench_expansions(fmm_bench_pools *pools, fmm_operation operation, int gradient, const fmm_clock *clock, int64_t calls)
{
    const double first_s = yoke_clock_s();
    double begin_s = 0, shortest_s = INFINITY;
    int64_t made = 0;
    bool goes_on = calls > 0;
    const benched b = {.operation = operation, .gradient = gradient, .operators = pools->operators};
#pragma omp parallel num_threads(pools->threads)
    {
        const pool *own = &pools->of_thread[omp_get_thread_num()];
        while (goes_on) {
#pragma omp barrier
#pragma omp master
            begin_s = fmm_clock_now_s(clock);
#pragma omp barrier
            work(&b, own, pools->calls + made);
#pragma omp barrier
#pragma omp master
            {
                shortest_s = fmin(shortest_s, fmm_clock_now_s(clock) - begin_s);
                goes_on = fmm_bench_goes_on(++made, calls, first_s);
            }
#pragma omp barrier
        }
    }
    pools->calls += made;
    return shortest_s;
}
