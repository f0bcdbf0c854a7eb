#include "adapt/adapt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/private.h"
#include "common/console/interrupt.h"
#include "estimate/mark.h"
#include "output/inspection.h"
#include "output/warnings.h"
#include "space/field.h"

/* ---------------------------------------------------------------------------------------------------- hooks */

static int interrupted(void *user)
{
    const fem_adaptation *a = user;
    return app_ranks_interrupted(a->ranks);
}

static void show_progress(int iteration, double residual, double energy_error, void *user)
{
    const fem_adaptation *a = user;
    if (isfinite(energy_error))
        app_progress(a->run->terminal, "step %d: %lld dofs, iteration %d, relative residual %.1e, energy error %.1e", a->step,
                     (long long)a->dofs, iteration, residual, energy_error);
    else
        app_progress(a->run->terminal, "step %d: %lld dofs, iteration %d, relative residual %.1e", a->step, (long long)a->dofs, iteration,
                     residual);
}

static void show_work(const char *what, void *user)
{
    const fem_adaptation *a = user;
    app_progress(a->run->terminal, "step %d: %s", a->step, what);
}
static void keep_reached(int iteration, const fem_vector *x, int leaving, void *user)
{
    fem_adaptation *a = user;
    fem_keep_reached(&a->keep, a->now.space, iteration, x, leaving);
}

/* Returns the limit that forbids the refined forest; NULL if none does. */
static const char *forbidding_limit(const fem_adaptation *a, int64_t marked)
{
    const int64_t leaves = fem_forest_all_leaves(a->forest);
    const double needed = fem_case_memory_bytes(a->input, (double)leaves) * app_ranks_here(a->ranks) / app_ranks_count(a->ranks);
    double missing = needed - (double)a->memory_bytes;
    app_ranks_max(a->ranks, &missing, 1); /* the ranks' machines may differ, and either all ranks continue or none */
    if (leaves == a->now.space->num_global_elements) return marked ? "max_level" : "tolerance";
    if (leaves > a->input->keys.refine.max_elements.value) return "max_elements";
    if (!(missing > 0)) return NULL;
    yoke_log(a->context, YOKE_LOG_WARNING,
             "the next mesh (%lld elements) needs about %.1f GB%s, %.1f GB more than available: refinement ends here", (long long)leaves,
             needed / 1e9, app_ranks_count(a->ranks) > 1 ? " on a machine" : "", missing / 1e9);
    return "memory";
}

/* Restores the forest of the present step, which remains the last one: the step's space reads the leaves of its forest. */
static void take_back(fem_forest *forest, fem_forest *present)
{
    p8est_t *refined = forest->p8est;
    forest->p8est = present->p8est;
    forest->aligned = present->aligned;
    present->p8est = refined;
}

/* Refines for the next step.  If a limit forbids it, sets *stopped_by and leaves the forest as it is. */
static yoke_status refine(fem_adaptation *a, const char **stopped_by)
{
    const double start_s = yoke_clock_s();
    fem_forest *present = NULL;
    uint8_t *mark = NULL;
    int64_t marked = 0;
    yoke_status status = yoke_allocate(a->context, a->now.space->num_elements, 1, &mark);
    if (!status) status = fem_forest_copy(a->forest, &present);
    status = app_ranks_agree(a->ranks, status);
    if (!status)
        status = fem_mark(a->context, a->ranks, a->now.space->num_elements, a->now.indicator, a->input->keys.refine.fraction.value, mark,
                          &marked);
    if (!status && marked) status = fem_forest_refine(a->forest, mark);
    if (!status) *stopped_by = forbidding_limit(a, marked);
    if (*stopped_by) take_back(a->forest, present);
    fem_forest_destroy(present);
    yoke_release(a->context, mark);
    a->refine_s = yoke_clock_s() - start_s;
    return status;
}

static void print_text(FILE *out, const void *text) { fputs(text, out); }

/*
 * Ends a run that has finished a step: summary, warnings, record.  print: false for an interrupted run, whose user wants it to end without
 * output.
 */
