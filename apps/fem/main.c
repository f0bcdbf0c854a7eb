/* main.c - yoke-fem: reads a case and its mesh and runs it, or measures devices (calibrate.h). */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <omp.h>
#include <signal.h>
#include <unistd.h>

#include "adapt/adapt.h"
#include "adapt/heat.h"
#include "calibrate.h"
#include "command.h"
#include "common/console/interrupt.h"
#include "common/console/program.h"
#include "common/files/file.h"
#include "common/machine/threads.h"
#include "common/ranks/devices.h"
#include "output/results.h"
#include "session.h"

/* Suggests a change with which the run does not end at once for the same reason.  estimate: relative estimate in its latest checkpoint. */
static void suggest_change(const fem_case_refine *refine, const char *stopped_by, double estimate, char *change, size_t size)
{
    if (!strcmp(stopped_by, "tolerance") && refine->tolerance.value > 0 && estimate > 0)
        snprintf(change, size, "refine.tolerance=%.3g", fmin(estimate, refine->tolerance.value) / 2);
    else if (!strcmp(stopped_by, "max_elements"))
        snprintf(change, size, "refine.max_elements=%.0f", fmin(8 * (double)refine->max_elements.value, INT_MAX));
    else
        snprintf(change, size, "refine.steps=%lld", (long long)refine->steps.value + 1);
}

/* Sets *ended if nothing is left to do, and prints this. */
static yoke_status tell_if_ended(yoke_context *context, app_terminal *terminal, const char *directory, const fem_restart_line *before,
                                 const fem_case *input, bool *ended)
{
    char path[PATH_MAX + 64], change[64], *stopped_by = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, FEM_RESULTS_RECORD);
    yoke_status status = fem_record_ended(input, path, &stopped_by);
    *ended = stopped_by != NULL;
    if (*ended) {
        const double estimate = json_number_value(json_object_get(before->restart.checkpoint->state, "relative_estimate"));
        suggest_change(&input->keys.refine, stopped_by, estimate, change, sizeof change);
        app_print(terminal,
                  "the run in %s has ended (stopped by: %s), and nothing is left to do; to go on, change what ended it, as in\n"
                  "yoke fem --restart %s --set %s\n",
                  directory, stopped_by, directory, change);
    }
    yoke_release(context, stopped_by);
    return status;
}

static yoke_status read_distribution(yoke_context *context, const fem_command *line, fem_distribution_options *options)
{
    static const char *const uses[] = {"auto", "cpu", "gpu", "both", NULL}, *const policies[] = {"adaptive", "paper", NULL};
    static const char *const exchanges[] = {"halo", "full", NULL};
    int use = 0, policy = 0, exchange = 0;
    yoke_status status = app_option_choice(context, "case", line->use, uses, &use);
    if (!status) status = app_option_choice(context, "balance", line->balance, policies, &policy);
    if (!status) status = app_option_choice(context, "exchange", line->exchange, exchanges, &exchange);
    *options = (fem_distribution_options){.devices = line->devices,
                                          .store = app_option_store(line->store, NULL),
                                          .declared = line->declared,
                                          .model = line->model,
                                          .profile = line->profile,
                                          .simulated = line->machine != NULL,
                                          .use = (yoke_run_use[]){YOKE_RUN_ANY, YOKE_RUN_HOSTS, YOKE_RUN_ACCELERATORS, YOKE_RUN_BOTH}[use],
                                          .policy = policy ? YOKE_BALANCE_PAPER : YOKE_BALANCE_ADAPTIVE,
                                          .exchange = exchange ? FEM_EXCHANGE_FULL : FEM_EXCHANGE_HALO};
    options->gpu_share = NAN;
    if (!status) status = app_option_real(context, "share", line->share, 0, 1, &options->gpu_share);
    if (!status &&
        ((options->use == YOKE_RUN_HOSTS && options->gpu_share > 0) || (options->use == YOKE_RUN_ACCELERATORS && options->gpu_share < 1)))
        status =
            yoke_fail(context, YOKE_ERROR_INPUT, "--case %s gives %s of the elements to GPUs, and --share %s another part: leave one out",
                      line->use, options->use == YOKE_RUN_HOSTS ? "none" : "all", line->share);
    return status;
}

/* The copy of the record may be written to the place of the record itself. */
static bool is_record(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return path && !strcmp(slash ? slash + 1 : path, FEM_RESULTS_RECORD);
}

enum { NAMED_FILES = 8 };
/* Lists the files that the command line and the case name, with the end of the list. */
static void list_files(const fem_command *line, const fem_case *input, const char *json, app_named_file files[NAMED_FILES])
{
    const app_named_file all[NAMED_FILES] = {{"CASE", input->path, true},
                                             {"the mesh of the case", input->mesh_path, true},
                                             {"the heat case", input->heat_path, true},
                                             {"--machine", line->machine, true},
                                             {"--store", app_option_store(line->store, NULL), false},
                                             {"--write-model", line->model, false},
                                             {"--json", json, false},
                                             {0}};
    memcpy(files, all, sizeof all);
}

