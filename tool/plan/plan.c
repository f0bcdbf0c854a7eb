#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/options.h"
#include "common/files/file.h"
#include "common/files/plot.h"
#include "tool.h"

typedef struct command_line {
    const char *model, *objective, *repetitions, *deadline, *slowdown, *cap, *csv, *plot, *json;
    int64_t units; /* -1: the number in the file */
    const char *time_limit;
    int64_t nodes;
    bool explain;
} command_line;

static const app_column columns[] = {
    {"device", "name in the model file"},
    {"units", "units of work that the device gets"},
    {"share", "part of all units"},
    {"frequency", "frequency at which the device works; - if it gets no units"},
    {"alternative", "another choice: only:NAME has all units on one device; balanced takes the least time;"},
    {"", "published follows the rule of a paper; best is the optimum"},
    {"time, energy", "time and energy of all calls, each followed by the difference to the plan's choice"},
    {"time, s", "with --pareto: time of all calls"},
    {"energy, J", "with --pareto: energy of all calls"},
    {"peak, W", "with --pareto: power while all devices that get units work"},
    {"units (frequency)", "with --pareto: units and frequency of each device"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "objective",
         .value = "NAME",
         .help = "what to minimise: time (default), energy, edp (energy x time), ed2p (energy x time^2)",
         .text = &line->objective},
        {.name = "units",
         .value = "N",
         .help = "units of work, instead of the file's",
         .number = &line->units,
         .maximum = INT64_C(9007199254740992)},
        {.name = "repetitions", .value = "L", .help = "calls after one distribution, instead of the file's", .text = &line->repetitions},
        {.name = "deadline", .value = "S", .help = "the calls take at most S seconds", .text = &line->deadline},
        {.name = "max-slowdown",
         .value = "X",
         .help = "the calls take at most X times the least time; 1.22 allows 22 % more",
         .text = &line->slowdown},
        {.name = "power-cap", .value = "W", .help = "the peak power is at most W watts", .text = &line->cap},
        {.name = "pareto",
         .value = "[FILE.csv]",
         .help = "print the Pareto front of time and energy; as CSV with a file",
         .otherwise = "",
         .text = &line->csv},
        {.name = "nodes",
         .value = "N",
         .help = "search at most N steps; by default 1000000, or fewer with many frequency levels",
         .number = &line->nodes,
         .minimum = 1,
         .maximum = 1000000000000},
        {.name = "time-limit",
         .value = "S",
         .help = "search at most S seconds, then print the best plan so far and its gap",
         .text = &line->time_limit},
        {.name = "explain", .help = "explain the choice in words", .flag = &line->explain},
        {.name = "plot", .value = "FILE.svg", .help = "draw time and energy of the choices (with gnuplot)", .text = &line->plot},
        {.name = "json",
         .value = "FILE",
         .help = "write the plan as JSON; - writes it to standard output, and results to standard error",
         .text = &line->json},
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "MODEL.json",
        .operands_least = 1,
        .operands_most = 1,
        .summary = "Plans how many units of work each device gets, and at which frequency, for least time or energy.",
        .options = options,
        .columns = columns,
        .details =
            "docs/reference/model-file.md describes model files, and examples/models has some. MODEL.json may be - (standard input).\n"
            "Nothing is measured and nothing is set: the answer follows from the file alone (and from --time-limit).\n"
            "Exit codes: 0 there is a plan, 1 there is none within these limits (the message names the limit and the nearest value that\n"
            "can be met), 2 bad input, for example if energy counts and a power is not known.",
    };
    app_list operands = {0};
    yoke_status status = app_options_parse(context, &usage, argc, argv, &operands, answered);
    if (!status && operands.count == 1) line->model = strcmp(operands.text[0], "-") == 0 ? "/dev/stdin" : operands.text[0];
    return status;
}

static yoke_status take_objective(yoke_context *context, const char *text, yoke_objective *objective)
{
    *objective = YOKE_OBJECTIVE_TIME;
    if (text == NULL) return YOKE_OK;
    for (; *objective <= YOKE_OBJECTIVE_ED2P; ++*objective)
        if (strcmp(text, app_objective_names[*objective]) == 0) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "--objective %s: expected time, energy, edp or ed2p", text);
}

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), part = strlen(ending);
    return length > part && strcmp(text + length - part, ending) == 0;
}

