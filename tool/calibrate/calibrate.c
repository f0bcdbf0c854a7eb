#include "calibrate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/devices.h"
#include "common/file.h"
#include "common/interrupt.h"
#include "common/options.h"
#include "tool.h"

typedef struct command_line {
    const char *devices, *machine, *store, *model, *kernel, *seconds, *sysroot, *declared, *json;
    bool no_clocks;
} command_line;

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "devices",
         .value = "LIST",
         .help = "what to measure, as in openmp,cuda:0; by default all cores and every GPU",
         .text = &line->devices},
        {.name = "machine", .value = "FILE", .help = "a simulated machine instead of this one", .text = &line->machine},
        {.name = "kernel", .value = "KERNEL", .help = "fma (arithmetic, the default) or triad (memory)", .text = &line->kernel},
        {.name = "seconds", .value = "S", .help = "about how long it may take; by default 60", .text = &line->seconds},
        {.name = "store", .value = "FILE", .help = "where results are kept; by default this machine's store", .text = &line->store},
        {.name = "model", .value = "FILE", .help = "write a model file for yoke plan", .text = &line->model},
        {.name = "no-clocks", .help = "leave clock frequencies alone", .flag = &line->no_clocks},
        {.name = "declare", .value = "idle=W,busy=W", .help = "powers of this machine where it has no meter", .text = &line->declared},
        {.name = "sysroot", .value = "DIR", .help = "meters and clocks of a directory of yoke gather", .text = &line->sysroot},
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Measures this machine for plans: speeds of devices alone and together, copies, powers, clocks.",
        .options = options,
        .details = "Where clocks may be set each device is measured at up to 12 of its frequencies, which are restored afterwards.\n"
                   "Sizes that were not used for the models are predicted and measured, and the error is printed (docs/guide/how-to.md).\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status check(yoke_context *context, command_line *line, calibration *c)
{
    c->kernel = line->kernel ? line->kernel : "fma";
    c->budget_s = 60;
    if (strcmp(c->kernel, "fma") != 0 && strcmp(c->kernel, "triad") != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--kernel %s: there are fma (arithmetic) and triad (memory)", c->kernel);
    const char *files[] = {line->store, line->model, line->json};
    yoke_status status = app_option_real(context, "seconds", line->seconds, 1, 3600, &c->budget_s);
    for (int i = 0; i < 3 && !status; i++) status = app_file_check(context, files[i]);
    return status;
}

static yoke_status prepare(calibration *c, const command_line *line)
{
    const yoke_meter_options meters = {.sysroot = line->sysroot, .declared = line->declared};
    char names[CALIBRATE_MOST_DEVICES * 64];
    yoke_status status = tool_set_sysroot(c->context, &c->sysroot);
    if (!status && line->machine) status = yoke_machine_read(c->context, line->machine);
    if (!status) status = calibrate_store_check(c, line->store);
    if (!status) status = yoke_meter_open(c->context, &meters, &c->meter);
    if (!status) {
        c->meters = c->meter->infos;
        c->num_meters = c->meter->count;
    }
    double period_s = status ? 0 : calibrate_period_s(c); /* a power needs many of them */
    c->power_s = fmin(fmax(0.3, 30 * period_s), fmax(fmax(0.3, 10 * period_s), c->budget_s / 60));
    if (!status) status = calibrate_idle(c, NULL, 0, &c->idle_before);
    if (!status && !line->devices) status = app_devices_automatic(c->context, line->machine != NULL, true, true, names, sizeof names, NULL);
    if (!status) app_progress(c->terminal, "opening devices");
    if (!status) status = calibrate_open(c, line->devices ? line->devices : names);
    if (!status && c->num_meters == 0) app_print(c->terminal, "energy: not metered here (`yoke info` says why, and what to do)\n");
    return status;
}

yoke_status tool_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {0};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    calibration *c = NULL;
    status = yoke_allocate(context, 1, sizeof *c, &c);
    if (status) return status;
    *c = (calibration){.context = context,
                       .terminal = terminal,
                       .machine = line.machine,
                       .sysroot = line.sysroot,
                       .declared = line.declared,
                       .no_clocks = line.no_clocks,
                       .begin_s = yoke_clock_s()};
    status = check(context, &line, c);
    if (!status) status = app_interrupt_catch(context);
    if (!status) status = prepare(c, &line);
    if (!status) status = calibrate_measure(c);
    if (!status) status = calibrate_fit(c);
    if (!status) status = calibrate_store(c, line.store);
    if (!status && line.model) status = calibrate_write_model(c, line.model);
    if (!status && line.json) status = calibrate_write_record(c, argc, argv, line.json);
    if (!status) app_print(terminal, "measured in %.0f s\n", yoke_clock_s() - c->begin_s);
    if (!status && c->num_failed > 0)
        status = yoke_fail(context, YOKE_ERROR_DEVICE, "%d of %d devices not calibrated: %s", c->num_failed, c->num_failed + c->num_devices,
                           c->failure);
    calibrate_close(c);
    yoke_release(context, c);
    return status;
}
