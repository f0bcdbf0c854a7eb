#include "command.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/files/file.h"
#include "common/files/plot.h"
#include "output/explain.h"
#include "particles/format.h"
#include "tree/tree.h"

/* First the objectives of runs, then counts. */
static const char *const objectives[] = {"time", "energy", "edp", "ed2p", "instructions", "cycles", NULL};
enum { RUN_OBJECTIVES = 4 };
static const char *const baselines[] = {"operations", NULL};

/* Adds the options that determine what is computed, and how exactly. */
static void add_method_options(app_option_table *table, fmm_command *line)
{
    const app_option options[] = {
        {.name = "direct", .help = "sum over all pairs: exact, and slow for many particles", .flag = &line->direct},
        {.name = "depth",
         .value = "D",
         .help = "depth of the tree; 0: sum over all pairs; by default the tree of least time (--objective)",
         .number = &line->depth,
         .minimum = 0,
         .maximum = FMM_MAX_DEPTH},
        {.name = "cells",
         .value = "N",
         .help = "uniform tree with N cells along the longest side of the particles, instead of 2^D",
         .number = &line->cells,
         .minimum = 1,
         .maximum = 1 << FMM_MAX_DEPTH},
        {.name = "leaf",
         .value = "N",
         .help = "adaptive tree: cells with more than N particles are split, as far as --depth",
         .number = &line->leaf,
         .minimum = 1,
         .maximum = FMM_MAX_PARTICLES},
        {.name = "error", .value = "E", .help = "relative error, in the 2-norm over all particles; by default 1e-3", .text = &line->error},
        {.name = "error-of",
         .value = "KIND",
         .help = "what --error refers to: potentials (by default), forces or energy",
         .text = &line->error_of},
        {.name = "order",
         .value = "P",
         .help = "order of the expansions; by default the lowest that meets the requested error",
         .number = &line->order,
         .minimum = 0,
         .maximum = FMM_MAX_ORDER},
        {.name = NULL},
    };
    app_options_add(table, options);
}

/* Adds the options for the choice of the tree, and for reports about it. */
static void add_choice_options(app_option_table *table, fmm_command *line)
{
    const app_option options[] = {
        {.name = "objective",
         .value = "WHAT",
         .help = "least of the chosen tree: time (by default), energy, edp, ed2p, instructions or cycles (of the cores)",
         .text = &line->objective},
        {.name = "store",
         .value = "FILE",
         .help = "where costs of operations are kept; by default this machine's store; none: nowhere",
         .text = &line->store},
        {.name = "declare", .value = "idle=W,busy=W", .help = "powers of this machine where it has no meter", .text = &line->declared},
        {.name = "explain", .help = "print predicted times by tree", .flag = &line->explain},
        {.name = "measure-all", .help = "run the other sensible trees too, and print both", .flag = &line->measure_all},
        {.name = "repeat",
         .value = "N",
         .help = "with --measure-all: run each N times twice in succession, the shortest times count; by default once",
         .number = &line->repeat,
         .minimum = 1,
         .maximum = 1000},
        {.name = "baseline",
         .value = "KIND",
         .help = "operations: take the depth of least counted operations, as the original cost model does, instead of measured costs",
         .text = &line->baseline},
        {.name = "plot", .value = "FILE.svg", .help = "draw these times of the compared trees", .text = &line->plot},
        {.name = "check",
         .value = "N",
         .help = "compare with direct sums at N particles; 0: none; by default as many as take little time",
         .number = &line->check,
         .minimum = 0,
         .maximum = FMM_MAX_PARTICLES},
        {.name = NULL},
    };
    app_options_add(table, options);
}

