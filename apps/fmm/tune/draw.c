#include "tune/draw.h"

#include <math.h>

#include "tree/walk.h"

/* Of each cell of a level. */
typedef struct strength {
    double plain;   /* as a source: of charges that cancel, and of charges that add up */
    double corners; /* the same of those in its corners */
    double targets; /* particles in its corners */
} strength;

double fmm_sample_place(int64_t k, int64_t n)
{
    double u = 0.618033988749894848 * ((double)k + 0.5); /* the golden ratio */
    return ((double)k + u - floor(u)) / (double)n;
}

/* How much the square of an error grows from the centre to a particle: 1 in a corner. */
static double growth(const fmm_particles *p, int64_t i, const double centre[3], double edge, int order)
{
    double x = (p->x[i] - centre[0]) / edge, y = (p->y[i] - centre[1]) / edge, z = (p->z[i] - centre[2]) / edge;
    double factor = (x * x + y * y + z * z) / 0.75, power = 1;
    for (int left = order; left > 0; left >>= 1, factor *= factor)
        if (left & 1) power *= factor;
    return power;
}

static strength strength_of(const fmm_tree *tree, const fmm_particles *p, int l, int64_t cell, int order)
{
    double centre[3], edge = fmm_tree_edge(tree, l), sum = 0, squares = 0;
    strength s = {0, 0, 0};
    fmm_tree_centre(tree, l, cell, centre);
    for (int32_t i = tree->level[l].particle[cell]; i < tree->level[l].end[cell]; i++) {
        double square = p->charge[i] * p->charge[i], grown = growth(p, i, centre, edge, order);
        sum += p->charge[i];
        squares += square;
        s.corners += square * grown;
        s.targets += grown;
    }
    s.plain = squares + sum * sum;
    return s;
}

static void add_near(const int32_t *near, const strength *strengths, double sign, strength *sum)
{
    for (int n = 0; n < FMM_NEIGHBOURS; n++)
        if (near[n] >= 0) sum->plain += sign * strengths[near[n]].plain, sum->corners += sign * strengths[near[n]].corners;
}

/*
 * Importance of each cell: of its particles by what its far cells do to them, and of those in corners.  Far cells: children of its parent's neighbours,
 * without its own neighbours.
 */
static void set_importance(const fmm_tree *tree, int l, const strength *here, const strength *above, double *plain, double *corners)
{
    const fmm_level *level = &tree->level[l];
#pragma omp parallel
    {
        fmm_walk walk;
        fmm_walk_start(&walk, tree);
#pragma omp for schedule(static)
        for (int64_t c = 0; c < level->count; c++) {
            strength far = {0, 0, 0};
            fmm_walk_to(&walk, l, (int32_t)c);
            add_near(walk.near[l - 1], above, 1, &far);
            add_near(walk.near[l], here, -1, &far);
            plain[c] = fmax(far.plain, 0) * (level->end[c] - level->particle[c]);
            corners[c] = fmax(far.corners, 0) * here[c].targets;
        }
    }
}

static double sum_of(int64_t count, const double *values)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += values[i];
    return sum;
}

/* A quarter of the draws by shares, a quarter by importance, half by that of corners: no weight is above 4. */
static int draw(const fmm_level *level, const double *plain, const double *corners, int most, fmm_draw *draws)
{
    double all = level->particle[level->count], here = 0; /* in adaptive trees a level has not all particles */
    double total = sum_of(level->count, plain), in_corners = sum_of(level->count, corners), sum = 0;
    int count = 0;
    for (int64_t c = 0; c < level->count; c++) here += level->end[c] - level->particle[c];
    for (int64_t c = 0, k = 0; c < level->count && k < most; c++) {
        double share = (level->end[c] - level->particle[c]) / here, times = 0;
        double probability = 0.25 * share + 0.25 * (total > 0 ? plain[c] / total : share);
        probability += 0.5 * (in_corners > 0 ? corners[c] / in_corners : share);
        for (sum += probability; k < most && (fmm_sample_place(k, most) < sum || c == level->count - 1); k++) times++;
        if (times > 0) draws[count++] = (fmm_draw){(int32_t)c, times, share / probability * here / all};
    }
    return count;
}

yoke_status fmm_draw_cells(const fmm_tree *tree, const fmm_particles *particles, int l, int order, int most, fmm_draw *draws, int *count)
{
    const fmm_level *level = &tree->level[l];
    yoke_context *context = tree->context;
    strength *here = NULL, *above = NULL;
    double *plain = NULL, *corners = NULL;
    if (level->count <= most) {
        for (int32_t c = 0; c < level->count; c++) {
            double share = (level->end[c] - level->particle[c]) / (double)tree->count;
            draws[c] = (fmm_draw){c, 1, share * (double)level->count};
        }
        *count = (int)level->count;
        return YOKE_OK;
    }
    yoke_status status = yoke_allocate(context, level->count, sizeof *here, &here);
    if (!status) status = yoke_allocate(context, tree->level[l - 1].count, sizeof *above, &above);
    if (!status) status = yoke_allocate(context, level->count, sizeof *plain, &plain);
    if (!status) status = yoke_allocate(context, level->count, sizeof *corners, &corners);
    if (!status) {
#pragma omp parallel for schedule(dynamic, 8)
        for (int64_t c = 0; c < level->count; c++) here[c] = strength_of(tree, particles, l, c, order);
        for (int64_t c = 0; c < level->count; c++) {
            above[level->parent[c]].plain += here[c].plain;
            above[level->parent[c]].corners += here[c].corners;
        }
        set_importance(tree, l, here, above, plain, corners);
        *count = draw(level, plain, corners, most, draws);
    }
    yoke_release(context, here);
    yoke_release(context, above);
    yoke_release(context, plain);
    yoke_release(context, corners);
    return status;
}

int fmm_draw_particles(const fmm_tree *tree, const fmm_particles *particles, int level, int32_t cell, int order, int most, fmm_draw *draws)
{
    int32_t first = tree->level[level].particle[cell], last = tree->level[level].end[cell];
    double centre[3], edge = fmm_tree_edge(tree, level), total = 0, sum = 0, share = 1.0 / (last - first);
    int count = 0;
    if (last - first <= most) {
        for (int32_t i = first; i < last; i++) draws[count++] = (fmm_draw){i, 1, 1};
        return count;
    }
    fmm_tree_centre(tree, level, cell, centre);
    for (int32_t i = first; i < last; i++) total += growth(particles, i, centre, edge, order);
    for (int32_t i = first, k = 0; i < last && k < most; i++) {
        double times = 0, grown = growth(particles, i, centre, edge, order);
        double probability = 0.5 * share + 0.5 * (total > 0 ? grown / total : share);
        for (sum += probability; k < most && (fmm_sample_place(k, most) < sum || i == last - 1); k++) times++;
        if (times > 0) draws[count++] = (fmm_draw){i, times, share / probability};
    }
    return count;
}
