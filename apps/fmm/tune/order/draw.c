#include "tune/order/draw.h"

#include <math.h>

#include "tree/walk.h"

enum {
    MODEL_CELLS = 128,   /* maximum number of cells of a level whose contributions to the model's errors are summed */
    CORNERS_FROM = 10,   /* from this order on, errors in corners are considered separately */
    CANDIDATES = 1 << 12 /* maximum number of particles of a cell among which draws are made */
};

double fmm_sample_place(int64_t k, int64_t n)
{
    double u = 0.618033988749894848 * ((double)k + 0.5); /* the golden ratio */
    return ((double)k + u - floor(u)) / (double)n;
}

/* ------------------------------------------------------------------------------------------------ the model's errors */

/* Number of particles in the far cells of the walk's current cell: in the children of its parent's neighbours, without its own
 * neighbours. */
static double far_particles(const fmm_walk *walk, int l)
{
    const fmm_level *level = &walk->tree->level[l], *above = &walk->tree->level[l - 1];
    double sum = 0;
    for (int n = 0; n < FMM_NEIGHBOURS; n++) {
        int32_t parent = walk->near[l - 1][n], cell = walk->near[l][n];
        for (int32_t c = parent < 0 ? 0 : above->child[parent], last = parent < 0 ? 0 : above->child[parent + 1]; c < last; c++)
            sum += level->end[c] - level->particle[c];
        if (cell >= 0) sum -= level->end[cell] - level->particle[cell];
    }
    return sum;
}

static double particles_of(const fmm_level *level)
{
    double sum = 0; /* in adaptive trees a level may not contain all particles */
    for (int64_t c = 0; c < level->count; c++) sum += level->end[c] - level->particle[c];
    return sum;
}

/* Adds the powers of the cells of a level, each times the number of particles in its far cells.  Of many cells some are drawn, in
 * proportion to their particles. */
static void sum_powers(const fmm_expanded *e, const fmm_model *model, int l, double *sum)
{
    const fmm_level *level = &e->tree->level[l];
    const double all = particles_of(level);
    double power[FMM_MAX_ORDER + 1], before = 0;
    const int cells = level->count < MODEL_CELLS ? (int)level->count : MODEL_CELLS;
    fmm_walk walk;
    fmm_walk_start(&walk, e->tree);
    for (int64_t c = 0, k = 0; c < level->count; c++) {
        double here = level->end[c] - level->particle[c], times = cells == level->count;
        before += here;
        for (; cells < level->count && k < cells && fmm_sample_place(k, cells) * all < before; k++) times++;
        if (times == 0) continue;
        fmm_walk_to(&walk, l, (int32_t)c);
        fmm_model_powers(model, e->multipole[l] + c * e->stride, fmm_harmonics(e->order), power);
        double weight = far_particles(&walk, l) * (cells < level->count ? times * all / (here * cells) : 1);
        for (int i = 0; i <= model->highest; i++) sum[i] += weight * power[i];
    }
}

void fmm_model_errors(const fmm_expanded *e, const fmm_model *model, double *error)
{
    double sum[FMM_MAX_DEPTH + 1][FMM_MAX_ORDER + 1] = {{0}};
#pragma omp parallel for schedule(dynamic)
    for (int l = e->tree->depth; l >= 2; l--) sum_powers(e, model, l, sum[l]);
    for (int p = 0; p <= model->highest; p++) error[p] = 0;
    for (int l = 2; l <= e->tree->depth; l++) {
        const double edge = fmm_tree_edge(e->tree, l), unit = edge * edge * (double)e->tree->count;
        for (int p = 0; p <= model->highest; p++)
            for (int k = 0; k <= model->highest; k++) error[p] += model->weight[p][k] * sum[l][k] / unit;
    }
    for (int p = 0; p <= model->highest; p++) error[p] = sqrt(error[p]) * fmm_model_bias(p);
}

/* ------------------------------------------------------------------------------------------------ draws of cells */

/* Weight of a particle's position for the squared error: (r / r_max)^(2 order) at a distance r from the centre; 1 in a corner. */
static double growth(const fmm_particles *p, int64_t i, const double centre[3], double edge, int order)
{
    double x = (p->x[i] - centre[0]) / edge, y = (p->y[i] - centre[1]) / edge, z = (p->z[i] - centre[2]) / edge;
    double factor = (x * x + y * y + z * z) / 0.75, power = 1;
    for (int left = order; left > 0; left >>= 1, factor *= factor)
        if (left & 1) power *= factor;
    return power;
}

