#include "common/calibrate/private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/files/file.h"
#include "common/machine/sysroot.h"

enum { FEWEST_LEVELS = 4, MAX_LEVELS = 12 };
static const double usual_call_s = 0.05;

typedef struct command_line {
    const char *devices, *machine, *store, *model, *kernel, *seconds, *sysroot, *declared, *json;
    bool keep_frequencies;
} command_line;

/* ----------------------------------------------------------------------------------------------- command line */

enum { DETAILS_BYTES = 4096 };

static void write_kernels(const app_calibrate_front *front, char details[DETAILS_BYTES])
{
    int length = snprintf(details, DETAILS_BYTES, "kernels:\n");
    for (const app_calibrate_kernel *kernel = front->kernels; kernel->name; kernel++)
        length += snprintf(details + length, (size_t)(DETAILS_BYTES - length), "  %-15s  %s\n", kernel->name, kernel->help);
    for (const app_calibrate_other *other = front->others; other && other->name; other++)
        length += snprintf(details + length, (size_t)(DETAILS_BYTES - length), "  %-15s  %s; --kernel %s --help lists its options\n",
                           other->name, other->help, other->name);
    (void)snprintf(details + length, (size_t)(DETAILS_BYTES - length),
                   "\nIf frequencies may be set, each device is measured at up to 12 of its frequencies, which are restored afterwards.\n"
                   "Sizes that were not used for the models are predicted and measured, and the error is printed (docs/guide/how-to.md).\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.");
}

