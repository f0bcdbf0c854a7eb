/*
 * Power as a function of the frequency (fig. 4 and 5), of memory while everything sleeps (fig. 8), of packages with and without work (fig.
 * 10).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "energy/experiment.h"
#include "energy/fit.h"

/* ------------------------------------------------------------------------------------------------ measuring */

typedef struct powers {
    yoke_context *context;
    app_terminal *terminal;
    const work_settings *settings;
    work_meters meters;
    double seconds; /* of a measurement */
} powers;

static yoke_status start(powers *p, int simulated, data *d)
{
    yoke_status status = work_meters_open(p->context, p->settings, simulated, &p->meters, d);
    p->seconds = work_seconds(p->settings, &p->meters);
    return status;
}

/* Adds a row: the given numbers, followed by the power of each meter. */
static yoke_status add_row(const powers *p, int count, const double *first, double seconds, const double *energies, data *d)
{
    double row[DATA_MAX_COLUMNS];
    memcpy(row, first, (size_t)count * sizeof *row);
    for (int64_t i = 0; i < 2 * (1 + p->meters.count); i++) row[count + i] = energies[i] / seconds;
    return data_add(d, row);
}

/* ---------------------------------------------------------------------------------------------------- frequency */

/* Measures speed and power at the frequency that has been set. */
static yoke_status measure_level(powers *p, work_device *device, double hz, double reached_hz, data *d)
{
    int64_t calls = 1, units = p->settings->max_units;
    yoke_status status = work_calls(device, work_launch, units, p->seconds, &calls);
    for (int64_t r = 0; r < p->settings->repeats && !status; r++) {
        double seconds, energies[WORK_ENERGIES];
        app_progress(p->terminal, "%.3g GHz, measurement %lld", hz / 1e9, (long long)r + 1);
        status = work_measure(&p->meters, device, 1, work_launch, units, calls, &seconds, energies);
        const double first[] = {hz, reached_hz, (double)units * (double)calls / seconds};
        if (!status) status = add_row(p, 3, first, seconds, energies, d);
        if (!status) status = app_interrupt_check(p->context);
    }
    return status;
}

static yoke_status measure_levels(powers *p, yoke_frequencies *frequencies, const yoke_frequency_info *frequency, data *d)
{
    enum { STEPS = 9 }; /* number of levels if any frequency can be set */
    char name[64];
    work_device device = {0};
    int64_t levels = frequency->num_levels > 0 ? frequency->num_levels : STEPS;
    yoke_status status = energy_device_name(p->context, p->settings, name);
    if (!status) status = work_device_open(p->context, name, p->settings->max_units, &device);
    for (int64_t k = 0; k < levels && !status; k++) {
        double hz = frequency->num_levels > 0 ? frequency->levels_hz[k]
                                              : frequency->min_hz + (frequency->max_hz - frequency->min_hz) * (double)k / (STEPS - 1),
               reached_hz = NAN;
        status = yoke_frequency_set(frequencies, frequency->name, hz, &reached_hz);
        if (!status) status = measure_level(p, &device, hz, reached_hz, d);
    }
    work_device_close(&device);
    return status;
}

/* Finds the frequency domain given on the command line.  If it cannot be set, adds a note and returns NULL. */
static const yoke_frequency_info *find_frequency(const powers *p, const yoke_frequencies *frequencies, const char *device, data *d)
{
    /* A simulated device and its frequency domain have the same name. */
    const char *wanted = p->settings->frequency ? p->settings->frequency : energy_is_simulated(device) ? device : "cpu";
    for (int64_t i = 0; i < frequencies->count; i++) {
        const yoke_frequency_info *info = &frequencies->infos[i];
        if (strcmp(info->name, wanted) != 0) continue;
        if (info->settable && (info->num_levels > 1 || info->min_hz < info->max_hz)) return info;
        data_note(d, "the frequency of %s cannot be set: %s%s%s", wanted, info->why_not[0] ? info->why_not : "it has one frequency only",
                  info->remedy[0] ? "; " : "", info->remedy);
        return NULL;
    }
    data_note(d, "there is no frequency \"%s\" here (`yoke info` lists them)", wanted);
    return NULL;
}

