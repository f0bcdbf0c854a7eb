/* yoke-bench-plan: the time of a plan and of a decision of the balancer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/decision.h"
#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "plan/cases.h"

enum { MAX_ROWS = 96 };

typedef struct command_line {
    int64_t problems, seed;
    const char *objective, *json, *directory;
} command_line;

typedef struct timed_row {
    const plan_case *timed;
    yoke_objective objective;
    plan_figures figures;
} timed_row;

typedef struct all_results {
    timed_row rows[MAX_ROWS];
    int count;
    double decision_s;
} all_results;

static const app_column columns[] = {
    {"problems", "devices x frequencies of each, and which costs they have: see below"},
    {"units", "of work"},
    {"objective", "what is least"},
    {"median ms", "time of a plan: median"},
    {"99 % ms", "99 % quantile"},
    {"max ms", "the longest"},
    {"goal ms", "for the median"},
    {"optimal %", "plans that are proved to be optimal"},
    {"gap %", "largest proved distance from the optimum among the others"},
    {"nodes, max", "steps of the search: mean, and the largest number"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "problems",
         .value = "N",
         .help = "random problems for each row; by default 200",
         .number = &line->problems,
         .minimum = 1,
         .maximum = 1000000},
        {.name = "seed",
         .value = "N",
         .help = "of the random numbers; by default 1",
         .number = &line->seed,
         .minimum = 0,
         .maximum = INT64_MAX},
        {.name = "objective", .value = "NAME", .help = "time, energy, edp or ed2p; by default all", .text = &line->objective},
        app_option_out(&line->directory, "where plan.csv goes; by default out/bench-plan"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .summary = "Times plans for random problems, and a decision of the balancer.",
        .operands = "",
        .options = options,
        .columns = columns,
        .details =
            "8 x 10: 8 devices with 10 frequencies each; 8 + 4: two devices with 8 and 4. Most costs: start costs, host overhead and\n"
            "memory limits; all costs: removable devices and copies too. Round 3 x 10 x 5: three devices with 10 levels, five phases with\n"
            "barriers.\n"
            "Exit codes: 0 done (whether goals are met or not), 1 failed while running, 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

/* ---------------------------------------------------------------------------------------------------- output */

/* Within the goal's time, and proved optimal; for rounds, to within one per cent. */
static bool is_met(const timed_row *row)
{
    const plan_figures *f = &row->figures;
    return f->median_s <= row->timed->goal_s && (f->optimal >= 1 || (row->timed->shape.phases > 0 && f->gap <= 0.01));
}

static void print_head(app_terminal *terminal)
{
    app_print(terminal, "%-20s %8s %-9s %10s %10s %10s %8s %9s %9s %11s %9s\n", "problems", "units", "objective", "median ms", "99 % ms",
              "max ms", "goal ms", "optimal %", "gap %", "nodes", "max");
}

static void print_row(app_terminal *terminal, const timed_row *row)
{
    const plan_figures *f = &row->figures;
    char goal[16] = "", gap[16] = "not known";
    if (!isnan(row->timed->goal_s)) snprintf(goal, sizeof goal, "%g", 1e3 * row->timed->goal_s);
    if (!isnan(f->gap)) snprintf(gap, sizeof gap, "%.2g", 100 * f->gap);
    app_print(terminal, "%-20s %8lld %-9s %10.4f %10.4f %10.4f %8s %9.1f %9s %11.0f %9.0f%s\n", row->timed->name,
              (long long)row->timed->shape.units, app_objective_names[row->objective], 1e3 * f->median_s, 1e3 * f->p99_s, 1e3 * f->max_s,
              goal, 100 * f->optimal, gap, f->nodes, f->max_nodes,
              isnan(row->timed->goal_s) ? ""
              : is_met(row)             ? "  met"
                                        : "  not met");
}