static yoke_status finish(fem_adaptation *a, const char *stopped_by, bool print)
{
    char *text = NULL, warning[FEM_SUMMARY_WARNING];
    const char *directory = a->input->keys.output.directory.value;
    fem_profile profile = {.count = 0};
    yoke_status status = app_ranks_agree(a->ranks, fem_summary_text(a->summary, stopped_by, &text));
    if (!status) status = app_ranks_agree(a->ranks, fem_distribution_profile(a->distribution, &profile));
    if (status) {
        yoke_release(a->context, text);
        return status;
    }
    if (app_ranks_number(a->ranks) == 0) status = app_file_write(a->context, directory, FEM_RESULTS_SUMMARY, print_text, text);
    fem_summary_warning(a->summary, warning);
    if (!status && warning[0]) status = fem_record_warn(a->record, warning);
    if (!status) status = fem_warn_of_locking(a->problem, a->now.estimate.relative, a->record);
    if (!status && a->run->distribution.profile) status = fem_record_profile(a->record, &profile);
    if (!status) status = fem_record_finish(a->record, stopped_by);
    status = app_ranks_agree(a->ranks, status);
    if (!status && print) app_print(a->run->terminal, "stopped by: %s; results in %s\n\n%s", stopped_by, directory, text);
    if (!status && print && a->run->distribution.profile) fem_profile_print(a->run->terminal, &profile);
    if (!status && warning[0] && a->run->terminal->quiet) yoke_log(a->context, YOKE_LOG_WARNING, "%s", warning);
    yoke_release(a->context, text);
    return status;
}

/* Adds to the message of an interrupted run how the run can be continued. */
static yoke_status tell_restart(const fem_adaptation *a)
{
    char why[512];
    (void)snprintf(why, sizeof why, "%s", yoke_last_error(a->context));
    return yoke_fail(a->context, YOKE_ERROR_INTERRUPTED, "%s; yoke fem --restart %s goes on", why, a->input->keys.output.directory.value);
}

static yoke_status loop(fem_adaptation *a)
{
    const fem_case_refine *limits = &a->input->keys.refine;
    const char *stopped_by = NULL;
    while (!stopped_by) {
        yoke_status status = YOKE_OK;
        if (!a->now.space) { /* otherwise the step was solved before the run ended */
            status = fem_adaptation_step(a);
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

/* Passes the last step's field to the caller, with the forest and the space that it needs. */
static void keep_field(fem_adaptation *a)
{
    double **value = a->now.with_rigid ? &a->now.with_rigid : &a->now.solution->u;
    *a->run->keep = (fem_field){.forest = a->forest, .space = a->now.space, .value = *value};
    *value = NULL;
    a->forest = NULL;
    fem_step_release_results(&a->now);
    memset(&a->now, 0, sizeof a->now);
}

/* Prints what is known of the case before it is solved. */
static yoke_status inspect(fem_adaptation *a)
{
    fem_space *space;
    fem_inspection inspection = {.context = a->context};
    char *text = NULL;
    yoke_status status = fem_space_create(a->problem, a->forest, a->problem->element, &space);
    if (status) return status;
    status = fem_inspect(a->input, space, &inspection);
    if (!status && app_ranks_number(a->ranks) == 0) status = fem_inspection_text(&inspection, (double)a->memory_bytes, &text);
    status = app_ranks_agree(a->ranks, status);
    if (!status && text) app_print(a->run->terminal, "%s", text);
    yoke_release(a->context, text);
    fem_inspection_release(&inspection);
    fem_space_destroy(space);
    return status;
}

yoke_status fem_adapt(const fem_run *run, const fem_case *input, const fem_problem *problem)
{
    fem_adaptation a = {
        .run = run,
        .input = input,
        .problem = problem,
        .context = run->context,
        .ranks = problem->mesh->ranks,
        .operator_kind = input->keys.solver.operator.value == FEM_OPERATOR_STORED ? FEM_STORED : FEM_MATRIXFREE,
    };
    a.hooks = (fem_hooks){.interrupted = interrupted, .progress = show_progress, .working = show_work, .reached = keep_reached, .user = &a};
    a.table.components = problem->components;
    a.table.stress_unit = input->units.stress;
    yoke_status status = fem_adaptation_prepare(&a);
    if (!status && run->check) status = inspect(&a);
    if (!status && !run->check)
        status = app_ranks_agree(a.ranks, app_interrupt_catch(run->context)); /* from here on there are results to keep */
    if (!status && !run->check) status = fem_adaptation_begin(&a);
    if (!status && !run->check) status = loop(&a);
    if (status == YOKE_ERROR_INTERRUPTED && a.finished) {
        yoke_status written = finish(&a, "interrupted", false);
        if (written) status = written;
    }
    if (status == YOKE_ERROR_INTERRUPTED && !run->keep && a.keep.checkpoints && fem_checkpoints_kept(a.keep.checkpoints))
        status = tell_restart(&a); /* not for the heat case of another case, which starts it anew */
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
