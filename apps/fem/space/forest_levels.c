#include "space/forest_levels.h"

#include <p8est_extended.h>
#include <p8est_io.h>

/* Places along the curve through a tree: those of the leaves that it would have at the deepest level. */
static const uint64_t places = UINT64_C(1) << 3 * FEM_MAX_LEVEL;

static uint64_t places_of(int level) { return places >> 3 * level; }

/* Every third bit of a place, from bit `axis` on: a coordinate. */
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

/* quadrants [num_leaves][4]: x, y, z, level; before [num_elements + 1]: how many leaves are in the trees before each. */
static yoke_status place_leaves(const fem_mesh *mesh, int64_t num_leaves, const int8_t *level, p4est_qcoord_t *quadrants,
                                p4est_gloidx_t *before)
{
    int64_t tree = 0;
    uint64_t place = 0;
    before[0] = 0;
    for (int64_t i = 0; i < num_leaves; i++) {
        if (tree == mesh->num_elements || level[i] < 0 || level[i] > FEM_MAX_LEVEL || place % places_of(level[i])) return fail(mesh, i);
        for (int axis = 0; axis < 3; axis++) quadrants[4 * i + axis] = coordinate(place, axis);
        quadrants[4 * i + 3] = level[i];
        place += places_of(level[i]);
        if (place < places) continue;
        place = 0;
        before[++tree] = i + 1;
    }
    return tree == mesh->num_elements && place == 0 ? YOKE_OK : fail(mesh, num_leaves - 1);
}

yoke_status fem_forest_create_from_levels(const fem_mesh *mesh, int64_t num_leaves, const int8_t *level, fem_forest **out)
{
    fem_forest *forest = NULL;
    p4est_gloidx_t *before = NULL;
    yoke_status status = fem_forest_create(mesh, 0, &forest);
    if (status) return status;
    status = yoke_allocate(mesh->context, mesh->num_elements + 1, sizeof *before, &before);
    sc_array_t *quadrants = sc_array_new_size(sizeof(p4est_qcoord_t), 4 * (size_t)num_leaves);
    if (!status) status = place_leaves(mesh, num_leaves, level, (p4est_qcoord_t *)(void *)quadrants->array, before);
    if (!status) {
        const p4est_gloidx_t first[2] = {0, num_leaves};
        p8est_destroy(forest->p8est);
        forest->p8est = p8est_inflate(sc_MPI_COMM_WORLD, forest->connectivity, first, before, quadrants, NULL, NULL);
        p8est_balance(forest->p8est, P8EST_CONNECT_FULL, NULL); /* changes nothing but what no run has written */
        if (fem_forest_leaves(forest) != num_leaves)
            status =
                yoke_fail(mesh->context, YOKE_ERROR_INPUT, "the levels of neighbouring elements of %s differ by more than one", mesh->path);
    }
    sc_array_destroy(quadrants);
    yoke_release(mesh->context, before);
    if (status)
        fem_forest_destroy(forest);
    else
        *out = forest;
    return status;
}