/* Checks that no other file is in the place of a result, of this case or, in another directory, of its heat case. */
static yoke_status check_results(yoke_context *context, const fem_command *line, const fem_case *input, const char *directory)
{
    const bool copies = directory == input->keys.output.directory.value && is_record(line->json);
    app_named_file files[NAMED_FILES];
    list_files(line, input, copies ? NULL : line->json, files);
    for (const app_named_file *file = files; file->option; file++)
        if (file->path && fem_results_has(directory, file->path))
            return yoke_fail(context, YOKE_ERROR_INPUT,
                             "%s: %s has the name and place of a file of this run's results (output.directory %s): give another file",
                             file->option, file->path, directory);
    return YOKE_OK;
}

/* Checks that only the first rank makes, before anything is read: it writes the results, and reads the mesh. */
static yoke_status check_files(yoke_context *context, const fem_command *line, const fem_case *input, fem_mesh_reader **reader)
{
    yoke_status status = fem_mesh_reader_start(context, reader); /* it loads Gmsh while this process starts its libraries */
    if (!status) status = fem_case_check_output(input);
    if (!status) status = check_results(context, line, input, input->keys.output.directory.value);
    app_named_file files[NAMED_FILES];
    list_files(line, input, line->json, files);
    return status ? status : app_files_check(context, files);
}

/*
 * By default each rank takes all cores that it has, and its part of the GPUs of its machine.  Each rank has a simulated machine of its own.
 */
static yoke_status take_devices(yoke_context *context, app_ranks *ranks, const fem_command *line, char *names, size_t size,
                                fem_distribution_options *options)
{
    if (app_ranks_count(ranks) == 1) return YOKE_OK;
    const char *named = line->machine ? "" : line->devices && strcmp(line->devices, "auto") != 0 ? line->devices : NULL;
    yoke_status status = app_devices_of_rank(context, ranks, named, names, size);
    if (!status && !named) options->devices = names;
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, app_ranks *ranks, int argc, char **argv, const fem_command *line,
                       const fem_restart_line *before, const fem_case *input)
{
    fem_mesh_reader *reader = NULL;
    fem_mesh *mesh = NULL;
    fem_problem *problem = NULL;
    fem_heat *heat = NULL;
    char devices[8192];
    fem_run settings = {.context = context,
                        .terminal = terminal,
                        .argc = argc,
                        .argv = argv,
                        .num_words = (before ? before->argc : argc) - 1,
                        .words = before ? before->argv + 1 : (const char *const *)argv + 1,
                        .restart = before ? &before->restart : NULL,
                        .json = line->json,
                        .check = line->check,
                        .explain = line->explain};
    yoke_status status = read_distribution(context, line, &settings.distribution);
    if (!status && line->machine) status = yoke_machine_read(context, line->machine);
    if (!status && app_ranks_number(ranks) == 0) status = check_files(context, line, input, &reader);
    status = app_ranks_agree(ranks, status);
    if (!status) status = app_ranks_agree(ranks, fem_session_start(context, ranks));
    if (!status) status = fem_case_read_mesh(input, ranks, reader, &mesh);
    fem_mesh_reader_destroy(reader);
    if (!status) status = take_devices(context, ranks, line, devices, sizeof devices, &settings.distribution);
    if (!status) status = app_ranks_agree(ranks, fem_problem_create(input, mesh, &problem));
    if (!status) status = app_ranks_agree(ranks, fem_heat_create(input, mesh, &heat));
    if (!status && heat && app_ranks_number(ranks) == 0) status = check_results(context, line, input, fem_heat_directory(heat));
    status = app_ranks_agree(ranks, status);
    if (!status && before) /* before anything is written */
        status = app_ranks_agree(ranks, fem_run_state_check(input, mesh, before->restart.checkpoint, before->restart.path));
    if (!status && heat) status = fem_heat_solve(heat, &settings, problem);
    if (!status) status = fem_adapt(&settings, input, problem);
    if (!status && line->check)
        app_print(terminal,
                  "worst shape: %.3g, of element %lld (1: a box, 0: flat)\n"
                  "%s: %lld hexahedra of order %d, %d groups; case and mesh are valid\n",
                  mesh->worst_shape, (long long)mesh->worst_tag, mesh->path, (long long)mesh->num_elements, mesh->order, mesh->num_groups);
    fem_problem_destroy(problem);
    fem_heat_destroy(heat);
    fem_mesh_destroy(mesh);
    return status;
}

