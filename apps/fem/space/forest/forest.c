#include "space/forest/forest.h"

#include <limits.h>

#include <p8est_extended.h>

yoke_status fem_forest_create(const fem_mesh *mesh, int level, fem_forest **out)
{
    yoke_context *context = mesh->context;
    if (level < 0 || level > FEM_MAX_LEVEL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "uniform refinement level %d is outside 0..%d", level, FEM_MAX_LEVEL);
    if (mesh->num_elements > INT_MAX / 8 || mesh->num_vertices > INT_MAX)
        return yoke_fail(context, YOKE_ERROR_INPUT, "%s: %lld elements are more than the forest can number", mesh->path,
                         (long long)mesh->num_elements);
    fem_forest *forest = NULL;
    fem_skeleton *skeleton = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *forest, &forest);
    if (!status) status = fem_skeleton_create(mesh, &skeleton);
    status = app_ranks_agree(mesh->ranks, status);
    if (status) {
        fem_skeleton_destroy(skeleton);
        yoke_release(context, forest);
        return status;
    }
    forest->context = context;
    forest->skeleton = forest->own_skeleton = skeleton;
    p8est_connectivity_t *c = p8est_connectivity_new((p4est_topidx_t)mesh->num_vertices, (p4est_topidx_t)mesh->num_elements, 0, 0, 0, 0);
    forest->connectivity = c;
    for (int64_t i = 0; i < 3 * mesh->num_vertices; i++) c->vertices[i] = mesh->vertices[i];
    for (int64_t i = 0; i < 8 * mesh->num_elements; i++) c->tree_to_vertex[i] = mesh->corners[i];
    for (p4est_topidx_t t = 0; t < c->num_trees; t++) {
        /* Each tree is its own neighbour; p8est_connectivity_complete finds the true neighbours from the vertices. */
        for (int f = 0; f < 6; f++) {
            c->tree_to_tree[6 * t + f] = t;
            c->tree_to_face[6 * t + f] = (int8_t)f;
        }
    }
    p8est_connectivity_complete(c);
    forest->ranks = app_ranks_count(mesh->ranks) > 1 ? mesh->ranks : NULL;
    const int64_t of_ranks = (int64_t)FEM_MOST_GATHERED_RANK * app_ranks_count(mesh->ranks);
    forest->most_gathered = of_ranks < FEM_MOST_GATHERED ? of_ranks : FEM_MOST_GATHERED;
    forest->p8est = p8est_new_ext(forest->ranks ? sc_MPI_COMM_WORLD : sc_MPI_COMM_SELF, c, 0, level, 1, 0, NULL, NULL);
    status = fem_forest_partition(forest, NULL);
    if (status)
        fem_forest_destroy(forest);
    else
        *out = forest;
    return status;
}

void fem_forest_destroy(fem_forest *forest)
{
    if (!forest) return;
    p8est_destroy(forest->p8est);
    fem_skeleton_destroy(forest->own_skeleton);
    if (forest->connectivity) p8est_connectivity_destroy(forest->connectivity);
    yoke_release(forest->context, forest);
}

yoke_status fem_forest_copy(const fem_forest *forest, fem_forest **out)
{
    fem_forest *copy;
    yoke_status status = yoke_allocate(forest->context, 1, sizeof *copy, &copy);
    if (status) return status;
    copy->context = forest->context;
    copy->connectivity = NULL;
    copy->skeleton = forest->skeleton;
    copy->ranks = forest->ranks;
    copy->most_gathered = forest->most_gathered;
    copy->aligned = forest->aligned;
    copy->p8est = p8est_copy(forest->p8est, 0);
    *out = copy;
    return YOKE_OK;
}

/*
 * Whether the levels exclude that two leaves differ by more than one level.  Balancing takes 40 microseconds per tree even if it changes
 * nothing.
 */
static int is_balanced_by_levels(const fem_forest *forest)
{
    const p8est_t *p8est = forest->p8est;
    int least = FEM_MAX_LEVEL, most = 0;
    for (p4est_topidx_t t = p8est->first_local_tree; t <= p8est->last_local_tree; t++) {
        const p8est_tree_t *tree = p8est_tree_array_index(p8est->trees, t);
        int level = 0;
        while (level < tree->maxlevel && !tree->quadrants_per_level[level]) level++;
        if (level < least) least = level;
        if (tree->maxlevel > most) most = tree->maxlevel;
    }
    double outermost[2] = {most, -least};
    app_ranks_max(forest->ranks, outermost, 2);
    return outermost[0] + outermost[1] <= 1;
}

static void balance(const fem_forest *forest)
{
    if (!is_balanced_by_levels(forest)) p8est_balance(forest->p8est, P8EST_CONNECT_FULL, NULL);
}

/* p8est visits leaves in Morton order, so the marks are read one after the other.  Leaves created by this refinement are not visited. */
typedef struct mark_cursor {
    const uint8_t *mark;
} mark_cursor;

static int refine_marked(p8est_t *p8est, p4est_topidx_t tree, p8est_quadrant_t *leaf)
{
    (void)tree;
    mark_cursor *cursor = p8est->user_pointer;
    uint8_t marked = *cursor->mark++;
    return marked && leaf->level < FEM_MAX_LEVEL;
}

yoke_status fem_forest_refine(fem_forest *forest, const uint8_t *mark)
{
    mark_cursor cursor = {mark};
    forest->p8est->user_pointer = &cursor;
    p8est_refine(forest->p8est, 0, refine_marked, NULL);
    forest->p8est->user_pointer = NULL;
    balance(forest);
    forest->aligned = 0;
    return YOKE_OK;
}

static int coarsen_all(p8est_t *p8est, p4est_topidx_t tree, p8est_quadrant_t *family[])
{
    (void)p8est, (void)tree, (void)family;
    return 1;
}

yoke_status fem_forest_coarsen(fem_forest *forest)
{
    const p4est_gloidx_t leaves = forest->p8est->global_num_quadrants;
    p8est_coarsen(forest->p8est, 0, coarsen_all, NULL);
    if (forest->p8est->global_num_quadrants < leaves) balance(forest);
    if (forest->aligned > 0) forest->aligned--;
    return YOKE_OK;
}
