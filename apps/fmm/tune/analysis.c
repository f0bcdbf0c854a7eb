#include "tune/analysis.h"

#include "particles/scale.h"

yoke_status fmm_analysis_deepen(fmm_analysis *a, int depth)
{
    if (depth <= a->depth) return YOKE_OK;
    yoke_status status = fmm_tree_divide(a->tree, depth, 0);
    if (!status) status = fmm_count_cells(a->tree, a->counts, a->cells);
    if (!status) a->depth = depth;
    return status;
}

static yoke_status count(const fmm_particles *particles, int depth, fmm_analysis *a)
{
    int length;
    const double begin_s = yoke_clock_s();
    fmm_particles *scaled = NULL;
    yoke_status status = fmm_particles_create(particles->context, particles->count, &scaled);
    if (status) return status;
    fmm_scale_positions(particles, &length, scaled);
    status = fmm_tree_create_adaptive(scaled, fmm_box_around(scaled), FMM_MAX_DEPTH, particles->count + 1, &a->tree);
    fmm_particles_destroy(scaled);
    a->sort_s = yoke_clock_s() - begin_s;
    return status ? status : fmm_analysis_deepen(a, depth);
}

yoke_status fmm_analysis_create(const fmm_particles *particles, int depth, fmm_analysis **analysis)
{
    fmm_analysis *created = NULL;
    yoke_status status = yoke_allocate(particles->context, 1, sizeof *created, &created);
    if (status) return status;
    created->context = particles->context;
    created->depth = -1;
    status = count(particles, depth, created);
    if (status)
        fmm_analysis_destroy(created);
    else
        *analysis = created;
    return status;
}

void fmm_analysis_destroy(fmm_analysis *analysis)
{
    if (!analysis) return;
    fmm_tree_destroy(analysis->tree);
    yoke_release(analysis->context, analysis);
}

int fmm_deep_enough(int64_t particles)
{
    enum { FEW = 16 };
    int depth = 2;
    while (depth < FMM_MAX_DEPTH && particles >> 3 * depth > FEW) depth++;
    return depth;
}
