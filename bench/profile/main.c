/* yoke-bench-profile: power profiles and energies of short kernels on simulated sensors, compared with the true values. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/console/numbers.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/plot.h"
#include "common/files/record.h"
#include "profile/simulate.h"

/* Sensors whose window permits a profile, for kernels of 0.5, 2 and 10 ms; the others give only energies. */
static const profile_case cases[] = {
    {"c2075", 0.0005, false},         {"c2075", 0.002, false},
    {"c2075", 0.010, false},          {"pascal", 0.0005, false},
    {"pascal", 0.002, false},         {"pascal", 0.010, false},
    {"volta", 0.0005, false},         {"volta", 0.002, false},
    {"volta", 0.010, false},          {"turing", 0.0005, false},
    {"turing", 0.002, false},         {"turing", 0.010, false},
    {"ga100", 0.0005, false},         {"ga100", 0.002, false},
    {"ga100", 0.010, false},          {"ampere-instant", 0.0005, false},
    {"ampere-instant", 0.002, false}, {"ampere-instant", 0.010, false},
    {"ada-instant", 0.0005, false},   {"ada-instant", 0.002, false},
    {"ada-instant", 0.010, false},    {"hopper-instant", 0.0005, false},
    {"hopper-instant", 0.002, false}, {"hopper-instant", 0.010, false},
    {"kepler", 0.002, true},          {"maxwell", 0.002, true},
    {"ampere", 0.002, true},          {"ada", 0.002, true},
    {"hopper", 0.002, true},
};

/* Profiles are computed only for the first PROFILES seeds of a row, because they take most of the time. */
enum { NUM_CASES = sizeof cases / sizeof cases[0], PROFILES = 20 };

static const double goal_error = 0.05, goal_least = 0.90, goal_most = 0.98, goal_device_s = 300;

typedef struct case_figures {
    int64_t trials, refused, profiles, within; /* within: 5 % */
    double median, p95, most, half, covered, true_covered, device_s, profile_error;
    bool met;
} case_figures;

typedef struct command_line {
    int64_t seeds, first;
    const char *sensor, *json, *directory;
} command_line;

/*
 * Shares may exceed their limits by three standard deviations for this number of seeds; from 1000 seeds on, they must be within the limits.
 */
static bool is_met(const case_figures *f)
{
    double n = (double)f->trials, slack_low = 3 * sqrt(goal_least * (1 - goal_least) / n),
           slack_high = 3 * sqrt(goal_most * (1 - goal_most) / n);
    if (f->trials >= 1000) slack_low = slack_high = 0;
    return f->refused == 0 && f->most <= goal_error && f->covered >= goal_least - slack_low && f->covered <= goal_most + slack_high &&
           f->device_s <= goal_device_s;
}

static case_figures find_figures(const profile_trial *trials, int64_t count, double *errors)
{
    case_figures f = {.trials = count};
    int64_t number = 0;
    for (int64_t i = 0; i < count; i++) {
        const profile_trial *t = &trials[i];
        f.device_s = fmax(f.device_s, t->device_s);
        if (t->status) {
            f.refused++;
            continue;
        }
        errors[number++] = fabs(t->error);
        f.half += t->half;
        f.covered += fabs(t->error) <= t->half;
        f.true_covered += fabs(t->true_error) <= t->true_half;
        f.within += fabs(t->error) <= goal_error;
        f.profiles += t->profile;
        if (t->profile) f.profile_error += t->profile_error;
    }
    if (number == 0) return f;
    app_sort(errors, number);
    f.median = errors[number / 2];
    f.p95 = errors[(number * 95) / 100 < number ? (number * 95) / 100 : number - 1];
    f.most = errors[number - 1];
    f.half /= (double)number;
    f.covered /= (double)number;
    f.true_covered /= (double)number;
    if (f.profiles > 0) f.profile_error /= (double)f.profiles;
    f.met = is_met(&f);
    return f;
}

