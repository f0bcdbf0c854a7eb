#include "adapt/step.h"

#include <math.h>
#include <string.h>

void fem_step_release_results(fem_step *step)
{
    yoke_release(step->space->context, step->indicator);
    yoke_release(step->space->context, step->with_rigid);
    fem_stress_destroy(step->stress);
    fem_solution_destroy(step->solution);
    fem_constraints_destroy(step->constraints);
    fem_boundary_destroy(step->boundary);
}

void fem_step_release(fem_step *step)
{
    if (!step->space) return;
    fem_step_release_results(step);
    fem_space_destroy(step->space);
    memset(step, 0, sizeof *step);
}

/* The displacements that are shown; stresses and all other results follow from the solution without rigid motions. */
static const double *shown_displacements(const fem_step *step) { return step->with_rigid ? step->with_rigid : step->solution->u; }

yoke_status fem_step_fill_record(fem_step *step, int number, const fem_problem *problem, const fem_solver_choice *choice)
{
    const fem_solution *solution = step->solution;
    fem_step_record *r = &step->record;
    *r = fem_step_unknown(number);
    r->elements = step->space->num_global_elements;
    r->dofs = step->space->num_global_nodes * step->space->components;
    r->hanging_nodes = step->space->num_hanging;
    r->preconditioner = fem_solver_name[solution->solver];
    r->preconditioner_reason = choice->reason;
    r->multigrid_operations = choice->multigrid_operations;
    r->direct_operations = choice->direct_operations;
    r->iterations = solution->iterations;
    r->operator_applications = solution->operator_applications;
    r->relative_residual = solution->relative_residual;
    r->energy_error = solution->energy_error;
    r->stopped_by_rounding = solution->stopped_by_rounding;
    r->error_estimate = step->estimate.estimate;
    r->relative_error_estimate = step->estimate.relative;
    /* u . A u / 2 includes thermal strains, which store no energy; the stored energy is that of the stresses. */
    r->strain_energy_j =
        problem->temperature.given ? 0.5 * step->estimate.energy_norm * step->estimate.energy_norm : solution->strain_energy_j;
    yoke_status status = fem_extremes_find(step->space, shown_displacements(step), step->stress, r->extremes);
    r->max_displacement_m = problem->components == 3 ? r->extremes[FEM_EXTREME_DISPLACEMENT].value
                                                     : fmax(fabs(r->extremes[FEM_EXTREME_VALUE_LARGEST].value),
                                                            fabs(r->extremes[FEM_EXTREME_VALUE_SMALLEST].value));
    r->max_von_mises_pa = step->stress->max_von_mises_pa;
    r->setup_s = solution->setup_s;
    r->solve_s = solution->solve_s;
    return status;
}

yoke_status fem_step_write_fields(const fem_step *step, const fem_step_outputs *to)
{
    yoke_context *context = step->space->context;
    int32_t *part;
    yoke_status status = app_ranks_agree(step->space->ranks, yoke_allocate(context, step->space->num_elements, sizeof *part, &part));
    if (status) return status;
    fem_distribution_parts(to->distribution, step->space->num_elements, part);
    fem_vtu vtu = {.space = step->space,
                   .stress = step->stress,
                   .u = shown_displacements(step),
                   .indicator = step->indicator,
                   .part = part,
                   .units = &to->input->units,
                   .fields = to->input->keys.output.fields.value};
    status = fem_results_step(to->results, &vtu, step->record.step);
    yoke_release(context, part);
    return status;
}

yoke_status fem_step_write_record(const fem_step *step, const fem_step_outputs *to)
{
    yoke_context *context = step->space->context;
    fem_step_results results = {.problem = to->problem, .num_probes = to->num_probes, .probes = to->probes};
    fem_reaction *reactions = NULL;
    fem_probe_value *values = NULL;
    fem_resultant(step->space, step->solution->load, results.load_force_n, results.load_moment_nm);
    yoke_status status = fem_reactions_create(step->space, step->constraints, step->solution->residual, &results.num_reactions, &reactions);
    if (!status) status = app_ranks_agree(step->space->ranks, yoke_allocate(context, to->num_probes, sizeof *values, &values));
    if (!status && to->num_probes)
        status = fem_probes_evaluate(step->space, shown_displacements(step), step->stress, to->num_probes, to->probes, values);
    results.reactions = reactions;
    results.values = values;
    if (!status) status = fem_summary_step(to->summary, step->space, step->boundary, &step->record, &results);
    if (!status && app_ranks_number(step->space->ranks) == 0)
        status = fem_summary_write_probes(to->summary, to->input->keys.output.directory.value);
    if (!status) status = fem_record_step(to->record, &step->record, &results);
    status = app_ranks_agree(step->space->ranks, status);
    yoke_release(context, reactions);
    yoke_release(context, values);
    return status;
}
