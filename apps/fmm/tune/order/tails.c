#include "tune/order/tails.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "tree/lists.h"
#include "tune/order/draw.h"

enum { TARGETS = 16 }; /* cells that a thread processes together, so that several translations have the same direction */

typedef struct survey {
    const fmm_expanded *expanded;
    const fmm_tree *tree; /* tree, particles and operators of `expanded` */
    const fmm_particles *particles;
    const fmm_operators *operators;
    const fmm_survey_options *options;
    fmm_tail *tail; /* [draws][orders] */
} survey;

enum { MOST_PARTICLES = 64 }; /* maximum of a cell */
typedef struct places {
    double x[MOST_PARTICLES], y[MOST_PARTICLES], z[MOST_PARTICLES];
    double potential[MOST_PARTICLES], gx[MOST_PARTICLES], gy[MOST_PARTICLES], gz[MOST_PARTICLES];
    fmm_draw draw[MOST_PARTICLES];
} places;

/* Working data of a thread. */
typedef struct bench {
    fmm_walk walk;
    fmm_far_list list;
    const double *(*source)[TARGETS]; /* [FMM_DIRECTIONS] multipole expansions of far cells; NULL: there is none */
    double *local;                    /* [2 TARGETS] local expansions with the reference order, then with another one */
    double *work;
    places *places;    /* [TARGETS] */
    double *coarser;   /* [TARGETS] contributions of leaves in lists X to local expansions, with all degrees */
    double *multipole; /* of a cell in a list W, without low degrees */
    double *families;  /* [FMM_AROUND] plane waves of the families around a cell's own; NULL: no waves are measured */
} bench;

/* Finds the far cells of some targets, by direction. */
static void find_sources(const survey *s, bench *b, int first, int last)
{
    memset(b->source, 0, FMM_DIRECTIONS * sizeof *b->source);
    for (int t = first; t < last; t++) {
        const int l = s->options->draw[t].level;
        const int32_t cell = s->options->draw[t].number, parent = s->tree->level[l].parent[cell];
        fmm_far_list_fill(&b->list, &b->walk, l, parent, parent + 1);
        const int target = cell - b->list.first;
        for (int d = 0; d < FMM_DIRECTIONS; d++)
            if (fmm_far_list_has(&b->list, d, target))
                b->source[d][t - first] = s->expanded->multipole[l] + b->list.source[d][target] * s->expanded->stride;
    }
}

/* Computes local expansions of some targets with an order.  They are stored with the highest order. */
static void translate(const survey *s, bench *b, int targets, int order, double *local)
{
    const int size = 2 * fmm_harmonics(s->expanded->order);
    const double *ahead[TARGETS], *behind[TARGETS];
    double *to[TARGETS];
    memset(local, 0, (size_t)targets * (size_t)size * sizeof *local);
    for (int d = FMM_NO_DIRECTION + 1; d < FMM_DIRECTIONS; d++) {
        int count = 0;
        for (int t = 0; t < targets; t++) {
            ahead[count] = b->source[d][t], behind[count] = b->source[FMM_DIRECTIONS - 1 - d][t], to[count] = local + t * size;
            count += ahead[count] || behind[count];
        }
        if (count) fmm_m2l(s->operators, order, (const int[3]){d % 7 - 3, d / 7 % 7 - 3, d / 49 - 3}, count, ahead, behind, to, b->work);
    }
}

/* Computes the plane waves of the families around a cell's own. */
static void send_around(const survey *s, bench *b, int level, int axis, const double *around[FMM_AROUND])
{
    const fmm_level *above = &s->tree->level[level - 1];
    for (int n = 0; n < FMM_NEIGHBOURS; n++) {
        const int32_t near = b->walk.near[level - 1][n];
        const double *child[8];
        around[n] = NULL;
        if (n == FMM_SELF || near < 0 || !above->octants[near]) continue;
        for (int o = 0; o < 8; o++)
            child[o] =
                above->octants[near] >> o & 1 ? s->expanded->multipole[level] + fmm_child(above, near, o) * s->expanded->stride : NULL;
        double *family = b->families + (size_t)n * fmm_waves_size(s->options->waves);
        fmm_waves_send(s->options->waves, axis, child, family, b->work);
        around[n] = family;
    }
}