static json_t *row_object(const timed_row *row)
{
    const plan_figures *f = &row->figures;
    return json_pack("{s:s, s:I, s:s, s:f, s:f, s:f, s:o, s:f, s:f, s:o, s:f, s:f}", "problems", row->timed->name, "units",
                     (json_int_t)row->timed->shape.units, "objective", app_objective_names[row->objective], "median_s", f->median_s,
                     "p99_s", f->p99_s, "most_s", f->max_s, "goal_s", app_json_number(row->timed->goal_s), "feasible", f->feasible,
                     "optimal", f->optimal, "gap", app_json_number(f->gap), "nodes_median", f->nodes, "nodes_most", f->max_nodes);
}

static json_t *rows_array(const all_results *results)
{
    json_t *array = json_array();
    for (int i = 0; i < results->count; i++) array = app_json_append(array, row_object(&results->rows[i]));
    return array;
}

static yoke_status write_record(yoke_context *context, const command_line *line, const all_results *results, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench plan", argc, argv, &record);
    if (!status) status = app_record_set(context, record, "rows", rows_array(results));
    if (!status) status = app_record_set(context, record, "problems", json_integer(line->problems));
    if (!status) status = app_record_set(context, record, "seed", json_integer(line->seed));
    if (!status) status = app_record_set(context, record, "decision_8_devices_s", app_json_number(results->decision_s));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

static void print_table(FILE *out, const void *data)
{
    const all_results *results = data;
    fprintf(out, "problems,units,objective,median_s,p99_s,most_s,feasible,optimal,gap,nodes_median,nodes_most\n");
    for (int i = 0; i < results->count; i++) {
        const timed_row *row = &results->rows[i];
        const plan_figures *f = &row->figures;
        fprintf(out, "\"%s\",%lld,%s,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.0f,%.0f\n", row->timed->name, (long long)row->timed->shape.units,
                app_objective_names[row->objective], f->median_s, f->p99_s, f->max_s, f->feasible, f->optimal, f->gap, f->nodes,
                f->max_nodes);
    }
}

/* ------------------------------------------------------------------------------------------------------- run */

static yoke_status check_line(yoke_context *context, const command_line *line)
{
    bool known = line->objective == NULL;
    for (int k = 0; k < PLAN_OBJECTIVES; k++) known = known || strcmp(line->objective, app_objective_names[k]) == 0;
    if (!known) return yoke_fail(context, YOKE_ERROR_INPUT, "--objective %s: expected time, energy, edp or ed2p", line->objective);
    yoke_status status = app_directory_make(context, line->directory);
    if (!status) status = app_file_check(context, line->json);
    return status;
}

static yoke_status run_rows(yoke_context *context, app_terminal *terminal, const command_line *line, all_results *results)
{
    print_head(terminal);
    for (int i = 0; i < num_plan_cases; i++)
        for (int k = 0; k < PLAN_OBJECTIVES; k++) {
            yoke_objective objective = (yoke_objective)k;
            if (line->objective && strcmp(line->objective, app_objective_names[objective]) != 0) continue;
            if (results->count == MAX_ROWS) return YOKE_OK;
            timed_row *row = &results->rows[results->count];
            *row = (timed_row){.timed = &plan_cases[i], .objective = objective};
            yoke_status status = plan_case_run(context, row->timed, objective, line->problems, (uint64_t)line->seed, &row->figures);
            if (status) return status;
            print_row(terminal, row);
            results->count++;
        }
    return YOKE_OK;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, int argc, char **argv)
{
    static all_results results;
    yoke_status status = check_line(context, line);
    if (!status) status = decision_seconds(context, (uint64_t)line->seed, &results.decision_s);
    if (!status) status = run_rows(context, terminal, line, &results);
    if (!status)
        app_print(terminal, "a decision of the balancer for %d devices: %.2f us (median; goal 2)\n", DECISION_DEVICES,
                  1e6 * results.decision_s);
    if (!status) status = app_file_write(context, line->directory, "plan.csv", print_table, &results);
    if (!status && line->json) status = write_record(context, line, &results, argc, argv);
    if (!status) app_print(terminal, "data in %s\n", line->directory);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.problems = 200, .seed = 1, .directory = "out/bench-plan"};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = app_interrupt_catch(context);
    return status ? status : run(context, terminal, &line, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke bench plan", start, argc, argv); }