/* Ends the program at a signal, wherever it is: before the computation begins, there is nothing to finish or to save. */
static void leave(int number)
{
    static const char message[] = "yoke fem: interrupted by ", interrupt[] = "SIGINT\n", terminate[] = "SIGTERM\n";
    fem_mesh_abandon();
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    if (written >= 0)
        written = number == SIGINT ? write(STDERR_FILENO, interrupt, sizeof interrupt - 1)
                                   : write(STDERR_FILENO, terminate, sizeof terminate - 1);
    _exit(128 + number);
}

static yoke_status leave_at_signals(yoke_context *context)
{
    struct sigaction action = {.sa_handler = leave};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0)
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "signals cannot be caught");
    return YOKE_OK;
}

static yoke_status read_case(yoke_context *context, const fem_command *line, fem_case **input)
{
    const char *path = line->operands.text[0];
    if (fem_mesh_is_name_of_geometry(path))
        return yoke_fail(
            context, YOKE_ERROR_INPUT,
            "%s is a mesh or a CAD file by its name; yoke fem takes a case, a YAML file that names its mesh, materials, supports and "
            "loads (examples/ has some, docs/reference/case-file.md all keys)",
            path);
    return fem_case_read(context, path, line->overrides.text, line->overrides.count, input);
}

/* before: the run that this one continues; or NULL. */
static yoke_status read_and_run(yoke_context *context, app_terminal *terminal, app_ranks *ranks, int argc, char **argv, fem_command *line,
                                const fem_restart_line *before)
{
    bool ended = false;
    fem_case *input = NULL;
    yoke_status status = app_ranks_agree(ranks, fem_command_add_overrides(context, line));
    if (!status) status = app_ranks_agree(ranks, fem_command_check_alike(context, ranks, line));
    if (status) return status;
    if (!line->threads && app_ranks_count(ranks) > 1) line->threads = app_ranks_threads(ranks, omp_get_max_threads());
    if (line->threads) omp_set_num_threads((int)line->threads);
    if (app_ranks_number(ranks) == 0) status = leave_at_signals(context); /* until fem_adapt begins to compute */
    if (!status) status = read_case(context, line, &input);
    status = app_ranks_agree(ranks, status);
    if (!status) status = app_ranks_agree(ranks, fem_case_check_alike(input, ranks));
    if (!status && before && before->restart.begun) status = tell_if_ended(context, terminal, line->restart, before, input, &ended);
    status = app_ranks_agree(ranks, status);
    app_ranks_broadcast(ranks, &ended, sizeof ended); /* the value of the first rank: another machine may see an older file */
    if (!status && !ended) status = run(context, terminal, ranks, argc, argv, line, before, input);
    fem_case_destroy(input);
    return status;
}

static yoke_status restart(yoke_context *context, app_terminal *terminal, app_ranks *ranks, int argc, char **argv, fem_command *line)
{
    fem_restart_line before = {0};
    yoke_status status = fem_restart_line_read(context, ranks, line->restart, argc, argv, &before);
    if (!status) status = app_ranks_agree(ranks, fem_command_read_again(context, terminal, &before, line));
    if (!status) status = read_and_run(context, terminal, ranks, argc, argv, line, &before);
    fem_restart_line_clear(context, &before);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    fem_command line = {0};
    bool answered = false;
    app_ranks *ranks = NULL;
    yoke_status status = app_ranks_start(context, &ranks);
    if (status) return status;
    terminal->further = app_ranks_number(ranks) > 0;
    if (terminal->further) answered = app_options_ask_help(argc, argv);
    status = app_ranks_agree(ranks, answered ? YOKE_OK : fem_command_read(context, terminal, argc, argv, &line, &answered));
    double any = answered;
    app_ranks_max(ranks, &any, 1);
    if (!status && !(any > 0)) status = app_ranks_agree(ranks, fem_command_check_words(context, ranks, &line));
    if (!status && !(any > 0) && line.restart)
        status = restart(context, terminal, ranks, argc, argv, &line);
    else if (!status && !(any > 0))
        status = read_and_run(context, terminal, ranks, argc, argv, &line, NULL);
    fem_session_end(ranks);
    return app_ranks_end(ranks, terminal, status);
}

/*
 * Starts the program again if the environment does not say how the threads of libraries wait, because libraries read this before main.  The
 * program `yoke` sets it.
 */
static void begin_again(char **argv)
{
    char own[PATH_MAX];
    if (!app_threads_settle()) return;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0) return;
    own[length] = 0;
    app_threads_free();
    execv(own, argv); /* by the path of the program, whose name ps shows; if this fails, the program continues as it is */
}

int main(int argc, char **argv)
{
    begin_again(argv);
    int calibrates = argc > 1 && !strcmp(argv[1], "calibrate"); /* `yoke calibrate` starts it in this way */
    int code = calibrates ? app_program("yoke calibrate", fem_calibrate, argc - 1, argv + 1) : app_program("yoke fem", start, argc, argv);
    fem_session_end(NULL); /* for `yoke calibrate` */
    return code;
}
