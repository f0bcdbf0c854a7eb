/* downward.c - the pass from the root to the leaves: L2L, and at leaves L2P. */
#include <omp.h>
#include <string.h>

#include "method/turns.h"

/* Adds the local expansions of the parents of a group to their children's. */
static void hand_down(fmm_method *m, const fmm_siblings *group, fmm_worker *worker)
{
    const int level = group->level - 1;
    const fmm_level *above = &m->tree->level[level];
    const int32_t first = m->tree->level[group->level].parent[group->first], last = m->tree->level[group->level].parent[group->last - 1];
    for (int octant = 0; octant < 8; octant++) {
        int64_t pairs = 0;
        for (int32_t p = first; p <= last; p++) {
            if (!(above->octants[p] >> octant & 1)) continue;
            worker->from[pairs] = fmm_local(m, level, p);
            worker->to[pairs++] = fmm_local(m, level + 1, fmm_child(above, p, octant));
        }
        fmm_l2l(m->operators, octant, pairs, worker->from, worker->to, worker->work);
    }
}

static void set_zero(const fmm_targets *targets)
{
    double *const sums[4] = {targets->potential, targets->gx, targets->gy, targets->gz};
    for (int c = 0; c < 4 && sums[c]; c++) memset(sums[c], 0, (size_t)targets->count * sizeof(double));
}

/* Evaluates the leaf's local expansion, and the multipole expansions of its list W, at its particles. */
static void evaluate_leaf(fmm_method *m, int64_t leaf)
{
    const fmm_leaves *leaves = &m->tree->leaves;
    int level = leaves->level[leaf];
    int32_t cell = leaves->cell[leaf];
    const fmm_targets targets = fmm_targets_in(m, m->far, leaves->particle[leaf], leaves->particle[leaf + 1] - leaves->particle[leaf]);
    set_zero(&targets);
    if (level >= FMM_FAR_LEVEL) {
        const fmm_frame frame = fmm_frame_of(m, level, cell);
        fmm_l2p(m->operators, &frame, fmm_local(m, level, cell), &targets);
    }
    for (int64_t k = m->w.start[leaf]; k < m->w.start[leaf + 1]; k++) {
        const fmm_frame frame = fmm_frame_of(m, m->w.level[k], m->w.cell[k]);
        fmm_m2p(m->operators, &frame, fmm_multipole(m, m->w.level[k], m->w.cell[k]), &targets);
    }
}

void fmm_pass_downward(fmm_method *m, int threads, fmm_worker *workers)
{
    const fmm_tree *tree = m->tree;
    const int some = fmm_leaves_at_a_time(m, threads);
    fmm_loops loops;
    fmm_loops_begin(&loops, tree->count, m->stop, threads);
#pragma omp parallel num_threads(threads)
    {
        int64_t from, to;
        fmm_worker *worker = &workers[omp_get_thread_num()];
        for (int l = FMM_FAR_LEVEL + 1; l <= tree->depth; l++) {
            fmm_turns groups = fmm_turns_of_siblings(&loops, l, m->group, m->first_group[l], m->first_group[l - 1]);
            while (fmm_turns_next(&groups, 1, &from, &to)) hand_down(m, &m->group[from], worker);
#pragma omp barrier
        }
        fmm_turns leaves = fmm_turns_of_leaves(&loops, 0, m);
        while (fmm_turns_next(&leaves, some, &from, &to))
            for (int64_t c = from; c < to; c++) evaluate_leaf(m, c);
    }
}
