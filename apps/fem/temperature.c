#include "temperature.h"

#include <math.h>

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

yoke_status fem_temperature_nodal(const fem_space *space, double **temperature)
{
    *temperature = NULL;
    if (!space->problem->temperature.given) return YOKE_OK;
    yoke_status status = yoke_allocate_untouched(space->context, space->num_nodes, sizeof(double), (void **)temperature);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < space->num_nodes; i++) (*temperature)[i] = temperature_at(space->problem, space->x + 3 * (int64_t)i);
    return YOKE_OK;
}
