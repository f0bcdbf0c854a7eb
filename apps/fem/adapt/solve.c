/* solve.c - a step of the adaptive loop: its elements are distributed to devices, and it is solved, estimated and reported. */
#include <string.h>

#include "adapt/carry.h"
#include "adapt/private.h"
#include "common/console/interrupt.h"
#include "output/warnings.h"
#include "space/rigid_sum.h"

/* Ends all ranks if one of them has caught a signal. */
static yoke_status check_interrupt(const fem_adaptation *a)
{
    app_ranks_interrupted(a->ranks);
    return app_ranks_agree(a->ranks, app_interrupt_check(a->context)); /* a rank may have caught a signal since */
}

/*
 * Makes the start value: the previous step's solution on the new mesh, or the values that were reached before the run was ended; NULL if
 * there are none.  carry: on several ranks, the previous solution.
 */
static yoke_status start_value(fem_adaptation *a, const fem_carry *carry, double **start)
{
    *start = a->start;
    a->start = NULL;
    if (*start) return YOKE_OK;
    if (!a->before.space) return YOKE_OK;
    fem_interpolation *interpolation = NULL;
    int n = a->problem->components;
    yoke_status status = yoke_allocate(a->context, (int64_t)a->now.space->num_nodes * n, sizeof(double), start);
    if (carry->context) {
        status = app_ranks_agree(a->ranks, status);
        const double start_s = yoke_clock_s();
        if (!status) status = fem_carry_give(carry, a->now.space, *start);
        if (!status) fem_distribution_moved(a->distribution, fem_forest_leaves(a->forest), a->partition_s + yoke_clock_s() - start_s);
        return status;
    }
    if (!status) status = fem_interpolation_create(a->before.space, a->now.space, 0, &interpolation);
    if (!status) fem_interpolation_apply(interpolation, n, a->before.solution->u, *start);
    fem_interpolation_destroy(interpolation);
    return status;
}

/* Tries the devices on the first mesh in its present partition, if the results may lead to a better one. */
static yoke_status learn_first(const fem_adaptation *a)
{
    fem_space *space = NULL;
    fem_boundary *boundary = NULL;
    fem_constraints *constraints = NULL;
    yoke_status status = fem_space_create(a->problem, a->forest, a->problem->element, &space);
    if (!status) status = fem_boundary_create(space, &boundary);
    if (!status) status = fem_constraints_create(space, boundary, &constraints);
    if (!status) status = app_ranks_agree(a->ranks, fem_distribution_learn(a->distribution, space, constraints));
    fem_constraints_destroy(constraints);
    fem_boundary_destroy(boundary);
    fem_space_destroy(space);
    return status;
}

static yoke_status partition_by_shares(fem_adaptation *a)
{
    const double *shares = NULL;
    yoke_status status = fem_distribution_shares(a->distribution, fem_forest_leaves(a->forest), &shares);
    const double start_s = yoke_clock_s();
    if (!status) status = fem_forest_partition(a->forest, shares);
    a->partition_s = yoke_clock_s() - start_s;
    return status;
}

yoke_status fem_adaptation_distribute(fem_adaptation *a)
{
    if (app_ranks_count(a->ranks) == 1 || !fem_distribution_may_know(a->distribution)) return YOKE_OK;
    yoke_status status = learn_first(a);
    return status ? status : partition_by_shares(a);
}

/* Distributes the mesh over the ranks; carry: gets the previous solution on the mesh. */
static yoke_status partition(fem_adaptation *a, fem_carry *carry)
{
    double within = a->start != NULL; /* values that were reached are distributed like the checkpoint's mesh */
    app_ranks_max(a->ranks, &within, 1);
    if (app_ranks_count(a->ranks) == 1 || within > 0) return YOKE_OK;
    if (!a->before.space) return fem_adaptation_distribute(a);
    yoke_status status = fem_carry_take(a->before.space, a->before.solution->u, a->forest, carry);
    if (!status && fem_distribution_may_know(a->distribution)) status = learn_first(a);
    return status ? status : partition_by_shares(a);
}

static fem_solve_options solve_options(const fem_adaptation *a)
{
    const fem_case_solver *solver = &a->input->keys.solver;
    return (fem_solve_options){
        .solver = a->choice.solver,
        .operator_kind = a->operator_kind,
        .energy_error = solver->energy_error.value,
        .relative_residual = solver->relative_residual.value,
        .max_iterations = (int)solver->max_iterations.value,
        .rescue = a->choice.asked == FEM_PRECONDITIONER_AUTO,
        .keeper = a->keeper,
    };
}

static yoke_status plan_and_solve(fem_adaptation *a, const double *start, fem_solve_options *options)
{
    fem_step *now = &a->now;
    yoke_status status = app_ranks_agree(a->ranks, fem_distribution_plan(a->distribution, now->space, now->constraints, options));
    return status ? status : fem_solve(now->space, now->boundary, now->constraints, start, options, &a->hooks, &now->solution);
}

