/* The pass from the leaves: multipole expansions of particles, and of cells from their children. */
#include <omp.h>
#include <string.h>

#include "method/parts.h"

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

/* Multipoles of the parents among the cells first ... last - 1 of a level. */
static void collect(fmm_method *m, int level, int64_t first, int64_t last, fmm_worker *worker)
{
    const fmm_level *above = &m->tree->level[level];
    for (int64_t p = first; p < last; p++)
        if (above->octants[p]) memset(fmm_multipole(m, level, p), 0, (size_t)m->stride * sizeof(double));
    for (int octant = 0; octant < 8; octant++) {
        int64_t pairs = 0;
        for (int64_t p = first; p < last; p++) {
            if (!(above->octants[p] >> octant & 1)) continue;
            worker->from[pairs] = fmm_multipole(m, level + 1, fmm_child(above, (int32_t)p, octant));
            worker->to[pairs++] = fmm_multipole(m, level, p);
        }
        fmm_m2m(m->operators, octant, pairs, worker->from, worker->to, worker->work);
    }
}

void fmm_pass_upward(fmm_method *m, int threads, fmm_worker *workers)
{
    const fmm_tree *tree = m->tree;
    const int some = fmm_leaves_at_a_time(m, threads);
#pragma omp parallel num_threads(threads)
    {
        fmm_worker *worker = &workers[omp_get_thread_num()];
#pragma omp for schedule(dynamic, some)
        for (int64_t c = 0; c < tree->leaves.count; c++) expand_leaf(m, c);
        for (int l = tree->depth - 1; l >= FMM_FAR_LEVEL; l--) {
            int64_t cells = tree->level[l].count;
#pragma omp for schedule(dynamic)
            for (int64_t first = 0; first < cells; first += FMM_MAX_TOGETHER)
                collect(m, l, first, first + FMM_MAX_TOGETHER < cells ? first + FMM_MAX_TOGETHER : cells, worker);
        }
    }
}
