#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/files/file.h"
#include "common/files/plot.h"
#include "common/machine/sysroot.h"
#include "tool.h"

static const char default_device[] = "cuda:0";

typedef struct command_line {
    const char *kernel, *exec, *simulate, *load, *device, *meter, *sysroot, *seconds, *target, *most, *temperature, *csv, *plot, *json;
    int64_t runs;
    double run_s;
    yoke_profile_options options;
} command_line;

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "exec", .value = "LIB:FUNC", .help = "profile void FUNC(void) of a shared library", .text = &line->exec},
        {.name = "device", .value = "NAME", .help = "run the kernel on this device; by default cuda:0", .text = &line->device},
        {.name = "load",
         .value = "KERNEL",
         .help = "identify the sensor with triad or fma instead of the profiled kernel",
         .text = &line->load},
        {.name = "meter", .value = "NAME", .help = "the power meter; by default that of the device", .text = &line->meter},
        {.name = "seconds", .value = "S", .help = "duration of a built-in kernel; by default 0.005", .text = &line->seconds},
        {.name = "runs",
         .value = "N",
         .help = "number of single runs; by default as many as the target needs",
         .number = &line->runs,
         .minimum = 3,
         .maximum = 1000000},
        {.name = "target", .value = "PERCENT", .help = "stop at this uncertainty of the energy; by default 2", .text = &line->target},
        {.name = "most",
         .value = "S",
         .help = "use at most S seconds of device time after the sensor is identified; by default 300",
         .text = &line->most},
        {.name = "temperature",
         .value = "LOW:HIGH",
         .help = "measure between these temperatures in degrees Celsius: warm up first, or wait",
         .text = &line->temperature},
        {.name = "out", .value = "FILE", .help = "write profile and readings as CSV", .text = &line->csv},
        {.name = "plot", .value = "FILE.svg", .help = "draw profile and readings (with gnuplot)", .text = &line->plot},
        app_option_json(&line->json),
        {.name = "simulate", .value = "NAME[,KEY=VALUE]...", .help = "try it on a simulated sensor and kernel", .text = &line->simulate},
        {.name = "sysroot", .value = "DIR", .help = "use the meters of a directory of yoke gather", .text = &line->sysroot},
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "[triad|fma]",
        .operands_most = 1,
        .summary = "Measures power over time and energy of a kernel that is shorter than the sensor's period.",
        .options = options,
        .details =
            "First the sensor is identified (period, delay, window, noise; up to 90 s). Then the kernel runs many times at different\n"
            "phases of the sensor's period. triad keeps the memory busy, and fma the arithmetic units.\n"
            "docs/methods/profile.md describes the method and the simulated sensors.\n"
            "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 no meter shows power, or the energy cannot be found in the time;\n"
            "130 or 143 interrupted.",
    };
    app_list operands = {0};
    yoke_status status = app_options_parse(context, &usage, argc, argv, &operands, answered);
    if (!status && operands.count == 1) line->kernel = operands.text[0];
    return status;
}

static yoke_status take_band(yoke_context *context, const char *text, yoke_profile_options *options)
{
    char *end = NULL, *last = NULL;
    if (text == NULL) return YOKE_OK;
    double low = strtod(text, &end), high = *end == ':' ? strtod(end + 1, &last) : NAN;
    if (end == text || *end != ':' || last == end + 1 || *last != '\0' || !(low > -100 && low < high && high < 200))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--temperature %s: expected LOW:HIGH in degrees Celsius, such as 52:56", text);
    options->low_c = low;
    options->high_c = high;
    return YOKE_OK;
}

/* A simulated sensor has a kernel of its own, and a function of a library its own duration and device. */
static yoke_status check_unused(yoke_context *context, const command_line *line)
{
    const char *with = line->simulate ? "--simulate" : "--exec";
    const bool own = line->simulate || line->exec;
    const struct {
        const char *option, *value;
    } unused[] = {{"load", line->simulate ? line->load : NULL},
                  {"seconds", own ? line->seconds : NULL},
                  {"device", own && !line->load ? line->device : NULL},
                  {"meter", line->simulate ? line->meter : NULL},
                  {"sysroot", line->simulate ? line->sysroot : NULL}};
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++)
        if (unused[i].value)
            return yoke_fail(context, YOKE_ERROR_INPUT, "--%s: it has no effect with %s; leave --%s out", unused[i].option, with,
                             unused[i].option);
    return YOKE_OK;
}

static yoke_status check(yoke_context *context, command_line *line)
{
    double percent = 0;
    if ((line->kernel != NULL) + (line->exec != NULL) + (line->simulate != NULL) != 1)
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "one of these is to be profiled: a kernel (triad, fma), --exec LIB:FUNC, or --simulate NAME");
    line->run_s = 0.005;
    yoke_status status = check_unused(context, line);
    if (!status && !line->simulate) status = app_set_sysroot(context, &line->sysroot);
    if (!status) status = profile_kernel_check(context, line->kernel);
    if (!status) status = profile_kernel_check(context, line->load);
    if (!status) status = app_option_real(context, "seconds", line->seconds, 1e-5, 100, &line->run_s);
    if (!status) status = app_option_real(context, "target", line->target, 0.01, 50, &percent);
    if (!status) status = app_option_real(context, "most", line->most, 1, 1e6, &line->options.max_s);
    if (!status) status = take_band(context, line->temperature, &line->options);
    line->options.target = percent / 100;
    line->options.runs = line->runs;
    app_plot_place place;
    const app_named_file files[] = {{"--out", line->csv, false},
                                    {"--plot", line->plot, false},
                                    {"the data of --plot", line->plot ? place.data : NULL, false},
                                    {"the script of --plot", line->plot ? place.script : NULL, false},
                                    {"--json", line->json, false},
                                    {0}};
    if (!status && line->plot) status = app_plot_split(context, line->plot, &place);
    return status ? status : app_files_check(context, files);
}