/* Distributes and solves.  If the factor that was expected to be cheaper does not fit, solves by multigrid. */
static yoke_status distribute_and_solve(fem_adaptation *a, const double *start)
{
    fem_step *now = &a->now;
    yoke_status status = app_ranks_agree(a->ranks, fem_solver_choose(&a->choice, now->space, now->constraints));
    fem_solve_options options = solve_options(a);
    if (status) return status;
    status = plan_and_solve(a, start, &options);
    if (status == YOKE_ERROR_MEMORY && options.rescue && options.solver == FEM_SOLVER_DIRECT) {
        options.solver = FEM_SOLVER_MULTIGRID;
        status = plan_and_solve(a, start, &options);
    }
    if (status) return status;
    fem_solver_learn(&a->choice, now->space, now->solution);
    return YOKE_OK;
}

static yoke_status solve_step(fem_adaptation *a)
{
    fem_step *now = &a->now;
    a->keep.state.step = a->step;
    a->keep.state.refine_s = a->refine_s;
    double start_s = yoke_clock_s(), *start = NULL;
    fem_carry carry = {.context = NULL};
    yoke_status status = partition(a, &carry);
    if (!status) status = fem_space_create(a->problem, a->forest, a->problem->element, &now->space);
    if (!status) status = fem_boundary_create(now->space, &now->boundary);
    if (!status) status = fem_constraints_create(now->space, now->boundary, &now->constraints);
    if (!status) status = start_value(a, &carry, &start);
    fem_carry_release(&carry);
    fem_step_release(&a->before);
    status = app_ranks_agree(a->ranks, status);
    if (!status) {
        a->dofs = now->space->num_global_nodes * now->space->components;
        double setup_s = yoke_clock_s() - start_s;
        status = distribute_and_solve(a, start);
        if (!status) now->solution->setup_s += setup_s;
        if (!status) status = app_ranks_agree(a->ranks, fem_rigid_add(now->space, now->solution->u, &now->with_rigid));
        if (!status) status = fem_warn_of_solution(now->space, now->constraints, now->solution, a->step, a->record);
    }
    yoke_release(a->context, start);
    return app_ranks_agree(a->ranks, status);
}

static yoke_status estimate_step(fem_adaptation *a)
{
    fem_step *now = &a->now;
    yoke_status status = app_ranks_agree(a->ranks, yoke_allocate(a->context, now->space->num_elements, sizeof(double), &now->indicator));
    if (!status) status = fem_estimate(now->space, now->boundary, now->solution->u, now->indicator, &now->estimate);
    return status;
}

static void explain_step(const fem_adaptation *a)
{
    char line[FEM_EXPLANATION];
    const char *decision = a->now.record.decision;
    for (const char *rest = decision; rest && *rest;) { /* each line of the decision below the table's line */
        size_t length = strcspn(rest, "\n");
        app_print(a->run->terminal, "     %.*s\n", (int)length, rest);
        rest += length + (rest[length] != 0);
    }
    fem_table_explain(&a->now.record, line);
    if (line[0]) app_print(a->run->terminal, "     %s\n", line);
}

/* Prints the step's line of the table, and its explanation. */
static void print_step(fem_adaptation *a)
{
    char line[FEM_TABLE_LINE];
    const char *why_not;
    a->table.energy = fem_distribution_metered(a->distribution, &why_not);
    if (!a->titled) {
        fem_table_header(&a->table, line);
        app_print(a->run->terminal, "%s\n", line);
        a->titled = true;
    }
    fem_table_row(&a->table, &a->now.record, line);
    app_print(a->run->terminal, "%s\n", line);
    if (a->run->explain) explain_step(a);
    if (a->run->explain && a->table.energy && why_not[0]) app_print(a->run->terminal, "     energy: %s\n", why_not);
}

yoke_status fem_adaptation_step(fem_adaptation *a)
{
    yoke_status status = solve_step(a);
    double solved_s = yoke_clock_s();
    if (!status) status = check_interrupt(a);
    if (!status) status = estimate_step(a);
    if (!status) status = fem_stress_create(a->now.space, a->now.solution->u, &a->now.stress);
    double estimated_s = yoke_clock_s();
    if (!status) status = check_interrupt(a);
    if (status) return status;
    status = fem_step_fill_record(&a->now, a->step, a->problem, &a->choice);
    if (status) return status;
    a->now.record.refine_s = a->refine_s;
    status = app_ranks_agree(a->ranks, fem_distribution_report(a->distribution, a->now.solution, &a->now.record));
    if (status) return status;
    a->now.record.estimate_s = estimated_s - solved_s;
    const fem_step_outputs outputs = {.input = a->input,
                                      .problem = a->problem,
                                      .distribution = a->distribution,
                                      .results = a->results,
                                      .summary = a->summary,
                                      .record = a->record,
                                      .num_probes = a->num_probes,
                                      .probes = a->probes};
    status = fem_step_write_fields(&a->now, &outputs);
    if (status) return status;
    a->now.record.write_s = yoke_clock_s() - estimated_s;
    status = fem_step_write_record(&a->now, &outputs);
    if (status) return status;
    a->finished = true;
    print_step(a);
    return YOKE_OK;
}
