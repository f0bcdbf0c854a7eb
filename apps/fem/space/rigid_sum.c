#include "space/rigid_sum.h"

#include "space/problem/rigid_part.h"

yoke_status fem_rigid_add(const fem_space *space, const double *u, double **total)
{
    const fem_problem *problem = space->problem;
    int n = space->components;
    *total = NULL;
    if (!problem->rigid || problem->fields.dirichlet) return YOKE_OK;
    yoke_status status = yoke_allocate_untouched(space->context, (int64_t)space->num_nodes * n, sizeof **total, total);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < space->num_nodes; i++) {
        double rigid[3];
        fem_rigid_value(problem, space->tree[space->home_element[i]], space->x + 3 * i, rigid);
        for (int c = 0; c < n; c++) (*total)[i * n + c] = u[i * n + c] + rigid[c];
    }
    return YOKE_OK;
}
