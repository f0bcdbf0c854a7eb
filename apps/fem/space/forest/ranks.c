/* ranks.c - partitions the leaves among ranks, and gathers all of them on one rank. */
#include <stdlib.h>

#include <mpi.h>
#include <p8est_algorithms.h>
#include <p8est_bits.h>
#include <p8est_communication.h>
#include <p8est_io.h>

#include "space/forest/forest.h"

enum { MOST_ALIGNED = 4 };

/* A cut: leaves from `position` on belong to the next rank. */
typedef struct cuts {
    int count;         /* number of ranks minus one */
    int64_t *position; /* [count] */
    int64_t *ancestor; /* [count][5] tree, coordinates and level of an ancestor of the leaf at the cut */
    int64_t *before;   /* [count] number of leaves before that ancestor */
} cuts;

static int levels_to_align(const fem_forest *forest)
{
    int levels = 0;
    for (int64_t leaves = forest->p8est->global_num_quadrants; leaves > forest->most_gathered && levels < MOST_ALIGNED; leaves /= 8)
        levels++;
    return levels;
}

/* Returns the leaf of this rank that has a given global number. */
static const p8est_quadrant_t *find_leaf(p8est_t *p8est, int64_t global, p4est_topidx_t *tree)
{
    const int64_t local = global - p8est->global_first_quadrant[p8est->mpirank];
    for (p4est_topidx_t t = p8est->first_local_tree;; t++) {
        p8est_tree_t *of = p8est_tree_array_index(p8est->trees, t);
        if (local >= of->quadrants_offset + (int64_t)of->quadrants.elem_count) continue;
        *tree = t;
        return p8est_quadrant_array_index(&of->quadrants, (size_t)(local - of->quadrants_offset));
    }
}

