/* yoke-fem: reads a case and its mesh, runs it; or measures devices (calibrate.h). */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>
#include <signal.h>
#include <unistd.h>

#include "adapt/adapt.h"
#include "adapt/heat.h"
#include "calibrate.h"
#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/file.h"
#include "common/machine/threads.h"
#include "common/ranks/devices.h"
#include "restart.h"
#include "session.h"

typedef struct command_line {
    bool check, explain, profile;
    const char *json, *operator_name;
    const char *objective, *max_slowdown, *power_cap, *deadline, *frequencies;
    const char *devices, *machine, *use, *share, *balance, *exchange, *store, *declared, *model;
    const char *restart; /* directory of the run to go on with; or NULL */
    int64_t threads;
    app_list overrides, operands;
} command_line;

static const app_column columns[] = {
    {"step", "number of the mesh, from 0"},
    {"elements, dofs", "hexahedra of the mesh, and its unknowns"},
    {"iter", "iterations of the conjugate gradient method"},
    {"GPU %", "share of the elements that is on GPUs; only where there is one"},
    {"s/product", "seconds of a matrix-vector product: of each device, as a/b; of several ranks the longest"},
    {"s planned", "predicted seconds of the solve; only with a prediction, which needs an earlier step or the store"},
    {"s solve", "measured seconds of the solve"},
    {"energy J", "energy of the solve; only with a meter or with --declare"},
    {"estimate", "estimated error in the energy norm, relative to that norm"},
    {"Mises", "largest von Mises stress, in the case's unit; elasticity only"},
    {"s total", "seconds of the step: refinement, set-up, solve, estimate and output"},
    {"kernel", "with --profile: product, interface, halo, smoother, transfer or vectors; between kernels: all else"},
    {"device", "the device that works on it"},
    {"GHz", "clock frequency of the device; only where frequencies are set"},
    {"calls", "number of calls; between kernels: of solves"},
    {"s/call", "seconds of a call, mean of those that were timed"},
    {"s all", "seconds of all calls, by that mean"},
    {"J/call, +-", "energy of a call, all that the device's meter shows meanwhile, and half its 95 % interval"},
    {"W", "mean power of the device in a call"},
    {"share %", "all calls' part of the energy of the solves, of the whole machine"},
    {0},
};

