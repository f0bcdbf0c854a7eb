/* yoke-bench-balance: the balancer on simulated devices, compared with the required figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/decision.h"
#include "balance/output.h"
#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/record.h"

enum { MAX_ROWS = 128 };

typedef struct command_line {
    int64_t pairs, seed;
    const char *family, *noise, *policy, *json, *directory;
} command_line;

typedef struct all_results {
    simulated_row rows[MAX_ROWS];
    int count;
    double decision_s; /* median seconds of a decision for 8 devices */
} all_results;

static const app_column columns[] = {
    {"family", "knees: smooth speed curves with knees; cliff: with a sudden loss of speed"},
    {"noise", "of the measured times"},
    {"disturb", "the disturbance, and by which factor a device is slower then"},
    {"devices", "in each set"},
    {"policy", "as in --policy"},
    {"median %", "excess: makespan of the share in use over that of the best fixed share, less 1; mean of rounds 5 to 30 from"},
    {"", "equal shares on, without rounds in which a device changes its speed; median over the sets"},
    {"p95 %, p99.9 %", "the same, quantiles over the sets"},
    {"next %", "mean excess of the rounds after such a change, or after the recovery 8 rounds later"},
    {"balanced", "sets that ever come within 5 % of balance, in per cent"},
    {"decisions", "95 % quantile of the decisions that this takes"},
    {"starved", "sets in which a device ends with less than a quarter of its best share"},
    {"goal", "what is to be reached, beside each column; empty: no goal"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "pairs",
         .value = "N",
         .help = "sets of devices for each row; by default 10000",
         .number = &line->pairs,
         .minimum = 1,
         .maximum = 10000000},
        {.name = "seed",
         .value = "N",
         .help = "of the random numbers; by default 1",
         .number = &line->seed,
         .minimum = 0,
         .maximum = INT64_MAX},
        {.name = "family", .value = "NAME", .help = "knees or cliff; by default both", .text = &line->family},
        {.name = "noise", .value = "PERCENT", .help = "only rows with this noise: 0, 1, 3, 10 or 20", .text = &line->noise},
        {.name = "policy",
         .value = "NAME",
         .help = "adaptive, paper (Lang and Ruenger 2014, eq. 26, from the last round alone) or average (eq. 26 with the means of all "
                 "rounds); by default all",
         .text = &line->policy},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-balance"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .summary = "Lets the balancer share work among simulated devices with noise, knees, cliffs and disturbances.",
        .operands = "",
        .options = options,
        .columns = columns,
        .details = "docs/methods/balance.md describes the families; the record has the excess after a change by round.\n"
                   "Exit codes: 0 done (whether goals are met or not), 1 failed while running, 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

/* ---------------------------------------------------------------------------------------------------- output */

static void print_figure(app_terminal *terminal, double value, double goal, double factor, const char *form)
{
    char text[2][24];
    snprintf(text[0], sizeof text[0], form, value * factor);
    snprintf(text[1], sizeof text[1], form, goal * factor);
    app_print(terminal, " %7s %-7s", isnan(value) ? "-" : text[0], isnan(goal) ? "" : text[1]);
}

static void print_head(app_terminal *terminal)
{
    app_print(terminal, "%-6s %5s %-14s %-7s %-8s %15s %15s %15s %15s %15s %15s %15s\n", "family", "noise", "disturb", "devices", "policy",
              "median % goal", "p95 %   goal", "p99.9 % goal", "next %  goal", "balanced goal", "decisions goal", "starved goal");
}

static void print_row(app_terminal *terminal, const simulated_row *row)
{
    const simulated_case *s = &row->simulation;
    const figures *r = &row->reached, *g = &row->goal;
    char disturbance[32];
    snprintf(disturbance, sizeof disturbance, s->factor > 0 ? "%s %g" : "%s", disturbance_name(s->disturbance), s->factor);
    app_print(terminal, "%-6s %3.0f %% %-14s %-7s %-8s", family_name(s->family), 100 * s->noise, disturbance, s->devices ? "2" : "3-8",
              method_name(s->method));
    print_figure(terminal, r->p50, g->p50, 100, "%.2f");
    print_figure(terminal, r->p95, g->p95, 100, "%.2f");
    print_figure(terminal, r->p999, g->p999, 100, "%.2f");
    print_figure(terminal, r->next, g->next, 100, "%.2f");
    print_figure(terminal, r->balanced, g->balanced, 100, "%.2f");
    print_figure(terminal, r->steps_p95, g->steps_p95, 1, "%.0f");
    print_figure(terminal, r->starved, g->starved, 1, "%.0f");
    app_print(terminal, " %s\n", row->met ? "met" : "not met");
}

static json_t *figures_object(const figures *f)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "excess_p50", app_json_number(f->p50), "excess_p95", app_json_number(f->p95),
                     "excess_p999", app_json_number(f->p999), "balanced", app_json_number(f->balanced), "decisions_p95",
                     app_json_number(f->steps_p95), "starved", app_json_number(f->starved), "excess_next", app_json_number(f->next));
}