/* Returns the name that is given with --kernel; NULL: none. */
static const char *find_name(int argc, char **argv)
{
    const char *name = NULL;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--kernel=", 9) == 0) name = argv[i] + 9;
        if (strcmp(argv[i], "--kernel") == 0 && i + 1 < argc) name = argv[++i];
    }
    return name;
}

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, const app_calibrate_front *front,
                         command_line *line, bool *answered)
{
    const char *name = find_name(argc, argv);
    char of_kernel[64], program[96], details[DETAILS_BYTES];
    app_option_table table = {0};
    const app_option options[] = {
        {.name = "devices",
         .value = "LIST",
         .help = "devices to measure, as in openmp,cuda:0; by default all cores and every GPU",
         .text = &line->devices},
        {.name = "machine", .value = "FILE", .help = "measure a simulated machine instead of this one", .text = &line->machine},
        {.name = "kernel", .value = "KERNEL", .help = of_kernel, .text = &line->kernel},
        {.name = "seconds", .value = "S", .help = "approximate duration in seconds; by default 60", .text = &line->seconds},
        {.name = "store",
         .value = "FILE",
         .help = "file that keeps the results; by default this machine's store; none: no file",
         .text = &line->store},
        {.name = "model", .value = "FILE", .help = "write a model file for yoke plan", .text = &line->model},
        {.name = "no-clocks", .help = "do not change frequencies", .flag = &line->keep_frequencies},
        {.name = "declare", .value = "idle=W,busy=W", .help = "powers of this machine, if it has no meter", .text = &line->declared},
        {.name = "sysroot", .value = "DIR", .help = "use the meters and frequencies of a directory of yoke gather", .text = &line->sysroot},
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {.name = NULL},
    };
    app_options_add(&table, options);
    if (front->options) app_options_add(&table, front->options);
    snprintf(of_kernel, sizeof of_kernel, "the kernel to measure, see below; by default %.16s", front->kernels->name);
    write_kernels(front, details);
    if (front->options && name) /* the program of this kernel, which has options of its own */
        snprintf(program, sizeof program, "%s --kernel %.32s", terminal->program, name);
    else
        snprintf(program, sizeof program, "%s", terminal->program);
    const app_usage usage = {
        .program = program,
        .operands = "",
        .summary = "Measures this machine for plans: speeds of devices alone and together, copies, powers, frequencies.",
        .options = table.options,
        .details = details,
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status find_kernel(yoke_context *context, const app_calibrate_front *front, const char *name,
                               const app_calibrate_kernel **found)
{
    char names[512];
    int length = 0;
    for (const app_calibrate_kernel *kernel = front->kernels; kernel->name; kernel++) {
        if (!name || strcmp(kernel->name, name) == 0) {
            *found = kernel;
            return YOKE_OK;
        }
        length += snprintf(names + length, sizeof names - (size_t)length, "%s%s", length > 0 ? ", " : "", kernel->name);
    }
    for (const app_calibrate_other *other = front->others; other && other->name; other++)
        length += snprintf(names + length, sizeof names - (size_t)length, ", %s", other->name);
    return yoke_fail(context, YOKE_ERROR_INPUT, "--kernel %s: unknown; the kernels are: %s", name, names);
}

const char *app_calibrate_program(const app_calibrate_front *front, int argc, char **argv)
{
    const char *name = find_name(argc, argv);
    for (const app_calibrate_other *other = front->others; name && other && other->name; other++)
        if (strcmp(other->name, name) == 0) return other->program;
    return NULL;
}

static yoke_status check(yoke_context *context, const app_calibrate_front *front, const command_line *line, calibration *c)
{
    c->budget_s = 60;
    const app_named_file files[] = {{"--machine", line->machine, true},
                                    {"--store", app_option_store(line->store, NULL), false},
                                    {"--model", line->model, false},
                                    {"--json", line->json, false},
                                    {0}};
    yoke_status status = find_kernel(context, front, line->kernel, &c->kernel);
    if (!status) status = app_option_real(context, "seconds", line->seconds, 1, 3600, &c->budget_s);
    if (!status) status = app_files_check(context, files);
    return status || !c->kernel->prepare ? status : c->kernel->prepare(context, c->kernel->settings);
}

/* ------------------------------------------------------------------------------------------------- measuring */

/* Shows the next step, and stops if the user has interrupted. */
static yoke_status progress(void *user, int64_t device, const char *what)
{
    calibration *c = user;
    app_progress(c->terminal, "%s%s%s", device >= 0 ? c->devices[device].info->name : "", device >= 0 ? ": " : "", what);
    return app_interrupt_check(c->context);
}

static yoke_status open_run(calibration *c, const command_line *line)
{
    yoke_run_options options = {.devices = line->devices,
                                .store = c->store,
                                .sysroot = line->sysroot,
                                .declared = line->declared,
                                .keep_frequencies = line->keep_frequencies,
                                .measure_all = 1};
    yoke_status status = app_set_sysroot(c->context, &options.sysroot);
    if (!status && line->machine) status = yoke_machine_read(c->context, line->machine);
    if (!status) app_progress(c->terminal, "opening devices");
    if (!status) status = yoke_run_create(c->context, &options, &c->run);
    if (!status) status = yoke_run_devices(c->run, &c->devices, &c->num_devices);
    c->trial.difference = NAN;
    if (!status) status = c->kernel->open(c->context, c->run, c->kernel->settings, &c->trial);
    if (!status) status = yoke_run_devices(c->run, &c->devices, &c->num_devices);
    if (!(c->trial.longest_call_s > 0)) c->trial.longest_call_s = usual_call_s;
    if (!status) status = app_calibrate_simulated_open(c);
    return status;
}

/* If all devices failed, the command line is not at fault, so the status becomes DEVICE. */
static yoke_status explain_loss(calibration *c, yoke_status status)
{
    char why[1024];
    if (status != YOKE_ERROR_UNAVAILABLE || !c->run || yoke_run_devices(c->run, &c->devices, &c->num_devices)) return status;
    for (int64_t i = 0; i < c->num_devices; i++)
        if (c->devices[i].active) return status;
    snprintf(why, sizeof why, "%s", yoke_last_error(c->context));
    return yoke_fail(c->context, YOKE_ERROR_DEVICE, "%s", why);
}

/* Counts the active simulated devices; *real: the other active devices. */
static int64_t count_kinds(const calibration *c, int64_t *real)
{
    int64_t simulated = 0;
    *real = 0;
    for (int64_t i = 0; i < c->num_devices; i++) {
        if (!c->devices[i].active) continue;
        simulated += app_calibrate_is_simulated(c, i);
        *real += !app_calibrate_is_simulated(c, i);
    }
    return simulated;
}

static yoke_status try_alone(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    calibration *c = user;
    yoke_status status = app_interrupt_check(c->context);
    if (status) return status;
    if (app_calibrate_is_simulated(c, device)) return app_calibrate_simulated_alone(c, device, units, calls, seconds);
    return c->trial.alone(c->trial.user, device, units, calls, seconds);
}

static yoke_status try_together(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed)
{
    calibration *c = user;
    *failed = -1;
    yoke_status status = app_interrupt_check(c->context);
    if (status) return status;
    int64_t real;
    if (count_kinds(c, &real) > 0) return app_calibrate_simulated_together(c, units, calls, seconds, failed);
    return c->trial.together(c->trial.user, units, calls, seconds, failed);
}

static yoke_status measure(calibration *c)
{
    /* About half of the time is for calls of different sizes; powers and repetitions need the rest. */
    const double of_device_s = 0.5 * c->budget_s / (double)c->num_devices, level_s = 1.25;
    static const int64_t any_units = (int64_t)1 << 40;
    int64_t real;
    const int64_t simulated = count_kinds(c, &real);
    const int is_one_kind = simulated == 0 || real == 0; /* simulated and real devices do not slow each other down */
    const double longest_s = c->trial.whole_units == 0 ? fmin(c->trial.longest_call_s, c->budget_s / 40) : real > 0 ? c->budget_s / 40 : 0;
    const yoke_run_calibration of = {.work = c->trial.work,
                                     .min_units = 1,
                                     .max_units = real > 0 || c->trial.whole_units > 0 ? c->trial.max_units : any_units,
                                     .call_s = longest_s,
                                     .budget_s = of_device_s,
                                     .levels = (int64_t)fmin(fmax(of_device_s / level_s, FEWEST_LEVELS), MAX_LEVELS),
                                     .trial = try_alone,
                                     .together = is_one_kind && (simulated > 0 || c->trial.together) ? try_together : NULL,
                                     .copies = 1,
                                     .progress = progress,
                                     .user = c};
    yoke_status status = yoke_run_calibrate(c->run, &of, c->found);
    return status ? status : yoke_run_devices(c->run, &c->devices, &c->num_devices);
}

yoke_status app_calibrate_try_store(yoke_run *run, const char **store)
{
    yoke_status status = *store && !**store ? yoke_run_save(run, NULL) : YOKE_OK;
    if (status != YOKE_ERROR_ARGUMENT) return status;
    *store = NULL;
    return YOKE_OK;
}

static yoke_status save(const calibration *c)
{
    const char *path = NULL;
    if (!c->store) return YOKE_OK;
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

/* Whether a meter measures power. */
static bool is_metered(const calibration *c) { return c->found[0].all_idle.kind != YOKE_ENERGY_NONE; }

static yoke_status work(calibration *c, const app_calibrate_front *front, const command_line *line, int argc, char **argv)
{
    yoke_status status = check(c->context, front, line, c);
    if (!status) status = app_interrupt_catch(c->context);
    c->store = app_option_store(line->store, "");
    if (!status) status = open_run(c, line);
    if (!status) status = app_calibrate_try_store(c->run, &c->store);
    if (!status) status = measure(c);
    if (status) return explain_loss(c, status);
    if (!is_metered(c)) app_print(c->terminal, "energy: not metered here (`yoke info` says why, and what to do)\n");
    if (!isnan(c->trial.difference)) app_print(c->terminal, "results agree with a reference to %.2g\n", c->trial.difference);
    app_calibrate_say(c);
    status = save(c);
    if (!status && line->model) status = app_calibrate_write_model(c, line->model);
    if (!status && line->json) status = app_calibrate_write_record(c, argc, argv, line->json);
    if (!status) app_print(c->terminal, "measured in %.0f s\n", yoke_clock_s() - c->begin_s);
    return status ? status : tell_failures(c);
}

yoke_status app_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv, const app_calibrate_front *front)
{
    command_line line = {0};
    bool answered = false;
    calibration *c = NULL;
    yoke_status status = parse(context, terminal, argc, argv, front, &line, &answered);
    if (status || answered) return status;
    status = yoke_allocate(context, 1, sizeof *c, &c);
    if (status) return status;
    c->context = context;
    c->terminal = terminal;
    c->begin_s = yoke_clock_s();
    status = work(c, front, &line, argc, argv);
    app_calibrate_simulated_close(c);
    if (c->trial.user) c->kernel->close(c->trial.user);
    yoke_run_destroy(c->run);
    yoke_release(context, c);
    return status;
}
