#include "command.h"

#include <stdio.h>
#include <string.h>

#include "common/files/file.h"

static const app_column columns[] = {
    {"step", "number of the mesh, from 0"},
    {"elements, dofs", "hexahedra of the mesh, and its unknowns"},
    {"iter", "iterations of the conjugate gradient method"},
    {"GPU %", "share of the elements on GPUs; only if there is a GPU"},
    {"s/product", "seconds of a matrix-vector product, for several devices as a/b; on several ranks the longest time"},
    {"s planned", "predicted seconds of the solve; only with a prediction, which needs an earlier step or the store"},
    {"s solve", "measured seconds of the solve"},
    {"energy J", "energy of the solve; only with a meter or with --declare"},
    {"estimate", "estimated error in the energy norm, relative to that norm"},
    {"Mises", "largest von Mises stress, in the case's unit; elasticity only"},
    {"s total", "seconds of the step: refinement, set-up, solve, estimate and output"},
    {"kernel", "with --profile: product, interface, halo, smoother, transfer or vectors; between kernels: the rest"},
    {"device", "the device that runs the kernel"},
    {"GHz", "clock frequency of the device; only if frequencies are set"},
    {"calls", "number of calls; for between kernels the number of solves"},
    {"s/call", "seconds of a call: the mean of the timed calls"},
    {"s all", "seconds of all calls, computed from this mean"},
    {"J/call, +-", "energy that the device's meter shows during a call, and half its 95 % interval"},
    {"W", "mean power of the device in a call"},
    {"share %", "energy of all calls as a part of the energy of the whole machine in the solves"},
    {0},
};

/* Options for the case and the way in which it is solved. */
static void add_case_options(app_option_table *table, fem_command *line)
{
    const app_option options[] = {
        {.name = "set",
         .value = "KEY=VALUE",
         .help = "replace a key of the case file, as in refine.steps=5; may be repeated",
         .list = &line->overrides},
        {.name = "json",
         .value = "FILE",
         .help = "copy the run record to FILE; - writes it to standard output, the table to standard error",
         .text = &line->json},
        {.name = "operator",
         .value = "NAME",
         .help = "matrixfree (the default) or stored; short for --set solver.operator=NAME",
         .text = &line->operator_name},
        {.name = NULL},
    };
    app_options_add(table, options);
}

/* Options for the quantity to minimise, and its limits. */
static void add_objective_options(app_option_table *table, fem_command *line)
{
    const app_option options[] = {
        {.name = "objective",
         .value = "NAME",
         .help = "what to minimise: time (the default), energy, edp (energy x time), ed2p (energy x time^2)",
         .text = &line->objective},
        {.name = "max-slowdown", .value = "X", .help = "a step takes at most X times its least time", .text = &line->max_slowdown},
        {.name = "power-cap", .value = "W", .help = "the machine draws at most W watts", .text = &line->power_cap},
        {.name = "deadline", .value = "S", .help = "a step's solve takes at most S seconds", .text = &line->deadline},
        {.name = "clocks",
         .value = "WORD",
         .help = "set (the default): choose frequencies if energy counts; keep: do not change them",
         .text = &line->frequencies},
        {.name = NULL},
    };
    app_options_add(table, options);
}