/* Adds the options for particles, for files of results, and for what acts between particles. */
static void add_particle_options(app_option_table *table, fmm_command *line)
{
    const app_option options[] = {
        {.name = "generate",
         .value = "KIND",
         .help = "instead of FILE, in the unit cube: grid, shells, xenon, uniform, clusters, line, plane, spiral, outlier",
         .text = &line->distribution},
        {.name = "particles",
         .value = "N",
         .help = "number of generated particles; by default 262144, and 113000 for xenon",
         .number = &line->particles,
         .minimum = 0,
         .maximum = FMM_MAX_PARTICLES},
        {.name = "seed",
         .value = "S",
         .help = "seed of generated positions, by default 1; random charges use the seed S + 1",
         .number = &line->seed,
         .minimum = 0,
         .maximum = INT64_MAX},
        {.name = "charges",
         .value = "KIND",
         .help = "generated: alternating (by default), random (signs) or equal",
         .text = &line->charges},
        {.name = "save", .value = "FILE", .help = "write the particles; -: as columns to standard output", .text = &line->save},
        {.name = "frame",
         .value = "N",
         .help = "the frame of FILE that is read, from 1; by default the first",
         .number = &line->frame,
         .minimum = 1,
         .maximum = INT32_MAX},
        {.name = "frames",
         .value = "A:B",
         .help = "the frames of FILE from A to B, one after the other; or N, or all; results go to .xyz or .h5",
         .text = &line->frames},
        {.name = "output",
         .value = "FILE",
         .help = "write the particles with potential and force; -: as columns to standard output",
         .text = &line->output},
        {.name = "gradient",
         .help = "write the potential's gradient as well, which also exists where the charge is 0: columns gx gy gz",
         .flag = &line->gradient},
        {.name = "potential-only", .help = "compute no forces", .flag = &line->potential_only},
        {.name = "skip-coincident",
         .help = "particles at the same place do not act on each other; else they are an error",
         .flag = &line->skip_coincident},
        {.name = "softening",
         .value = "H",
         .help = "pairs nearer than H have the potential (15 - 10 u^2 + 3 u^4) / (8 H), u = r / H, instead of 1 / r",
         .text = &line->softening},
        {.name = NULL},
    };
    app_options_add(table, options);
}