double fmm_large_charge(const fmm_particles *p)
{
    static const double large = 0.1;
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < p->count; i++) sum += p->charge[i] * p->charge[i]; /* in the same order for any number of threads */
    const double least = p->count > 0 ? large * sqrt(sum / (double)p->count) : 0;
    for (int64_t i = 0; i < p->count; i++) count += fabs(p->charge[i]) >= least;
    return 2 * count < p->count ? least : 0;
}

static bool favours(fmm_favour of) { return of.order >= CORNERS_FROM || of.charge > 0; }

/* The weight by which particle i of a cell is favoured. */
static double favour(const fmm_particles *p, int64_t i, const double centre[3], double edge, fmm_favour of)
{
    if (fabs(p->charge[i]) < of.charge) return 0;
    return of.order >= CORNERS_FROM ? growth(p, i, centre, edge, of.order) : 1;
}

/* Contributions of the cells of a level to errors in their far cells, and the errors that they receive, by the model. */
typedef struct strengths {
    double *source, *siblings; /* contributions: [cells] of each cell, [cells of the level above] of all children */
    double *error, *favoured;  /* [cells] received errors: with equal weights of all particles, and with those of `favour` */
    double total, of_favoured; /* sums of `error` and `favoured`, in units that are the same on all levels */
} strengths;

static void set_sources(const fmm_expanded *e, int l, const double *factor, strengths *s)
{
    const fmm_level *above = &e->tree->level[l - 1];
    const int size = fmm_harmonics(e->order);
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < above->count; p++) {
        double siblings = 0;
        for (int32_t c = above->child[p]; c < above->child[p + 1]; c++) {
            const double *real = e->multipole[l] + c * e->stride, *imaginary = real + size;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int i = 0; i < size; i++) sum += factor[i] * (real[i] * real[i] + imaginary[i] * imaginary[i]);
            s->source[c] = sum;
            siblings += sum;
        }
        s->siblings[p] = siblings;
    }
}

static double favoured_in(const fmm_expanded *e, int l, int64_t c, fmm_favour of)
{
    double centre[3], edge = fmm_tree_edge(e->tree, l), sum = 0;
    fmm_tree_centre(e->tree, l, c, centre);
    for (int32_t i = e->tree->level[l].particle[c]; i < e->tree->level[l].end[c]; i++) sum += favour(e->particles, i, centre, edge, of);
    return sum;
}

static void set_targets(const fmm_expanded *e, int l, fmm_favour of, strengths *s)
{
    const fmm_level *level = &e->tree->level[l];
    const bool some = favours(of);
#pragma omp parallel
    {
        fmm_walk walk;
        fmm_walk_start(&walk, e->tree);
#pragma omp for schedule(static)
        for (int64_t c = 0; c < level->count; c++) {
            double far = 0;
            fmm_walk_to(&walk, l, (int32_t)c);
            for (int n = 0; n < FMM_NEIGHBOURS; n++) {
                if (walk.near[l - 1][n] >= 0) far += s->siblings[walk.near[l - 1][n]];
                if (walk.near[l][n] >= 0) far -= s->source[walk.near[l][n]];
            }
            s->error[c] = fmax(far, 0) * (level->end[c] - level->particle[c]);
            s->favoured[c] = some ? fmax(far, 0) * favoured_in(e, l, c, of) : 0;
        }
    }
    double edge = fmm_tree_edge(e->tree, l);
    for (int64_t c = 0; c < level->count; c++) s->total += s->error[c] / (edge * edge), s->of_favoured += s->favoured[c] / (edge * edge);
}

static void strengths_destroy(yoke_context *context, strengths *s)
{
    yoke_release(context, s->source);
    yoke_release(context, s->siblings);
    yoke_release(context, s->error);
    yoke_release(context, s->favoured);
}

static yoke_status strengths_create(const fmm_expanded *e, int l, fmm_favour of, const double *factor, strengths *s)
{
    const int64_t cells = e->tree->level[l].count;
    yoke_context *context = e->tree->context;
    yoke_status status = yoke_allocate(context, cells, sizeof *s->source, &s->source);
    if (!status) status = yoke_allocate(context, e->tree->level[l - 1].count, sizeof *s->siblings, &s->siblings);
    if (!status) status = yoke_allocate(context, cells, sizeof *s->error, &s->error);
    if (!status) status = yoke_allocate(context, cells, sizeof *s->favoured, &s->favoured);
    if (status) return status;
    set_sources(e, l, factor, s);
    set_targets(e, l, of, s);
    return YOKE_OK;
}