/* Returns how many of this rank's leaves precede the quadrant and its descendants. */
static int64_t count_before(p8est_t *p8est, p4est_topidx_t tree, const p8est_quadrant_t *ancestor)
{
    if (!p8est->local_num_quadrants || tree < p8est->first_local_tree) return 0;
    if (tree > p8est->last_local_tree) return p8est->local_num_quadrants;
    p8est_tree_t *of = p8est_tree_array_index(p8est->trees, tree);
    size_t low = 0, high = of->quadrants.elem_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (p8est_quadrant_compare(p8est_quadrant_array_index(&of->quadrants, middle), ancestor) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return of->quadrants_offset + (int64_t)low;
}

/* Finds the ancestors for the cuts among this rank's leaves, and sets those of other cuts to zero, so that sums over the ranks give all. */
static void find_ancestors(p8est_t *p8est, int levels, const cuts *c)
{
    const int64_t first = p8est->global_first_quadrant[p8est->mpirank], end = first + p8est->local_num_quadrants;
    for (int i = 0; i < c->count; i++) {
        int64_t *a = c->ancestor + 5 * i;
        for (int k = 0; k < 5; k++) a[k] = 0;
        if (c->position[i] < first || c->position[i] >= end) continue;
        p4est_topidx_t tree;
        p8est_quadrant_t up = *find_leaf(p8est, c->position[i], &tree);
        for (int k = 0; k < levels && up.level > 0; k++) p8est_quadrant_parent(&up, &up);
        a[0] = tree;
        a[1] = up.x;
        a[2] = up.y;
        a[3] = up.z;
        a[4] = up.level;
    }
}

/* Moves each cut down to the beginning of its ancestor once.  Returns whether a cut has moved. */
static int move_cuts(p8est_t *p8est, int levels, const cuts *c)
{
    int moved = 0;
    find_ancestors(p8est, levels, c);
    MPI_Allreduce(MPI_IN_PLACE, c->ancestor, 5 * c->count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < c->count; i++) {
        const int64_t *a = c->ancestor + 5 * i;
        p8est_quadrant_t up = {.x = (p4est_qcoord_t)a[1], .y = (p4est_qcoord_t)a[2], .z = (p4est_qcoord_t)a[3], .level = (int8_t)a[4]};
        c->before[i] = count_before(p8est, (p4est_topidx_t)a[0], &up);
    }
    MPI_Allreduce(MPI_IN_PLACE, c->before, c->count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < c->count; i++) {
        if (c->position[i] == p8est->global_num_quadrants || c->position[i] == c->before[i]) continue;
        c->position[i] = c->before[i];
        moved = 1;
    }
    return moved;
}

static void place_cuts(const fem_forest *forest, const double *share, const cuts *c)
{
    const double leaves = (double)forest->p8est->global_num_quadrants;
    double all = 0, before = 0;
    for (int r = 0; r <= c->count && share; r++) all += share[r];
    if (!(all > 0)) share = NULL; /* all shares are zero: use equal parts */
    if (!share) all = c->count + 1;
    for (int r = 0; r < c->count; r++) {
        before += share ? share[r] : 1;
        int64_t position = (int64_t)(leaves * (before / all) + 0.5);
        if (position > forest->p8est->global_num_quadrants) position = forest->p8est->global_num_quadrants;
        if (r && position < c->position[r - 1]) position = c->position[r - 1];
        c->position[r] = position;
    }
}

yoke_status fem_forest_partition(fem_forest *forest, const double *share)
{
    if (!forest->ranks) return YOKE_OK;
    yoke_context *context = forest->context;
    p8est_t *p8est = forest->p8est;
    const int ranks = app_ranks_count(forest->ranks), levels = levels_to_align(forest);
    cuts c = {.count = ranks - 1};
    p4est_locidx_t *leaves = NULL;
    yoke_status status = yoke_allocate(context, c.count, sizeof(int64_t), &c.position);
    if (!status) status = yoke_allocate(context, 5 * (int64_t)c.count, sizeof(int64_t), &c.ancestor);
    if (!status) status = yoke_allocate(context, c.count, sizeof(int64_t), &c.before);
    if (!status) status = yoke_allocate(context, ranks, sizeof *leaves, &leaves);
    status = app_ranks_agree(forest->ranks, status);
    if (!status) {
        place_cuts(forest, share, &c);
        while (levels && move_cuts(p8est, levels, &c)) {
        }
        for (int r = 0; r < ranks; r++)
            leaves[r] = (p4est_locidx_t)((r < c.count ? c.position[r] : p8est->global_num_quadrants) - (r ? c.position[r - 1] : 0));
        p8est_partition_given(p8est, leaves);
        forest->aligned = levels;
    }
    yoke_release(context, c.position);
    yoke_release(context, c.ancestor);
    yoke_release(context, c.before);
    yoke_release(context, leaves);
    return status;
}

int fem_forest_rank_at(const fem_forest *forest, uint32_t entity, uint64_t place)
{
    const p4est_qcoord_t last = P8EST_ROOT_LEN - P8EST_QUADRANT_LEN(P8EST_QMAXLEVEL);
    int32_t at[3];
    const int32_t tree = fem_skeleton_point(forest->skeleton, entity, place, at);
    for (int a = 0; a < 3; a++) at[a] = at[a] < FEM_PLACE_LENGTH ? at[a] * FEM_PLACE_UNIT : last;
    const p8est_quadrant_t smallest = {.x = at[0], .y = at[1], .z = at[2], .level = P8EST_QMAXLEVEL};
    return p8est_comm_find_owner(forest->p8est, tree, &smallest, forest->p8est->mpirank);
}

/* ---------------------------------------------------------------------------------------------- gathering on one rank */

/* Data from which rank 0 creates the forest. */
typedef struct collection {
    int *count, *first; /* [ranks] numbers and positions of the coordinates of each rank's leaves */
    p4est_gloidx_t *pertree;
    sc_array_t *all, *own;
} collection;

static yoke_status collect(const fem_forest *forest, collection *c)
{
    p8est_t *p8est = forest->p8est;
    const int ranks = p8est->mpisize, here = p8est->mpirank == 0;
    yoke_status status = yoke_allocate(forest->context, ranks, sizeof(int), &c->count);
    if (!status) status = yoke_allocate(forest->context, ranks, sizeof(int), &c->first);
    if (!status) status = yoke_allocate(forest->context, (int64_t)p8est->connectivity->num_trees + 1, sizeof *c->pertree, &c->pertree);
    if (!status && p8est->global_num_quadrants > INT32_MAX / 4)
        status = yoke_fail(forest->context, YOKE_ERROR_MEMORY, "%lld elements are more than one rank can take from the others",
                           (long long)p8est->global_num_quadrants);
    status = app_ranks_agree(forest->ranks, status);
    if (status) return status;
    for (int r = 0; r < ranks; r++) {
        c->first[r] = 4 * (int)p8est->global_first_quadrant[r];
        c->count[r] = 4 * (int)(p8est->global_first_quadrant[r + 1] - p8est->global_first_quadrant[r]);
    }
    p8est_comm_count_pertree(p8est, c->pertree);
    c->own = p8est_deflate_quadrants(p8est, NULL);
    c->all = sc_array_new_count(sizeof(p4est_qcoord_t), here ? 4 * (size_t)p8est->global_num_quadrants : 0);
    MPI_Gatherv(c->own->array, c->count[p8est->mpirank], P4EST_MPI_QCOORD, c->all->array, c->count, c->first, P4EST_MPI_QCOORD, 0,
                MPI_COMM_WORLD);
    return YOKE_OK;
}

yoke_status fem_forest_gather(const fem_forest *forest, fem_forest **out)
{
    p8est_t *p8est = forest->p8est;
    const int here = p8est->mpirank == 0;
    collection c = {.count = NULL};
    fem_forest *whole = NULL;
    yoke_status status = collect(forest, &c);
    if (!status && here) {
        p4est_gloidx_t first[2] = {0, p8est->global_num_quadrants};
        status = yoke_allocate(forest->context, 1, sizeof *whole, &whole);
        if (!status) {
            *whole = (fem_forest){.context = forest->context, .skeleton = forest->skeleton, .most_gathered = forest->most_gathered};
            whole->p8est = p8est_inflate(sc_MPI_COMM_SELF, p8est->connectivity, first, c.pertree, c.all, NULL, NULL);
        }
    }
    if (c.own) sc_array_destroy(c.own);
    if (c.all) sc_array_destroy(c.all);
    yoke_release(forest->context, c.count);
    yoke_release(forest->context, c.first);
    yoke_release(forest->context, c.pertree);
    status = app_ranks_agree(forest->ranks, status);
    if (status)
        fem_forest_destroy(whole);
    else
        *out = whole;
    return status;
}
