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

/* Adds the field, evaluated at the nodes' positions in the coarse elements that contain them. */
static yoke_status add_field(const fem_space *space, double *temperature)
{
    fem_field_point *points = NULL;
    double *value = NULL;
    int64_t count = 0;
    yoke_status status = yoke_allocate_untouched(space->context, space->num_nodes, sizeof *points, &points);
    if (!status) status = yoke_allocate_untouched(space->context, space->num_nodes, sizeof *value, &value);
    for (int32_t i = 0; i < space->num_nodes && !status; i++) {
        const int32_t e = space->home_element[i];
        double r[3];
        if (e < 0) continue;
        fem_slot_point(space->slots_1d, space->home_slot[i], r);
        fem_space_tree_point(space, e, r, points[count].r);
        points[count++].tree = space->tree[e];
    }
    status = app_ranks_agree(space->ranks, status);
    if (!status) status = fem_field_evaluate(space->problem->temperature.field, count, points, value);
    count = 0;
    for (int32_t i = 0; i < space->num_nodes && !status; i++)
        if (space->home_element[i] >= 0) temperature[i] += value[count++];
    yoke_release(space->context, points);
    yoke_release(space->context, value);
    return status;
}

yoke_status fem_temperature_nodal(const fem_space *space, double **temperature)
{
    *temperature = NULL;
    if (!space->problem->temperature.given) return YOKE_OK;
    double *nodal = NULL;
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate_untouched(space->context, space->num_nodes, sizeof *nodal, &nodal));
    if (status) {
        yoke_release(space->context, nodal);
        return status;
    }
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < space->num_nodes; i++) nodal[i] = temperature_at(space->problem, space->x + 3 * (int64_t)i);
    if (space->problem->temperature.field) status = add_field(space, nodal);
    if (!status) status = fem_halo_agree(space->halo, 1, nodal);
    if (status)
        yoke_release(space->context, nodal);
    else
        *temperature = nodal;
    return status;
}