/* Checks the files before the work begins. */
static yoke_status check_files(yoke_context *context, const command_line *line)
{
    const char *csv = line->csv && line->csv[0] ? line->csv : NULL;
    app_plot_place place;
    const app_named_file files[] = {{"MODEL.json", line->model, true},
                                    {"--pareto", csv, false},
                                    {"--plot", line->plot, false},
                                    {"the data of --plot", line->plot ? place.data : NULL, false},
                                    {"the script of --plot", line->plot ? place.script : NULL, false},
                                    {"--json", line->json, false},
                                    {0}};
    yoke_status status = line->plot ? app_plot_split(context, line->plot, &place) : YOKE_OK;
    if (status) return status;
    if (csv && !ends_with(csv, ".csv") && strncmp(csv, "/dev/", 5) != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--pareto %s: expected a name that ends in .csv", csv);
    return app_files_check(context, files);
}

static yoke_status take_options(yoke_context *context, const command_line *line, yoke_plan_options *options)
{
    *options = (yoke_plan_options){.max_nodes = line->nodes, .pareto = line->csv != NULL || line->plot != NULL};
    yoke_status status = take_objective(context, line->objective, &options->objective);
    if (!status) status = app_option_real(context, "deadline", line->deadline, 1e-30, 1e30, &options->deadline_s);
    if (!status) status = app_option_real(context, "max-slowdown", line->slowdown, 1, 1e9, &options->max_slowdown);
    if (!status) status = app_option_real(context, "power-cap", line->cap, 1e-9, 1e12, &options->power_cap_w);
    return status ? status : check_files(context, line);
}

static yoke_status write_files(app_terminal *terminal, const command_line *line, const plan_answer *answer, int argc, char **argv)
{
    bool drawn = false;
    yoke_status status = YOKE_OK;
    if (line->csv && line->csv[0]) status = plan_write_csv(answer, line->csv);
    if (!status && line->plot) status = plan_write_plot(answer, line->plot, &drawn);
    if (!status && line->plot && !drawn)
        app_print(terminal, "not drawn, gnuplot is missing or failed; data and script lie beside %s\n", line->plot);
    if (!status && line->json) status = plan_write_record(answer, line->json, argc, argv);
    return status;
}

static yoke_status answer_with(app_terminal *terminal, const command_line *line, const plan_answer *answer, int argc, char **argv)
{
    const char *decision = answer->plan->decision;
    /* Length of the first line, which is in the error message. */
    const int why_not = answer->plan->feasible ? 0 : (int)strcspn(decision, "\n");
    plan_print_answer(terminal, answer);
    if (line->csv && !line->csv[0]) plan_print_front(terminal, answer);
    if (line->explain) app_print(terminal, "\n%s\n", decision + why_not + (why_not > 0 && decision[why_not] == '\n'));
    yoke_status status = write_files(terminal, line, answer, argc, argv);
    if (status || answer->plan->feasible) return status;
    return yoke_fail(answer->context, YOKE_ERROR_NUMERIC, "%.*s", why_not, decision);
}

/* Shows the progress of a search, and stops it at a time. */
typedef struct watch {
    app_terminal *terminal;
    double end_s; /* INFINITY: never */
} watch;

static int look_at_watch(void *user, int64_t nodes)
{
    const watch *w = user;
    app_progress(w->terminal, "%lld choices looked into", (long long)nodes);
    return yoke_clock_s() > w->end_s;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, int argc, char **argv)
{
    yoke_plan_problem *problem = NULL;
    yoke_plan *plan = NULL;
    yoke_plan_options options;
    yoke_status status = take_options(context, line, &options);
    if (!status) status = yoke_plan_problem_read(context, line->model, &problem);
    if (status) return status;
    if (problem->round != NULL && (line->units >= 0 || line->repetitions != NULL)) {
        yoke_release(context, problem);
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "%s: the model has a round, whose cuts have units and whose phases have calls; leave --%s out", line->model,
                         line->units >= 0 ? "units" : "repetitions");
    }
    if (line->units >= 0) problem->units = line->units;
    status = app_option_real(context, "repetitions", line->repetitions, 1e-9, 1e15, &problem->repetitions);
    watch w = {.terminal = terminal};
    double seconds = INFINITY;
    if (!status) status = app_option_real(context, "time-limit", line->time_limit, 0, 1e9, &seconds);
    w.end_s = yoke_clock_s() + seconds;
    options.progress = look_at_watch;
    options.user = &w;
    if (!status) status = yoke_plan_create(context, problem, &options, &plan);
    plan_answer answer = {.context = context, .model = line->model, .problem = problem, .options = &options, .plan = plan};
    if (!status) status = answer_with(terminal, line, &answer, argc, argv);
    yoke_release(context, plan);
    yoke_release(context, problem);
    return status;
}

yoke_status tool_plan(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.units = -1};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    return status || answered ? status : run(context, terminal, &line, argc, argv);
}
