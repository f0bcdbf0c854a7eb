#include "adapt/adapt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/boxes.h"
#include "adapt/carry.h"
#include "adapt/keep.h"
#include "adapt/step.h"
#include "common/interrupt.h"
#include "estimate/mark.h"
#include "output/inspection.h"
#include "output/table.h"
#include "output/warnings.h"
#include "space/field.h"
#include "space/rigid_part.h"

enum { PATH_LENGTH = 4096 };

typedef struct adapt {
    const fem_run *run;
    const fem_case *input;
    const fem_problem *problem;
    yoke_context *context;
    fem_forest *forest;
    fem_distribution *distribution;
    fem_coarse_keeper *keeper; /* the last level of the multigrid often stays from step to step */
    bool titled;               /* the table's header is printed */
    fem_solver_choice choice;
    fem_results *results;
    fem_summary *summary;
    fem_record *record;
    fem_table table;
    fem_hooks hooks;
    int num_probes;
    fem_probe *probes;
    int64_t memory_bytes; /* of the machine */
    int step;
    int64_t dofs; /* for the progress line */
    fem_step now, before;
    double refine_s, partition_s;
    bool finished; /* at least one step is on disk */
    fem_keep keep;
    double *start; /* what the iteration had reached on the mesh that the run goes on with; or NULL */
    char record_path[PATH_LENGTH];
} adapt;

/* ---------------------------------------------------------------------------------------------------- ranks */

static app_ranks *ranks_of(const adapt *a) { return a->problem->mesh->ranks; }

static bool on_ranks(const adapt *a) { return app_ranks_count(ranks_of(a)) > 1; }

/* Whether this rank writes what is of all of them. */
static bool tells(const adapt *a) { return app_ranks_number(ranks_of(a)) == 0; }

static yoke_status agree(const adapt *a, yoke_status status) { return app_ranks_agree(ranks_of(a), status); }

/* A signal that one rank has caught ends all of them. */
static yoke_status check_interrupt(const adapt *a)
{
    app_ranks_interrupted(ranks_of(a));
    return agree(a, app_interrupt_check(a->context)); /* a rank may have caught one since */
}

/* ---------------------------------------------------------------------------------------------------- hooks */

static int interrupted(void *user)
{
    const adapt *a = user;
    return app_ranks_interrupted(ranks_of(a));
}

static void show_progress(int iteration, double residual, double energy_error, void *user)
{
    const adapt *a = user;
    if (isfinite(energy_error))
        app_progress(a->run->terminal, "step %d: %lld dofs, iteration %d, relative residual %.1e, energy error %.1e", a->step,
                     (long long)a->dofs, iteration, residual, energy_error);
    else
        app_progress(a->run->terminal, "step %d: %lld dofs, iteration %d, relative residual %.1e", a->step, (long long)a->dofs, iteration,
                     residual);
}

static void show_work(const char *what, void *user)
{
    const adapt *a = user;
    app_progress(a->run->terminal, "step %d: %s", a->step, what);
}

/* ---------------------------------------------------------------------------------------------- checkpoints */

static void keep_reached(int iteration, const fem_vector *x, int leaving, void *user)
{
    adapt *a = user;
    fem_keep_reached(&a->keep, a->now.space, iteration, x, leaving);
}

/* The forest of the checkpoint, or that of the case. */
static yoke_status create_forest(adapt *a)
{
    if (a->run->restart) return fem_keep_forest(a->run->restart, a->input, a->problem, &a->forest);
    yoke_status status = agree(a, fem_forest_create(a->problem->mesh, (int)a->input->keys.refine.initial.value, &a->forest));
    if (!status) status = fem_refine_boxes(&a->input->keys.refine, a->problem, a->forest);
    return status ? status : fem_forest_partition(a->forest, NULL);
}

/* Goes on from the checkpoint: `now` is its step where that is solved, else empty. */
static yoke_status resume(adapt *a)
{
    const fem_restart *restart = a->run->restart;
    const fem_run_state *state = &a->keep.state;
    const int solved = restart->checkpoint->solved;
    yoke_status status = fem_keep_resume(&a->keep, restart, a->forest, a->run->argc, a->run->argv, &a->now, &a->start);
    if (status) return status;
    a->step = state->step;
    a->refine_s = state->refine_s;
    a->finished = solved || state->step > 0;
    status = fem_results_continue(a->results, state->step + solved);
    if (!status && a->finished) status = fem_record_write(a->record);
    if (solved)
        app_print(a->run->terminal, "goes on after step %d, from %s\n", state->step, restart->path);
    else
        app_print(a->run->terminal, "goes on within step %d, after %d iterations, from %s\n", state->step, state->iterations,
                  restart->path);
    return status;
}

