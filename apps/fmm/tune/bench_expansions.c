#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "expansion/expansion.h"
#include "tune/bench_parts.h"

enum {
    MOST_SPARSE = 23,
    PARENTS = FMM_BENCH_TOGETHER,
    TARGETS = 8 * PARENTS,
    SOURCES = 8 * 6 * 4 * 4, /* children of 4 x 2 x 2 parents that follow each other, and of all those around */
    MOST_DIRECTIONS = 316,
    FEWEST_DIRECTIONS = 6,
    ROUNDS = 4, /* of all leaves, of all parents */
    MOST_PARTICLES = 32
};

/* What a thread works on. */
typedef struct pool {
    int64_t stride;
    double *multipoles, *locals, *work, *places; /* places: [8][MOST_PARTICLES] x, y, z, charge, potential, gradient */
} pool;

typedef struct benched {
    fmm_operation operation;
    int order, gradient;
    const fmm_operators *operators;
    int directions, direction[MOST_DIRECTIONS][3];
} benched;

/* --------------------------------------------------------------------------------------------------- directions */

/* So many that a call takes some milliseconds at each order: the time of a pair grows as its cube. */
static int directions_of(int order)
{
    const double many = 2e5 / pow(order + 1, 3);
    return many > MOST_DIRECTIONS ? MOST_DIRECTIONS : many < FEWEST_DIRECTIONS ? FEWEST_DIRECTIONS : (int)many;
}

/* Children of a parent that have a far pair in a direction, where no cell is empty: both octants in a coordinate with |d| < 3, else one. */
static int pairs_of(const int direction[3])
{
    int ways = 1;
    for (int c = 0; c < 3; c++) ways *= abs(direction[c]) == 3 ? 1 : 2;
    return ways;
}

/* Those of the 7^3 directions that a call has, evenly among all that lead to a well separated cell. */
static void choose_directions(benched *b)
{
    const int wanted = directions_of(b->order);
    for (int d = 0, seen = 0; d < 343; d++) {
        const int at[3] = {d % 7 - 3, d / 7 % 7 - 3, d / 49 - 3};
        if ((abs(at[0]) < 2 && abs(at[1]) < 2 && abs(at[2]) < 2) || seen++ * wanted / MOST_DIRECTIONS < b->directions) continue;
        for (int c = 0; c < 3; c++) b->direction[b->directions][c] = at[c];
        b->directions++;
    }
}

/* The pairs of batch d. */
static int batch_of(const benched *b, int d)
{
    return b->operation == FMM_SPARSE ? 1 + d * 7 % MOST_SPARSE : PARENTS * pairs_of(b->direction[d]);
}

static int64_t pairs_of_all(const benched *b)
{
    int64_t pairs = 0;
    for (int d = 0; d < b->directions; d++) pairs += batch_of(b, d);
    return pairs;
}

double fmm_bench_batch(fmm_operation operation, int order)
{
    benched b = {.operation = operation, .order = order};
    choose_directions(&b);
    return (double)pairs_of_all(&b) / b.directions;
}

int64_t fmm_bench_expansions_units(fmm_operation operation, int order)
{
    benched b = {.operation = operation, .order = order};
    const int threads = omp_get_max_threads();
    if (operation == FMM_CELL) return (int64_t)threads * 8 * PARENTS * ROUNDS;
    if (operation != FMM_PAIR && operation != FMM_SPARSE) return (int64_t)threads * TARGETS * ROUNDS;
    choose_directions(&b);
    return threads * pairs_of_all(&b);
}

/* ---------------------------------------------------------------------------------------------------- one thread */

static double *expansion(double *expansions, const pool *own, int64_t i) { return expansions + i * own->stride; }

static void translate(const benched *b, const pool *own, int directions)
{
    const double *from[TARGETS];
    double *to[TARGETS];
    int64_t next = 0;
    for (int d = 0; d < directions; d++) {
        const int pairs = batch_of(b, d);
        for (int i = 0; i < pairs; i++, next = (next + 5) % SOURCES) { /* not one after the other in memory */
            from[i] = expansion(own->multipoles, own, next);
            to[i] = expansion(own->locals, own, i);
        }
        fmm_m2l(b->operators, b->direction[d], pairs, from, to, own->work);
    }
}

