#include "tune/tails.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "tree/lists.h"
#include "tune/draw.h"

enum { TARGETS = 8 }; /* cells that a thread takes together, so that translations of one direction are several */

typedef struct survey {
    const fmm_expanded *expanded;
    const fmm_tree *tree; /* its tree, particles and operators */
    const fmm_particles *particles;
    const fmm_operators *operators;
    int level, orders;
    const int *order;
    int draws;
    fmm_draw *draw; /* [draws] cells */
    fmm_tail *tail; /* [draws][orders] of them */
} survey;

enum { MOST_PARTICLES = 128 }; /* of a cell */
typedef struct places {
    double x[MOST_PARTICLES], y[MOST_PARTICLES], z[MOST_PARTICLES];
    double potential[MOST_PARTICLES], gx[MOST_PARTICLES], gy[MOST_PARTICLES], gz[MOST_PARTICLES];
    fmm_draw draw[MOST_PARTICLES];
} places;

/* What a thread works with. */
typedef struct bench {
    fmm_walk walk;
    fmm_far_list list;
    int64_t pairs;
    int32_t *target, *source, *direction; /* [TARGETS * FMM_MAX_FAR / 8] */
    double *local;                        /* of the highest order, and of another */
    double *work;
    const double *from[TARGETS];
    double *to[TARGETS];
    places *places; /* [TARGETS] */
} bench;

/* With high orders only the nearest far cells err: the others' terms are smaller by (2 / sqrt(8))^order or more. */
static bool acts(const survey *s, int d)
{
    int x = d % 7 - 3, y = d / 7 % 7 - 3, z = d / 49 - 3;
    return s->order[0] < FMM_NEAREST_FROM || x * x + y * y + z * z < 8;
}

/* The far pairs of some targets, by direction. */
static void list_pairs(const survey *s, bench *b, int64_t first, int64_t last)
{
    const fmm_level *level = &s->tree->level[s->level];
    int64_t next[FMM_DIRECTIONS + 1] = {0};
    for (int fill = 0; fill < 2; fill++) {
        for (int64_t t = first; t < last; t++) {
            int32_t cell = s->draw[t].number, parent = level->parent[cell];
            fmm_far_list_fill(&b->list, &b->walk, s->level, parent, parent + 1, FMM_PAIRS_BOTH);
            for (int d = 0; d < FMM_DIRECTIONS; d++)
                for (int64_t i = b->list.start[d]; i < b->list.start[d + 1]; i++) {
                    if (b->list.target[i] != cell || !acts(s, d)) continue;
                    int64_t at = next[d]++;
                    if (fill) b->target[at] = (int32_t)(t - first), b->source[at] = b->list.source[i], b->direction[at] = d;
                }
        }
        int64_t sum = 0;
        for (int d = 0; d < FMM_DIRECTIONS && !fill; d++) {
            int64_t count = next[d];
            next[d] = sum;
            sum += count;
        }
        if (!fill) b->pairs = sum;
    }
}

/* Local expansions of some targets with an order, held with the highest. */
static void translate(const survey *s, bench *b, int64_t targets, int order, double *local)
{
    int size = 2 * fmm_harmonics(s->expanded->order);
    memset(local, 0, (size_t)targets * (size_t)size * sizeof *local);
    for (int64_t first = 0; first < b->pairs;) {
        int d = b->direction[first], vector[3] = {d % 7 - 3, d / 7 % 7 - 3, d / 49 - 3};
        int64_t count = 0;
        for (; first + count < b->pairs && b->direction[first + count] == d; count++) {
            b->from[count] = s->expanded->multipole[s->level] + b->source[first + count] * s->expanded->stride;
            b->to[count] = local + b->target[first + count] * size;
        }
        fmm_m2l_truncated(s->operators, order, vector, count, b->from, b->to, b->work);
        first += count;
    }
}

/* Particles of a cell. */
static int set_places(const survey *s, int32_t cell, places *at)
{
    const fmm_particles *p = s->particles;
    int count = fmm_draw_particles(s->tree, p, s->level, cell, s->order[s->orders - 1], MOST_PARTICLES, at->draw);
    for (int k = 0; k < count; k++) {
        int32_t i = at->draw[k].number;
        at->x[k] = p->x[i], at->y[k] = p->y[i], at->z[k] = p->z[i];
    }
    return count;
}

/* Mean errors at them, of a local expansion that is the error's. */
static fmm_tail evaluate(const survey *s, int32_t cell, const double *local, int count, places *at)
{
    const double *charge = s->particles->charge;
    double draws = 0;
    fmm_tail tail = {0};
    fmm_frame frame = {.scale = fmm_tree_edge(s->tree, s->level)};
    fmm_tree_centre(s->tree, s->level, cell, frame.centre);
    for (int k = 0; k < count; k++) at->potential[k] = at->gx[k] = at->gy[k] = at->gz[k] = 0, draws += at->draw[k].times;
    fmm_l2p(s->operators, &frame, local, &(fmm_targets){count, at->x, at->y, at->z, at->potential, at->gx, at->gy, at->gz});
    for (int k = 0; k < count; k++) {
        double q = charge[at->draw[k].number], weight = at->draw[k].times * at->draw[k].weight / draws;
        tail.mean += weight * at->potential[k];
        tail.square += weight * at->potential[k] * at->potential[k];
        tail.force_square += weight * q * q * (at->gx[k] * at->gx[k] + at->gy[k] * at->gy[k] + at->gz[k] * at->gz[k]);
    }
    return tail;
}

