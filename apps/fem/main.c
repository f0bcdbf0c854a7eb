/* yoke-fem: reads a case and its mesh, runs it. */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>
#include <omp.h>
#include <sc.h>

#include <p4est.h>

#include "adapt.h"
#include "common/file.h"
#include "common/interrupt.h"
#include "common/options.h"

typedef struct command_line {
    bool quiet, check;
    const char *json, *operator_name;
    int64_t threads;
    app_list overrides, operands;
} command_line;

static yoke_status parse(yoke_context *context, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "set",
         .value = "KEY=VALUE",
         .help = "replace a key of the case file, as in refine.steps=5; may be repeated",
         .list = &line->overrides},
        {.name = "json",
         .value = "FILE",
         .help = "write the run record there too (it is always in the output directory)",
         .text = &line->json},
        {.name = "operator",
         .value = "NAME",
         .help = "matrixfree or stored: short for --set solver.operator=NAME",
         .text = &line->operator_name},
        {.name = "threads",
         .value = "N",
         .help = "threads to use; by default one per core",
         .number = &line->threads,
         .minimum = 1,
         .maximum = 1024},
        {.name = "check", .help = "read and check case and mesh, solve nothing, write nothing", .flag = &line->check},
        {.name = "quiet", .help = "print nothing but warnings and errors", .flag = &line->quiet},
        {.name = NULL},
    };
    const app_usage usage = {
        .program = "yoke fem",
        .operands = "CASE",
        .operands_least = 1,
        .operands_most = 1,
        .summary = "Solves a problem of 3-D elasticity or heat conduction on an adaptively refined mesh of hexahedra.",
        .options = options,
        .details = "CASE is a YAML file; docs/case-file.md lists its keys and examples/ has cases to start from.\n"
                   "Results (VTU for ParaView, run.json) go to the case's output.directory.\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

static yoke_status start_mpi(yoke_context *context, int *argc, char ***argv)
{
    int ranks;
    /* Without this a program started outside of mpirun starts a daemon of Open MPI that it does not need. */
    if (!getenv("OMPI_COMM_WORLD_SIZE")) setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    if (MPI_Init(argc, argv) != MPI_SUCCESS) return yoke_fail(context, YOKE_ERROR_SYSTEM, "MPI does not start; check the MPI installation");
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 1)
        return yoke_fail(context, YOKE_ERROR_INPUT, "started with %d MPI ranks, but this version works with one; its threads use all cores",
                         ranks);
    sc_init(MPI_COMM_WORLD, 0, 0, NULL, SC_LP_ERROR);
    p4est_init(NULL, SC_LP_ERROR);
    return YOKE_OK;
}

static void stop_mpi(void)
{
    int started = 0;
    MPI_Initialized(&started);
    if (!started) return;
    if (sc_package_id >= 0) sc_finalize();
    MPI_Finalize();
}

static yoke_status run(yoke_context *context, app_terminal *terminal, int argc, char **argv, const command_line *line,
                       const fem_case *the_case)
{
    fem_mesh *mesh = NULL;
    fem_problem *problem = NULL;
    fem_run settings = {.context = context,
                        .terminal = terminal,
                        .argc = argc,
                        .argv = argv,
                        .json = line->json,
                        .check = line->check,
                        .threads = (int)line->threads};
    yoke_status status = fem_case_check_output(the_case);
    if (!status && line->json) status = app_file_check(context, line->json);
    if (!status) status = fem_mesh_read(context, the_case->mesh_path, NULL, &mesh);
    if (!status) status = fem_problem_create(the_case, mesh, &problem);
    if (!status) status = start_mpi(context, &argc, &argv);
    if (!status) status = fem_adapt(&settings, the_case, problem);
    if (!status && line->check)
        app_print(terminal, "%s: %lld hexahedra of order %d, %d groups; case and mesh are valid\n", mesh->path,
                  (long long)mesh->num_elements, mesh->order, mesh->num_groups);
    fem_problem_destroy(problem);
    fem_mesh_destroy(mesh);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.quiet = false};
    bool answered = false;
    char operator_override[64];
    fem_case *the_case = NULL;
    yoke_status status = parse(context, argc, argv, &line, &answered);
    if (status || answered) return status;
    terminal->quiet = line.quiet;
    if (line.operator_name) {
        if (line.overrides.count == APP_LIST_MAXIMUM) return yoke_fail(context, YOKE_ERROR_INPUT, "too many --set options");
        snprintf(operator_override, sizeof operator_override, "solver.operator=%s", line.operator_name);
        line.overrides.text[line.overrides.count++] = operator_override;
    }
    if (line.threads) omp_set_num_threads((int)line.threads);
    status = app_interrupt_catch(context);
    if (!status) status = fem_case_read(context, line.operands.text[0], line.overrides.text, line.overrides.count, &the_case);
    if (!status) status = run(context, terminal, argc, argv, &line, the_case);
    fem_case_destroy(the_case);
    return status;
}

int main(int argc, char **argv)
{
    app_terminal terminal;
    app_terminal_start(&terminal, "yoke fem");
    yoke_options options = {.log = app_terminal_log, .log_user = &terminal, .log_level = YOKE_LOG_INFO};
    yoke_context *context = NULL;
    yoke_status status = yoke_context_create(&options, &context);
    if (!status) status = start(context, &terminal, argc, argv);
    int code = app_terminal_end(&terminal, context, status);
    yoke_context_destroy(context);
    stop_mpi();
    return code;
}
