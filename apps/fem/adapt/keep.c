#include "adapt/keep.h"

#include <stdio.h>
#include <string.h>

#include "space/forest/levels.h"

static int64_t numbers_of(const fem_space *space)
{
    return (space->ranks ? space->num_global_nodes : space->num_nodes) * (int64_t)space->components;
}

/* ------------------------------------------------------------------------------------------------- writing */

/*
 * Returns the values of the nodes that this rank owns, in the order of their numbers: on one rank `nodal` itself, otherwise *own, which the
 * caller releases.
 */
static yoke_status owned_values(const fem_space *space, const double *nodal, const double **values, double **own)
{
    const int n = space->components;
    *own = NULL;
    *values = nodal;
    if (!space->ranks) return YOKE_OK;
    yoke_status status = yoke_allocate(space->context, (int64_t)space->num_owned * n, sizeof **own, own);
    for (int32_t i = 0; i < space->num_nodes && !status; i++)
        if (fem_space_owns(space, i))
            memcpy(*own + n * (fem_space_global_node(space, i) - space->first_owned), nodal + (int64_t)n * i, (size_t)n * sizeof **own);
    *values = *own;
    return status;
}

static yoke_status write_values(const fem_keep *keep, const fem_space *space, const double *nodal, const double *indicator)
{
    yoke_context *context = keep->context;
    const int is_first = app_ranks_number(space->ranks) == 0;
    double *own;
    json_t *speeds = NULL;
    fem_checkpoint_part part = {.ranks = space->ranks,
                                .num_leaves = space->num_elements,
                                .num_nodes = space->ranks ? space->num_owned : space->num_nodes,
                                .components = space->components,
                                .level = space->level,
                                .indicator = indicator};
    yoke_status status = fem_distribution_save(keep->state.distribution, &speeds);
    if (status) return status;
    status = owned_values(space, nodal, &part.value, &own);
    if (is_first) part.state = fem_run_state_save(&keep->state, speeds);
    if (!status && is_first && !part.state) status = yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the state of the run");
    status = app_ranks_agree(space->ranks, status);
    if (!status) status = fem_checkpoints_write(keep->checkpoints, &part);
    json_decref(part.state);
    yoke_release(context, own);
    return status;
}

/* Warns that a checkpoint could not be written; the run continues. */
static yoke_status warn(fem_keep *keep)
{
    char warning[1200];
    snprintf(warning, sizeof warning, "step %d: there is no checkpoint of it, and the run goes on: %s", keep->state.step,
             yoke_last_error(keep->context));
    if (app_ranks_number(keep->problem->mesh->ranks) == 0) yoke_log(keep->context, YOKE_LOG_WARNING, "%s", warning);
    if (keep->warned) return YOKE_OK;
    keep->warned = true;
    return fem_record_warn(keep->state.record, warning);
}

yoke_status fem_keep_step(fem_keep *keep, const fem_step *step)
{
    if (!fem_checkpoints_due_after_step(keep->checkpoints, numbers_of(step->space))) return YOKE_OK;
    keep->state.iterations = 0;
    keep->state.relative_estimate = step->estimate.relative;
    return write_values(keep, step->space, step->solution->u, step->indicator) ? warn(keep) : YOKE_OK;
}

void fem_keep_reached(fem_keep *keep, const fem_space *space, int iteration, const fem_vector *x, int leaving)
{
    double *nodal = NULL;
    if (!fem_checkpoints_due_within(keep->checkpoints, iteration, numbers_of(space), leaving)) return;
    keep->state.iterations = iteration;
    keep->state.relative_estimate = 0;
    yoke_status status = yoke_allocate(keep->context, (int64_t)space->num_nodes * space->components, sizeof *nodal, &nodal);
    status = app_ranks_agree(space->ranks, status);
    if (!status) {
        fem_vector_read(x, nodal);
        status = write_values(keep, space, nodal, NULL);
    }
    if (status && warn(keep)) keep->warned = true; /* no memory for a warning: the solve will report that */
    yoke_release(keep->context, nodal);
}

