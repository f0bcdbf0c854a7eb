#include "output/quantities/reaction.h"

/* Adds component c of the force at a node to a resultant. */
static void add_force(const fem_space *space, int32_t node, int c, double value, double force_n[3], double moment_nm[3])
{
    force_n[c] += value;
    if (space->components == 1) return;
    /* x cross f, where f has only component c. */
    const double *x = space->x + 3 * (int64_t)node;
    moment_nm[(c + 1) % 3] += x[(c + 2) % 3] * value;
    moment_nm[(c + 2) % 3] -= x[(c + 1) % 3] * value;
}

void fem_resultant(const fem_space *space, const double *nodal, double force_n[3], double moment_nm[3])
{
    for (int a = 0; a < 3; a++) force_n[a] = moment_nm[a] = 0;
    for (int32_t i = 0; i < space->num_nodes; i++)
        for (int c = 0; c < space->components && fem_space_counts(space, i); c++)
            add_force(space, i, c, nodal[(int64_t)space->components * i + c], force_n, moment_nm);
    app_ranks_sum(space->ranks, force_n, 3);
    app_ranks_sum(space->ranks, moment_nm, 3);
}

/* Sets index [num_conditions] to the reaction of each condition, -1 for loads.  Returns the number of reactions. */
static int number_reactions(const fem_problem *problem, int *index, fem_reaction *reactions)
{
    int count = 0;
    for (int i = 0; i < problem->num_conditions; i++) {
        index[i] = -1;
        if (problem->conditions[i].kind != FEM_DIRICHLET) continue;
        int found = 0;
        while (found < count && reactions[found].group != problem->conditions[i].group) found++;
        if (found == count) reactions[count++].group = problem->conditions[i].group;
        index[i] = found;
    }
    return count;
}

yoke_status fem_reactions_create(const fem_space *space, const fem_constraints *constraints, const double *residual, int *count,
                                 fem_reaction **result)
{
    const fem_problem *problem = space->problem;
    fem_reaction *reactions = NULL;
    int *index = NULL;
    yoke_status status = yoke_allocate(space->context, problem->num_conditions, sizeof *reactions, &reactions);
    if (status == YOKE_OK) status = yoke_allocate(space->context, problem->num_conditions, sizeof *index, &index);
    status = app_ranks_agree(space->ranks, status);
    if (status != YOKE_OK) {
        yoke_release(space->context, reactions);
        yoke_release(space->context, index);
        return status;
    }
    *count = number_reactions(problem, index, reactions);
    for (int32_t i = 0; i < space->num_nodes; i++) {
        for (int c = 0; c < space->components && fem_space_counts(space, i); c++) {
            int64_t dof = (int64_t)space->components * i + c;
            if (constraints->owner[dof] < 0) continue;
            fem_reaction *reaction = &reactions[index[constraints->owner[dof]]];
            add_force(space, i, c, residual[dof], reaction->force_n, reaction->moment_nm);
        }
    }
    for (int i = 0; i < *count; i++) {
        app_ranks_sum(space->ranks, reactions[i].force_n, 3);
        app_ranks_sum(space->ranks, reactions[i].moment_nm, 3);
    }
    yoke_release(space->context, index);
    *result = reactions;
    return YOKE_OK;
}