static yoke_status open_work(const command_line *line, profile_work *work)
{
    if (line->simulate) return profile_simulated_open(work, line->simulate);
    const char *device = line->device ? line->device : default_device;
    yoke_status status = YOKE_OK;
    /* If there is no meter, the device need not be opened. */
    if (line->exec) {
        status = profile_library_open(work, line->exec);
        return status ? status : profile_meter_open(work, line->meter, line->sysroot, "");
    }
    status = profile_meter_open(work, line->meter, line->sysroot, "");
    if (status && (status != YOKE_ERROR_INPUT || line->meter)) return status;
    yoke_meters_close(work->meter);
    work->meter = NULL;
    status = profile_kernel_open(work, line->kernel, device, line->run_s);
    return status ? status : profile_meter_open(work, line->meter, line->sysroot, profile_kernel_pci(work));
}

/* The profiled kernel is also the load for identification, unless another kernel is given: identification needs constant power. */
static yoke_status identify(const command_line *line, profile_work *work, yoke_sensor *sensor)
{
    if (line->load == NULL) return yoke_sensor_identify(work->context, &work->subject, sensor);
    profile_work load = {.context = work->context};
    yoke_status status = profile_kernel_open(&load, line->load, line->device ? line->device : default_device, 0.002);
    load.meter = work->meter; /* borrowed */
    load.meter_index = work->meter_index;
    load.subject.power_w = work->subject.power_w;
    if (!status) status = yoke_sensor_identify(work->context, &load.subject, sensor);
    load.meter = NULL;
    profile_work_close(&load);
    return status;
}

static void print_sensor(app_terminal *terminal, const profile_work *work, const yoke_sensor *sensor)
{
    char shape[96];
    app_print(terminal, "%s: %s\n", work->simulated ? "simulated" : "meter", work->simulated ? work->meter_text : work->meter_name);
    app_print(terminal, "sensor: %s, every %.4f ms, shows after %.1f ms, noise %.2g W, step %.3g W\n", profile_shape_text(sensor, shape),
              1e3 * sensor->period_s, 1e3 * sensor->delay_s, sensor->noise_w, sensor->quantum_w);
}

static void print_result(app_terminal *terminal, const profile_work *work, const yoke_profile *p)
{
    app_print(terminal, "%s: %.4g ms\n", work->name, 1e3 * p->run_s);
    app_print(terminal, "energy of a run: %.4g J +- %.2g J (95 %%; %s%.2g J of it statistical); %.4g J above %.4g W of idle power\n",
              p->energy_j, p->uncertainty_j, isnan(work->gain_error) ? "the sensor's gain error is not known; " : "", p->statistical_j,
              p->dynamic_j, p->idle_w);
    app_print(terminal, "mean power: %.4g W\n", p->energy_j / p->run_s);
    if (p->burst > 1) app_print(terminal, "energy from bursts of %lld runs\n", (long long)p->burst);
    if (p->num_points > 0)
        app_print(terminal, "profile: %lld points, resolution %.3g ms\n", (long long)p->num_points, 1e3 * p->resolution_s);
    else
        app_print(terminal, "no profile: %s\n", p->why_no_profile);
    if (!isnan(p->low_c)) app_print(terminal, "temperature: %.1f to %.1f degrees\n", p->low_c, p->high_c);
    app_print(terminal, "%lld runs, %lld readings, %.1f s of device time\n", (long long)p->runs, (long long)p->reads, p->device_s);
}

static yoke_status run(app_terminal *terminal, const command_line *line, profile_work *work, int argc, char **argv)
{
    yoke_sensor sensor;
    yoke_profile profile = {0};
    bool drawn = false;
    app_progress(terminal, "identifying the sensor");
    yoke_status status = identify(line, work, &sensor);
    if (status) return status;
    sensor.gain_error = work->gain_error;
    print_sensor(terminal, work, &sensor);
    app_progress(terminal, "profiling");
    status = yoke_profile_measure(work->context, &work->subject, &sensor, &line->options, &profile);
    if (status) return status;
    print_result(terminal, work, &profile);
    if (line->csv) status = profile_write_csv(work->context, &profile, line->csv);
    if (!status && line->plot) status = profile_write_plot(work, &profile, line->plot, &drawn);
    if (!status && line->plot && !drawn)
        app_print(terminal, "not drawn, gnuplot is missing or failed; data and script lie beside %s\n", line->plot);
    if (!status && line->json) status = profile_write_record(work, &sensor, &profile, line->json, argc, argv);
    yoke_release(work->context, profile.points);
    return status;
}

yoke_status tool_profile(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {0};
    bool answered = false;
    profile_work work = {.context = context, .gain_error = NAN, .meter_index = -1};
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = check(context, &line);
    if (!status) status = app_interrupt_catch(context);
    if (!status) status = open_work(&line, &work);
    if (!status) status = run(terminal, &line, &work, argc, argv);
    profile_work_close(&work);
    return status;
}