/* ----------------------------------------------------------------------------------------------- continuing */

yoke_status fem_keep_forest(const fem_restart *restart, const fem_problem *problem, fem_forest **forest)
{
    const fem_checkpoint *checkpoint = restart->checkpoint;
    return fem_forest_create_from_levels(problem->mesh, checkpoint->num_leaves, checkpoint->level, forest);
}

/* Checks that the checkpoint has as many nodes as the space on its leaves. */
static yoke_status check_nodes(const fem_restart *restart, const fem_space *space)
{
    const fem_checkpoint *checkpoint = restart->checkpoint;
    const int64_t nodes = space->ranks ? space->num_global_nodes : space->num_nodes;
    if (checkpoint->num_nodes == nodes && checkpoint->components == space->components) return YOKE_OK;
    return yoke_fail(space->context, YOKE_ERROR_INPUT, "%s: is damaged: it has %lld nodes, and its mesh has %lld", restart->path,
                     (long long)checkpoint->num_nodes, (long long)nodes);
}

/*
 * nodal [num_nodes][components], zero on entry: each rank reads the values that it owns, and the sum over the ranks gives every rank the
 * owner's values.
 */
static yoke_status read_values(const fem_checkpoint *checkpoint, const fem_space *space, double *nodal)
{
    const int n = space->components;
    double *own = NULL;
    if (!space->ranks) return fem_checkpoint_read_values(checkpoint, 0, space->num_nodes, nodal);
    yoke_status status = yoke_allocate(space->context, (int64_t)space->num_owned * n, sizeof *own, &own);
    if (!status) status = fem_checkpoint_read_values(checkpoint, space->first_owned, space->num_owned, own);
    for (int32_t i = 0; i < space->num_nodes && !status; i++)
        if (fem_space_owns(space, i))
            memcpy(nodal + (int64_t)n * i, own + n * (fem_space_global_node(space, i) - space->first_owned), (size_t)n * sizeof *own);
    yoke_release(space->context, own);
    status = app_ranks_agree(space->ranks, status);
    return status ? status : fem_halo_sum(space->halo, n, nodal);
}

static yoke_status take_solved(const fem_checkpoint *checkpoint, fem_step *now, double *nodal)
{
    const fem_space *space = now->space;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *now->solution, &now->solution);
    if (!status) *now->solution = (fem_solution){.context = space->context, .u = nodal};
    if (status) yoke_release(space->context, nodal);
    if (!status) status = yoke_allocate(space->context, space->num_elements, sizeof *now->indicator, &now->indicator);
    if (!status) status = fem_checkpoint_read_indicators(checkpoint, space->first_element, space->num_elements, now->indicator);
    return app_ranks_agree(space->ranks, status);
}

yoke_status fem_keep_restore(fem_keep *keep, const fem_restart *restart, int argc, char **argv)
{
    return app_ranks_agree(keep->problem->mesh->ranks, fem_run_state_restore(&keep->state, restart->checkpoint, restart->path, argc, argv));
}

yoke_status fem_keep_resume(const fem_keep *keep, const fem_restart *restart, const fem_forest *forest, fem_step *now, double **start)
{
    const fem_checkpoint *checkpoint = restart->checkpoint;
    const fem_problem *problem = keep->problem;
    app_ranks *ranks = problem->mesh->ranks;
    double *nodal = NULL;
    yoke_status status = fem_space_create(problem, forest, problem->element, &now->space);
    if (!status) status = app_ranks_agree(ranks, check_nodes(restart, now->space));
    if (status) return status;
    status = yoke_allocate(keep->context, (int64_t)now->space->num_nodes * now->space->components, sizeof *nodal, &nodal);
    status = app_ranks_agree(ranks, status);
    if (!status) status = read_values(checkpoint, now->space, nodal);
    if (status) {
        yoke_release(keep->context, nodal);
        return status;
    }
    now->estimate.relative = keep->state.relative_estimate;
    if (checkpoint->solved) return take_solved(checkpoint, now, nodal);
    *start = nodal;
    fem_step_release(now);
    return YOKE_OK;
}