/* What checkpoints need; in a run that goes on, what they tell. */
static yoke_status begin_keeping(adapt *a)
{
    const fem_restart *restart = a->run->restart;
    fem_keep *keep = &a->keep;
    keep->context = a->context;
    keep->problem = a->problem;
    keep->state = (fem_run_state){.input = a->input,
                                  .mesh = a->problem->mesh,
                                  .num_words = a->run->num_words,
                                  .words = a->run->words,
                                  .record = a->record,
                                  .summary = a->summary,
                                  .choice = &a->choice,
                                  .forecast = fem_distribution_forecast(a->distribution)};
    yoke_status status = fem_checkpoints_create(a->results, a->context, a->problem->mesh->ranks, a->input->keys.output.directory.value,
                                                &a->input->keys.checkpoint, restart ? restart->number : -1, &keep->checkpoints);
    return status || !restart ? status : resume(a);
}

/* --------------------------------------------------------------------------------------------- initial mesh */

static yoke_status collect_probes(adapt *a)
{
    const fem_case_keys *keys = &a->input->keys;
    a->num_probes = keys->probes.count;
    yoke_status status = yoke_allocate(a->context, a->num_probes, sizeof *a->probes, &a->probes);
    for (int i = 0; !status && i < a->num_probes; i++) {
        a->probes[i].name = keys->probes.items[i].name.value;
        memcpy(a->probes[i].x, keys->probes.items[i].x.value, sizeof a->probes[i].x);
    }
    return status;
}

/* A probe outside is an error at its place in the case file. */
static yoke_status check_probes(const adapt *a)
{
    if (!a->num_probes) return YOKE_OK;
    const fem_case *input = a->input;
    fem_space *space;
    yoke_status status = fem_space_create(a->problem, a->forest, FEM_Q1, &space);
    if (status) return status;
    status = fem_probes_check(space, a->num_probes, a->probes);
    for (int i = 0; status == YOKE_ERROR_INPUT && i < a->num_probes; i++) {
        if (!fem_probes_check(space, 1, &a->probes[i])) continue;
        char outside[1024];
        snprintf(outside, sizeof outside, "%s", yoke_last_error(a->context));
        status = app_yaml_fail(input->yaml, input->keys.probes.items[i].x.place, "%s", outside);
        break;
    }
    fem_space_destroy(space);
    return status;
}

static fem_operator operator_of(const adapt *a)
{
    return a->input->keys.solver.operator.value == FEM_OPERATOR_STORED ? FEM_STORED : FEM_MATRIXFREE;
}

static yoke_status create_distribution(adapt *a)
{
    const fem_case_keys *keys = &a->input->keys;
    fem_distribution_options options = a->run->distribution;
    const fem_case_objective *objective = &keys->objective;
    options.input = a->input;
    options.ranks = ranks_of(a);
    options.operator_kind = operator_of(a);
    options.objective = (yoke_objective)objective->minimise.value;
    options.max_slowdown = objective->max_slowdown.value;
    options.power_cap_w = objective->power_cap_w.value;
    options.deadline_s = objective->deadline_s.value;
    options.keep_frequencies = objective->frequencies.value != 0;
    options.rounds = keys->refine.steps.value;
    a->choice =
        (fem_solver_choice){.asked = (fem_preconditioner)keys->solver.preconditioner.value, .steady = fem_distribution_plans(&options)};
    yoke_status status = fem_distribution_create(a->context, &options, &a->distribution);
    if (status) return status;
    a->table.gpu = fem_distribution_has_gpu(a->distribution);
    a->table.prediction = true;
    return YOKE_OK;
}

/* All that may find the input bad: writes nothing. */
static yoke_status prepare(adapt *a)
{
    yoke_topology topology;
    yoke_status status = yoke_topology_get(a->context, &topology);
    if (!status) status = collect_probes(a);
    status = agree(a, status);
    if (!status) status = create_forest(a);
    if (!status) status = check_probes(a);
    if (!status) status = create_distribution(a);
    if (!status) status = fem_coarse_keeper_create(a->context, &a->keeper);
    if (!status) a->memory_bytes = topology.memory_bytes;
    return agree(a, status);
}