/* least, most: how many cases are named; of several, the last one counts. */
static yoke_status parse_words(yoke_context *context, app_terminal *terminal, int least, int most, int argc, char **argv,
                               command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "set",
         .value = "KEY=VALUE",
         .help = "replace a key of the case file, as in refine.steps=5; may be repeated",
         .list = &line->overrides},
        {.name = "json",
         .value = "FILE",
         .help = "write a copy of the run record; -: to standard output, and the table to standard error",
         .text = &line->json},
        {.name = "operator",
         .value = "NAME",
         .help = "matrixfree (by default) or stored: short for --set solver.operator=NAME",
         .text = &line->operator_name},
        {.name = "objective",
         .value = "NAME",
         .help = "least of: time (by default), energy, edp (energy x time) or ed2p (energy x time^2)",
         .text = &line->objective},
        {.name = "max-slowdown", .value = "X", .help = "a step takes at most X times its least time", .text = &line->max_slowdown},
        {.name = "power-cap", .value = "W", .help = "the machine draws at most W watts", .text = &line->power_cap},
        {.name = "deadline", .value = "S", .help = "a step's solve takes at most S seconds", .text = &line->deadline},
        {.name = "clocks",
         .value = "WORD",
         .help = "set (by default): choose frequencies where energy counts; keep: leave them as they are",
         .text = &line->frequencies},
        {.name = "devices",
         .value = "LIST",
         .help = "devices to use, as in openmp:0-7,cuda:0; by default auto: all usable ones",
         .text = &line->devices},
        {.name = "case",
         .value = "CASE",
         .help = "which kinds of them: auto (by default: each device that saves time), cpu, gpu or both",
         .text = &line->use},
        {.name = "share",
         .value = "R",
         .help = "fraction of the elements for the GPUs, 0 to 1; by default chosen from measurements",
         .text = &line->share},
        {.name = "balance",
         .value = "POLICY",
         .help = "shares from measurements: adaptive (by default), or paper (Lang and Ruenger 2014)",
         .text = &line->balance},
        {.name = "exchange",
         .value = "SCHEME",
         .help = "values exchanged in a product: halo (by default), or full (whole vectors, as in papers)",
         .text = &line->exchange},
        {.name = "store",
         .value = "FILE",
         .help = "start from measurements of earlier runs, and add this run's; by default none: neither",
         .text = &line->store},
        {.name = "machine", .value = "FILE", .help = "a simulated machine; its devices are sim:NAME", .text = &line->machine},
        {.name = "declare",
         .value = "idle=W,busy=W",
         .help = "powers of this machine, to estimate energy where it has no meter",
         .text = &line->declared},
        {.name = "write-model",
         .value = "FILE",
         .help = "write what the latest step's plan was made of as a model file, for `yoke plan`",
         .text = &line->model},
        {.name = "profile", .help = "tell seconds and energy of each kernel at the end; takes 1 % of the time", .flag = &line->profile},
        {.name = "threads",
         .value = "N",
         .help = "threads of the device openmp; by default one per core",
         .number = &line->threads,
         .minimum = 1,
         .maximum = 1024},
        {.name = "explain", .help = "explain under each step how the elements are shared, and why", .flag = &line->explain},
        {.name = "restart",
         .value = "DIRECTORY",
         .help = "go on with the run in this directory, with its case and options, from its last checkpoint",
         .text = &line->restart},
        {.name = "check", .help = "check case and mesh; print sizes, masses and loads; solve and write nothing", .flag = &line->check},
        app_option_quiet(&terminal->quiet),
        {.name = NULL},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "CASE",
        .operands_least = least,
        .operands_most = most,
        .summary = "Solves a problem of 3-D elasticity or heat conduction on an adaptively refined mesh of hexahedra.",
        .options = options,
        .columns = columns,
        .details = "- in the table stands for a number that is not known.\n"
                   "CASE is a YAML file; docs/reference/case-file.md lists its keys and examples/ has cases to start from.\n"
                   "With --restart it may be left out: docs/reference/checkpoint.md.\n"
                   "Results (VTU for ParaView, run.json, summary.txt, probes.csv) go to the case's output.directory,\n"
                   "by default out/NAME for NAME.yaml.\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    yoke_status status = parse_words(context, terminal, 0, 1, argc, argv, line, answered);
    if (status || *answered || line->operands.count || line->restart) return status;
    return parse_words(context, terminal, 1, 1, argc, argv, line, answered); /* says what is missing */
}

/* The words of the run before, and then those of this one. */
static yoke_status parse_restart(yoke_context *context, app_terminal *terminal, const fem_restart_line *before, command_line *line)
{
    bool answered = false;
    const bool named = line->operands.count > 0;
    const char *directory = line->restart;
    char **argv = NULL;
    yoke_copy_bytes(&argv, &before->argv, sizeof argv); /* nobody changes the words */
    *line = (command_line){0};
    yoke_status status = parse_words(context, terminal, 1, APP_LIST_MAXIMUM, before->argc, argv, line, &answered);
    if (!status && answered) status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: has the words of no run", before->path);
    if (status) return status;
    if (before->elsewhere && !named)
        return yoke_fail(
            context, YOKE_ERROR_INPUT,
            "--restart %s: the run was started in the directory %s, from where its case and files are found; restart it there, or "
            "name the case here: yoke fem CASE --restart %s",
            directory, before->before, directory);
    line->restart = directory;
    line->operands.text[0] = line->operands.text[line->operands.count - 1];
    line->operands.count = 1;
    if (line->overrides.count == APP_LIST_MAXIMUM) return yoke_fail(context, YOKE_ERROR_INPUT, "too many --set options");
    line->overrides.text[line->overrides.count++] = before->override;
    return YOKE_OK;
}

