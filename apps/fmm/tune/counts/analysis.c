#include "tune/counts/analysis.h"

#include <math.h>
#include <string.h>

#include "method/method.h"

yoke_status fmm_analysis_deepen(fmm_analysis *a, int depth)
{
    if (depth <= a->depth) return YOKE_OK;
    yoke_status status = fmm_tree_divide(a->tree, depth, 0);
    if (!status) status = fmm_count_cells(a->tree, a->counts, a->cells);
    if (!status) a->depth = depth, a->cells_below = 0;
    return status;
}

int64_t fmm_analysis_cells_below(fmm_analysis *a)
{
    if (!a->cells_below && a->tree && a->depth < a->tree->key_level) a->cells_below = fmm_tree_cells(a->tree, a->depth + 1);
    return a->cells_below;
}

static int has_counted(const fmm_analysis *a, int num_capacities, const int64_t *capacities)
{
    return a->num_capacities == num_capacities && !memcmp(a->capacity, capacities, (size_t)num_capacities * sizeof *capacities);
}

yoke_status fmm_analysis_capacities(fmm_analysis *a, int64_t direct, int num_capacities, const int64_t *capacities)
{
    const int counted = has_counted(a, num_capacities, capacities);
    if (counted && (!a->tree || a->direct == direct)) return YOKE_OK;
    if (!a->tree) return yoke_fail(a->context, YOKE_ERROR_ARGUMENT, "the tree was taken, and these capacities were not counted before");
    yoke_status status = fmm_tree_divide(a->tree, a->deepest, capacities[0]);
    if (!status) status = fmm_count_operations(a->tree, direct, num_capacities, capacities, a->operations);
    a->num_capacities = status ? 0 : num_capacities;
    a->direct = direct;
    if (!status) memcpy(a->capacity, capacities, (size_t)num_capacities * sizeof *capacities);
    return status;
}

/* cells: as in fmm_tree_create_undivided. */
static yoke_status sort(const fmm_particles *particles, int64_t cells, fmm_analysis *a)
{
    const double begin_s = yoke_clock_s();
    yoke_status status = fmm_tree_create_undivided(particles, cells, &a->tree);
    if (!status) a->deepest = fmm_method_deepest(&a->tree->box, ldexp(particles->softening, -a->tree->box.length));
    a->sort_s = yoke_clock_s() - begin_s;
    return status;
}

static yoke_status create(const fmm_particles *particles, int depth, int64_t cells, fmm_analysis **analysis)
{
    fmm_analysis *created = NULL;
    yoke_status status = yoke_allocate(particles->context, 1, sizeof *created, &created);
    if (status) return status;
    created->context = particles->context;
    created->particles = particles->count;
    created->depth = -1;
    status = sort(particles, cells, created);
    if (!status) status = fmm_analysis_deepen(created, depth);
    if (status)
        fmm_analysis_destroy(created);
    else
        *analysis = created;
    return status;
}

yoke_status fmm_analysis_create(const fmm_particles *particles, int depth, fmm_analysis **analysis)
{
    return create(particles, depth, 0, analysis);
}

yoke_status fmm_analysis_create_cells(const fmm_particles *particles, int64_t cells, fmm_analysis **analysis)
{
    return create(particles, fmm_depth_of_cells(cells), cells, analysis);
}

void fmm_analysis_drop_tree(fmm_analysis *analysis)
{
    fmm_tree_destroy(analysis->tree);
    analysis->tree = NULL;
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
