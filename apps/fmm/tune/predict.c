#include "tune/predict.h"

#include <math.h>

#include "expansion/waves.h"
#include "tree/lists.h"
#include "tune/order/tails.h"

/* Sums of a particle are begun and ended for its own leaf, and again for the others if the leaf touches any (method/near.c). */
static double leaves_of(const fmm_machine *machine, int64_t leaves, int64_t particles, int64_t beside)
{
    return (double)leaves * machine->pairs.leaf + ((double)particles + (double)beside) * machine->pairs.particle;
}

/* Sources of small leaves by the number of the leaf's particles, and pairs of large leaves. */
static double pairs_of(const fmm_machine *machine, const int64_t sources[FMM_SMALL_LEAF + 1], int64_t large)
{
    double sum = (double)large * machine->pairs.large;
    for (int n = 1; n <= FMM_SMALL_LEAF; n++) sum += (double)sources[n] * machine->pairs.near[n];
    return sum;
}

static double near_of(const fmm_machine *machine, int64_t particles, const fmm_cell_counts *cells)
{
    return leaves_of(machine, cells->leaves, particles, cells->beside) + pairs_of(machine, cells->sources, cells->large);
}

/* Numbers for M2L of a level. */
typedef struct far_level {
    double parents, cells, targets_and_sources;
    int directions;
} far_level;

/* Time of lists and M2L of a level by rotations. */
static double translations_of(const fmm_machine *machine, int order, const far_level *level)
{
    const double pairs = level->targets_and_sources;
    return pairs * machine->pair[order] + fmm_method_batches(level->cells, pairs, level->directions) * machine->batch[order];
}

int fmm_set_of(const fmm_machine *machine, int order)
{
    if (machine->finer < 0 || order < FMM_FIRST_WAVE_ORDER || order > FMM_LAST_WAVE_SET) return 0;
    const int set = order + machine->finer < FMM_LAST_WAVE_SET ? order + machine->finer : FMM_LAST_WAVE_SET;
    return machine->family[set] > 0 ? set : 0;
}

/* Time to choose the set: its tables, and for each drawn cell the waves of the families around it, for three axes. */
static double wave_choice_of(const fmm_machine *machine, int set, int levels)
{
    enum { FAMILIES = 12 }; /* number of families whose M2L takes as long as a draw, including its sums over all directions */
    return machine->waves[set] + (double)levels * fmm_wave_draws(levels) * FAMILIES * machine->family[set];
}

/*
 * Time of lists and M2L of the levels from 2 on, each by rotations or by plane waves, which need no lists.  A family with few children and
 * neighbours takes nearly as long as one with all of them.  Waves are used only if they save more time than their tables and the choice of
 * their set take.
 */
static double between_of(const fmm_machine *machine, int depth, const far_level *level, const int *order, uint64_t *waves)
{
    double rotations_s = 0, saved_s = 0;
    int highest = 0, levels = 0;
    *waves = 0;
    for (int l = 2; l <= depth; l++) {
        const int set = fmm_set_of(machine, order[l]);
        const double by_rotations = translations_of(machine, order[l], &level[l]);
        const double by_waves = level[l].parents * machine->family[set];
        rotations_s += by_rotations;
        if (!set || by_waves >= by_rotations) continue;
        saved_s += by_rotations - by_waves;
        *waves |= (uint64_t)1 << l;
        levels++;
        if (set > highest) highest = set;
    }
    if (levels && saved_s - machine->waves[highest] > wave_choice_of(machine, highest, levels)) return rotations_s - saved_s;
    *waves = 0;
    return rotations_s;
}

/* Number of directions of far pairs (lists.h) in a uniform tree: 19 on a line, where cells have two children, about 90 on a plane, where they
 * have four, and all of them in filled space, where they have eight. */
static int directions_of(double children)
{
    enum { LINE = 19, PLANE = 90 };
    const double dimension = children > 0 ? log2(children) : 0;
    return (int)fmin(FMM_FAR_DIRECTIONS, LINE + fmax(dimension - 1, 0) * (PLANE - LINE));
}

/* Time of the far field.  counts, cells: of all depths.  Far pairs exist from level 2 on. */
static double far_of(const fmm_machine *machine, int64_t particles, const fmm_counts *counts, const fmm_cell_counts *cells, int depth,
                     const int *order, uint64_t *waves)
{
    far_level level[FMM_MAX_DEPTH + 1] = {0};
    int highest = 0;
    double children = 0; /* most so far, from level 3 on: levels whose cells have few particles have fewer, in as many directions */
    for (int l = 2; l <= depth; l++) {
        const double parents = (double)cells[l - 1].leaves, own = (double)cells[l].leaves;
        children = l > 3 ? fmax(children, own / parents) : own / parents;
        level[l] = (far_level){parents, own, 2 * (double)(counts[l].far - counts[l - 1].far), directions_of(children)};
        if (order[l] > highest) highest = order[l];
    }
    double sum = between_of(machine, depth, level, order, waves);
    sum += (double)cells[depth].cells * machine->cell[highest];
    sum += (double)cells[depth].leaves * machine->leaf[highest] + (double)particles * machine->particle[highest];
    return sum;
}