/*
 * Draws cells of a level.  A quarter of the probability is in proportion to their particles, a quarter to their errors, and half to the
 * errors of favoured particles.  Weights are therefore at most 4 times as large as with draws by particles alone.
 */
static int draw(const fmm_tree *tree, int l, const strengths *s, int most, fmm_draw *draws)
{
    const fmm_level *level = &tree->level[l];
    const double here = particles_of(level), edge = fmm_tree_edge(tree, l), unit = edge * edge;
    double sum = 0;
    int count = 0;
    for (int64_t c = 0, k = 0; c < level->count && k < most; c++) {
        double share = (level->end[c] - level->particle[c]) / here, times = 0;
        double error = s->total > 0 ? s->error[c] / (unit * s->total) : share;
        double favoured = s->of_favoured > 0 ? s->favoured[c] / (unit * s->of_favoured) : error;
        double probability = 0.25 * share + 0.25 * error + 0.5 * favoured;
        for (sum += probability; k < most && (fmm_sample_place(k, most) < sum || c == level->count - 1); k++) times++;
        if (times > 0) draws[count++] = (fmm_draw){l, (int32_t)c, times, share / probability * here / (double)tree->count / most};
    }
    return count;
}

static int take_all(const fmm_tree *tree, int l, fmm_draw *draws)
{
    const fmm_level *level = &tree->level[l];
    for (int32_t c = 0; c < level->count; c++) draws[c] = (fmm_draw){l, c, 1, (level->end[c] - level->particle[c]) / (double)tree->count};
    return (int)level->count;
}

yoke_status fmm_draw_cells(const fmm_expanded *e, const fmm_model *model, fmm_favour of, int most, fmm_draw *draws, int *count,
                           bool complete[FMM_MAX_DEPTH + 1])
{
    const fmm_tree *tree = e->tree;
    strengths at[FMM_MAX_DEPTH + 1] = {0};
    double factor[(FMM_MAX_ORDER + 1) * (FMM_MAX_ORDER + 2) / 2], sum = 0;
    yoke_status status = YOKE_OK;
    fmm_model_factors(model, of.order, factor);
    for (int l = 2; l <= tree->depth && !status; l++) {
        status = strengths_create(e, l, of, factor, &at[l]);
        sum += favours(of) ? at[l].of_favoured : at[l].total;
    }
    *count = 0;
    for (int l = 2; l <= tree->depth && !status; l++) {
        double part = sum > 0 ? (favours(of) ? at[l].of_favoured : at[l].total) / sum : 0;
        int draws_here = FMM_LEAST_DRAWS + (int)(part * most);
        complete[l] = tree->level[l].count <= (draws_here > FMM_FEW_CELLS ? draws_here : FMM_FEW_CELLS);
        *count += complete[l] ? take_all(tree, l, draws + *count) : draw(tree, l, &at[l], draws_here, draws + *count);
    }
    for (int l = 2; l <= tree->depth; l++) strengths_destroy(tree->context, &at[l]);
    return status;
}

/* ------------------------------------------------------------------------------------------------ draws of particles */

int fmm_draw_particles(const fmm_tree *tree, const fmm_particles *particles, int level, int32_t cell, fmm_favour of, int most,
                       fmm_draw *draws)
{
    int32_t first = tree->level[level].particle[cell], last = tree->level[level].end[cell];
    double centre[3], edge = fmm_tree_edge(tree, level), grown[CANDIDATES], total = 0, sum = 0;
    const int all = last - first, candidates = all < CANDIDATES ? all : CANDIDATES;
    int count = 0;
    if (all <= most) {
        for (int32_t i = first; i < last; i++) draws[count++] = (fmm_draw){level, i, 1, 1.0 / all};
        return count;
    }
    fmm_tree_centre(tree, level, cell, centre);
    for (int k = 0; k < candidates; k++) {
        int32_t i = first + (int32_t)(candidates == all ? k : fmm_sample_place(k, candidates) * all);
        grown[k] = favour(particles, i, centre, edge, of);
        total += grown[k];
    }
    for (int c = 0, k = 0; c < candidates && k < most; c++) {
        double times = 0, probability = 0.5 / candidates + 0.5 * (total > 0 ? grown[c] / total : 1.0 / candidates);
        int32_t i = first + (int32_t)(candidates == all ? c : fmm_sample_place(c, candidates) * all);
        for (sum += probability; k < most && (fmm_sample_place(k, most) < sum || c == candidates - 1); k++) times++;
        if (times > 0) draws[count++] = (fmm_draw){level, i, times, 1.0 / (candidates * probability * most)};
    }
    return count;
}

