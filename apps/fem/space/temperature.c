#include "space/temperature.h"

#include <math.h>

#include "space/field.h"

static double temperature_at(const fem_problem *problem, const double x[3])
{
    const fem_temperature *t = &problem->temperature;
    if (problem->fields.temperature) return problem->fields.temperature(x, problem->fields.user);
    double sum = t->value;
    for (int a = 0; a < 3; a++) sum += t->gradient[a] * x[a];
    if (t->radial == 0) return sum;
    double square = 0;
    for (int a = 0; a < 3; a++) { /* |axis x (x - through)| */
        int b = (a + 1) % 3, c = (a + 2) % 3;
        double across = t->axis[b] * (x[c] - t->through[c]) - t->axis[c] * (x[b] - t->through[b]);
        square += across * across;
    }
    return sum + t->radial * sqrt(square);
}

/* The field at a node, by the coarse element that the node lies in. */
static double field_at_node(const fem_space *space, int32_t node)
{
    int32_t e = space->home_element[node];
    double r[3], tree_point[3];
    fem_slot_point(space->slots_1d, space->home_slot[node], r);
    fem_space_tree_point(space, e, r, tree_point);
    return fem_field_at(space->problem->temperature.field, space->tree[e], tree_point);
}

yoke_status fem_temperature_nodal(const fem_space *space, double **temperature)
{
    *temperature = NULL;
    if (!space->problem->temperature.given) return YOKE_OK;
    yoke_status status =
        app_ranks_agree(space->ranks, yoke_allocate_untouched(space->context, space->num_nodes, sizeof(double), temperature));
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < space->num_nodes; i++) {
        (*temperature)[i] = temperature_at(space->problem, space->x + 3 * (int64_t)i);
        if (space->problem->temperature.field && space->home_element[i] >= 0) (*temperature)[i] += field_at_node(space, i);
    }
    return fem_halo_agree(space->halo, 1, *temperature);
}
