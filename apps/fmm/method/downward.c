#include <omp.h>

#include "method/parts.h"

/* Adds the local expansions of parents first ... last - 1 of a level to their children's. */
static void hand_down(fmm_method *m, int level, int64_t first, int64_t last, fmm_worker *worker)
{
    const fmm_level *above = &m->tree->level[level];
    for (int octant = 0; octant < 8; octant++) {
        int64_t pairs = 0;
        for (int64_t p = first; p < last; p++) {
            if (!(above->octants[p] >> octant & 1)) continue;
            worker->from[pairs] = fmm_local(m, level, p);
            worker->to[pairs++] = fmm_local(m, level + 1, fmm_child(above, (int32_t)p, octant));
        }
        fmm_l2l(m->operators, octant, pairs, worker->from, worker->to, worker->work);
    }
}

static void evaluate_leaf(fmm_method *m, int64_t leaf)
{
    const fmm_level *level = &m->tree->level[m->tree->depth];
    int64_t first = level->particle[leaf];
    const fmm_targets targets = fmm_targets_at(m, first, level->particle[leaf + 1] - first);
    const fmm_frame frame = fmm_frame_of(m, m->tree->depth, leaf);
    fmm_l2p(m->operators, &frame, fmm_local(m, m->tree->depth, leaf), &targets);
}

void fmm_pass_downward(fmm_method *m, int threads, fmm_worker *workers)
{
    const fmm_tree *tree = m->tree;
    int64_t leaves = tree->level[tree->depth].count;
#pragma omp parallel num_threads(threads)
    {
        fmm_worker *worker = &workers[omp_get_thread_num()];
        for (int l = FMM_FAR_LEVEL; l < tree->depth; l++) {
            int64_t cells = tree->level[l].count;
#pragma omp for schedule(dynamic)
            for (int64_t first = 0; first < cells; first += FMM_MAX_TOGETHER)
                hand_down(m, l, first, first + FMM_MAX_TOGETHER < cells ? first + FMM_MAX_TOGETHER : cells, worker);
        }
#pragma omp for schedule(dynamic, 8)
        for (int64_t c = 0; c < leaves; c++) evaluate_leaf(m, c);
    }
}
