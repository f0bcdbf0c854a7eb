#include <omp.h>
#include <string.h>

#include "method/parts.h"

/* The leaves in the list X of a cell. */
static void add_leaves(fmm_method *m, int level, int32_t cell, fmm_walk *walk)
{
    if (level <= m->tree->coarsest || fmm_is_direct(m->tree, level, cell)) return;
    fmm_walk_to(walk, level, cell);
    fmm_walk_find_coarser(walk, level);
    const fmm_frame frame = fmm_frame_of(m, level, cell);
    for (int i = 0; i < walk->num_x[level]; i++) {
        const fmm_sources sources = fmm_sources_of(m, walk->x[level][i]);
        fmm_p2l(m->between[level], &frame, &sources, fmm_local(m, level, cell));
    }
}

/* What acts on the local expansions of the children of some parents: far pairs, direction by direction, and lists X.  Returns the number of far pairs. */
static int64_t translate_group(fmm_method *m, int level, int64_t first, int64_t last, fmm_worker *worker)
{
    fmm_far_list *far = &worker->far;
    const int32_t *child = m->tree->level[level - 1].child;
    memset(fmm_local(m, level, child[first]), 0, (size_t)((child[last] - child[first]) * m->stride) * sizeof(double));
    fmm_far_list_fill(far, &worker->walk, level, first, last, FMM_PAIRS_BOTH);
    for (int d = 0; d < FMM_DIRECTIONS; d++) {
        int64_t begin = far->start[d], pairs = far->start[d + 1] - begin;
        const int direction[3] = {d % 7 - 3, d / 7 % 7 - 3, d / 49 - 3};
        if (!pairs) continue;
        for (int64_t i = 0; i < pairs; i++) {
            worker->from[i] = fmm_multipole(m, level, far->source[begin + i]);
            worker->to[i] = fmm_local(m, level, far->target[begin + i]);
        }
        fmm_m2l(m->between[level], direction, pairs, worker->from, worker->to, worker->work);
    }
    for (int32_t c = child[first]; c < child[last]; c++) add_leaves(m, level, c, &worker->walk);
    return far->start[FMM_DIRECTIONS];
}

int64_t fmm_pass_between(fmm_method *m, int threads, fmm_worker *workers)
{
    int depth = m->tree->depth;
    int64_t groups = m->first_group[depth + 1], pairs = 0;
#pragma omp parallel num_threads(threads) reduction(+ : pairs)
    {
        fmm_worker *worker = &workers[omp_get_thread_num()];
        fmm_walk_start(&worker->walk, m->tree);
#pragma omp for schedule(dynamic)
        for (int64_t backward = 0; backward < groups; backward++) {
            int64_t g = groups - 1 - backward; /* levels with many groups first, so that all threads end at about the same time */
            int level = FMM_FAR_LEVEL;
            while (g >= m->first_group[level + 1]) level++;
            int64_t parents = m->tree->level[level - 1].count, first = (g - m->first_group[level]) * FMM_MAX_TOGETHER;
            pairs += translate_group(m, level, first, parents - first < FMM_MAX_TOGETHER ? parents : first + FMM_MAX_TOGETHER, worker);
        }
    }
    return pairs;
}
