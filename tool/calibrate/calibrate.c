#include "calibrate/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/interrupt.h"
#include "common/options.h"
#include "tool.h"

enum { FEWEST_LEVELS = 4, MOST_LEVELS = 12 };
static const double longest_call_s = 0.05;

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
        {.name = "no-clocks", .help = "leave frequencies as they are", .flag = &line->no_clocks},
        {.name = "declare", .value = "idle=W,busy=W", .help = "powers of this machine where it has no meter", .text = &line->declared},
        {.name = "sysroot", .value = "DIR", .help = "meters and frequencies of a directory of yoke gather", .text = &line->sysroot},
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Measures this machine for plans: speeds of devices alone and together, copies, powers, frequencies.",
        .options = options,
        .details = "Where frequencies may be set, each device is measured at up to 12 of its frequencies, which are restored afterwards.\n"
                   "Sizes that were not used for the models are predicted and measured, and the error is printed (docs/guide/how-to.md).\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status check(yoke_context *context, const command_line *line, calibration *c)
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

/* What comes next, and whether the user has had enough. */
static yoke_status progress(void *user, int64_t device, const char *what)
{
    calibration *c = user;
    app_progress(c->terminal, "%s%s%s", device >= 0 ? c->devices[device].info->name : "", device >= 0 ? ": " : "", what);
    return app_interrupt_check(c->context);
}

static yoke_status open_run(calibration *c, const command_line *line)
{
    yoke_run_options options = {.devices = line->devices,
                                .store = line->store ? line->store : "",
                                .sysroot = line->sysroot,
                                .declared = line->declared,
                                .keep_frequencies = line->no_clocks,
                                .measure_all = 1};
    yoke_status status = tool_set_sysroot(c->context, &options.sysroot);
    if (!status && line->machine) status = yoke_machine_read(c->context, line->machine);
    if (!status) app_progress(c->terminal, "opening devices");
    if (!status) status = yoke_run_create(c->context, &options, &c->run);
    if (!status) status = calibrate_open(c);
    return status;
}

/* All that were there failed: that is no fault of the words on the command line. */
static yoke_status explain_loss(calibration *c, yoke_status status)
{
    char why[1024];
    if (status != YOKE_ERROR_UNAVAILABLE || !c->run || yoke_run_devices(c->run, &c->devices, &c->num_devices)) return status;
    for (int64_t i = 0; i < c->num_devices; i++)
        if (c->devices[i].active) return status;
    snprintf(why, sizeof why, "%s", yoke_last_error(c->context));
    return yoke_fail(c->context, YOKE_ERROR_DEVICE, "%s", why);
}

static yoke_status measure(calibration *c)
{
    /* About half of the time is for calls on sizes; powers and what is repeated take the rest. */
    const double of_device_s = 0.5 * c->budget_s / (double)c->num_devices, level_s = 1.25;
    const yoke_run_calibration of = {.work = c->kernel,
                                     .min_units = 1,
                                     .max_units = calibrate_most_units(c),
                                     .call_s = fmin(longest_call_s, c->budget_s / 40),
                                     .budget_s = of_device_s,
                                     .levels = (int64_t)fmin(fmax(of_device_s / level_s, FEWEST_LEVELS), MOST_LEVELS),
                                     .trial = calibrate_try,
                                     .together = calibrate_try_together,
                                     .copies = 1,
                                     .progress = progress,
                                     .user = c};
    yoke_status status = yoke_run_calibrate(c->run, &of, c->found);
    return status ? status : yoke_run_devices(c->run, &c->devices, &c->num_devices);
}

static yoke_status save(const calibration *c)
{
    const char *path = NULL;
    yoke_status status = yoke_run_save(c->run, &path);
    if (!status) app_print(c->terminal, "kept in %s\n", path);
    return status;
}

static yoke_status tell_failures(const calibration *c)
{
    int64_t failed = 0, first = 0;
    for (int64_t i = c->num_devices - 1; i >= 0; i--) {
        if (c->devices[i].active) continue;
        failed++;
        first = i;
    }
    if (failed == 0) return YOKE_OK;
    return yoke_fail(c->context, YOKE_ERROR_DEVICE, "%lld of %lld devices not calibrated: %s failed and was left out: %s",
                     (long long)failed, (long long)c->num_devices, c->devices[first].info->name, c->devices[first].why);
}

/* Nonzero: some meter shows a power. */
static bool is_metered(const calibration *c) { return c->found[0].all_idle.kind != YOKE_ENERGY_NONE; }

static yoke_status work(calibration *c, const command_line *line, int argc, char **argv)
{
    yoke_status status = check(c->context, line, c);
    if (!status) status = app_interrupt_catch(c->context);
    if (!status) status = open_run(c, line);
    if (!status) status = measure(c);
    if (status) return explain_loss(c, status);
    if (!is_metered(c)) app_print(c->terminal, "energy: not metered here (`yoke info` says why, and what to do)\n");
    calibrate_say(c);
    status = save(c);
    if (!status && line->model) status = calibrate_write_model(c, line->model);
    if (!status && line->json) status = calibrate_write_record(c, argc, argv, line->json);
    if (!status) app_print(c->terminal, "measured in %.0f s\n", yoke_clock_s() - c->begin_s);
    return status ? status : tell_failures(c);
}

yoke_status tool_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {0};
    bool answered = false;
    void *memory = NULL;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = yoke_allocate(context, 1, sizeof(calibration), &memory);
    if (status) return status;
    calibration *c = memory;
    c->context = context;
    c->terminal = terminal;
    c->begin_s = yoke_clock_s();
    status = work(c, &line, argc, argv);
    calibrate_close(c);
    yoke_release(context, c);
    return status;
}