/* Computes the local expansion of a cell by plane waves.  It is stored with the highest order. */
static void translate_by_waves(const survey *s, bench *b, const fmm_draw *cell, double *local)
{
    double *child[8] = {NULL};
    child[fmm_octant(&s->tree->level[cell->level], cell->number)] = local;
    memset(local, 0, 2 * (size_t)fmm_harmonics(s->expanded->order) * sizeof *local);
    fmm_walk_to(&b->walk, cell->level, cell->number);
    for (int axis = 0; axis < FMM_AXES; axis++) {
        const double *around[FMM_AROUND];
        send_around(s, b, cell->level, axis, around);
        fmm_waves_receive(s->options->waves, axis, around, child, b->work);
    }
}

/* Whether there are lists W and X, whose particles may be nearer to cells than those of far cells.  Uniform trees have none. */
static bool has_lists(const survey *s) { return s->tree->coarsest < s->tree->depth; }

static fmm_frame frame_of(const survey *s, int level, int32_t cell)
{
    fmm_frame frame = {.scale = fmm_tree_edge(s->tree, level)};
    fmm_tree_centre(s->tree, level, cell, frame.centre);
    return frame;
}

/* List X: adds the particles of leaves to the local expansion of a cell. */
static void add_coarser(const survey *s, bench *b, const fmm_draw *cell, double *local)
{
    const fmm_particles *p = s->particles;
    const int32_t *particle = s->tree->leaves.particle;
    const int l = cell->level;
    if (l <= s->tree->coarsest || fmm_is_direct(s->tree, l, cell->number)) return;
    fmm_walk_to(&b->walk, l, cell->number);
    fmm_walk_find_coarser(&b->walk, l);
    const fmm_frame frame = frame_of(s, l, cell->number);
    for (int i = 0; i < b->walk.num_x[l]; i++) {
        int32_t leaf = b->walk.x[l][i], first = particle[leaf];
        const fmm_sources sources = {particle[leaf + 1] - first, p->x + first, p->y + first, p->z + first, p->charge + first};
        fmm_p2l(s->operators, &frame, &sources, local);
    }
}

/* Sets the degrees of an expansion up to an order to 0. */
static void clear(const survey *s, int order, double *expansion)
{
    const size_t bytes = (size_t)fmm_harmonics(order) * sizeof *expansion;
    memset(expansion, 0, bytes);
    memset(expansion + fmm_harmonics(s->expanded->order), 0, bytes);
}

/* List W: adds the part of the multipole expansions that an order omits, at some particles of a leaf. */
static void add_finer(const survey *s, bench *b, const fmm_draw *cell, int order, const fmm_targets *targets)
{
    const fmm_w_list *w = s->expanded->w;
    if (!fmm_is_leaf(s->tree, cell->level, cell->number)) return;
    const int32_t leaf = s->tree->level[cell->level].leaf[cell->number];
    const size_t bytes = 2 * (size_t)fmm_harmonics(s->expanded->order) * sizeof(double);
    for (int64_t k = w->start[leaf]; k < w->start[leaf + 1]; k++) {
        const fmm_frame frame = frame_of(s, w->level[k], w->cell[k]);
        memcpy(b->multipole, s->expanded->multipole[w->level[k]] + w->cell[k] * s->expanded->stride, bytes);
        clear(s, order, b->multipole);
        fmm_m2p(s->operators, &frame, b->multipole, targets);
    }
}

/* Draws particles of a cell.  Returns their number. */
static int set_places(const survey *s, const fmm_draw *cell, places *at)
{
    const fmm_survey_options *o = s->options;
    const fmm_particles *p = s->particles;
    int count = fmm_draw_particles(s->tree, p, cell->level, cell->number, (fmm_favour){o->order[o->orders - 1], o->charge}, MOST_PARTICLES,
                                   at->draw);
    for (int k = 0; k < count; k++) {
        int32_t i = at->draw[k].number;
        at->x[k] = p->x[i], at->y[k] = p->y[i], at->z[k] = p->z[i];
    }
    return count;
}