/* Adds the options for devices and threads, and for output on the terminal and as JSON. */
static void add_device_options(app_option_table *table, fmm_command *line, app_terminal *terminal)
{
    const app_option options[] = {
        {.name = "devices",
         .value = "LIST",
         .help = "devices that sum over pairs, as in openmp,opencl:0.0; auto: all; by default the cores",
         .text = &line->devices},
        {.name = "share",
         .value = "X",
         .help = "part of the near field for accelerators, 0 to 1; by default that of least time",
         .text = &line->share},
        {.name = "power",
         .value = "LIST",
         .help = "powers of the devices where they have no meters, at rest and at work, as in openmp=20:60,cuda:0=30:300",
         .text = &line->power},
        {.name = "machine", .value = "FILE", .help = "a simulated machine; its devices are sim:NAME", .text = &line->machine},
        {.name = "threads",
         .value = "N",
         .help = "threads on the cores; by default one per core",
         .number = &line->threads,
         .minimum = 1,
         .maximum = 1024},
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {.name = NULL},
    };
    app_options_add(table, options);
}

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, fmm_command *line, bool *answered)
{
    app_option_table table = {0};
    add_method_options(&table, line);
    add_choice_options(&table, line);
    add_particle_options(&table, line);
    add_device_options(&table, line, terminal);
    const app_usage usage = {
        .program = "yoke fmm",
        .operands = "[FILE]",
        .operands_least = 0,
        .operands_most = 1,
        .summary = "Computes potentials and forces of charged particles in open space.",
        .options = table.options,
        .columns = fmm_explain_columns,
        .details = "The potential at a particle is the sum of q / r over all others, the force on it -q times the potential's gradient.\n"
                   "Kinds of files, by the end of their names: .txt, .dat, .xyzq (columns x y z q, with or without a header),\n"
                   ".csv (the same with commas), .xyz, .extxyz (kind x y z q, or extended XYZ with a column charge), .h5, .h5md, .hdf5\n"
                   "(H5MD), .vtu (results for ParaView). - is standard input, as .txt.\n"
                   "Results have the columns x y z q potential fx fy fz (gx gy gz) in the input's order.\n"
                   "With --error 3e-5 or above, near pairs are summed in single precision if this adds at most a tenth of this error.\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

/* ------------------------------------------------------------------------------------------------ checks */

/* Checks the kind of a file that is to be written; NULL: none. */
static yoke_status check_kind(yoke_context *context, const char *path)
{
    fmm_format format;
    return path ? fmm_format_of(context, path, &format) : YOKE_OK;
}

static yoke_status check_results(yoke_context *context, const fmm_command *line)
{
    app_plot_place place;
    const char *input = line->operands.count > 0 ? line->operands.text[0] : NULL;
    const app_named_file files[] = {{"FILE", input && strcmp(input, "-") != 0 ? input : NULL, true},
                                    {"--machine", line->machine, true},
                                    {"--store", app_option_store(line->store, NULL), false},
                                    {"--save", line->save, false},
                                    {"--output", line->output, false},
                                    {"--plot", line->plot, false},
                                    {"the data of --plot", line->plot ? place.data : NULL, false},
                                    {"the script of --plot", line->plot ? place.script : NULL, false},
                                    {"--json", line->json, false},
                                    {0}};
    yoke_status status = check_kind(context, line->save);
    if (!status) status = check_kind(context, line->output);
    if (!status && line->plot) status = app_plot_split(context, line->plot, &place);
    return status ? status : app_files_check(context, files);
}

static bool asks_tuning(const fmm_command *line)
{
    return line->objective || line->declared || line->plot || line->explain || line->measure_all || line->baseline;
}

static bool asks_fast(const fmm_command *line)
{
    return line->depth >= 0 || line->cells > 0 || line->leaf > 0 || line->order >= 0 || line->error || line->error_of;
}

/* Nothing is computed if there is only --save, with or without --frames. */
bool fmm_command_is_fast(const fmm_command *line)
{
    bool wanted = !line->save || line->output || line->json || line->devices || line->check >= 0 || line->store || asks_tuning(line);
    return !line->direct && (asks_fast(line) || wanted);
}

/* Refuses options that contradict each other. */
static yoke_status check_options(yoke_context *context, const fmm_command *line)
{
    bool file = line->operands.count > 0;
    if (file && line->distribution) return yoke_fail(context, YOKE_ERROR_INPUT, "FILE and --generate: give one of them");
    if (!file && !line->distribution)
        return yoke_fail(context, YOKE_ERROR_INPUT, "no particles: give FILE, or --generate KIND (grid, shells, xenon, ...)");
    if (file && (line->particles >= 0 || line->seed >= 0 || line->charges))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--particles, --seed and --charges need --generate; FILE has particles of its own");
    if (!file && (line->frame > 0 || line->frames)) return yoke_fail(context, YOKE_ERROR_INPUT, "--frame and --frames need FILE");
    if (line->frame > 0 && line->frames) return yoke_fail(context, YOKE_ERROR_INPUT, "--frame and --frames: give one of them");
    if (line->softening && line->skip_coincident)
        return yoke_fail(
            context, YOKE_ERROR_INPUT,
            "--softening and --skip-coincident: give one of them; with a softening particles at the same place act on each other");
    bool fast = fmm_command_is_fast(line);
    if (line->direct && asks_fast(line))
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "--direct sums over all pairs: leave --depth, --cells, --leaf, --order, --error and --error-of out");
    if (line->order >= 0 && (line->error || line->error_of))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--order and --error cannot be combined: --error chooses the order");
    if (line->error_of && line->solve.request.of == FMM_FORCES && line->potential_only)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--error-of forces and --potential-only: there are no forces then");
    if (line->gradient && line->potential_only)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--gradient and --potential-only: give one of them");
    if (line->gradient && !line->output)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--gradient needs --output, the file that it is written to");
    if (line->share && (!fast || !line->devices))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--share needs --devices, and cannot be combined with --direct");
    if (line->power && (!fast || !line->devices))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--power needs --devices, and cannot be combined with --direct");
    if (!fast && line->check >= 0) return yoke_fail(context, YOKE_ERROR_INPUT, "--check cannot be combined with --direct");
    if (line->cells > 0 && (line->depth >= 0 || line->leaf > 0))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--cells gives the whole tree: leave --depth and --leaf out");
    if ((!fast || line->leaf > 0 || line->cells > 0) && asks_tuning(line))
        return yoke_fail(
            context, YOKE_ERROR_INPUT,
            "--objective, --declare, --explain, --measure-all, --baseline and --plot cannot be combined with --direct, --leaf or "
            "--cells");
    if (!fast && line->store) return yoke_fail(context, YOKE_ERROR_INPUT, "--store cannot be combined with --direct");
    if (line->frames && (line->explain || line->measure_all || line->plot))
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "--explain, --measure-all and --plot are for one frame: give --frame N instead of --frames");
    if (line->devices && line->solve.measure)
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "--objective %s and --devices: what devices do is not counted; leave --devices out, or take --objective time",
                         fmm_measure_names[line->solve.measure]);
    if (line->repeat > 0 && !line->measure_all) return yoke_fail(context, YOKE_ERROR_INPUT, "--repeat needs --measure-all");
    if (line->machine && !line->devices) return yoke_fail(context, YOKE_ERROR_INPUT, "--machine needs --devices");
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ what is solved */

