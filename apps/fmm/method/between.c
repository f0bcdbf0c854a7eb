/* between.c - the pass between cells of a level: from multipole to local expansions. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "method/turns.h"

/* Adds the particles of the leaves in a cell's list X to its local expansion. */
static void add_leaves(fmm_method *m, int level, int32_t cell)
{
    const int64_t *start = m->x.start[level] + cell;
    if (start[0] == start[1]) return;
    const fmm_frame frame = fmm_frame_of(m, level, cell);
    for (int64_t k = start[0]; k < start[1]; k++) {
        const fmm_sources sources = fmm_sources_of(m, m->x.leaf[k]);
        fmm_p2l(m->operators, &frame, &sources, fmm_local(m, level, cell));
    }
}

/* The multipole expansion of a source, or NULL if the target has none.  A branch would often be mispredicted. */
static inline const double *source_if_any(const fmm_method *m, int level, int32_t source, uint64_t has)
{
    const uintptr_t at = (uintptr_t)m->multipole[level] + (uintptr_t)(source * m->stride) * sizeof(double);
    return (const double *)(at & -(uintptr_t)(has & 1));
}

/* Finds the targets with a source in a direction or in the opposite one.  Returns their number. */
static int64_t find_sides(const fmm_method *m, int level, int d, fmm_worker *worker)
{
    const fmm_far_list *far = &worker->far;
    const int opposite = FMM_DIRECTIONS - 1 - d;
    int64_t targets = 0;
    for (int word = 0; word < FMM_MAX_TARGETS / 64; word++) {
        const uint64_t ahead = far->has[d][word], behind = far->has[opposite][word];
        for (uint64_t either = ahead | behind; either; either &= either - 1, targets++) {
            const int bit = __builtin_ctzll(either), t = 64 * word + bit;
            worker->from[targets] = source_if_any(m, level, far->source[d][t], ahead >> bit);
            worker->behind[targets] = source_if_any(m, level, far->source[opposite][t], behind >> bit);
            worker->to[targets] = fmm_local(m, level, far->first + t);
        }
    }
    return targets;
}

/* Translates the far pairs of a direction and of the opposite direction. */
static void translate_sides(const fmm_method *m, int level, int d, fmm_worker *worker)
{
    const int direction[3] = {d % 7 - 3, d / 7 % 7 - 3, d / 49 - 3};
    const int64_t targets = find_sides(m, level, d, worker);
    const fmm_operators *o = m->operators;
    if (targets) fmm_m2l(o, fmm_operators_order(o), direction, targets, worker->from, worker->behind, worker->to, worker->work);
}

/* Translates the far pairs of a group, direction by direction.  Returns their number. */
static int64_t translate_pairs(fmm_method *m, const fmm_siblings *group, fmm_worker *worker)
{
    const int32_t *parent = m->tree->level[group->level].parent;
    fmm_far_list *far = &worker->far;
    fmm_far_list_fill(far, &worker->walk, group->level, parent[group->first], parent[group->last - 1] + 1);
    for (int d = FMM_NO_DIRECTION + 1; d < FMM_DIRECTIONS; d++) translate_sides(m, group->level, d, worker);
    return far->pairs;
}

/* Computes the local expansions of a group from far pairs, unless its level has plane waves, and lists X.  Returns the number of these
 * far pairs. */
static int64_t translate_group(fmm_method *m, const fmm_siblings *group, fmm_worker *worker)
{
    const int level = group->level;
    memset(fmm_local(m, level, group->first), 0, (size_t)((group->last - group->first) * m->local_stride) * sizeof(double));
    const int64_t pairs = m->waves[level].tables ? 0 : translate_pairs(m, group, worker);
    for (int32_t c = group->first; c < group->last && m->x.leaf; c++) add_leaves(m, level, c);
    return pairs;
}

double fmm_method_batches(double cells, double pairs, int directions)
{
    const double most = ceil(cells / FMM_MAX_TARGETS) * directions;
    return most > 0 ? most * (1 - exp(-pairs / most)) : 0;
}

int64_t fmm_pass_between(fmm_method *m, int threads, fmm_worker *workers)
{
    int64_t pairs = 0;
    fmm_loops loops;
    fmm_loops_begin(&loops, m->tree->count, m->stop, threads);
#pragma omp parallel num_threads(threads) reduction(+ : pairs)
    {
        int64_t g, end;
        fmm_worker *worker = &workers[omp_get_thread_num()];
        fmm_walk_start(&worker->walk, m->tree);
        /* Levels with many groups come first, so that all threads end at about the same time. */
        for (int l = m->tree->depth; l >= FMM_FAR_LEVEL; l--) {
            fmm_turns turns = fmm_turns_of_siblings(&loops, l, m->group, m->first_group[l], m->first_group[l - 1]);
            while (fmm_turns_next(&turns, 1, &g, &end)) pairs += translate_group(m, &m->group[g], worker);
        }
    }
    return pairs;
}
