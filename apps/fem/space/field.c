#include "space/field.h"

#include <math.h>
#include <p8est_bits.h>
#include <p8est_communication.h>
#include <string.h>

#include "mesh/shape.h"
#include "space/exchange/lists.h"

/* Returns the smallest possible descendant of a tree that contains the point. */
static p8est_quadrant_t find_smallest(const double r[3])
{
    const int32_t smallest = P8EST_QUADRANT_LEN(P8EST_QMAXLEVEL);
    int32_t at[3];
    for (int a = 0; a < 3; a++) {
        double place = floor(fmin(fmax(r[a], 0), 1) * (P8EST_ROOT_LEN / smallest)) * smallest;
        at[a] = place > P8EST_ROOT_LEN - smallest ? P8EST_ROOT_LEN - smallest : (int32_t)place;
    }
    return (p8est_quadrant_t){.x = at[0], .y = at[1], .z = at[2], .level = P8EST_QMAXLEVEL};
}

/*
 * Returns the leaf of a tree that contains the point, on the rank that has this leaf: the last leaf that does not follow the point's
 * smallest descendant in Morton order.
 */
static int32_t find_leaf(const fem_forest *forest, int32_t tree, const double r[3])
{
    p8est_tree_t *leaves = p8est_tree_array_index(forest->p8est->trees, tree);
    const p8est_quadrant_t point = find_smallest(r);
    size_t low = 0, high = leaves->quadrants.elem_count; /* low does not follow the point, high does */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p8est_quadrant_compare(p8est_quadrant_array_index(&leaves->quadrants, middle), &point) <= 0)
            low = middle;
        else
            high = middle;
    }
    return (int32_t)(leaves->quadrants_offset + (p4est_locidx_t)low);
}

static double value_at(const fem_field *field, const fem_field_point *point)
{
    const fem_space *space = field->space;
    const double *r = point->r;
    int32_t e = find_leaf(field->forest, point->tree, r);
    double own[3], local[27], value[27], sum = 0;
    for (int a = 0; a < 3; a++) {
        double place = (r[a] - space->corner[3 * (int64_t)e + a] / (double)P8EST_ROOT_LEN) * (1 << space->level[e]);
        own[a] = fmin(fmax(place, 0), 1);
    }
    fem_space_expand(space, e, 1, field->value, local);
    fem_shape(space->slots_1d, own, value, NULL, NULL);
    for (int s = 0; s < space->slots; s++) sum += value[s] * local[s];
    return sum;
}

static void evaluate_own(const fem_field *field, int64_t count, const fem_field_point *points, double *value)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) value[i] = value_at(field, &points[i]);
}

static int find_rank(const fem_field *field, const fem_field_point *point)
{
    const p8est_quadrant_t smallest = find_smallest(point->r);
    return p8est_comm_find_owner(field->forest->p8est, point->tree, &smallest, app_ranks_number(field->space->ranks));
}

/* Sorts points by the ranks that have them.  rank [count]: the rank of each point. */
static yoke_status address_points(const fem_field *field, int64_t count, const fem_field_point *points, int *rank, fem_lists *sent)
{
    for (int64_t i = 0; i < count; i++) sent->count[rank[i] = find_rank(field, &points[i])]++;
    yoke_status status = fem_lists_place(sent);
    for (int64_t i = 0; i < count && !status; i++) *(fem_field_point *)fem_lists_next(sent, rank[i]) = points[i];
    fem_lists_rewind(sent);
    return status;
}

yoke_status fem_field_evaluate(const fem_field *field, int64_t count, const fem_field_point *points, double *value)
{
    yoke_context *context = field->space->context;
    app_ranks *ranks = field->space->ranks;
    fem_lists mine = {.all = 0}, theirs = {.all = 0};
    double *answers = NULL, *told = NULL;
    int *rank = NULL;
    if (!ranks) {
        evaluate_own(field, count, points, value);
        return YOKE_OK;
    }
    yoke_status status = fem_lists_start(context, ranks, sizeof *points, &mine);
    if (!status) status = yoke_allocate(context, count, sizeof *rank, &rank);
    if (!status) status = yoke_allocate(context, count, sizeof *told, &told);
    if (!status) status = address_points(field, count, points, rank, &mine);
    status = fem_lists_swap(context, ranks, status, &mine, &theirs);
    if (!status) status = app_ranks_agree(ranks, yoke_allocate(context, theirs.all, sizeof *answers, &answers));
    if (!status) {
        evaluate_own(field, theirs.all, theirs.items, answers);
        fem_lists_answer(&mine, &theirs, sizeof *answers, answers, told);
        for (int64_t i = 0; i < count; i++) value[i] = told[mine.first[rank[i]]++];
    }
    fem_lists_release(&mine);
    fem_lists_release(&theirs);
    yoke_release(context, answers);
    yoke_release(context, told);
    yoke_release(context, rank);
    return status;
}

void fem_field_clear(fem_field *field)
{
    if (field->space) yoke_release(field->space->context, field->value);
    fem_space_destroy(field->space);
    fem_forest_destroy(field->forest);
    memset(field, 0, sizeof *field);
}
