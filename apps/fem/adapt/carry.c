#include "adapt/carry.h"

#include <string.h>

#include "mesh/shape.h"
#include "space/exchange/runs.h"

enum { MOST_LOCAL = 27 * 3 };

/* ------------------------------------------------------------------------------------------------ the field on leaves */

static int contains(const fem_space *space, int32_t e, p4est_topidx_t tree, const p8est_quadrant_t *leaf)
{
    const int32_t *corner = space->corner + 3 * (int64_t)e, at[3] = {leaf->x, leaf->y, leaf->z};
    if (space->tree[e] != tree || space->level[e] > leaf->level) return 0;
    for (int a = 0; a < 3; a++)
        if (at[a] < corner[a] || at[a] - corner[a] >= P8EST_QUADRANT_LEN(space->level[e])) return 0;
    return 1;
}

/* Computes the values of the element's n shape functions along each axis at the n points of the leaf: weight [axis][point][n]. */
static void fill_weights(const fem_space *space, int32_t e, const p8est_quadrant_t *leaf, double weight[3][3][3])
{
    const int n = space->slots_1d;
    const int32_t at[3] = {leaf->x, leaf->y, leaf->z};
    const double size = P8EST_QUADRANT_LEN(space->level[e]), ratio = P8EST_QUADRANT_LEN(leaf->level) / size;
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < n; i++) {
            const double begin = (at[a] - space->corner[3 * (int64_t)e + a]) / size;
            fem_shape_1d(n, begin + ratio * i / (n - 1), weight[a][i], NULL, NULL);
        }
}

/* Interpolates along an axis whose slots are `stride` values apart, from the element's slots to the leaf's. */
static void interpolate_axis(int n, int stride, int values, double weight[3][3], const double *from, double *to)
{
    for (int k = 0; k < values; k++) {
        const int point = k / stride % n;
        const double *line = from + k - point * stride;
        double sum = 0;
        for (int i = 0; i < n; i++) sum += weight[point][i] * line[i * stride];
        to[k] = sum;
    }
}

/*
 * to [slots][components]: values at the leaf's slots, interpolated from local [slots][components] at those of the element that contains it.
 */
static void interpolate(const fem_space *space, int32_t e, const p8est_quadrant_t *leaf, const double *local, double *to)
{
    const int n = space->slots_1d, m = space->components, values = space->slots * m;
    double weight[3][3][3], along_x[MOST_LOCAL], along_xy[MOST_LOCAL];
    if (leaf->level == space->level[e]) {
        memcpy(to, local, sizeof *to * (size_t)values);
        return;
    }
    fill_weights(space, e, leaf, weight);
    interpolate_axis(n, m, values, weight[0], local, along_x);
    interpolate_axis(n, n * m, values, weight[1], along_x, along_xy);
    interpolate_axis(n, n * n * m, values, weight[2], along_xy, to);
}

/* Leaves and elements are in Morton order, so one pass finds the element that contains each leaf. */
static yoke_status fill(const fem_space *before, const double *u, p8est_t *p8est, double *value)
{
    const int64_t values = (int64_t)before->slots * before->components;
    double local[MOST_LOCAL];
    int32_t e = -1;
    for (p4est_topidx_t t = p8est->first_local_tree; t <= p8est->last_local_tree; t++) {
        p8est_tree_t *tree = p8est_tree_array_index(p8est->trees, t);
        for (size_t i = 0; i < tree->quadrants.elem_count; i++, value += values) {
            const p8est_quadrant_t *leaf = p8est_quadrant_array_index(&tree->quadrants, i);
            if (e < 0 || !contains(before, e, t, leaf)) {
                for (e++; e < before->num_elements && !contains(before, e, t, leaf);) e++;
                if (e == before->num_elements)
                    return yoke_fail(before->context, YOKE_ERROR_ARGUMENT,
                                     "leaf %lld of tree %lld lies in no element of the mesh that was refined", (long long)i, (long long)t);
                fem_space_expand(before, e, before->components, u, local);
            }
            interpolate(before, e, leaf, local, value);
        }
    }
    return YOKE_OK;
}

yoke_status fem_carry_take(const fem_space *before, const double *u, const fem_forest *forest, fem_carry *carry)
{
    yoke_context *c = before->context;
    const int64_t ranks = app_ranks_count(before->ranks);
    *carry = (fem_carry){.context = c};
    yoke_status status = yoke_allocate(c, ranks + 1, sizeof *carry->first, &carry->first);
    if (!status)
        status = yoke_allocate_untouched(c, fem_forest_leaves(forest) * before->slots * before->components, sizeof(double), &carry->value);
    if (!status) {
        memcpy(carry->first, forest->p8est->global_first_quadrant, sizeof *carry->first * (size_t)(ranks + 1));
        status = fill(before, u, forest->p8est, carry->value);
    }
    return app_ranks_agree(before->ranks, status);
}

/* ------------------------------------------------------------------------------------------ leaves that change ranks */

/* Gives each node its values in its home element, in which it does not hang. */
static void take_from_homes(const fem_space *space, const double *value, double *nodal)
{
    const int n = space->components;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < space->num_nodes; i++) {
        if (space->home_element[i] < 0) continue;
        const int64_t slot = (int64_t)space->home_element[i] * space->slots + space->home_slot[i];
        memcpy(nodal + (int64_t)i * n, value + slot * n, sizeof *nodal * (size_t)n);
    }
}

yoke_status fem_carry_give(const fem_carry *carry, const fem_space *space, double *nodal)
{
    const int values = space->slots * space->components;
    double *received = NULL;
    fem_runs *runs = NULL;
    yoke_status status = yoke_allocate_untouched(space->context, (int64_t)space->num_elements * values, sizeof *received, &received);
    if (!status) status = fem_runs_create(space->context, space->ranks, carry->first, space->forest->p8est->global_first_quadrant, &runs);
    status = app_ranks_agree(space->ranks, status);
    if (!status) {
        fem_runs_move(runs, 0, values * (int)sizeof *received, carry->value, received);
        take_from_homes(space, received, nodal);
        /* nodes that hang in all elements of this rank get their values from other ranks */
        status = fem_halo_agree(space->halo, space->components, nodal);
    }
    fem_runs_destroy(runs);
    yoke_release(space->context, received);
    return status;
}

void fem_carry_release(fem_carry *carry)
{
    if (!carry->context) return;
    yoke_release(carry->context, carry->first);
    yoke_release(carry->context, carry->value);
    memset(carry, 0, sizeof *carry);
}
