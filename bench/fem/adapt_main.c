/* yoke-bench-adapt, started by `yoke bench adapt`. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <sys/resource.h>

#include "adapt/adapt.h"
#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "fem/adaptive.h"
#include "session.h"

enum { PATH_LENGTH = 4096, SETTINGS = 2 };

static const char default_case[] = "examples/drill-hole.yaml", default_steps[] = "refine.steps=12"; /* to 1.17 million dofs */

typedef struct command_line {
    bool quick;
    const char *devices, *json, *directory;
    int64_t threads;
    app_list overrides, operands;
} command_line;

static const app_column columns[] = {
    {"step", "number of the mesh, from 0"},
    {"elements, dofs", "hexahedra of the mesh, and its unknowns"},
    {"hanging", "hanging nodes"},
    {"iter", "iterations of the conjugate gradient method"},
    {"applied", "products with the matrix of this mesh: of the iterations, the preconditioner and the set-up"},
    {"refine s", "refining the mesh and numbering its nodes"},
    {"set-up s", "operators and preconditioner"},
    {"solve s", "the solve"},
    {"estim. s", "error estimate"},
    {"write s", "output"},
    {"rest/solve", "refine + set-up + estimate, over solve"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "set", .value = "KEY=VALUE", .help = "replace a key of the case file; may be repeated", .list = &line->overrides},
        {.name = "devices", .value = "LIST", .help = "devices to use, as in openmp,cuda:0; by default openmp", .text = &line->devices},
        {.name = "threads",
         .value = "N",
         .help = "threads of the device openmp; by default one per core",
         .number = &line->threads,
         .minimum = 1,
         .maximum = 1024},
        {.name = "quick", .help = "measure the ceilings quickly: a trial run", .flag = &line->quick},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-adapt"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "[CASE]",
        .operands_most = 1,
        .summary = "Runs a case adaptively, as yoke fem does, and prints the seconds of each step and phase.",
        .options = options,
        .columns = columns,
        .details =
            "CASE is a case file of yoke fem; by default examples/drill-hole.yaml with 12 steps, to 1.17 million dofs. The results of\n"
            "the run (VTU, run.json) go to the directory `run` beside data and figure.\n"
            "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

/* Runs yoke fem without printing its table; the record is written to `path`. */
static yoke_status adapt(yoke_context *context, const command_line *line, const fem_case *input, const char *path, int argc, char **argv)
{
    app_terminal silent = {.program = "yoke bench adapt", .quiet = true};
    fem_mesh *mesh = NULL;
    fem_problem *problem = NULL;
    const fem_run settings = {.context = context,
                              .terminal = &silent,
                              .argc = argc,
                              .argv = argv,
                              .json = path,
                              .distribution = {.devices = line->devices,
                                               .use = YOKE_RUN_ANY,
                                               .policy = YOKE_BALANCE_ADAPTIVE,
                                               .exchange = FEM_EXCHANGE_HALO,
                                               .gpu_share = NAN}};
    yoke_status status = fem_case_check_output(input);
    if (!status) status = fem_case_read_mesh(input, NULL, NULL, &mesh);
    if (!status) status = fem_problem_create(input, mesh, &problem);
    if (!status) status = fem_adapt(&settings, input, problem);
    fem_problem_destroy(problem);
    fem_mesh_destroy(mesh);
    return status;
}

static yoke_status measure(yoke_context *context, const command_line *line, const fem_case *input, int argc, char **argv,
                           fem_bench_adapt_result *result)
{
    char path[PATH_LENGTH];
    struct rusage usage;
    if (snprintf(path, sizeof path, "%s/run.json", line->directory) >= (int)sizeof path)
        return yoke_fail(context, YOKE_ERROR_INPUT, "the name of the directory is too long: %s", line->directory);
    yoke_status status = app_ceilings_measure(context, omp_get_max_threads(), line->quick, NULL, &result->ceilings);
    double start_s = yoke_clock_s();
    if (!status) status = adapt(context, line, input, path, argc, argv);
    if (status) return status;
    result->run_s = yoke_clock_s() - start_s;
    result->peak_bytes = getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss * 1024 : NAN;
    json_t *record = json_load_file(path, 0, NULL);
    status = record ? fem_bench_adapt_read(context, record, result)
                    : yoke_fail(context, YOKE_ERROR_SYSTEM, "the record of the run cannot be read: %s", path);
    json_decref(record);
    return status;
}

static yoke_status write_record(yoke_context *context, const command_line *line, const fem_bench_adapt_result *result, int argc,
                                char **argv)
{
    json_t *record = NULL;
    if (!line->json) return YOKE_OK;
    yoke_status status = app_record_create(context, "yoke bench adapt", argc, argv, &record);
    if (status) return status;
    status = app_record_set(context, record, "ceilings", app_ceilings_json(&result->ceilings));
    if (!status) status = app_record_set(context, record, "run_s", app_json_number(result->run_s));
    if (!status) status = app_record_set(context, record, "peak_bytes", app_json_number(result->peak_bytes));
    if (!status) status = app_record_set(context, record, "steps", fem_bench_adapt_steps(result));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

/* Reads the case with this program's settings before those of the user: the last setting of a key applies. */
static yoke_status read_case(yoke_context *context, const command_line *line, char *output, size_t size, fem_case **input)
{
    const bool given = line->operands.count > 0;
    app_list overrides = {0};
    if (line->overrides.count > APP_LIST_MAXIMUM - SETTINGS) return yoke_fail(context, YOKE_ERROR_INPUT, "too many --set options");
    if (snprintf(output, size, "output.directory=%s/run", line->directory) >= (int)size)
        return yoke_fail(context, YOKE_ERROR_INPUT, "the name of the directory is too long: %s", line->directory);
    overrides.text[overrides.count++] = output;
    if (!given) overrides.text[overrides.count++] = default_steps;
    for (int i = 0; i < line->overrides.count; i++) overrides.text[overrides.count++] = line->overrides.text[i];
    return fem_case_read(context, given ? line->operands.text[0] : default_case, overrides.text, overrides.count, input);
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.directory = "out/bench-adapt", .devices = "openmp"};
    bool answered = false, drawn = false;
    char output[PATH_LENGTH];
    fem_case *input = NULL;
    fem_bench_adapt_result result = {0};
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    if (line.threads) omp_set_num_threads((int)line.threads);
    status = app_interrupt_catch(context);
    if (!status) status = read_case(context, &line, output, sizeof output, &input);
    if (!status) status = app_directory_make(context, line.directory);
    if (!status) status = app_file_check(context, line.json);
    if (!status) status = fem_session_start(context, NULL);
    if (!status) status = measure(context, &line, input, argc, argv, &result);
    if (!status) fem_bench_adapt_print(terminal, &result);
    if (!status) status = fem_bench_adapt_write(&result, line.directory, &drawn);
    if (!status) status = write_record(context, &line, &result, argc, argv);
    if (!status) app_print(terminal, "data%s in %s\n", drawn ? " and figure" : "; figure: gnuplot adapt.gp", line.directory);
    fem_bench_adapt_result_destroy(&result);
    fem_case_destroy(input);
    return status;
}

int main(int argc, char **argv)
{
    int code = app_program("yoke bench adapt", start, argc, argv);
    fem_session_end(NULL);
    return code;
}