/* Mean errors of an order at these particles.  local: the part of the cell's local expansion that the order omits. */
static fmm_tail evaluate(const survey *s, bench *b, const fmm_draw *cell, int order, const double *local, int count, places *at)
{
    const double *charge = s->particles->charge;
    fmm_tail tail = {0};
    const fmm_frame frame = frame_of(s, cell->level, cell->number);
    const fmm_targets targets = {count, at->x, at->y, at->z, at->potential, at->gx, at->gy, at->gz};
    for (int k = 0; k < count; k++) at->potential[k] = at->gx[k] = at->gy[k] = at->gz[k] = 0;
    fmm_l2p(s->operators, &frame, local, &targets);
    if (has_lists(s)) add_finer(s, b, cell, order, &targets);
    for (int k = 0; k < count; k++) {
        double q = charge[at->draw[k].number], weight = at->draw[k].times * at->draw[k].weight;
        tail.mean += weight * at->potential[k];
        tail.square += weight * at->potential[k] * at->potential[k];
        tail.force_square += weight * q * q * (at->gx[k] * at->gx[k] + at->gy[k] * at->gy[k] + at->gz[k] * at->gz[k]);
    }
    return tail;
}

/* The sum over a cell's particles of their charges times the potential of a local expansion. */
static double product(const survey *s, const fmm_draw *cell, const double *local)
{
    const int size = fmm_harmonics(s->expanded->order);
    const double *multipole = s->expanded->multipole[cell->level] + cell->number * s->expanded->stride;
    double sum = 0;
    for (int l = 0, k = 0; l <= s->expanded->order; l++)
        for (int m = 0; m <= l; m++, k++) sum += (m ? 2 : 1) * (multipole[k] * local[k] + multipole[size + k] * local[size + k]);
    return sum / fmm_tree_edge(s->tree, cell->level);
}

/*
 * Computes the part of the local expansions of some targets that an order omits: the difference to the reference, and the high degrees of
 * contributions of lists X.  energy [targets]: sums of charges times errors over their particles.  Those of X count twice, because the same
 * pairs have the same errors in list W of the leaf.
 */
static void set_lacking(const survey *s, bench *b, const fmm_draw *cells, int targets, int order, double *lacking, double *energy)
{
    const int size = 2 * fmm_harmonics(s->expanded->order);
    if (s->options->waves)
        for (int t = 0; t < targets; t++) translate_by_waves(s, b, &cells[t], lacking + t * size);
    else
        translate(s, b, targets, order, lacking);
    for (int t = 0; t < targets; t++) {
        double *one = lacking + t * size;
        for (int k = 0; k < size; k++) one[k] = b->local[t * size + k] - one[k];
        energy[t] = product(s, &cells[t], one);
        if (!has_lists(s)) continue;
        memcpy(b->multipole, b->coarser + t * size, (size_t)size * sizeof *one);
        clear(s, order, b->multipole);
        energy[t] += 2 * product(s, &cells[t], b->multipole);
        for (int k = 0; k < size; k++) one[k] += b->multipole[k];
    }
}

static void survey_targets(const survey *s, bench *b, int first, int last)
{
    const fmm_survey_options *o = s->options;
    int targets = last - first, size = 2 * fmm_harmonics(s->expanded->order), count[TARGETS];
    double *lacking = b->local + TARGETS * size, energy[TARGETS];
    find_sources(s, b, first, last);
    translate(s, b, targets, o->reference, b->local);
    memset(b->coarser, 0, (size_t)(targets * size) * sizeof *b->coarser);
    for (int t = 0; t < targets; t++) {
        count[t] = set_places(s, &o->draw[first + t], &b->places[t]);
        if (has_lists(s)) add_coarser(s, b, &o->draw[first + t], b->coarser + t * size);
    }
    for (int i = 0; i < o->orders; i++) {
        set_lacking(s, b, o->draw + first, targets, o->order[i], lacking, energy);
        for (int t = 0; t < targets; t++) {
            fmm_tail *tail = &s->tail[(first + t) * o->orders + i];
            const fmm_draw *cell = &o->draw[first + t];
            const double particles = fmm_particles_in(s->tree, cell->level, cell->number);
            *tail = evaluate(s, b, cell, o->order[i], lacking + t * size, count[t], &b->places[t]);
            tail->energy = energy[t] / particles;
            tail->energy_square = energy[t] * energy[t] / particles;
        }
    }
}

int fmm_wave_draws(int levels) { return levels < FMM_WAVE_DRAWS ? FMM_WAVE_DRAWS / levels : 1; }