/* Simulates all seeds of a case, with one context per thread. */
static yoke_status simulate_all(yoke_context *context, const profile_case *simulation, const command_line *line, profile_trial *trials)
{
    yoke_status failure = YOKE_OK;
#pragma omp parallel
    {
        yoke_context *own = NULL;
        yoke_status status = yoke_context_create(NULL, &own);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < line->seeds; i++)
            if (!status && !app_interrupted()) {
                const profile_case own_case = {simulation->sensor, simulation->seconds, simulation->energy_only || i >= PROFILES};
                status = profile_simulate(own, &own_case, (uint64_t)(line->first + i), &trials[i]);
            }
#pragma omp critical
        if (status && !failure) failure = yoke_fail(context, status, "%s", yoke_last_error(own));
        yoke_context_destroy(own);
    }
    return failure ? failure : app_interrupt_check(context);
}

static void print_row(app_terminal *terminal, const profile_case *c, const case_figures *f)
{
    app_print(terminal, "%-15s %5.1f ms %8.3f %8.3f %8.3f %9.3f %9.1f %9.1f %8lld %8.0f %9lld", c->sensor, 1e3 * c->seconds,
              100 * f->median, 100 * f->p95, 100 * f->most, 100 * f->half, 100 * f->covered, 100 * f->true_covered, (long long)f->refused,
              f->device_s, (long long)f->profiles);
    if (f->profiles > 0)
        app_print(terminal, " %7.1f", 100 * f->profile_error);
    else
        app_print(terminal, " %7s", "-");
    app_print(terminal, "  %s\n", f->met ? "met" : "not met");
}

static json_t *row_object(const profile_case *c, const case_figures *f)
{
    return json_pack("{s:s, s:f, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:o, s:b}", "sensor", c->sensor, "kernel_s", c->seconds,
                     "trials", (json_int_t)f->trials, "refused", (json_int_t)f->refused, "error_median", f->median, "error_p95", f->p95,
                     "error_most", f->most, "stated_mean", f->half, "covered", f->covered, "true_covered", f->true_covered, "device_s_most",
                     f->device_s, "profiles", (json_int_t)f->profiles, "profile_error",
                     app_json_number(f->profiles ? f->profile_error : NAN), "met", f->met);
}

static void print_profile(FILE *out, const void *data)
{
    const yoke_profile *profile = data;
    for (int64_t i = 0; i < profile->num_readings; i++)
        fprintf(out, "%.6g %.6g\n", 1e3 * profile->readings[i].time_s, profile->readings[i].power_w);
    fputs("\n\n", out);
    for (int64_t i = 0; i < profile->num_points; i++)
        fprintf(out, "%.6g %.6g\n", 1e3 * profile->points[i].time_s, profile->points[i].power_w);
    fputs("\n\n-1 70\n0 300\n6 185\n12 70\n20 70\n", out);
}

static void print_script(FILE *out, const void *data)
{
    (void)data;
    fputs("set terminal svg size 800,600 noenhanced\nset output 'profile.svg'\nset xlabel 'time since the start of a run, ms'\n"
          "set ylabel 'power, W'\nplot 'profile.dat' index 0 using 1:2 with dots title 'shown by the sensor', '' index 1 "
          "using 1:2 with lines linewidth 2 title 'profile', '' index 2 using 1:2 with steps title 'truth'\n",
          out);
}

/* Draws a profile: a kernel of two steps as shown by a sensor, and the profile computed from it. */
static yoke_status write_example(yoke_context *context, const char *directory, bool *drawn)
{
    app_simulated_options options;
    app_simulated *simulated = NULL;
    yoke_sensor sensor;
    yoke_profile profile = {0};
    double seconds = 0;
    const app_plot plot = {.directory = directory, .base = "profile", .print_data = print_profile, .print_script = print_script};
    yoke_status status = app_simulated_preset(context, "hopper-instant", &options);
    options.num_segments = 2;
    options.seconds[0] = options.seconds[1] = 0.006;
    options.watts[1] = 115;
    if (!status) status = profile_identify(context, &options, &sensor, &seconds);
    if (!status) status = app_simulated_create(context, &options, &simulated);
    if (status) return status;
    yoke_profile_subject subject = app_simulated_subject(simulated);
    status = yoke_profile_measure(context, &subject, &sensor, NULL, &profile);
    app_simulated_destroy(simulated);
    if (!status) status = app_plot_write(context, &plot, &profile, drawn);
    yoke_release(context, profile.points);
    return status;
}