static json_t *row_object(const simulated_row *row)
{
    const simulated_case *s = &row->simulation;
    return json_pack("{s:s, s:f, s:s, s:f, s:s, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "family", family_name(s->family), "noise",
                     s->noise, "disturbance", disturbance_name(s->disturbance), "factor", s->factor, "devices", s->devices ? "2" : "3-8",
                     "policy", method_name(s->method), "reached", figures_object(&row->reached), "goal", figures_object(&row->goal), "met",
                     row->met, "excess_quantiles", app_json_numbers(row->quantile, OUTPUT_QUANTILES), "excess_median_by_round",
                     app_json_numbers(row->median, SIMULATE_ROUNDS), "excess_p95_by_round", app_json_numbers(row->p95, SIMULATE_ROUNDS),
                     "excess_mean_by_round", app_json_numbers(row->mean, SIMULATE_ROUNDS));
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
    yoke_status status = app_record_create(context, "yoke bench balance", argc, argv, &record);
    if (!status) status = app_record_set(context, record, "rows", rows_array(results));
    if (!status) status = app_record_set(context, record, "pairs", json_integer(line->pairs));
    if (!status) status = app_record_set(context, record, "seed", json_integer(line->seed));
    if (!status) status = app_record_set(context, record, "decision_8_devices_s", app_json_number(results->decision_s));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- run */

static bool wanted(const command_line *line, const table_row *row, sharing_method method)
{
    if (line->family && strcmp(line->family, family_name(row->simulation.family)) != 0) return false;
    if (line->noise && fabs(strtod(line->noise, NULL) - 100 * row->simulation.noise) > 1e-9) return false;
    return !line->policy || strcmp(line->policy, method_name(method)) == 0;
}

static yoke_status check_line(yoke_context *context, const command_line *line)
{
    if (line->family && strcmp(line->family, "knees") != 0 && strcmp(line->family, "cliff") != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--family %s: expected knees or cliff", line->family);
    if (line->policy && strcmp(line->policy, "adaptive") != 0 && strcmp(line->policy, "paper") != 0 && strcmp(line->policy, "average") != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--policy %s: expected adaptive, paper or average", line->policy);
    if (line->noise && strcmp(line->noise, "0") != 0 && strcmp(line->noise, "1") != 0 && strcmp(line->noise, "3") != 0 &&
        strcmp(line->noise, "10") != 0 && strcmp(line->noise, "20") != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--noise %s: expected 0, 1, 3, 10 or 20", line->noise);
    yoke_status status = app_directory_make(context, line->directory);
    if (!status) status = app_file_check(context, line->json);
    return status;
}

static yoke_status run_rows(yoke_context *context, app_terminal *terminal, const command_line *line, simulated_pair *pairs,
                            all_results *results)
{
    yoke_status status = YOKE_OK;
    print_head(terminal);
    for (int method = METHOD_ADAPTIVE; method <= METHOD_AVERAGE; method++)
        for (int i = 0; i < balance_table_rows && !status; i++) {
            const table_row *wish = &balance_table[i];
            if (!wanted(line, wish, (sharing_method)method) || results->count == MAX_ROWS) continue;
            simulated_row *row = &results->rows[results->count];
            row->simulation = wish->simulation;
            row->simulation.method = (sharing_method)method;
            row->simulation.seed = (uint64_t)line->seed;
            row->goal = wish->goal;
            status = simulate(context, &row->simulation, line->pairs, pairs);
            if (!status) status = app_interrupt_check(context);
            if (status) return status;
            row->reached = table_figures(pairs, line->pairs);
            row->met = table_met(&row->reached, &row->goal, 1);
            output_collect(row, pairs, line->pairs);
            print_row(terminal, row);
            results->count++;
        }
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, int argc, char **argv)
{
    static all_results results;
    bool drawn = false;
    void *pairs = NULL;
    yoke_status status = check_line(context, line);
    if (!status) status = yoke_allocate(context, line->pairs, sizeof(simulated_pair), &pairs);
    if (!status) status = decision_seconds(context, (uint64_t)line->seed, &results.decision_s);
    if (!status) status = run_rows(context, terminal, line, pairs, &results);
    yoke_release(context, pairs);
    if (!status) app_print(terminal, "a decision for %d devices: %.2f us (median; goal 2)\n", DECISION_DEVICES, 1e6 * results.decision_s);
    if (!status) status = output_write(context, results.rows, results.count, line->directory, &drawn);
    if (!status && line->json) status = write_record(context, line, &results, argc, argv);
    if (!status) app_print(terminal, "data%s in %s\n", drawn ? " and figure" : "; figure: gnuplot balance.gp", line->directory);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.pairs = 10000, .seed = 1, .directory = "out/bench-balance"};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = app_interrupt_catch(context);
    return status ? status : run(context, terminal, &line, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke bench balance", start, argc, argv); }