/* M2M of all children of parents, and L2L; what is added to is not read, so that nothing grows without end. */
static void shift(const benched *b, const pool *own)
{
    const double *from[PARENTS];
    double *to[PARENTS];
    for (int r = 0; r < ROUNDS; r++)
        for (int octant = 0; octant < 8; octant++)
            for (int down = 0; down < 2; down++) {
                for (int i = 0; i < PARENTS; i++) {
                    from[i] = expansion(own->multipoles, own, (down ? i : 8 * i + octant) + TARGETS * r);
                    to[i] = expansion(own->locals, own, down ? (8 * i + octant) : i);
                }
                (down ? fmm_l2l : fmm_m2m)(b->operators, octant, PARENTS, from, to, own->work);
            }
}

/* P2M and L2P. */
static void visit_leaves(const benched *b, const pool *own)
{
    enum { FEW = 8 };
    const int64_t count = b->operation == FMM_LEAF_8 ? FEW : MOST_PARTICLES;
    const fmm_frame frame = {{0.5, 0.5, 0.5}, 1};
    double *const p = own->places;
    const fmm_sources sources = {count, p, p + MOST_PARTICLES, p + 2 * MOST_PARTICLES, p + 3 * MOST_PARTICLES};
    fmm_targets targets = {count, p, p + MOST_PARTICLES, p + 2 * MOST_PARTICLES, p + 4 * MOST_PARTICLES, NULL, NULL, NULL};
    if (b->gradient) targets.gx = p + 5 * MOST_PARTICLES, targets.gy = p + 6 * MOST_PARTICLES, targets.gz = p + 7 * MOST_PARTICLES;
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < TARGETS; i++) {
            fmm_p2m(b->operators, &frame, &sources, expansion(own->multipoles, own, i));
            fmm_l2p(b->operators, &frame, expansion(own->locals, own, i), &targets);
        }
}

static void work(const benched *b, const pool *own)
{
    if (b->operation == FMM_PAIR || b->operation == FMM_SPARSE)
        translate(b, own, b->directions);
    else if (b->operation == FMM_CELL)
        shift(b, own);
    else
        visit_leaves(b, own);
}

static void fill(const pool *own)
{
    for (int64_t i = 0; i < (SOURCES + TARGETS) * own->stride; i++) own->multipoles[i] = 1. / (double)(i % 97 + 1);
    for (int i = 0; i < 4 * MOST_PARTICLES; i++) own->places[i] = (i * 37 % 128 + 0.5) / 128;
}

/* --------------------------------------------------------------------------------------------------- all threads */

struct fmm_bench_pools {
    yoke_context *context;
    int order, threads;
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
    const int64_t stride = (2 * (int64_t)fmm_harmonics(p->order) + 7) / 8 * 8;
    const int64_t room = ((int64_t)fmm_translation_work(p->operators) + 7) / 8 * 8;
    const int64_t expansions = (SOURCES + TARGETS) * stride, each = expansions + room + 8 * MOST_PARTICLES;
    status = yoke_allocate_untouched(p->context, p->threads * each, sizeof *p->numbers, &p->numbers);
    if (status) return status;
#pragma omp parallel num_threads(p->threads)
    {
        const int t = omp_get_thread_num();
        double *own = p->numbers + t * each;
        p->of_thread[t] = (pool){stride, own, own + SOURCES * stride, own + expansions, own + expansions + room};
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
double fmm_bench_expansions(fmm_bench_pools *pools, fmm_operation operation, int gradient, int64_t calls)
{
    double begin_s = 0, shortest_s = INFINITY;
    benched b = {.operation = operation, .order = pools->order, .gradient = gradient, .operators = pools->operators};
    choose_directions(&b);
#pragma omp parallel num_threads(pools->threads)
    {
        const pool *own = &pools->of_thread[omp_get_thread_num()];
        if (operation == FMM_PAIR || operation == FMM_SPARSE) translate(&b, own, 1); /* so that the code is there */
        for (int64_t k = 0; k < calls; k++) {
#pragma omp barrier
#pragma omp master
            begin_s = yoke_clock_s();
#pragma omp barrier
            work(&b, own);
#pragma omp barrier
#pragma omp master
            shortest_s = fmin(shortest_s, yoke_clock_s() - begin_s);
        }
    }
    return shortest_s;
}
