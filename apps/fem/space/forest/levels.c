#include "space/forest/levels.h"

#include <p8est_extended.h>
#include <p8est_io.h>

/* Number of places along the curve through a tree: that of its leaves at the deepest level. */
static const uint64_t places = UINT64_C(1) << 3 * FEM_MAX_LEVEL;

static uint64_t places_of(int level) { return places >> 3 * level; }

/* Extracts a coordinate: every third bit of a place, from bit `axis` on. */
static p4est_qcoord_t coordinate(uint64_t place, int axis)
{
    p4est_qcoord_t x = 0;
    for (int bit = 0; bit < FEM_MAX_LEVEL; bit++) x |= (p4est_qcoord_t)(place >> (3 * bit + axis) & 1) << bit;
    return x * P8EST_QUADRANT_LEN(FEM_MAX_LEVEL);
}

static yoke_status fail(const fem_mesh *mesh, int64_t leaf)
{
    return yoke_fail(mesh->context, YOKE_ERROR_INPUT, "the levels of the elements, from element %lld on, are of no refinement of %s",
                     (long long)leaf + 1, mesh->path);
}

/* Fills quadrants [end - begin][4] (x, y, z, level of these leaves) and before [num_elements + 1] (number of leaves before each tree). */
static yoke_status place_leaves(const fem_mesh *mesh, int64_t num_leaves, const int8_t *level, int64_t begin, int64_t end,
                                p4est_qcoord_t *quadrants, p4est_gloidx_t *before)
{
    int64_t tree = 0;
    uint64_t place = 0;
    before[0] = 0;
    for (int64_t i = 0; i < num_leaves; i++) {
        if (tree == mesh->num_elements || level[i] < 0 || level[i] > FEM_MAX_LEVEL || place % places_of(level[i])) return fail(mesh, i);
        if (i >= begin && i < end) {
            p4est_qcoord_t *quadrant = quadrants + 4 * (i - begin);
            for (int axis = 0; axis < 3; axis++) quadrant[axis] = coordinate(place, axis);
            quadrant[3] = level[i];
        }
        place += places_of(level[i]);
        if (place < places) continue;
        place = 0;
        before[++tree] = i + 1;
    }
    return tree == mesh->num_elements && place == 0 ? YOKE_OK : fail(mesh, num_leaves - 1);
}

/* Creates the leaves, in equal shares for the ranks.  `level` holds the levels of all leaves on each rank. */
static yoke_status inflate(const fem_mesh *mesh, int64_t num_leaves, const int8_t *level, fem_forest *forest)
{
    const int ranks = app_ranks_count(forest->ranks), rank = app_ranks_number(forest->ranks);
    p4est_gloidx_t *before = NULL, *first = NULL;
    sc_array_t *quadrants = NULL;
    yoke_status status = yoke_allocate(mesh->context, mesh->num_elements + 1, sizeof *before, &before);
    if (!status) status = yoke_allocate(mesh->context, ranks + 1, sizeof *first, &first);
    if (!status) {
        for (int r = 0; r <= ranks; r++) first[r] = num_leaves / ranks * r + num_leaves % ranks * r / ranks;
        quadrants = sc_array_new_size(sizeof(p4est_qcoord_t), 4 * (size_t)(first[rank + 1] - first[rank]));
        status = place_leaves(mesh, num_leaves, level, first[rank], first[rank + 1], (p4est_qcoord_t *)(void *)quadrants->array, before);
    }
    status = app_ranks_agree(forest->ranks, status);
    if (!status) {
        p8est_destroy(forest->p8est);
        forest->p8est =
            p8est_inflate(forest->ranks ? sc_MPI_COMM_WORLD : sc_MPI_COMM_SELF, forest->connectivity, first, before, quadrants, NULL, NULL);
        /* Changes nothing if the levels were written by a run; otherwise see below. */
        p8est_balance(forest->p8est, P8EST_CONNECT_FULL, NULL);
        if (fem_forest_all_leaves(forest) != num_leaves)
            status =
                yoke_fail(mesh->context, YOKE_ERROR_INPUT, "the levels of neighbouring elements of %s differ by more than one", mesh->path);
    }
    if (quadrants) sc_array_destroy(quadrants);
    yoke_release(mesh->context, before);
    yoke_release(mesh->context, first);
    return app_ranks_agree(forest->ranks, status);
}

yoke_status fem_forest_create_from_levels(const fem_mesh *mesh, int64_t num_leaves, const int8_t *level, fem_forest **out)
{
    fem_forest *forest = NULL;
    yoke_status status = app_ranks_agree(mesh->ranks, fem_forest_create(mesh, 0, &forest));
    if (status) return status;
    status = inflate(mesh, num_leaves, level, forest);
    if (!status) status = fem_forest_partition(forest, NULL);
    if (status)
        fem_forest_destroy(forest);
    else
        *out = forest;
    return status;
}
