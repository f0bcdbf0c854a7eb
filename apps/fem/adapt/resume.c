#define _XOPEN_SOURCE 700 /* PATH_MAX */

#include "adapt/resume.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/identity.h"
#include "common/files/record.h"

static yoke_status fail(yoke_context *context, const char *path, const char *what)
{
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s: is damaged: %s", path, what);
}

/* ------------------------------------------------------------------------------------------------- choice and forecast */

enum { CHOICE_NUMBERS = 5, STEP_NUMBERS = 3, LEVEL_NUMBERS = 2, MOST_STEPS = 100000 /* more steps than any run has */ };

/* slow_iterations may be infinite, for which JSON has no number; a negative number represents it. */
static json_t *choice_state(const fem_solver_choice *choice)
{
    const double numbers[CHOICE_NUMBERS] = {isinf(choice->slow_iterations) ? -1 : choice->slow_iterations, choice->factor_operations,
                                            choice->factor_dofs, choice->slow_work.setup, choice->slow_work.iteration};
    return app_json_numbers(numbers, CHOICE_NUMBERS);
}

static int read_choice(const json_t *state, fem_solver_choice *choice)
{
    double n[CHOICE_NUMBERS];
    if (!app_json_read_numbers(state, n, CHOICE_NUMBERS)) return 0;
    choice->slow_iterations = n[0] < 0 ? INFINITY : n[0];
    choice->factor_operations = n[1];
    choice->factor_dofs = n[2];
    choice->slow_work = (fem_multigrid_work){n[3], n[4]};
    return 1;
}

static json_t *forecast_state(const fem_forecast *f)
{
    json_t *steps = json_array(), *levels = json_array();
    for (int i = 0; i < f->num_steps && i < FEM_STEPS_REMEMBERED; i++)
        steps = app_json_append(
            steps, app_json_numbers((const double[]){f->steps[i].elements, f->steps[i].iterations, f->steps[i].products_per_iteration},
                                    STEP_NUMBERS));
    for (int l = 0; l < f->num_levels; l++)
        levels = app_json_append(levels, app_json_numbers((const double[]){f->levels[l].elements, f->levels[l].dofs}, LEVEL_NUMBERS));
    return json_pack("{s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "solver", (int)f->solver, "factored", f->factored, "num_steps", f->num_steps,
                     "steps", steps, "levels", levels, "setup_products", app_json_number(f->setup_products), "other_products",
                     app_json_number(f->other_products));
}

/* Returns nonzero if all numbers are finite and the first `positive` ones are above 0. */
static int are_counts(const double *numbers, int count, int positive)
{
    int good = 1;
    for (int i = 0; i < count; i++) good = good && isfinite(numbers[i]) && (i >= positive || numbers[i] > 0);
    return good;
}

static int read_forecast(const json_t *state, fem_forecast *out)
{
    fem_forecast f = {0};
    int solver;
    json_t *steps, *levels;
    if (json_unpack((json_t *)state, "{s:i, s:i, s:i, s:o, s:o, s:F, s:F}", "solver", &solver, "factored", &f.factored, "num_steps",
                    &f.num_steps, "steps", &steps, "levels", &levels, "setup_products", &f.setup_products, "other_products",
                    &f.other_products) != 0 ||
        solver < 0 || solver > FEM_SOLVER_DIRECT || f.num_steps < 0 || f.num_steps > MOST_STEPS || !json_is_array(steps) ||
        !json_is_array(levels) || json_array_size(levels) > FEM_MAX_SOLVE_LEVELS)
        return 0;
    f.solver = (fem_solver)solver;
    f.num_levels = (int)json_array_size(levels);
    const int remembered = f.num_steps < FEM_STEPS_REMEMBERED ? f.num_steps : FEM_STEPS_REMEMBERED;
    for (int i = 0; i < remembered; i++) {
        double n[STEP_NUMBERS];
        if (!app_json_read_numbers(json_array_get(steps, (size_t)i), n, STEP_NUMBERS) || !are_counts(n, STEP_NUMBERS, 2)) return 0;
        f.steps[i].elements = n[0];
        f.steps[i].iterations = n[1];
        f.steps[i].products_per_iteration = n[2];
    }
    for (int l = 0; l < f.num_levels; l++) {
        double n[LEVEL_NUMBERS];
        if (!app_json_read_numbers(json_array_get(levels, (size_t)l), n, LEVEL_NUMBERS) || !are_counts(n, LEVEL_NUMBERS, 2)) return 0;
        f.levels[l].elements = n[0];
        f.levels[l].dofs = n[1];
    }
    *out = f;
    return 1;
}