/* Weighted means over the draws of a level and their standard errors.  of: [draws][orders]. */
static fmm_tail collect(const fmm_survey_options *o, const fmm_tail *of, int order, int first, int last, bool complete)
{
    fmm_tail sum = {0};
    double draws = 0;
    for (int t = first; t < last; t++) {
        const fmm_tail *one = &of[t * o->orders + order];
        double weight = o->draw[t].times * o->draw[t].weight;
        draws += o->draw[t].times;
        sum.mean += weight * one->mean;
        sum.square += weight * one->square;
        sum.force_square += weight * one->force_square;
        sum.energy += weight * one->energy;
        sum.energy_square += weight * one->energy_square;
    }
    for (int t = first; t < last && !complete; t++) {
        const fmm_tail *one = &of[t * o->orders + order];
        double weight = o->draw[t].weight, times = o->draw[t].times * draws / fmax(draws - 1, 1);
        sum.square_error += times * pow(weight * one->square - sum.square / draws, 2);
        sum.force_square_error += times * pow(weight * one->force_square - sum.force_square / draws, 2);
        sum.energy_error += times * pow(weight * one->energy - sum.energy / draws, 2);
    }
    sum.square_error = sqrt(sum.square_error);
    sum.force_square_error = sqrt(sum.force_square_error);
    sum.energy_error = sqrt(sum.energy_error);
    if (draws == 1 && !complete) /* one draw has no scatter: its value is its standard error */
        sum.square_error = sum.square, sum.force_square_error = sum.force_square, sum.energy_error = fabs(sum.energy);
    return sum;
}

static void bench_destroy(yoke_context *context, bench *b)
{
    yoke_release(context, b->source);
    yoke_release(context, b->local);
    yoke_release(context, b->work);
    yoke_release(context, b->places);
    yoke_release(context, b->coarser);
    yoke_release(context, b->multipole);
    yoke_release(context, b->families);
}

static yoke_status bench_create(const survey *s, bench *b)
{
    yoke_context *context = s->tree->context;
    int64_t size = 2 * fmm_harmonics(s->expanded->order), work = (int64_t)fmm_translation_work(s->operators);
    const fmm_waves *waves = s->options->waves;
    if (waves && (int64_t)fmm_waves_work(waves) > work) work = (int64_t)fmm_waves_work(waves);
    fmm_walk_start(&b->walk, s->tree);
    yoke_status status = yoke_allocate(context, FMM_DIRECTIONS, sizeof *b->source, &b->source);
    if (!status) status = yoke_allocate(context, 2 * TARGETS * size, sizeof *b->local, &b->local);
    if (!status) status = yoke_allocate(context, work, sizeof *b->work, &b->work);
    if (!status) status = yoke_allocate(context, TARGETS, sizeof *b->places, &b->places);
    if (!status) status = yoke_allocate(context, TARGETS * size, sizeof *b->coarser, &b->coarser);
    if (!status) status = yoke_allocate(context, size, sizeof *b->multipole, &b->multipole);
    if (!status && waves)
        status = yoke_allocate_untouched(context, FMM_AROUND * (int64_t)fmm_waves_size(waves), sizeof *b->families, &b->families);
    return status;
}

static yoke_status survey_all(const survey *s)
{
    const int threads = omp_get_max_threads(), draws = s->options->draws;
    const int together = s->options->waves ? 1 : TARGETS; /* waves of different cells share no work, and take longer */
    bench *benches = NULL;
    yoke_status status = yoke_allocate(s->tree->context, threads, sizeof *benches, &benches);
    for (int t = 0; t < threads && !status; t++) status = bench_create(s, &benches[t]);
    if (!status) {
#pragma omp parallel for schedule(dynamic)
        for (int first = 0; first < draws; first += together)
            survey_targets(s, &benches[omp_get_thread_num()], first, first + together < draws ? first + together : draws);
    }
    for (int t = 0; t < threads && benches; t++) bench_destroy(s->tree->context, &benches[t]);
    yoke_release(s->tree->context, benches);
    return status;
}

yoke_status fmm_tails_measure(const fmm_expanded *expanded, const fmm_survey_options *o, fmm_tail *tail)
{
    survey s = {.expanded = expanded, .tree = expanded->tree, .particles = expanded->particles, .operators = expanded->operators};
    s.options = o;
    yoke_status status = yoke_allocate(s.tree->context, (int64_t)o->draws * o->orders, sizeof *s.tail, &s.tail);
    if (!status) status = survey_all(&s);
    for (int l = 2, first = 0; l <= s.tree->depth && !status; l++) {
        int last = first;
        while (last < o->draws && o->draw[last].level == l) last++;
        for (int i = 0; i < o->orders; i++) tail[(l - 2) * o->orders + i] = collect(o, s.tail, i, first, last, o->complete[l]);
        first = last;
    }
    yoke_release(s.tree->context, s.tail);
    return status;
}