/* Sets the weight of each particle by its charge and its position in its leaf. */
static void set_weights(const fmm_tree *tree, const fmm_particles *sorted, fmm_favour of, double *weight)
{
#pragma omp parallel for schedule(static)
    for (int64_t leaf = 0; leaf < tree->leaves.count; leaf++) {
        double centre[3], edge = fmm_tree_edge(tree, tree->leaves.level[leaf]);
        fmm_tree_centre(tree, tree->leaves.level[leaf], tree->leaves.cell[leaf], centre);
        for (int32_t i = tree->leaves.particle[leaf]; i < tree->leaves.particle[leaf + 1]; i++)
            weight[i] = favour(sorted, i, centre, edge, of);
    }
}

/*
 * Replaces the weights of particles by their probabilities to be among `most` drawn ones: half of them evenly, half in proportion to the
 * weights.  No probability is above 1.
 */
static void set_probabilities(int64_t n, int64_t most, double *probability)
{
    double total = 0, factor = (double)most;
    int64_t certain = -1, before;
    for (int64_t i = 0; i < n; i++) total += probability[i];
    for (int64_t i = 0; i < n; i++) probability[i] = 0.5 / (double)n + (total > 0 ? 0.5 * probability[i] / total : 0.5 / (double)n);
    do {
        double rest = 0;
        before = certain, certain = 0;
        for (int64_t i = 0; i < n; i++)
            if (factor * probability[i] >= 1)
                certain++;
            else
                rest += probability[i];
        if (certain != before) factor = (double)(most - certain) / rest;
    } while (certain != before);
    for (int64_t i = 0; i < n; i++) probability[i] = fmin(1, factor * probability[i]);
}

static int64_t common_divisor(int64_t a, int64_t b) { return b == 0 ? a : common_divisor(b, a % b); }

/* Draws particles: visits all of them in a sequence that is independent of cells, and takes one whenever the sum of the probabilities
 * passes k + 1/2, k = 0, 1, ... */
static void draw_by(int64_t n, const double *probability, int64_t most, int64_t *which, double *weight)
{
    int64_t step = (int64_t)(0.618033988749894848 * (double)n) + 1, count = 0;
    double sum = 0;
    while (common_divisor(n, step) > 1) step++;
    for (int64_t j = 0, i = 0; j < n && count < most; j++, i = (i + step) % n) {
        sum += probability[i];
        if (sum < (double)count + 0.5 && most - count < n - j) continue;
        which[count] = i;
        weight[count++] = 1 / probability[i];
    }
}

yoke_status fmm_draw_sorted(const fmm_tree *tree, const fmm_particles *sorted, int order, int64_t count, int64_t *which, double *weight)
{
    const fmm_favour of = {order, fmm_large_charge(sorted)};
    double *probability = NULL;
    if (!favours(of) || count >= tree->count) {
        for (int64_t k = 0; k < count; k++) which[k] = (int64_t)(fmm_sample_place(k, count) * (double)tree->count), weight[k] = 1;
        return YOKE_OK;
    }
    yoke_status status = yoke_allocate(tree->context, tree->count, sizeof *probability, &probability);
    if (status) return status;
    set_weights(tree, sorted, of, probability);
    set_probabilities(tree->count, count, probability);
    draw_by(tree->count, probability, count, which, weight);
    yoke_release(tree->context, probability);
    return YOKE_OK;
}

yoke_status fmm_draw_reference(const fmm_tree *tree, const fmm_particles *sorted, int order, int64_t count, int64_t *which, double *weight)
{
    yoke_status status = fmm_draw_sorted(tree, sorted, order, count, which, weight);
    for (int64_t k = 0; k < count && !status; k++) which[k] = tree->order[which[k]];
    return status;
}