/* Whether nothing is left to do: *ended then, and it is said. */
static yoke_status tell_if_ended(yoke_context *context, app_terminal *terminal, const char *directory, const fem_case *input, bool *ended)
{
    char path[PATH_MAX + 64], *stopped_by = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, FEM_RESULTS_RECORD);
    yoke_status status = fem_record_ended(input, path, &stopped_by);
    *ended = stopped_by != NULL;
    if (*ended)
        app_print(terminal,
                  "the run in %s has ended (stopped by: %s), and nothing is left to do; to go on, change what ended it, as in\n"
                  "yoke fem --restart %s --set refine.steps=%lld\n",
                  directory, stopped_by, directory, (long long)input->keys.refine.steps.value + 1);
    yoke_release(context, stopped_by);
    return status;
}

static yoke_status read_distribution(yoke_context *context, const command_line *line, fem_distribution_options *options)
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
    return status ? status : app_option_real(context, "share", line->share, 0, 1, &options->gpu_share);
}

/* What the first rank alone looks at, before anything is read: it writes, and reads the mesh. */
static yoke_status check_files(yoke_context *context, const command_line *line, const fem_case *input, fem_mesh_reader **reader)
{
    yoke_status status = fem_mesh_reader_start(context, reader); /* it loads Gmsh while libraries start here */
    if (!status) status = fem_case_check_output(input);
    if (!status) status = app_file_check(context, line->json);
    if (!status) status = app_file_check(context, app_option_store(line->store, NULL));
    return status ? status : app_file_check(context, line->model);
}

/* By default each rank takes all cores that it has, and its part of its machine's GPUs; a simulated machine is its own. */
static yoke_status take_devices(yoke_context *context, app_ranks *ranks, const command_line *line, char *names, size_t size,
                                fem_distribution_options *options)
{
    if (app_ranks_count(ranks) == 1) return YOKE_OK;
    const char *named = line->machine ? "" : line->devices && strcmp(line->devices, "auto") != 0 ? line->devices : NULL;
    yoke_status status = app_devices_of_rank(context, ranks, named, names, size);
    if (!status && !named) options->devices = names;
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, app_ranks *ranks, int argc, char **argv, const command_line *line,
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

enum { SHORT_OPTIONS = 6, SHORT_BYTES = 96 };

/* Options that are short for --set: their texts are kept in `memory`. */
static yoke_status add_overrides(yoke_context *context, command_line *line, char memory[SHORT_OPTIONS][SHORT_BYTES])
{
    const struct {
        const char *key, *value;
    } options[SHORT_OPTIONS] = {{"solver.operator", line->operator_name},       {"objective.minimise", line->objective},
                                {"objective.max_slowdown", line->max_slowdown}, {"objective.power_cap_w", line->power_cap},
                                {"objective.deadline_s", line->deadline},       {"objective.clocks", line->frequencies}};
    for (int i = 0; i < SHORT_OPTIONS; i++) {
        if (!options[i].value) continue;
        if (line->overrides.count == APP_LIST_MAXIMUM) return yoke_fail(context, YOKE_ERROR_INPUT, "too many --set options");
        snprintf(memory[i], SHORT_BYTES, "%s=%s", options[i].key, options[i].value);
        line->overrides.text[line->overrides.count++] = memory[i];
    }
    return YOKE_OK;
}

/* While nothing is computed there is nothing to finish or to keep: a signal ends the program at once, wherever it is. */
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

/* Each rank has a command line of its own: devices and threads may differ, the problem and what is written not. */
static yoke_status check_alike(yoke_context *context, app_ranks *ranks, const command_line *line)
{
    uint64_t hash = UINT64_C(14695981039346656037), first; /* FNV-1a of the words, each with its end */
    for (int i = -1; i < line->overrides.count; i++) {
        const char *text = i < 0 ? line->operands.text[0] : line->overrides.text[i];
        for (size_t k = 0; k <= strlen(text); k++) hash = (hash ^ (unsigned char)text[k]) * UINT64_C(1099511628211);
    }
    hash ^= (uint64_t)line->profile << 1 | (line->model != NULL); /* which all write together */
    first = hash;
    app_ranks_broadcast(ranks, &first, sizeof first);
    if (hash == first) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT,
                     "this rank's command line names another case, sets other keys of it, or has another --profile or --write-model, than "
                     "that of rank 0");
}