static yoke_status write_record(yoke_context *context, const command_line *line, json_t *rows, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench profile", argc, argv, &record);
    if (!status) status = app_record_set(context, record, "rows", json_incref(rows));
    if (!status) status = app_record_set(context, record, "seeds", json_integer(line->seeds));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

static yoke_status run_cases(yoke_context *context, app_terminal *terminal, const command_line *line, json_t **rows)
{
    void *trials = NULL, *errors = NULL;
    yoke_status status = yoke_allocate(context, line->seeds, sizeof(profile_trial), &trials);
    if (!status) status = yoke_allocate(context, line->seeds, sizeof(double), &errors);
    app_print(terminal, "%-15s %8s %8s %8s %8s %9s %9s %9s %8s %8s %9s %7s\n", "sensor", "kernel", "median %", "p95 %", "max %", "stated %",
              "covered %", "truth %", "refused", "device s", "profiles", "rms %");
    for (int i = 0; i < NUM_CASES && !status; i++) {
        if (line->sensor && strcmp(line->sensor, cases[i].sensor) != 0) continue;
        status = simulate_all(context, &cases[i], line, trials);
        if (status) break;
        case_figures f = find_figures(trials, line->seeds, errors);
        print_row(terminal, &cases[i], &f);
        *rows = app_json_append(*rows, row_object(&cases[i], &f));
    }
    yoke_release(context, errors);
    yoke_release(context, trials);
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, int argc, char **argv)
{
    bool drawn = false, known = line->sensor == NULL;
    for (int i = 0; i < NUM_CASES; i++) known |= line->sensor && strcmp(line->sensor, cases[i].sensor) == 0;
    if (!known)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--sensor %s: there is no such row; yoke profile --simulate x lists the sensors",
                         line->sensor);
    json_t *rows = json_array();
    yoke_status status = app_directory_make(context, line->directory);
    if (!status) status = app_file_check(context, line->json);
    if (!status) status = run_cases(context, terminal, line, &rows);
    if (!status) status = write_example(context, line->directory, &drawn);
    if (!status) app_print(terminal, "data%s in %s\n", drawn ? " and figure" : "; figure: gnuplot profile.gp", line->directory);
    if (!status && line->json) status = write_record(context, line, rows, argc, argv);
    json_decref(rows);
    return status;
}

static const app_column columns[] = {
    {"sensor", "simulated power sensor (yoke profile --simulate x lists them)"},
    {"kernel", "duration of a run"},
    {"median %", "error of a run's energy against what the sensor shows on average: median over the seeds"},
    {"p95 %, max %", "95 % quantile, and the largest"},
    {"stated %", "half width of the stated 95 % interval: mean"},
    {"covered %", "seeds whose interval holds the energy that the sensor shows on average"},
    {"truth %", "seeds whose interval, with the sensor's gain error, holds the true energy"},
    {"refused", "seeds for which no energy is given"},
    {"device s", "device time, identification included: the longest"},
    {"profiles", "of the first 20 seeds: how many have a profile"},
    {"rms %", "their error in the middle of the run, relative to the power above idle"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "seeds",
         .value = "N",
         .help = "number of seeds for each row; by default 1000",
         .number = &line->seeds,
         .minimum = 1,
         .maximum = 1000000},
        {.name = "first",
         .value = "N",
         .help = "the first seed; by default 1",
         .number = &line->first,
         .minimum = 0,
         .maximum = 1000000000},
        {.name = "sensor", .value = "NAME", .help = "only rows of this sensor", .text = &line->sensor},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-profile"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .summary = "Identifies simulated sensors of power and profiles short kernels with them, against the truth.",
        .operands = "",
        .options = options,
        .columns = columns,
        .details = "The run draws 300 W.\n"
                   "Goal: no error above 5 %, none refused, 90 to 98 % covered, at most 300 s of device time with identification.\n"
                   "Exit codes: 0 done (whether goals are met or not), 1 failed while running, 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.seeds = 1000, .first = 1, .directory = "out/bench-profile"};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = app_interrupt_catch(context);
    return status ? status : run(context, terminal, &line, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke bench profile", start, argc, argv); }