static void survey_targets(const survey *s, bench *b, int first, int last)
{
    int targets = last - first, size = 2 * fmm_harmonics(s->expanded->order), count[TARGETS];
    double *reference = b->local, *lower = reference + TARGETS * size;
    list_pairs(s, b, first, last);
    translate(s, b, targets, s->expanded->order, reference);
    for (int t = 0; t < targets; t++) count[t] = set_places(s, s->draw[first + t].number, &b->places[t]);
    for (int o = 0; o < s->orders; o++) {
        translate(s, b, targets, s->order[o], lower);
        for (int i = 0; i < targets * size; i++) lower[i] -= reference[i];
        for (int t = 0; t < targets; t++)
            s->tail[(first + t) * s->orders + o] = evaluate(s, s->draw[first + t].number, lower + t * size, count[t], &b->places[t]);
    }
}

/* Means over draws, and their standard errors. */
static void collect(const survey *s, fmm_tail *tail)
{
    double draws = 0;
    for (int t = 0; t < s->draws; t++) draws += s->draw[t].times;
    for (int o = 0; o < s->orders; o++) {
        fmm_tail sum = {0};
        for (int t = 0; t < s->draws; t++) {
            const fmm_draw *at = &s->draw[t];
            const fmm_tail *one = &s->tail[t * s->orders + o];
            sum.mean += at->times / draws * at->weight * one->mean;
            sum.square += at->times / draws * at->weight * one->square;
            sum.force_square += at->times / draws * at->weight * one->force_square;
        }
        for (int t = 0; t < s->draws; t++) {
            const fmm_draw *at = &s->draw[t];
            const fmm_tail *one = &s->tail[t * s->orders + o];
            double square = at->weight * one->square - sum.square;
            double force = at->weight * one->force_square - sum.force_square;
            sum.square_error += at->times / draws / draws * square * square;
            sum.force_square_error += at->times / draws / draws * force * force;
        }
        sum.square_error = sqrt(sum.square_error);
        sum.force_square_error = sqrt(sum.force_square_error);
        tail[o] = sum;
    }
}

static void bench_destroy(yoke_context *context, bench *b)
{
    fmm_far_list_destroy(context, &b->list);
    yoke_release(context, b->target);
    yoke_release(context, b->source);
    yoke_release(context, b->direction);
    yoke_release(context, b->local);
    yoke_release(context, b->work);
    yoke_release(context, b->places);
}

static yoke_status bench_create(const survey *s, bench *b)
{
    yoke_context *context = s->tree->context;
    int64_t most = TARGETS * FMM_MAX_FAR / 8, size = 2 * fmm_harmonics(s->expanded->order);
    fmm_walk_start(&b->walk, s->tree);
    yoke_status status = fmm_far_list_create(context, 1, &b->list);
    if (!status) status = yoke_allocate(context, most, sizeof *b->target, &b->target);
    if (!status) status = yoke_allocate(context, most, sizeof *b->source, &b->source);
    if (!status) status = yoke_allocate(context, most, sizeof *b->direction, &b->direction);
    if (!status) status = yoke_allocate(context, 2 * TARGETS * size, sizeof *b->local, &b->local);
    if (!status) status = yoke_allocate(context, (int64_t)fmm_translation_work(s->operators), sizeof *b->work, &b->work);
    if (!status) status = yoke_allocate(context, TARGETS, sizeof *b->places, &b->places);
    return status;
}

static yoke_status survey_all(const survey *s)
{
    int threads = omp_get_max_threads();
    bench *benches = NULL;
    yoke_status status = yoke_allocate(s->tree->context, threads, sizeof *benches, &benches);
    for (int t = 0; t < threads && !status; t++) status = bench_create(s, &benches[t]);
    if (!status) {
#pragma omp parallel for schedule(dynamic)
        for (int first = 0; first < s->draws; first += TARGETS)
            survey_targets(s, &benches[omp_get_thread_num()], first, first + TARGETS < s->draws ? first + TARGETS : s->draws);
    }
    for (int t = 0; t < threads && benches; t++) bench_destroy(s->tree->context, &benches[t]);
    yoke_release(s->tree->context, benches);
    return status;
}

yoke_status fmm_tails_measure(const fmm_expanded *expanded, int level, int cells, int orders, const int *order, fmm_tail *tail)
{
    survey s = {.expanded = expanded, .tree = expanded->tree, .particles = expanded->particles, .operators = expanded->operators};
    s.level = level, s.orders = orders, s.order = order;
    yoke_status status = yoke_allocate(s.tree->context, cells, sizeof *s.draw, &s.draw);
    if (!status) status = yoke_allocate(s.tree->context, (int64_t)cells * orders, sizeof *s.tail, &s.tail);
    if (!status) status = fmm_draw_cells(s.tree, s.particles, level, order[orders - 1], cells, s.draw, &s.draws);
    if (!status) status = survey_all(&s);
    if (!status) collect(&s, tail);
    yoke_release(s.tree->context, s.tail);
    yoke_release(s.tree->context, s.draw);
    return status;
}
