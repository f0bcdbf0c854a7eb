#include "adapt/carry.h"

#include <string.h>

#include "space/interpolation.h"

yoke_status fem_carry_take(const fem_space *before, const double *u, const fem_forest *forest, fem_carry *carry)
{
    yoke_context *context = before->context;
    app_ranks *ranks = before->ranks;
    const int n = before->components;
    fem_interpolation *interpolation = NULL;
    *carry = (fem_carry){NULL, NULL, NULL};
    yoke_status status = app_ranks_agree(ranks, fem_forest_copy(forest, &carry->forest));
    if (!status) status = fem_space_create(before->problem, carry->forest, before->element, &carry->space);
    if (!status) status = app_ranks_agree(ranks, fem_interpolation_create(before, carry->space, 0, &interpolation));
    if (!status)
        status = app_ranks_agree(ranks, yoke_allocate(context, (int64_t)carry->space->num_nodes * n, sizeof(double), &carry->value));
    if (!status) {
        fem_interpolation_apply(interpolation, n, u, carry->value);
        status = fem_halo_agree(carry->space->halo, n, carry->value); /* nodes that only hang here are known elsewhere */
    }
    fem_interpolation_destroy(interpolation);
    return status;
}

yoke_status fem_carry_give(const fem_carry *carry, const fem_space *space, double *nodal)
{
    return fem_space_move(carry->space, space, space->components, carry->value, nodal);
}

void fem_carry_release(fem_carry *carry)
{
    if (carry->space) yoke_release(carry->space->context, carry->value);
    fem_space_destroy(carry->space);
    fem_forest_destroy(carry->forest);
    memset(carry, 0, sizeof *carry);
}