/* Options for the devices and their shares of the work. */
static void add_device_options(app_option_table *table, fem_command *line)
{
    const app_option options[] = {
        {.name = "devices",
         .value = "LIST",
         .help = "devices to use, as in openmp:0-7,cuda:0; by default auto: all usable ones",
         .text = &line->devices},
        {.name = "case",
         .value = "CASE",
         .help = "kinds of devices to use: auto (the default: each that saves time), cpu, gpu or both",
         .text = &line->use},
        {.name = "share",
         .value = "R",
         .help = "fraction of the elements for the GPUs, 0 to 1; by default chosen from measurements",
         .text = &line->share},
        {.name = "balance",
         .value = "POLICY",
         .help = "rule for shares from measurements: adaptive (the default), paper (Lang and Ruenger 2014)",
         .text = &line->balance},
        {.name = "exchange",
         .value = "SCHEME",
         .help = "values exchanged in a product: halo (the default) or full (whole vectors, as in papers)",
         .text = &line->exchange},
        {.name = "store",
         .value = "FILE",
         .help = "start from measurements of earlier runs, and add this run's; none (the default): neither",
         .text = &line->store},
        {.name = "machine", .value = "FILE", .help = "a simulated machine; its devices are sim:NAME", .text = &line->machine},
        {.name = "declare",
         .value = "idle=W,busy=W",
         .help = "powers of this machine, to estimate energy if it has no meter",
         .text = &line->declared},
        {.name = "write-model",
         .value = "FILE",
         .help = "write the model behind the latest step's plan as a model file, for `yoke plan`",
         .text = &line->model},
        {.name = NULL},
    };
    app_options_add(table, options);
}

/* Options for reports, and for the beginning and end of the run. */
static void add_run_options(app_option_table *table, fem_command *line, app_terminal *terminal)
{
    const app_option options[] = {
        {.name = "profile", .help = "report seconds and energy of each kernel at the end; costs 1 % of the time", .flag = &line->profile},
        {.name = "threads",
         .value = "N",
         .help = "threads of the device openmp; by default one per core",
         .number = &line->threads,
         .minimum = 1,
         .maximum = 1024},
        {.name = "explain", .help = "explain below each step how the elements are shared, and why", .flag = &line->explain},
        {.name = "restart",
         .value = "DIRECTORY",
         .help = "continue the run in this directory, with its case and options, from its last checkpoint",
         .text = &line->restart},
        {.name = "check", .help = "check case and mesh; print sizes, masses and loads; solve and write nothing", .flag = &line->check},
        app_option_quiet(&terminal->quiet),
        {.name = NULL},
    };
    app_options_add(table, options);
}

