/* upward.c - the pass from the leaves to the root: P2M, and for the other cells M2M. */
#include <omp.h>
#include <string.h>

#include "method/turns.h"

static void expand_leaf(fmm_method *m, int64_t leaf)
{
    const fmm_leaves *leaves = &m->tree->leaves;
    int level = leaves->level[leaf];
    if (level < FMM_FAR_LEVEL) return;
    const fmm_sources sources = fmm_sources_of(m, leaf);
    const fmm_frame frame = fmm_frame_of(m, level, leaves->cell[leaf]);
    double *multipole = fmm_multipole(m, level, leaves->cell[leaf]);
    memset(multipole, 0, (size_t)m->stride * sizeof *multipole);
    fmm_p2m(m->operators, &frame, &sources, multipole);
}

/* Computes the multipole expansions of the parents of a group. */
static void collect(fmm_method *m, const fmm_siblings *group, fmm_worker *worker)
{
    const int level = group->level - 1;
    const fmm_level *above = &m->tree->level[level];
    const int32_t first = m->tree->level[group->level].parent[group->first], last = m->tree->level[group->level].parent[group->last - 1];
    for (int32_t p = first; p <= last; p++)
        if (above->octants[p]) memset(fmm_multipole(m, level, p), 0, (size_t)m->stride * sizeof(double));
    for (int octant = 0; octant < 8; octant++) {
        int64_t pairs = 0;
        for (int32_t p = first; p <= last; p++) {
            if (!(above->octants[p] >> octant & 1)) continue;
            worker->from[pairs] = fmm_multipole(m, level + 1, fmm_child(above, p, octant));
            worker->to[pairs++] = fmm_multipole(m, level, p);
        }
        fmm_m2m(m->operators, octant, pairs, worker->from, worker->to, worker->work);
    }
}

void fmm_pass_upward(fmm_method *m, int threads, fmm_worker *workers)
{
    const fmm_tree *tree = m->tree;
    const int some = fmm_leaves_at_a_time(m, threads);
    fmm_loops loops;
    fmm_loops_begin(&loops, tree->count, m->stop, threads);
#pragma omp parallel num_threads(threads)
    {
        int64_t from, to;
        fmm_worker *worker = &workers[omp_get_thread_num()];
        fmm_turns leaves = fmm_turns_of_leaves(&loops, 0, m);
        while (fmm_turns_next(&leaves, some, &from, &to))
            for (int64_t c = from; c < to; c++) expand_leaf(m, c);
#pragma omp barrier
        for (int l = tree->depth; l > FMM_FAR_LEVEL; l--) {
            fmm_turns groups = fmm_turns_of_siblings(&loops, l, m->group, m->first_group[l], m->first_group[l - 1]);
            while (fmm_turns_next(&groups, 1, &from, &to)) collect(m, &m->group[from], worker);
#pragma omp barrier
        }
    }
}
