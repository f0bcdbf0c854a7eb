/* yoke-bench-energy, started by `yoke bench energy`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/console/nearest.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "energy/experiment.h"
#include "energy/output.h"

typedef struct command_line {
    work_settings settings;
    const char *samples, *seconds, *json, *directory;
    app_list operands;
} command_line;

static void describe(char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "experiments:");
    for (int i = 0; i < num_energy_experiments && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "\n  %-10s %s", energy_experiments[i].name, energy_experiments[i].summary);
    if (length < size)
        snprintf(text + length, size - length,
                 "\nA line of the result: quantity, value +- half width of its 95 %% interval, unit. A missing meter is reported with the "
                 "reason.\ndocs/guide/experiments.md describes each experiment.\n"
                 "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device or meter is not there, 130 or 143 interrupted.");
}

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    work_settings *settings = &line->settings;
    const app_option options[] = {
        {.name = "device",
         .value = "NAME",
         .help = "device that computes; by default openmp, or the machine file's first device",
         .text = &settings->devices},
        {.name = "machine", .value = "FILE", .help = "a simulated machine, for devices sim:NAME", .text = &settings->machine},
        {.name = "meters",
         .value = "LIST",
         .help = "meters to read; by default the best one of each piece of hardware",
         .text = &settings->select},
        {.name = "sysroot",
         .value = "DIRECTORY",
         .help = "directory that replaces / for meters and frequencies",
         .text = &settings->sysroot},
        {.name = "replay", .value = "FILE", .help = "a recorded stream of a meter", .text = &settings->replay},
        {.name = "declare", .value = "idle=W,busy=W", .help = "powers of this machine, for an estimate", .text = &settings->declared},
        {.name = "clock",
         .value = "NAME",
         .help = "for the experiment clock: the frequency to set; by default cpu, or that of the simulated device",
         .text = &settings->frequency},
        {.name = "samples",
         .value = "FILE",
         .help = "fit this table (CSV, as the experiment writes it) and measure nothing",
         .text = &line->samples},
        {.name = "seconds",
         .value = "S",
         .help = "minimum length of a measurement; by default 0.1, and 20 updates of the meters",
         .text = &line->seconds},
        {.name = "repeats",
         .value = "N",
         .help = "measurements at each point; by default 5",
         .number = &settings->repeats,
         .minimum = 1,
         .maximum = 1000},
        {.name = "points",
         .value = "N",
         .help = "numbers of elements, or lengths of sleep; by default 10",
         .number = &settings->points,
         .minimum = 1,
         .maximum = 1000},
        {.name = "elements",
         .value = "N",
         .help = "largest number of elements (26568 bytes each); by default 2000",
         .number = &settings->max_units,
         .minimum = 1,
         .maximum = 10000000},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-energy"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    char details[1024];
    describe(details, sizeof details);
    const app_usage usage = {
        .program = terminal->program,
        .operands = "EXPERIMENT",
        .operands_least = 1,
        .operands_most = 1,
        .summary = "Measures time, energy and power as Lang and Ruenger 2014 did, and fits their formulas.",
        .options = options,
        .details = details,
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

static yoke_status find(yoke_context *context, const char *name, const energy_experiment **found)
{
    const char *names[16];
    for (int i = 0; i < num_energy_experiments; i++) {
        *found = &energy_experiments[i];
        if (strcmp(name, (*found)->name) == 0) return YOKE_OK;
        names[i] = (*found)->name;
    }
    return app_unknown(context, "experiment", name, num_energy_experiments, names);
}

static yoke_status check_line(yoke_context *context, command_line *line)
{
    line->settings.seconds = 0.1;
    yoke_status status = app_option_real(context, "seconds", line->seconds, 1e-9, 1000, &line->settings.seconds);
    if (!status) status = app_directory_make(context, line->directory);
    if (!status) status = app_file_check(context, line->json);
    return status;
}

static yoke_status write_record(yoke_context *context, const char *path, const char *name, const data *d, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench energy", argc, argv, &record);
    if (!status) status = app_record_set(context, record, "experiment", app_json_text(name));
    if (!status) status = app_record_set(context, record, "results", energy_results_value(d));
    if (!status) status = app_record_set(context, record, "notes", energy_notes_value(d));
    if (!status) status = app_record_set(context, record, "columns", energy_columns_value(d));
    if (!status) status = app_record_write(context, record, path);
    json_decref(record);
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, command_line *line, int argc, char **argv)
{
    const energy_experiment *experiment = NULL;
    bool drawn = false;
    void *memory = NULL;
    yoke_status status = find(context, line->operands.text[0], &experiment);
    if (!status) status = check_line(context, line);
    if (!status && line->settings.machine) status = yoke_machine_read(context, line->settings.machine);
    if (!status) status = yoke_allocate(context, 1, sizeof(data), &memory);
    if (status) return status;
    data *d = memory;
    d->context = context;
    status =
        line->samples ? data_read_csv(d, line->samples, experiment->columns) : experiment->measure(context, terminal, &line->settings, d);
    if (!status && d->rows > 0) status = experiment->analyse(d);
    if (!status) energy_print(terminal, d);
    if (!status) status = energy_write(context, line->directory, experiment->name, d, &drawn);
    if (!status && line->json) status = write_record(context, line->json, experiment->name, d, argc, argv);
    if (!status) app_print(terminal, "%lld measurements; data%s in %s\n", (long long)d->rows, drawn ? " and figure" : "", line->directory);
    data_release(d);
    yoke_release(context, memory);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.settings = {.repeats = 5, .points = 10, .max_units = 2000}, .directory = "out/bench-energy"};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = app_interrupt_catch(context);
    return status ? status : run(context, terminal, &line, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke bench energy", start, argc, argv); }
