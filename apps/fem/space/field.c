#include "space/field.h"

#include <math.h>
#include <p8est_bits.h>
#include <string.h>

#include "mesh/shape.h"

/* The leaf of a tree that has the point inside: the last one that does not follow the point's smallest descendant in Morton order. */
static int32_t find_leaf(const fem_forest *forest, int32_t tree, const double r[3])
{
    p8est_tree_t *leaves = p8est_tree_array_index(forest->p8est->trees, tree);
    const int32_t smallest = P8EST_QUADRANT_LEN(P8EST_QMAXLEVEL);
    int32_t at[3];
    for (int a = 0; a < 3; a++) {
        double place = floor(fmin(fmax(r[a], 0), 1) * (P8EST_ROOT_LEN / smallest)) * smallest;
        at[a] = place > P8EST_ROOT_LEN - smallest ? P8EST_ROOT_LEN - smallest : (int32_t)place;
    }
    const p8est_quadrant_t point = {.x = at[0], .y = at[1], .z = at[2], .level = P8EST_QMAXLEVEL};
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

double fem_field_at(const fem_field *field, int32_t tree, const double r[3])
{
    const fem_space *space = field->space;
    int32_t e = find_leaf(field->forest, tree, r);
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

void fem_field_clear(fem_field *field)
{
    if (field->space) yoke_release(field->space->context, field->value);
    fem_space_destroy(field->space);
    fem_forest_destroy(field->forest);
    memset(field, 0, sizeof *field);
}