/* ----------------------------------------------------------------------------------------------- whole state */

json_t *fem_run_state_save(const fem_run_state *state, json_t *speeds)
{
    char directory[PATH_MAX];
    json_t *saved = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}", "version", yoke_version(), "directory",
                              app_json_text(getcwd(directory, sizeof directory) ? directory : ""), "words",
                              app_json_texts(state->words, state->num_words), "identity", fem_identity(state->input, state->mesh), "record",
                              fem_record_state(state->record), "summary", fem_summary_state(state->summary), "choice",
                              choice_state(state->choice), "forecast", forecast_state(fem_distribution_forecast(state->distribution)),
                              "step", state->step, "iterations", state->iterations, "refine_s", app_json_number(state->refine_s),
                              "relative_estimate", app_json_number(state->relative_estimate), "speeds", speeds);
    return saved;
}

yoke_status fem_run_state_check(const fem_case *input, const fem_mesh *mesh, const fem_checkpoint *checkpoint, const char *path)
{
    return fem_identity_check(input, mesh, json_object_get(checkpoint->state, "identity"), path);
}

static json_t *restart_value(const fem_run_state *state, const fem_checkpoint *checkpoint, const char *path, int argc, char **argv)
{
    const char *slash = strrchr(path, '/');
    return json_pack("{s:o, s:o, s:o, s:i, s:b, s:i}", "date", app_json_date(), "command", app_json_texts((const char *const *)argv, argc),
                     "checkpoint", app_json_text(slash ? slash + 1 : path), "step", state->step, "solved", checkpoint->solved, "iterations",
                     state->iterations);
}

yoke_status fem_run_state_restore(fem_run_state *state, const fem_checkpoint *checkpoint, const char *path, int argc, char **argv)
{
    yoke_context *context = state->input->context;
    const json_t *saved = checkpoint->state;
    double times[2];
    json_t *refine = json_object_get(saved, "refine_s"), *estimate = json_object_get(saved, "relative_estimate");
    if (json_unpack((json_t *)saved, "{s:i, s:i}", "step", &state->step, "iterations", &state->iterations) != 0 || state->step < 0 ||
        state->step > MOST_STEPS || state->iterations < 0)
        return fail(context, path, "its number of steps is invalid");
    json_t *pair = json_pack("[O, O]", refine, estimate);
    const int good = app_json_read_numbers(pair, times, 2);
    json_decref(pair);
    if (!good || !read_choice(json_object_get(saved, "choice"), state->choice) ||
        !read_forecast(json_object_get(saved, "forecast"), fem_distribution_forecast(state->distribution)))
        return fail(context, path, "its state of the solver is invalid");
    if (!fem_distribution_restore(state->distribution)) return fail(context, path, "what it says of speeds is invalid");
    state->refine_s = times[0];
    state->relative_estimate = times[1];
    const size_t finished = json_array_size(json_object_get(json_object_get(saved, "record"), "steps"));
    if (finished != (size_t)state->step + (checkpoint->solved)) return fail(context, path, "its record has other steps");
    yoke_status status = fem_summary_resume(state->summary, json_object_get(saved, "summary"));
    if (!status)
        status = fem_record_resume(state->record, json_object_get(saved, "record"), restart_value(state, checkpoint, path, argc, argv));
    if (status != YOKE_ERROR_INPUT) return status;
    char why[512];
    snprintf(why, sizeof why, "%s", yoke_last_error(context));
    return fail(context, path, why);
}

const json_t *fem_run_state_speeds(const fem_checkpoint *checkpoint) { return json_object_get(checkpoint->state, "speeds"); }

yoke_status fem_run_state_words(const fem_checkpoint *checkpoint, const char *path, const char **directory, const json_t **words)
{
    json_t *list = json_object_get(checkpoint->state, "words");
    *directory = json_string_value(json_object_get(checkpoint->state, "directory"));
    *words = list;
    int good = *directory && json_is_array(list);
    for (size_t i = 0; good && i < json_array_size(list); i++) good = json_is_string(json_array_get(list, i));
    return good ? YOKE_OK : fail(checkpoint->context, path, "it does not say how the run was started");
}