static yoke_status read_case(yoke_context *context, const command_line *line, fem_case **input)
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

/* before: of the run that this one goes on with; or NULL */
static yoke_status read_and_run(yoke_context *context, app_terminal *terminal, app_ranks *ranks, int argc, char **argv, command_line *line,
                                const fem_restart_line *before)
{
    bool ended = false;
    char short_options[SHORT_OPTIONS][SHORT_BYTES];
    fem_case *input = NULL;
    yoke_status status = app_ranks_agree(ranks, add_overrides(context, line, short_options));
    if (!status) status = app_ranks_agree(ranks, check_alike(context, ranks, line));
    if (status) return status;
    if (!line->threads && app_ranks_count(ranks) > 1) line->threads = app_ranks_threads(ranks, omp_get_max_threads());
    if (line->threads) omp_set_num_threads((int)line->threads);
    if (app_ranks_number(ranks) == 0) status = leave_at_signals(context); /* until fem_adapt begins to compute */
    if (!status) status = read_case(context, line, &input);
    if (!status && before && before->begun) status = tell_if_ended(context, terminal, line->restart, input, &ended);
    status = app_ranks_agree(ranks, status);
    app_ranks_broadcast(ranks, &ended, sizeof ended); /* what the first rank has read: another machine may see an older file */
    if (!status && !ended) status = run(context, terminal, ranks, argc, argv, line, before, input);
    fem_case_destroy(input);
    return status;
}

static yoke_status restart(yoke_context *context, app_terminal *terminal, app_ranks *ranks, int argc, char **argv, command_line *line)
{
    fem_restart_line before = {0};
    yoke_status status = fem_restart_line_read(context, ranks, line->restart, argc, argv, &before);
    if (!status) status = app_ranks_agree(ranks, parse_restart(context, terminal, &before, line));
    if (!status) status = read_and_run(context, terminal, ranks, argc, argv, line, &before);
    fem_restart_line_clear(context, &before);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {0};
    bool answered = false;
    app_ranks *ranks = NULL;
    yoke_status status = app_ranks_start(context, &ranks);
    if (status) return status;
    terminal->further = app_ranks_number(ranks) > 0;
    if (terminal->further) answered = app_options_ask_help(argc, argv);
    status = app_ranks_agree(ranks, answered ? YOKE_OK : parse(context, terminal, argc, argv, &line, &answered));
    double any = answered;
    app_ranks_max(ranks, &any, 1);
    if (!status && !(any > 0) && line.restart)
        status = restart(context, terminal, ranks, argc, argv, &line);
    else if (!status && !(any > 0))
        status = read_and_run(context, terminal, ranks, argc, argv, &line, NULL);
    fem_session_end(ranks);
    return app_ranks_end(ranks, terminal, status);
}

/* Where nobody has said how libraries' threads wait (the program `yoke` does), this program starts anew: they read it before main. */
static void begin_again(char **argv)
{
    char own[PATH_MAX];
    if (!app_threads_settle()) return;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0) return;
    own[length] = 0;
    app_threads_free();
    execv(own, argv); /* by its own name, which ps shows; where that fails it goes on as it is */
}

int main(int argc, char **argv)
{
    begin_again(argv);
    int calibrates = argc > 1 && !strcmp(argv[1], "calibrate"); /* as which `yoke calibrate` starts it */
    int code = calibrates ? app_program("yoke calibrate", fem_calibrate, argc - 1, argv + 1) : app_program("yoke fem", start, argc, argv);
    fem_session_end(NULL); /* of `yoke calibrate` */
    return code;
}