/* least, most: allowed number of cases; if several are named, the last one counts. */
static yoke_status parse_words(yoke_context *context, app_terminal *terminal, int least, int most, int argc, char **argv, fem_command *line,
                               bool *answered)
{
    app_option_table table = {0};
    add_case_options(&table, line);
    add_objective_options(&table, line);
    add_device_options(&table, line);
    add_run_options(&table, line, terminal);
    const app_usage usage = {
        .program = terminal->program,
        .operands = "CASE",
        .operands_least = least,
        .operands_most = most,
        .summary = "Solves a problem of 3-D elasticity or heat conduction on an adaptively refined mesh of hexahedra.",
        .options = table.options,
        .columns = columns,
        .details = "In the table, - stands for a number that is not known.\n"
                   "CASE is a YAML file; docs/reference/case-file.md lists its keys, and examples/ has cases to start from.\n"
                   "With --restart, CASE may be omitted (docs/reference/checkpoint.md).\n"
                   "Results (VTU for ParaView, run.json, summary.txt, probes.csv) go to the case's output.directory,\n"
                   "by default out/NAME for NAME.yaml.\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

yoke_status fem_command_read(yoke_context *context, app_terminal *terminal, int argc, char **argv, fem_command *line, bool *answered)
{
    yoke_status status = parse_words(context, terminal, 0, 1, argc, argv, line, answered);
    if (status || *answered || line->operands.count || line->restart) return status;
    return parse_words(context, terminal, 1, 1, argc, argv, line, answered); /* reports what is missing */
}

/* A continued run writes its results where those of the earlier one are. */
static yoke_status check_directory(yoke_context *context, const fem_command *line)
{
    static const char key[] = "output.directory=";
    for (int i = 0; i < line->overrides.count; i++) {
        const char *text = line->overrides.text[i];
        if (!strncmp(text, key, sizeof key - 1) && !app_is_same_place(text + sizeof key - 1, line->restart))
            return yoke_fail(context, YOKE_ERROR_INPUT,
                             "--set %s: --restart %s writes its results there, where those of the run before are; leave it out", text,
                             line->restart);
    }
    return YOKE_OK;
}

yoke_status fem_command_read_again(yoke_context *context, app_terminal *terminal, const fem_restart_line *before, fem_command *line)
{
    bool answered = false;
    const bool named = line->operands.count > 0;
    const char *directory = line->restart;
    char **argv = NULL;
    yoke_status status = check_directory(context, line);
    if (status) return status;
    yoke_copy_bytes(&argv, &before->argv, sizeof argv); /* the words are not modified */
    *line = (fem_command){0};
    status = parse_words(context, terminal, 1, APP_LIST_MAXIMUM, before->argc, argv, line, &answered);
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

yoke_status fem_command_add_overrides(yoke_context *context, fem_command *line)
{
    const struct {
        const char *key, *value;
    } options[FEM_COMMAND_SHORT] = {{"solver.operator", line->operator_name},       {"objective.minimise", line->objective},
                                    {"objective.max_slowdown", line->max_slowdown}, {"objective.power_cap_w", line->power_cap},
                                    {"objective.deadline_s", line->deadline},       {"objective.clocks", line->frequencies}};
    for (int i = 0; i < FEM_COMMAND_SHORT; i++) {
        if (!options[i].value) continue;
        if (line->overrides.count == APP_LIST_MAXIMUM) return yoke_fail(context, YOKE_ERROR_INPUT, "too many --set options");
        snprintf(line->short_for[i], sizeof line->short_for[i], "%s=%s", options[i].key, options[i].value);
        line->overrides.text[line->overrides.count++] = line->short_for[i];
    }
    return YOKE_OK;
}

/* FNV-1a hash of texts, each with its terminating zero. */
static const uint64_t hash_of_nothing = UINT64_C(14695981039346656037);

static uint64_t add_text(uint64_t hash, const char *text)
{
    for (size_t k = 0; k <= strlen(text); k++) hash = (hash ^ (unsigned char)text[k]) * UINT64_C(1099511628211);
    return hash;
}

static yoke_status check_restart(yoke_context *context, app_ranks *ranks, const fem_command *line)
{
    const uint64_t hash = line->restart ? add_text(hash_of_nothing, line->restart) : 0;
    uint64_t first = hash;
    app_ranks_broadcast(ranks, &first, sizeof first);
    if (hash == first) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "this rank's command line has another --restart than that of rank 0");
}

/* Rank 0 writes the copy of the record: that file alone may be named, by all ranks or by it alone. */
static yoke_status check_json(yoke_context *context, app_ranks *ranks, const fem_command *line)
{
    const uint64_t hash = line->json ? add_text(hash_of_nothing, line->json) : 0;
    uint64_t first = hash;
    app_ranks_broadcast(ranks, &first, sizeof first);
    if (!line->json || hash == first) return YOKE_OK;
    return yoke_fail(
        context, YOKE_ERROR_INPUT,
        "--json %s: rank 0 writes the run record, and its command line does not name this file: give it there, too, or only there",
        line->json);
}

yoke_status fem_command_check_words(yoke_context *context, app_ranks *ranks, const fem_command *line)
{
    const yoke_status status = check_restart(context, ranks, line), of_json = check_json(context, ranks, line);
    return status ? status : of_json;
}

yoke_status fem_command_check_alike(yoke_context *context, app_ranks *ranks, const fem_command *line)
{
    uint64_t hash = add_text(hash_of_nothing, line->operands.text[0]), first;
    for (int i = 0; i < line->overrides.count; i++) hash = add_text(hash, line->overrides.text[i]);
    /* options that the ranks must have in common */
    hash ^= (uint64_t)line->check << 2 | (uint64_t)line->profile << 1 | (line->model != NULL);
    first = hash;
    app_ranks_broadcast(ranks, &first, sizeof first);
    if (hash == first) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT,
                     "this rank's command line names another case, sets other keys of it, or has another --check, --profile or "
                     "--write-model, than that of rank 0");
}