yoke_status energy_measure_frequency(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d)
{
    powers p = {.context = context, .terminal = terminal, .settings = settings};
    const yoke_frequency_options options = {.sysroot = settings->sysroot};
    const yoke_frequency_info *frequency = NULL;
    yoke_frequencies *frequencies = NULL;
    char name[64];
    yoke_status status = energy_device_name(context, settings, name);
    if (!status) status = start(&p, energy_is_simulated(name), d);
    if (!status) status = yoke_frequencies_open(context, &options, &frequencies);
    if (!status) frequency = find_frequency(&p, frequencies, name, d);
    if (status == YOKE_ERROR_UNAVAILABLE && !frequencies) {
        data_note(d, "no frequency can be set: %s", yoke_last_error(context));
        status = YOKE_OK;
    }
    data_column(d, "hz");
    data_column(d, "reached_hz");
    data_column(d, "units_per_s");
    work_columns(&p.meters, "_w", d);
    if (!status && frequency) status = measure_levels(&p, frequencies, frequency, d);
    yoke_frequencies_close(frequencies); /* restores the frequencies */
    work_meters_close(&p.meters);
    return status;
}

/*
 * ACPI lists the turbo mode as a level of its own, 1 MHz above the highest true frequency.  Returns its nominal frequency, or infinity if
 * there is none.
 */
static double turbo_hz(const data *d, int asked)
{
    double highest = -INFINITY, next = -INFINITY;
    for (int64_t i = 0; i < d->rows; i++) highest = fmax(highest, d->values[i * d->columns + asked]);
    for (int64_t i = 0; i < d->rows; i++) {
        double hz = d->values[i * d->columns + asked];
        if (hz < highest) next = fmax(next, hz);
    }
    return highest - next > 0.5e6 && highest - next < 1.5e6 ? highest : INFINITY;
}

/* The frequency that was reached, if it is known, in GHz as in the paper; NaN in the turbo mode if it is not known. */
static yoke_status get_frequency(data *d, double **ghz)
{
    int reached = data_find(d, "reached_hz"), asked = data_find(d, "hz"), turbos = 0;
    double turbo = turbo_hz(d, asked);
    yoke_status status = data_get(d, asked, ghz);
    for (int64_t i = 0; i < d->rows && !status; i++) {
        double hz = reached >= 0 ? d->values[i * d->columns + reached] : (double)NAN;
        if (isnan(hz)) hz = (*ghz)[i];
        int unknown = (*ghz)[i] == turbo && fabs(hz / turbo - 1) < 1e-3;
        turbos += unknown;
        (*ghz)[i] = unknown ? (double)NAN : hz / 1e9;
    }
    if (turbos > 0)
        data_note(d, "%.4g GHz stands for the turbo mode, whose frequency is not known: it is in the table, but not in the fits",
                  turbo / 1e9);
    return status;
}

/* Fits P = a f^3 + b f + c (eq. 9). */
static yoke_status analyse_frequency_power(data *d, int column, const char *name, const double *ghz)
{
    static const char *const units[] = {"W/GHz^3", "W/GHz", "W"};
    char text[DATA_NAME];
    double *power = NULL, *basis = NULL;
    fit curve;
    yoke_status status = data_get(d, column, &power);
    if (!status) status = yoke_allocate(d->context, 3 * d->rows, sizeof *basis, &basis);
    for (int64_t i = 0; i < d->rows && !status; i++) {
        basis[3 * i] = ghz[i] * ghz[i] * ghz[i];
        basis[3 * i + 1] = ghz[i];
        basis[3 * i + 2] = 1;
    }
    if (!status && fit_linear(d->rows, 3, basis, power, &curve)) {
        for (int k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "power of %.40s: %c", name, "abc"[k]);
            data_say(d, text, units[k], curve.value[k], curve.error[k]);
        }
        data_draw(d, 0, data_find(d, "hz"), column, "frequency, Hz", "power, W", "%.10g * (x / 1e9)**3 + %.10g * x / 1e9 + %.10g",
                  curve.value[0], curve.value[1], curve.value[2]);
    } else if (!status && data_known(d, column) > 0)
        data_note(d, "%s: fewer than three frequencies with a power: nothing to fit", name);
    yoke_release(d->context, power);
    yoke_release(d->context, basis);
    return status;
}