static yoke_status begin(adapt *a)
{
    const char *path = NULL;
    yoke_status status = fem_results_open(a->context, ranks_of(a), a->input->keys.output.directory.value, &a->results);
    if (status) return status;
    status = fem_summary_create(a->input, a->problem, a->num_probes, a->probes, &a->summary);
    if (!status) status = fem_results_path(a->results, FEM_RESULTS_RECORD, &path);
    if (!status) snprintf(a->record_path, sizeof a->record_path, "%s", path);
    const char *paths[FEM_RECORD_PATHS] = {a->record_path, a->run->json};
    if (!status) /* which the first rank writes */
        status = fem_record_create(a->input, a->run->argc, a->run->argv, tells(a) ? FEM_RECORD_PATHS : 0, paths, &a->record);
    if (!status) status = fem_record_mesh(a->record, a->problem->mesh);
    status = agree(a, status);
    return status ? status : begin_keeping(a);
}

/* --------------------------------------------------------------------------------------------------- a step */

/* The previous step's solution on the new mesh, or what was reached before the run was ended; or NULL.  carry: on several ranks the solution. */
static yoke_status start_value(adapt *a, const fem_carry *carry, double **start)
{
    *start = a->start;
    a->start = NULL;
    if (*start) return YOKE_OK;
    if (!a->before.space) return YOKE_OK;
    fem_interpolation *interpolation = NULL;
    int n = a->problem->components;
    yoke_status status = yoke_allocate(a->context, (int64_t)a->now.space->num_nodes * n, sizeof(double), start);
    if (carry->space) {
        status = agree(a, status);
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

/* Distributes the refined mesh over the ranks; carry: the solution before on it. */
static yoke_status partition(adapt *a, fem_carry *carry)
{
    if (!on_ranks(a) || !a->before.space) return YOKE_OK;
    const double *shares = NULL;
    yoke_status status = fem_carry_take(a->before.space, a->before.solution->u, a->forest, carry);
    if (!status) status = fem_distribution_shares(a->distribution, fem_forest_leaves(a->forest), &shares);
    const double start_s = yoke_clock_s();
    if (!status) status = fem_forest_partition(a->forest, shares);
    a->partition_s = yoke_clock_s() - start_s;
    return status;
}

static fem_solve_options solve_options(const adapt *a)
{
    const fem_case_solver *solver = &a->input->keys.solver;
    return (fem_solve_options){
        .solver = a->choice.solver,
        .operator_kind = operator_of(a),
        .energy_error = solver->energy_error.value,
        .relative_residual = solver->relative_residual.value,
        .max_iterations = (int)solver->max_iterations.value,
        .rescue = a->choice.asked == FEM_PRECONDITIONER_AUTO,
        .keeper = a->keeper,
    };
}

/* Distributes and solves; by multigrid where the factor that was expected to be cheaper does not fit. */
static yoke_status distribute_and_solve(adapt *a, const double *start)
{
    fem_step *now = &a->now;
    yoke_status status = fem_solver_choose(&a->choice, now->space, now->constraints);
    fem_solve_options options = solve_options(a);
    if (!status) status = fem_distribution_plan(a->distribution, now->space, now->constraints, &options);
    status = agree(a, status);
    if (status) return status;
    status = fem_solve(now->space, now->boundary, now->constraints, start, &options, &a->hooks, &now->solution);
    if (status == YOKE_ERROR_MEMORY && options.rescue && options.solver == FEM_SOLVER_DIRECT) {
        options.solver = FEM_SOLVER_MULTIGRID;
        status = fem_solve(now->space, now->boundary, now->constraints, start, &options, &a->hooks, &now->solution);
    }
    if (status) return status;
    fem_solver_learn(&a->choice, now->space, now->solution);
    return YOKE_OK;
}

static yoke_status solve_step(adapt *a)
{
    fem_step *now = &a->now;
    a->keep.state.step = a->step;
    a->keep.state.refine_s = a->refine_s;
    double start_s = yoke_clock_s(), *start = NULL;
    fem_carry carry = {NULL, NULL, NULL};
    yoke_status status = partition(a, &carry);
    if (!status) status = fem_space_create(a->problem, a->forest, a->problem->element, &now->space);
    if (!status) status = fem_boundary_create(now->space, &now->boundary);
    if (!status) status = fem_constraints_create(now->space, now->boundary, &now->constraints);
    if (!status) status = start_value(a, &carry, &start);
    fem_carry_release(&carry);
    fem_step_release(&a->before);
    status = agree(a, status);
    if (!status) {
        a->dofs = now->space->num_global_nodes * now->space->components;
        double setup_s = yoke_clock_s() - start_s;
        status = distribute_and_solve(a, start);
        if (!status) now->solution->setup_s += setup_s;
        if (!status) status = agree(a, fem_rigid_add(now->space, now->solution->u, &now->with_rigid));
        if (!status) status = fem_warn_of_solution(now->space, now->constraints, now->solution, a->step, a->record);
    }
    yoke_release(a->context, start);
    return agree(a, status);
}

static yoke_status estimate_step(adapt *a)
{
    fem_step *now = &a->now;
    yoke_status status = agree(a, yoke_allocate(a->context, now->space->num_elements, sizeof(double), &now->indicator));
    if (!status) status = fem_estimate(now->space, now->boundary, now->solution->u, now->indicator, &now->estimate);
    return status;
}

static void explain_step(const adapt *a)
{
    char line[FEM_EXPLANATION];
    const char *decision = a->now.record.decision;
    for (const char *rest = decision; rest && *rest;) { /* each line of it under the table's */
        size_t length = strcspn(rest, "\n");
        app_print(a->run->terminal, "     %.*s\n", (int)length, rest);
        rest += length + (rest[length] != 0);
    }
    fem_table_explain(&a->now.record, line);
    if (line[0]) app_print(a->run->terminal, "     %s\n", line);
}

/* The step's line of the table, and what explains it. */
static void print_step(adapt *a)
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

static yoke_status one_step(adapt *a)
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
    status = agree(a, fem_distribution_report(a->distribution, a->now.solution, &a->now.record));
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

/* ----------------------------------------------------------------------------------------------------- loop */

/* Refines for the next step; *stopped_by is set where a limit forbids it, and the present step stays the last. */
static yoke_status refine(adapt *a, const char **stopped_by)
{
    const fem_case_refine *limits = &a->input->keys.refine;
    double start_s = yoke_clock_s();
    uint8_t *mark = NULL;
    int64_t marked = 0;
    yoke_status status = agree(a, yoke_allocate(a->context, a->now.space->num_elements, 1, &mark));
    if (!status)
        status = fem_mark(a->context, ranks_of(a), a->now.space->num_elements, a->now.indicator, limits->fraction.value, mark, &marked);
    if (!status && marked) status = fem_forest_refine(a->forest, mark);
    yoke_release(a->context, mark);
    if (status) return status;
    int64_t leaves = fem_forest_all_leaves(a->forest);
    const double needed = fem_case_memory_bytes(a->input, (double)leaves) * app_ranks_here(ranks_of(a)) / app_ranks_count(ranks_of(a));
    double missing = needed - (double)a->memory_bytes;
    app_ranks_max(ranks_of(a), &missing, 1); /* machines of the ranks differ, and all of them go on, or none */
    if (leaves == a->now.space->num_global_elements) {
        *stopped_by = marked ? "max_level" : "tolerance";
    } else if (leaves > limits->max_elements.value) {
        *stopped_by = "max_elements";
    } else if (missing > 0) {
        *stopped_by = "memory";
        yoke_log(a->context, YOKE_LOG_WARNING,
                 "the next mesh (%lld elements) needs about %.1f GB%s, which is %.1f GB more than there is: ending here", (long long)leaves,
                 needed / 1e9, on_ranks(a) ? " on a machine" : "", missing / 1e9);
    }
    a->refine_s = yoke_clock_s() - start_s;
    return YOKE_OK;
}

static void print_text(FILE *out, const void *text) { fputs(text, out); }

/* The end of a run that has finished a step: summary, warnings, record.  Who interrupts it wants it to end, and nothing printed. */
static yoke_status finish(adapt *a, const char *stopped_by, bool print)
{
    char *text = NULL, warning[FEM_SUMMARY_WARNING];
    const char *directory = a->input->keys.output.directory.value;
    yoke_status status = agree(a, fem_summary_text(a->summary, stopped_by, &text));
    if (status) {
        yoke_release(a->context, text);
        return status;
    }
    if (tells(a)) status = app_file_write(a->context, directory, FEM_RESULTS_SUMMARY, print_text, text);
    fem_summary_warning(a->summary, warning);
    if (!status && warning[0]) status = fem_record_warn(a->record, warning);
    if (!status) status = fem_warn_of_locking(a->problem, a->now.estimate.relative, a->record);
    fem_profile profile = {.count = 0};
    if (!status) status = fem_distribution_profile(a->distribution, &profile.rows, &profile.count, &profile.names);
    if (!status && a->run->distribution.profile) status = fem_record_profile(a->record, &profile);
    if (!status) status = fem_record_finish(a->record, stopped_by);
    status = agree(a, status);
    if (!status && print) app_print(a->run->terminal, "stopped by: %s; results in %s\n\n%s", stopped_by, directory, text);
    if (!status && print && a->run->distribution.profile) fem_profile_print(a->run->terminal, &profile);
    if (!status && warning[0] && a->run->terminal->quiet) yoke_log(a->context, YOKE_LOG_WARNING, "%s", warning);
    yoke_release(a->context, text);
    return status;
}

static yoke_status loop(adapt *a)
{
    const fem_case_refine *limits = &a->input->keys.refine;
    const char *stopped_by = NULL;
    while (!stopped_by) {
        yoke_status status = YOKE_OK;
        if (!a->now.space) { /* else it was solved before the run was ended */
            status = one_step(a);
            if (!status) status = fem_keep_step(&a->keep, &a->now);
        }
        if (status) return status;
        if (limits->tolerance.value > 0 && a->now.estimate.relative <= limits->tolerance.value)
            stopped_by = "tolerance";
        else if (a->step >= limits->steps.value)
            stopped_by = "steps";
        else
            status = refine(a, &stopped_by);
        if (status) return status;
        if (stopped_by) break;
        a->before = a->now;
        memset(&a->now, 0, sizeof a->now);
        a->step++;
    }
    return finish(a, stopped_by, true);
}

/* Hands the last step's field over, with what it stands on. */
static void keep_field(adapt *a)
{
    double **value = a->now.with_rigid ? &a->now.with_rigid : &a->now.solution->u;
    *a->run->keep = (fem_field){.forest = a->forest, .space = a->now.space, .value = *value};
    *value = NULL;
    a->forest = NULL;
    fem_step_release_results(&a->now);
    memset(&a->now, 0, sizeof a->now);
}

/* Tells what is known of the case before it is solved. */
static yoke_status inspect(adapt *a)
{
    fem_space *space;
    fem_inspection inspection = {.context = a->context};
    char *text = NULL;
    yoke_status status = fem_space_create(a->problem, a->forest, a->problem->element, &space);
    if (status) return status;
    status = fem_inspect(a->input, space, &inspection);
    if (!status && tells(a)) status = fem_inspection_text(&inspection, (double)a->memory_bytes, &text);
    status = agree(a, status);
    if (!status && text) app_print(a->run->terminal, "%s", text);
    yoke_release(a->context, text);
    fem_inspection_release(&inspection);
    fem_space_destroy(space);
    return status;
}

yoke_status fem_adapt(const fem_run *run, const fem_case *input, const fem_problem *problem)
{
    adapt a = {.run = run, .input = input, .problem = problem, .context = run->context};
    a.hooks = (fem_hooks){.interrupted = interrupted, .progress = show_progress, .working = show_work, .reached = keep_reached, .user = &a};
    a.table.components = problem->components;
    a.table.stress_unit = input->units.stress;
    yoke_status status = prepare(&a);
    if (!status && run->check) status = inspect(&a);
    if (!status && !run->check) status = agree(&a, app_interrupt_catch(run->context)); /* from here on there is something to keep */
    if (!status && !run->check) status = begin(&a);
    if (!status && !run->check) status = loop(&a);
    if (status == YOKE_ERROR_INTERRUPTED && a.finished) {
        yoke_status written = finish(&a, "interrupted", false);
        if (written) status = written;
    }
    if (!status && !run->check && run->keep) keep_field(&a);
    fem_step_release(&a.now);
    fem_step_release(&a.before);
    yoke_release(a.context, a.start);
    fem_checkpoints_destroy(a.keep.checkpoints);
    fem_record_destroy(a.record);
    fem_summary_destroy(a.summary);
    fem_results_close(a.results);
    fem_distribution_destroy(a.distribution);
    fem_coarse_keeper_destroy(a.keeper);
    yoke_release(a.context, a.probes);
    fem_forest_destroy(a.forest);
    return status;
}