/* Time to create the tables of all different orders of the levels, and of the set of plane waves. */
static double tables_of(const fmm_machine *machine, int depth, const int *order, uint64_t waves)
{
    double sum = 0;
    int highest = 0;
    for (int l = 2; l <= depth; l++) {
        int there = 0;
        if (waves >> l & 1 && fmm_set_of(machine, order[l]) > highest) highest = fmm_set_of(machine, order[l]);
        for (int above = 2; above < l; above++) there |= order[above] == order[l];
        if (!there) sum += machine->tables[order[l]];
    }
    return sum + (highest ? machine->waves[highest] : 0);
}

/* Multiplies each part by its factor from earlier runs, and adds them.  That of the tree is without sorting, whose time is known after the
 * choice (fmm_tuner_take_sorting). */
static void finish(const fmm_machine *machine, int64_t particles, fmm_seconds *s)
{
    s->tree = (double)particles * machine->sort + s->tree * machine->factor[FMM_PART_TREE].value;
    s->near *= machine->factor[FMM_PART_NEAR].value;
    s->far *= machine->factor[FMM_PART_FAR].value;
    s->total = s->tree + s->near + s->far;
}

fmm_seconds fmm_predict(const fmm_machine *machine, int64_t particles, const fmm_counts *counts, const fmm_cell_counts *cells, int depth,
                        const int *order, uint64_t *waves)
{
    *waves = 0;
    fmm_seconds s = {.tree = (double)particles * machine->tree_particle + (double)cells[depth].leaves * machine->tree_leaf,
                     .near = near_of(machine, particles, &cells[depth])};
    if (depth > 1) {
        s.far = far_of(machine, particles, counts, cells, depth, order, waves);
        s.tree += tables_of(machine, depth, order, *waves);
    }
    finish(machine, particles, &s);
    return s;
}

/* ------------------------------------------------------------------------------------------------ adaptive trees */

fmm_seconds fmm_predict_adaptive(const fmm_machine *machine, int64_t particles, const fmm_operations *operations, const int *order,
                                 uint64_t *waves)
{
    far_level level[FMM_MAX_DEPTH + 1] = {0};
    const double pairs = 2 * (double)operations->near + (double)particles, uneven = pairs > 0 ? 2 * (double)operations->uneven / pairs : 0;
    const double longer = machine->pairs.uneven > 0 ? machine->pairs.uneven - 1 : 0;
    fmm_seconds s = {.tree = (double)particles * machine->adaptive_particle + (double)operations->leaves * machine->adaptive_leaf,
                     .near = (1 + uneven * longer) * pairs_of(machine, operations->sources, operations->large) +
                             leaves_of(machine, operations->leaves, particles, particles)};
    int highest = 0;
    for (int l = 2; l <= operations->depth; l++)
        if (order[l] > highest) highest = order[l];
    for (int l = 2; l <= operations->depth; l++) {
        const fmm_level_operations *at = &operations->level[l];
        level[l] = (far_level){(double)(at[-1].cells - at[-1].leaves), (double)at->cells, 2 * (double)at->far, at->directions};
        s.far += l > 2 ? (double)at->cells * machine->cell[highest] : 0;
        s.far += (double)at->leaves * machine->leaf[highest] + (double)at->particles * machine->particle[highest];
        s.far += (double)at->w * machine->visit[order[l]] + (double)at->w_particles * machine->visited[order[l]];
    }
    s.far += between_of(machine, operations->depth, level, order, waves);
    if (operations->depth > 1) s.tree += tables_of(machine, operations->depth, order, *waves);
    finish(machine, particles, &s);
    return s;
}

double fmm_predict_filled(const fmm_machine *machine, int order, double size)
{
    enum { TOUCHING = 27, FAR = 189, CHILDREN = 8 };
    const int set = fmm_set_of(machine, order);
    const double pairs = TOUCHING * size * size, batches = FAR / fmm_bench_batch(FMM_PAIR, order);
    const double rotations = FAR * machine->pair[order] + batches * machine->batch[order];
    const double between = set ? fmin(rotations, machine->family[set] / CHILDREN) : rotations;
    const double leaf = machine->pairs.leaf + machine->leaf[order] + machine->cell[order] + machine->adaptive_leaf;
    return (pairs * fmm_machine_pair(machine, size) + between + leaf) / size + machine->particle[order] + 2 * machine->pairs.particle;
}
