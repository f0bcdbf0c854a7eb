/*
 * yoke-bench-calibrate: how often the 95 % intervals of calibrations contain the true value, and how much plans based on them lose, on
 * generated machines in virtual time.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "calibrate/study.h"
#include "common/console/interrupt.h"
#include "common/console/numbers.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/record.h"

static const double bad_regret = 0.02;

typedef struct command_line {
    int64_t machines, seed;
    const char *json;
} command_line;

typedef struct plan_figures {
    int plans, bad;
    double sum, most;
} plan_figures;

typedef struct figures {
    study_predictions predictions[STUDY_KINDS];
    plan_figures plans[MADE_CONTENTIONS][STUDY_OBJECTIVES];
} figures;

static const char *const objectives[STUDY_OBJECTIVES] = {"time", "energy"};

static const app_column columns[] = {
    {"predictions",
     "seconds of a call at a random size: at the highest frequency; at lower ones that were measured at other sizes; at ones between;\n"
     "beside the other device"},
    {"number", "how many"},
    {"covered %", "of them the 95 % interval holds the truth (goal: 90 to 98 for all)"},
    {"error %, max %", "their relative error: mean, and the largest"},
    {"width %", "mean half width of the intervals"},
    {"plans", "what is least"},
    {"contention", "by how much devices slow each other down"},
    {"above 2 %", "plans that really cost more than 2 % more than the best of a grid, in per cent of the plans"},
    {"regret %", "what they really cost more than that: mean"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "machines", .value = "N", .help = "how many; by default 40", .number = &line->machines, .minimum = 1, .maximum = 100000},
        {.name = "seed", .value = "N", .help = "of the first; by default 1000", .number = &line->seed, .minimum = 0, .maximum = 1000000000},
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .summary = "Calibrates random simulated machines and compares predictions and plans with the truth.",
        .operands = "",
        .options = options,
        .columns = columns,
        .details = "A machine is a CPU and a GPU with 4 to 16 frequencies each, of which five are measured, starts, cliffs, noise, copies "
                   "and contention.\n"
                   "Exit codes: 0 done (whether goals are met or not), 1 failed while running, 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static void add(figures *all, const study_result *one)
{
    for (int k = 0; k < STUDY_KINDS; k++) {
        study_predictions *to = &all->predictions[k];
        const study_predictions *from = &one->predictions[k];
        to->count += from->count;
        to->inside += from->inside;
        to->errors += from->errors;
        to->widths += from->widths;
        to->max_error = fmax(to->max_error, from->max_error);
    }
    int c = 0;
    while (c < MADE_CONTENTIONS - 1 && one->contention > made_contentions[c]) c++;
    for (int o = 0; o < STUDY_OBJECTIVES; o++)
        for (int k = 0; k < STUDY_PLANS; k++) {
            plan_figures *to = &all->plans[c][o];
            const double regret = one->regret[o][k];
            to->plans++;
            to->bad += regret > bad_regret;
            to->sum += regret;
            to->most = fmax(to->most, regret);
        }
}

static void print(app_terminal *terminal, const figures *all)
{
    double count = 0, inside = 0;
    app_print(terminal, "%-20s %8s %10s %8s %8s %8s\n", "predictions", "number", "covered %", "error %", "max %", "width %");
    for (int k = 0; k < STUDY_KINDS; k++) {
        const study_predictions *one = &all->predictions[k];
        const double n = (double)one->count;
        count += n;
        inside += (double)one->inside;
        app_print(terminal, "%-20s %8.0f %10.1f %8.2f %8.2f %8.2f\n", study_kinds[k], n, 100 * (double)one->inside / n,
                  100 * one->errors / n, 100 * one->max_error, 100 * one->widths / n);
    }
    app_print(terminal, "%-20s %8.0f %10.1f\n\n", "all", count, 100 * inside / count);
    app_print(terminal, "%-8s %-11s %8s %10s %9s %8s\n", "plans", "contention", "number", "above 2 %", "regret %", "max %");
    for (int c = 0; c < MADE_CONTENTIONS; c++)
        for (int o = 0; o < STUDY_OBJECTIVES; o++) {
            const plan_figures *one = &all->plans[c][o];
            if (one->plans == 0) continue;
            app_print(terminal, "%-8s %-11g %8d %10.1f %9.2f %8.2f\n", objectives[o], made_contentions[c], one->plans,
                      100.0 * one->bad / one->plans, 100 * one->sum / one->plans, 100 * one->most);
        }
}

static json_t *predictions_json(const figures *all)
{
    json_t *array = json_array();
    for (int k = 0; k < STUDY_KINDS; k++) {
        const study_predictions *one = &all->predictions[k];
        const double n = (double)one->count;
        array = app_json_append(array,
                                json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "predictions", study_kinds[k], "number", (json_int_t)one->count,
                                          "covered", app_json_number((double)one->inside / n), "error", app_json_number(one->errors / n),
                                          "most_error", app_json_number(one->max_error), "width", app_json_number(one->widths / n)));
    }
    return array;
}

static json_t *plans_json(const figures *all)
{
    json_t *array = json_array();
    for (int c = 0; c < MADE_CONTENTIONS; c++)
        for (int o = 0; o < STUDY_OBJECTIVES; o++) {
            const plan_figures *one = &all->plans[c][o];
            array = app_json_append(array, json_pack("{s:s, s:f, s:i, s:i, s:o, s:o}", "objective", objectives[o], "contention",
                                                     made_contentions[c], "number", one->plans, "above_2_percent", one->bad, "regret",
                                                     app_json_number(one->sum / one->plans), "most_regret", app_json_number(one->most)));
        }
    return array;
}

static yoke_status write_record(yoke_context *context, const command_line *line, const figures *all, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench calibrate", argc, argv, &record);
    if (!status) status = app_record_set(context, record, "machines", json_integer((json_int_t)line->machines));
    if (!status) status = app_record_set(context, record, "predictions", predictions_json(all));
    if (!status) status = app_record_set(context, record, "plans", plans_json(all));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, int argc, char **argv)
{
    figures all = {0};
    char path[64];
    yoke_status status = YOKE_OK;
    snprintf(path, sizeof path, "/tmp/yoke-bench-calibrate-%ld", (long)getpid());
    for (int64_t m = 0; m < line->machines && !status; m++) {
        study_result one = {.contention = 0};
        app_progress(terminal, "machine %lld of %lld", (long long)m + 1, (long long)line->machines);
        if (study_machine((uint64_t)(line->seed + m), path, &one))
            return yoke_fail(context, YOKE_ERROR_INTERNAL, "the machine of seed %lld was not calibrated", (long long)(line->seed + m));
        add(&all, &one);
        status = app_interrupt_check(context);
    }
    if (status) return status;
    print(terminal, &all);
    return line->json ? write_record(context, line, &all, argc, argv) : YOKE_OK;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.machines = 40, .seed = 1000};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = app_interrupt_catch(context);
    return status ? status : run(context, terminal, &line, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke bench calibrate", start, argc, argv); }
