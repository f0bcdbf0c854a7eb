/* yoke-bench-overhead, started by `yoke bench overhead`. */
#include <math.h>
#include <stdlib.h>

#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/console/terminal.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "fem/overhead.h"
#include "session.h"

typedef struct command_line {
    const char *devices, *share, *json, *directory;
    int64_t steps, pairs;
    app_list overrides, operands;
} command_line;

static const app_column columns[] = {
    {"step", "number of the mesh, from 0"},
    {"elements, dofs", "hexahedra of the mesh, and its unknowns"},
    {"iter", "iterations of the conjugate gradient method"},
    {"measuring s", "median seconds of a solve in which the balancer's times are measured"},
    {"plain s", "median seconds of a solve without that"},
    {"difference", "median difference of the pairs, relative to plain s, with its uncertainty (95 %)"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "set", .value = "KEY=VALUE", .help = "replace a key of the case file; may be repeated", .list = &line->overrides},
        {.name = "devices", .value = "LIST", .help = "devices to use, as in openmp,cuda:0; by default openmp", .text = &line->devices},
        {.name = "share",
         .value = "R",
         .help = "fraction of the elements for devices that are not the host's cores, 0 to 1; by default equal shares",
         .text = &line->share},
        {.name = "steps",
         .value = "N",
         .help = "refinements; by default those of the case",
         .number = &line->steps,
         .minimum = 0,
         .maximum = FEM_OVERHEAD_MAX_STEPS - 1},
        {.name = "pairs",
         .value = "N",
         .help = "pairs of solves at each step; by default 15",
         .number = &line->pairs,
         .minimum = 1,
         .maximum = FEM_OVERHEAD_MAX_PAIRS},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-overhead"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "CASE",
        .operands_least = 1,
        .operands_most = 1,
        .summary = "Solves a case on its refined meshes alternately with and without the measurements that the balancer needs.",
        .options = options,
        .columns = columns,
        .details =
            "CASE is a case file of yoke fem, such as examples/drill-hole.yaml. A difference counts as noise where it is not larger than\n"
            "its uncertainty (95 %, from the scatter of the pairs).\n"
            "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

/* ---------------------------------------------------------------------------------------------------- output */

static void print_step(const fem_overhead_step *step, void *terminal)
{
    const fem_bench_difference *d = &step->difference;
    app_print(terminal, "%4d %9lld %9lld %5lld %12.6f %12.6f %+8.2f %% +- %.2f %%  %s\n", step->step, (long long)step->elements,
              (long long)step->dofs, (long long)step->iterations, d->median_a, d->median_b, 100 * d->median / d->median_b,
              100 * d->uncertainty / d->median_b, d->below_noise ? "below noise" : "above noise");
}

static json_t *step_object(const fem_overhead_step *step)
{
    const fem_bench_difference *d = &step->difference;
    return json_pack("{s:i, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "step", step->step, "elements", (json_int_t)step->elements,
                     "dofs", (json_int_t)step->dofs, "iterations", (json_int_t)step->iterations, "measuring_s",
                     app_json_number(d->median_a), "plain_s", app_json_number(d->median_b), "difference_s", app_json_number(d->median),
                     "uncertainty_s", app_json_number(d->uncertainty), "below_noise", d->below_noise, "all_measuring_s",
                     app_json_numbers(step->measuring_s, step->pairs), "all_plain_s", app_json_numbers(step->plain_s, step->pairs));
}

static json_t *steps_array(const fem_overhead_result *result)
{
    json_t *array = json_array();
    for (int i = 0; i < result->num_steps; i++) array = app_json_append(array, step_object(&result->steps[i]));
    return array;
}

static yoke_status write_record(yoke_context *context, const char *path, const fem_overhead_result *result, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench overhead", argc, argv, &record);
    if (!status) status = app_record_set(context, record, "steps", steps_array(result));
    if (!status) status = app_record_write(context, record, path);
    json_decref(record);
    return status;
}

/* Writes the results, even if the run failed later. */
static yoke_status finish(yoke_context *context, app_terminal *terminal, const command_line *line, const fem_overhead_result *result,
                          int argc, char **argv)
{
    bool drawn = false;
    int noise = 0;
    if (!result->num_steps) return YOKE_OK;
    for (int i = 0; i < result->num_steps; i++) noise += result->steps[i].difference.below_noise;
    yoke_status status = fem_overhead_write(result, line->directory, &drawn);
    if (!status && line->json) status = write_record(context, line->json, result, argc, argv);
    if (!status)
        app_print(terminal, "difference below noise in %d of %d steps; data%s in %s\n", noise, result->num_steps,
                  drawn ? " and figure" : "; figure: gnuplot overhead.gp", line->directory);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- run */

static yoke_status measure(yoke_context *context, app_terminal *terminal, const command_line *line, const fem_overhead_options *options,
                           int argc, char **argv)
{
    fem_overhead_result result;
    app_print(terminal, "%4s %9s %9s %5s %12s %12s %s\n", "step", "elements", "dofs", "iter", "measuring s", "plain s", "difference");
    yoke_status status = fem_overhead_run(context, options, print_step, terminal, &result);
    yoke_status written = finish(context, terminal, line, &result, argc, argv);
    fem_overhead_result_destroy(&result);
    return status ? status : written;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, double share, int argc, char **argv)
{
    fem_case *input = NULL;
    fem_mesh *mesh = NULL;
    fem_problem *problem = NULL;
    yoke_status status = fem_case_read(context, line->operands.text[0], line->overrides.text, line->overrides.count, &input);
    if (!status) status = app_directory_make(context, line->directory);
    if (!status) status = app_file_check(context, line->json);
    if (!status) status = fem_case_read_mesh(input, NULL, NULL, &mesh);
    if (!status) status = fem_problem_create(input, mesh, &problem);
    if (!status) {
        const int64_t steps = line->steps >= 0 ? line->steps : input->keys.refine.steps.value;
        const fem_overhead_options options = {.input = input,
                                              .problem = problem,
                                              .devices = line->devices,
                                              .gpu_share = share,
                                              .steps = (int)(steps < FEM_OVERHEAD_MAX_STEPS ? steps : FEM_OVERHEAD_MAX_STEPS - 1),
                                              .pairs = (int)line->pairs};
        status = measure(context, terminal, line, &options, argc, argv);
    }
    fem_problem_destroy(problem);
    fem_mesh_destroy(mesh);
    fem_case_destroy(input);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.directory = "out/bench-overhead", .steps = -1, .pairs = 15};
    bool answered = false;
    double share = NAN;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = app_option_real(context, "share", line.share, 0, 1, &share);
    if (!status) status = app_interrupt_catch(context);
    if (!status) status = fem_session_start(context, NULL);
    return status ? status : run(context, terminal, &line, share, argc, argv);
}

int main(int argc, char **argv)
{
    int code = app_program("yoke bench overhead", start, argc, argv);
    fem_session_end(NULL);
    return code;
}