/* Energy of an element, P / v, at the lowest and the highest frequency (fig. 5). */
static yoke_status analyse_frequency_energy(data *d, int column, int speed, const char *name, const double *ghz)
{
    char text[DATA_NAME];
    double *energy = NULL, lowest = INFINITY, highest = -INFINITY, error;
    yoke_status status = yoke_allocate(d->context, d->rows, sizeof *energy, &energy);
    if (status) return status;
    for (int64_t i = 0; i < d->rows; i++) {
        lowest = fmin(lowest, ghz[i]);
        highest = fmax(highest, ghz[i]);
    }
    for (int end = 0; end < 2 && data_known(d, column) > 0; end++) {
        double frequency = end ? highest : lowest;
        for (int64_t i = 0; i < d->rows; i++) {
            const double *row = d->values + i * d->columns;
            energy[i] = ghz[i] == frequency ? row[column] / row[speed] : (double)NAN;
        }
        double mean = fit_mean(d->rows, energy, &error);
        snprintf(text, sizeof text, "energy per unit of %.30s at %.4g GHz", name, frequency);
        if (!isnan(mean)) data_say(d, text, "J", mean, error);
    }
    data_draw(d, 2, data_find(d, "hz"), column, "frequency, Hz", "energy of an element, J", "%s", "");
    data_divide(d, speed);
    yoke_release(d->context, energy);
    return YOKE_OK;
}