static yoke_status read_request(yoke_context *context, const fmm_command *line, fmm_request *request)
{
    int of = 0;
    request->error = 1e-3;
    yoke_status status = app_option_real(context, "error", line->error, 1e-300, 1, &request->error);
    if (!status) status = app_option_choice(context, "error-of", line->error_of, fmm_quantity_names, &of);
    if (!status) request->of = (fmm_quantity)of;
    return status;
}

static yoke_status read_solve(yoke_context *context, fmm_command *line)
{
    fmm_solver_options *solve = &line->solve;
    int objective = 0, baseline = 0;
    *solve = (fmm_solver_options){.order = (int)line->order,
                                  .depth = (int)line->depth,
                                  .cells = line->cells > 0 ? line->cells : 0,
                                  .leaf = line->leaf > 0 ? line->leaf : 0,
                                  .check = line->check,
                                  .gradient = !line->potential_only,
                                  .predict = asks_tuning(line),
                                  .keeps_memory = true,
                                  .measure_all = line->measure_all,
                                  .repeat = line->repeat > 0 ? line->repeat : 1,
                                  .by_operations = line->baseline != NULL,
                                  .store = app_option_store(line->store, ""),
                                  .declared = line->declared,
                                  .devices = line->devices,
                                  .share = line->share ? &line->part : NULL};
    yoke_status status = read_request(context, line, &solve->request);
    if (!status) status = app_option_real(context, "share", line->share, 0, 1, &line->part);
    if (!status) status = fmm_powers_read(context, line->power, &line->powers);
    solve->powers = line->powers.power;
    solve->num_powers = line->powers.count;
    if (!status) status = app_option_choice(context, "objective", line->objective, objectives, &objective);
    if (!status) status = app_option_choice(context, "baseline", line->baseline, baselines, &baseline);
    if (objective < RUN_OBJECTIVES)
        solve->objective = (yoke_objective)objective;
    else
        solve->measure = (fmm_measure)(FMM_MEASURE_INSTRUCTIONS + objective - RUN_OBJECTIVES);
    return status;
}

/* Checks declared powers.  Few particles do not need them, but errors in them are reported nevertheless. */
static yoke_status check_declared(yoke_context *context, const char *declared)
{
    const yoke_meter_options options = {.select = "declared", .declared = declared, .probe_s = -1};
    yoke_meters *meters = NULL;
    if (!declared) return YOKE_OK;
    yoke_status status = yoke_meters_open(context, &options, &meters);
    if (!status) yoke_meters_close(meters);
    return status;
}

static yoke_status check_files(yoke_context *context, const fmm_command *line)
{
    const yoke_status status = check_declared(context, line->declared);
    return status ? status : check_results(context, line);
}

yoke_status fmm_command_read(yoke_context *context, app_terminal *terminal, int argc, char **argv, fmm_command *line, bool *answered)
{
    *line = (fmm_command){.particles = -1, .seed = -1, .depth = -1, .cells = -1, .leaf = -1, .order = -1, .check = -1, .repeat = -1};
    yoke_status status = parse(context, terminal, argc, argv, line, answered);
    if (status || *answered) return status;
    status = app_option_real(context, "softening", line->softening, DBL_MIN, DBL_MAX, &line->soft);
    if (!status) status = read_solve(context, line);
    if (!status) status = check_options(context, line);
    return status ? status : check_files(context, line);
}