yoke_status energy_analyse_frequency(data *d)
{
    char name[DATA_NAME];
    double *ghz = NULL, *speed = NULL;
    fit line;
    int column = data_find(d, "units_per_s");
    if (column < 0 || d->rows == 0) return YOKE_OK;
    yoke_status status = get_frequency(d, &ghz);
    if (!status) status = data_get(d, column, &speed);
    if (!status && fit_line(d->rows, ghz, speed, &line)) {
        data_say(d, "speed: d", "1/s/GHz", line.value[0], line.error[0]);
        data_say(d, "speed: e", "1/s", line.value[1], line.error[1]);
        data_draw(d, 1, data_find(d, "hz"), column, "frequency, Hz", "elements per second", "%.10g * x / 1e9 + %.10g", line.value[0],
                  line.value[1]);
    }
    for (int k = energy_column(d, -1, "_w", name); k >= 0 && !status; k = energy_column(d, k, "_w", name)) {
        status = analyse_frequency_power(d, k, name, ghz);
        if (!status) status = analyse_frequency_energy(d, k, column, name, ghz);
    }
    yoke_release(d->context, speed);
    yoke_release(d->context, ghz);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- dram */

yoke_status energy_measure_dram(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d)
{
    powers p = {.context = context, .terminal = terminal, .settings = settings};
    char name[64];
    int memory = 0;
    yoke_status status = energy_device_name(context, settings, name);
    if (!status) status = start(&p, energy_is_simulated(name), d);
    if (status) return status;
    data_column(d, "interval_s");
    work_columns(&p.meters, "_w", d);
    for (int64_t i = 0; i < p.meters.count; i++) memory |= strstr(p.meters.infos[i].covers, "dram") != NULL;
    if (!memory) data_note(d, "no meter covers the memory alone");
    for (int64_t k = 0; k < settings->points && p.meters.count > 0 && !status; k++)
        for (int64_t r = 0; r < settings->repeats && !status; r++) {
            /* from the usual length of a measurement to ten times as long */
            double interval = p.seconds * pow(10, settings->points > 1 ? (double)k / (double)(settings->points - 1) : 0);
            double seconds, energies[WORK_ENERGIES];
            app_progress(terminal, "asleep for %.3g s, measurement %lld", interval, (long long)r + 1);
            status = work_sleep(&p.meters, interval, &seconds, energies);
            if (!status) status = add_row(&p, 1, &interval, seconds, energies, d);
            if (!status) status = app_interrupt_check(context);
        }
    work_meters_close(&p.meters);
    return status;
}

/*
 * Standard uncertainty stated by a meter for a column's values, averaged over the rows: the interval is treated as a uniform distribution
 * (GUM, 4.3.7).  Repetition does not reduce it.  Uses the rows whose `of` is `value`, or all (of = -1); 0 if it is not known.
 */
static double meter_error(const data *d, int column, int of, double value)
{
    char name[DATA_NAME + 8];
    double sum = 0;
    int64_t count = 0;
    snprintf(name, sizeof name, "%s_error", d->column[column]);
    int error = data_find(d, name);
    for (int64_t i = 0; i < d->rows && error >= 0; i++) {
        const double *row = d->values + i * d->columns;
        if (isnan(row[error]) || (of >= 0 && row[of] != value)) continue;
        sum += row[error];
        count++;
    }
    return count > 0 ? sum / (double)count / sqrt(3) : 0;
}

yoke_status energy_analyse_dram(data *d)
{
    char name[DATA_NAME], text[DATA_NAME];
    yoke_status status = YOKE_OK;
    for (int k = energy_column(d, -1, "_w", name); k >= 0 && !status && d->rows > 0; k = energy_column(d, k, "_w", name)) {
        double *power = NULL, error;
        status = data_get(d, k, &power);
        if (status) break;
        double median = fit_median(d->rows, power, &error), meter = meter_error(d, k, -1, 0);
        snprintf(text, sizeof text, "idle power of %.50s", name);
        if (!isnan(median)) {
            data_say(d, text, "W", median, hypot(error, meter));
            data_draw(d, 0, data_find(d, "interval_s"), k, "sleep, s", "power, W", "%.10g", median);
        }
        yoke_release(d->context, power);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- packages */

enum { MAX_PACKAGES = 8 };

/* In hwloc's order, the cores of a package are contiguous. */
static yoke_status package_names(yoke_context *context, char names[MAX_PACKAGES][64], int *count)
{
    yoke_topology topology;
    yoke_status status = yoke_topology_get(context, &topology);
    if (status) return status;
    *count = topology.packages > MAX_PACKAGES ? MAX_PACKAGES : (int)topology.packages;
    for (int i = 0; i < *count; i++)
        snprintf(names[i], sizeof names[i], "openmp:%lld-%lld", (long long)(i * topology.cores / topology.packages),
                 (long long)((i + 1) * topology.cores / topology.packages - 1));
    return YOKE_OK;
}

static yoke_status simulated_names(yoke_context *context, char names[MAX_PACKAGES][64], int *count)
{
    yoke_device_info *list = NULL;
    int64_t devices = 0;
    yoke_status status = yoke_devices_list(context, NULL, 0, &list, &devices);
    if (status) return status;
    *count = 0;
    for (int64_t i = 0; i < devices && *count < MAX_PACKAGES; i++)
        if (energy_is_simulated(list[i].name) && list[i].device_class == YOKE_DEVICE_CPU)
            snprintf(names[(*count)++], sizeof names[0], "%.63s", list[i].name);
    yoke_release(context, list);
    return YOKE_OK;
}

static yoke_status listed_names(yoke_context *context, const char *list, char names[MAX_PACKAGES][64], int *count)
{
    *count = 0;
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length == 0 || length >= 64 || *count == MAX_PACKAGES)
            return yoke_fail(context, YOKE_ERROR_INPUT, "--device: expected at most %d names between commas, found %.80s", MAX_PACKAGES,
                             list);
        snprintf(names[(*count)++], sizeof names[0], "%.*s", (int)length, list);
        list += length + (list[length] == ',');
    }
    return YOKE_OK;
}

/* The total work is the same for any number of devices: each of the `used` devices does an equal part. */
static yoke_status measure_used(powers *p, work_device *devices, int used, data *d)
{
    int64_t units = p->settings->max_units / used, calls = 1;
    if (units < 1) units = 1;
    yoke_status status = work_calls(&devices[0], work_launch, units, p->seconds, &calls);
    for (int64_t r = 0; r < p->settings->repeats && !status; r++) {
        double seconds, energies[WORK_ENERGIES];
        app_progress(p->terminal, "work on %d, measurement %lld", used, (long long)r + 1);
        status = work_measure(&p->meters, devices, used, work_launch, units, calls, &seconds, energies);
        const double first[] = {(double)used, (double)(units * used) * (double)calls / seconds};
        if (!status) status = add_row(p, 2, first, seconds, energies, d);
        if (!status) status = app_interrupt_check(p->context);
    }
    return status;
}

yoke_status energy_measure_packages(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d)
{
    powers p = {.context = context, .terminal = terminal, .settings = settings};
    char names[MAX_PACKAGES][64];
    work_device devices[MAX_PACKAGES] = {{0}};
    int count = 0;
    yoke_status status = settings->devices   ? listed_names(context, settings->devices, names, &count)
                         : settings->machine ? simulated_names(context, names, &count)
                                             : package_names(context, names, &count);
    if (!status) status = start(&p, count > 0 && energy_is_simulated(names[0]), d);
    if (status) return status;
    data_column(d, "packages");
    data_column(d, "units_per_s");
    work_columns(&p.meters, "_w", d);
    if (count < 2) data_note(d, "there is one package only: none can be left without work while another has some");
    for (int i = 0; i < count && count > 1 && !status; i++) status = work_device_open(context, names[i], settings->max_units, &devices[i]);
    for (int used = count; used >= 1 && count > 1 && !status; used--) status = measure_used(&p, devices, used, d);
    for (int i = 0; i < count; i++) work_device_close(&devices[i]);
    work_meters_close(&p.meters);
    return status;
}

/* Reports the mean of the rows with this number of packages. */
static yoke_status say_used(data *d, int column, const char *what, const char *unit, int used)
{
    char text[DATA_NAME];
    double *values = NULL, error;
    int packages = data_find(d, "packages");
    yoke_status status = data_get(d, column, &values);
    if (status) return status;
    for (int64_t i = 0; i < d->rows; i++)
        if (d->values[i * d->columns + packages] != used) values[i] = NAN;
    double mean = fit_mean(d->rows, values, &error);
    snprintf(text, sizeof text, "%.45s, %d with work", what, used);
    if (!isnan(mean)) data_say(d, text, unit, mean, hypot(error, meter_error(d, column, packages, used)));
    yoke_release(d->context, values);
    return YOKE_OK;
}

yoke_status energy_analyse_packages(data *d)
{
    yoke_status status = YOKE_OK;
    if (d->rows == 0) return YOKE_OK;
    for (int used = MAX_PACKAGES; used >= 1 && !status; used--) {
        char name[DATA_NAME], text[DATA_NAME + 16];
        if (data_find(d, "units_per_s") >= 0) status = say_used(d, data_find(d, "units_per_s"), "speed", "1/s", used);
        for (int k = energy_column(d, -1, "_w", name); k >= 0 && !status; k = energy_column(d, k, "_w", name)) {
            snprintf(text, sizeof text, "power of %s", name);
            status = say_used(d, k, text, "W", used);
        }
    }
    char name[DATA_NAME];
    for (int k = energy_column(d, -1, "_w", name); k >= 0; k = energy_column(d, k, "_w", name))
        data_draw(d, 0, data_find(d, "packages"), k, "packages with work", "power, W", "%s", "");
    return status;
}
