/* Time and energy as functions of the number of elements: of products (fig. 2, 3 and 6), and of copies (fig. 9). */
#include <math.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "energy/experiment.h"
#include "energy/fit.h"

/* ----------------------------------------------------------------------------------------------- measuring */

typedef struct sweep {
    yoke_context *context;
    app_terminal *terminal;
    const work_settings *settings;
    const char *what;
    work_function *work;
    work_meters meters;
    work_device device;
} sweep;

/* Measures a row: units, calls, and seconds and joules of a call. */
static yoke_status measure_row(sweep *s, int64_t units, int64_t calls, data *d)
{
    double row[DATA_MAX_COLUMNS], seconds, energies[WORK_ENERGIES];
    yoke_status status = work_measure(&s->meters, &s->device, 1, s->work, units, calls, &seconds, energies);
    if (status) return status;
    row[0] = (double)units;
    row[1] = (double)calls;
    row[2] = seconds / (double)calls;
    for (int64_t i = 0; i < 2 * (1 + s->meters.count); i++) row[3 + i] = energies[i] / (double)calls;
    return data_add(d, row);
}

static yoke_status measure_all(sweep *s, data *d)
{
    const work_settings *settings = s->settings;
    yoke_status status = YOKE_OK;
    data_column(d, "units");
    data_column(d, "calls");
    data_column(d, "seconds");
    work_columns(&s->meters, "_j", d);
    double seconds = work_seconds(settings, &s->meters);
    for (int64_t k = 1; k <= settings->points && !status; k++) {
        int64_t units = settings->max_units * k / settings->points, calls = 1;
        if (units < 1) continue;
        status = work_calls(&s->device, s->work, units, seconds, &calls);
        for (int64_t r = 0; r < settings->repeats && !status; r++) {
            app_progress(s->terminal, "%s of %lld elements, %lld times, measurement %lld", s->what, (long long)units, (long long)calls,
                         (long long)r + 1);
            status = measure_row(s, units, calls, d);
            if (!status) status = app_interrupt_check(s->context);
        }
    }
    return status;
}

static yoke_status measure(yoke_context *context, app_terminal *terminal, const work_settings *settings, const char *what,
                           work_function *work, data *d)
{
    sweep s = {.context = context, .terminal = terminal, .settings = settings, .what = what, .work = work};
    char name[64];
    yoke_status status = energy_device_name(context, settings, name);
    if (!status) status = work_meters_open(context, settings, energy_is_simulated(name), &s.meters, d);
    if (status) return status;
    status = work_device_open(context, name, settings->max_units, &s.device);
    if (!status) status = measure_all(&s, d);
    work_device_close(&s.device);
    work_meters_close(&s.meters);
    return status;
}

yoke_status energy_measure_elements(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d)
{
    return measure(context, terminal, settings, "products", work_launch, d);
}

yoke_status energy_measure_copy(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d)
{
    return measure(context, terminal, settings, "copies", work_copy, d);
}

/* ------------------------------------------------------------------------------------------------ analysis */

/* Gets the columns units and seconds, which all tables of this file have. */
static yoke_status get_both(const data *d, double **units, double **seconds)
{
    *units = *seconds = NULL;
    yoke_status status = data_get(d, data_find(d, "units"), units);
    return status ? status : data_get(d, data_find(d, "seconds"), seconds);
}

/* Fits E = P t + E0 and E = e n + E1 for one meter. */
static yoke_status analyse_energy(data *d, int column, const char *name, const double *units, const double *seconds)
{
    char text[DATA_NAME];
    double *energy = NULL;
    fit line;
    yoke_status status = data_get(d, column, &energy);
    if (status) return status;
    if (data_known(d, column) > 0 && fit_line(d->rows, seconds, energy, &line)) {
        snprintf(text, sizeof text, "power of %.50s", name);
        data_say(d, text, "W", line.value[0], line.error[0]);
        snprintf(text, sizeof text, "energy of %.40s in no time", name);
        data_say(d, text, "J", line.value[1], line.error[1]);
        data_draw(d, 1, data_find(d, "seconds"), column, "time, s", "energy, J", "%.10g * x + %.10g", line.value[0], line.value[1]);
    } else if (data_known(d, column) > 0)
        data_note(d, "%s: the energies are too few, or all of the same time, for a line", name);
    if (fit_line(d->rows, units, energy, &line)) {
        snprintf(text, sizeof text, "energy per unit of %.40s", name);
        data_say(d, text, "J", line.value[0], line.error[0]);
    }
    yoke_release(d->context, energy);
    return YOKE_OK;
}

yoke_status energy_analyse_elements(data *d)
{
    char name[DATA_NAME];
    double *units, *seconds;
    fit line;
    yoke_status status = get_both(d, &units, &seconds);
    if (!status && fit_line(d->rows, units, seconds, &line)) {
        data_say(d, "time per unit", "s", line.value[0], line.error[0]);
        data_say(d, "time without units", "s", line.value[1], line.error[1]);
        data_say(d, "speed", "1/s", 1 / line.value[0], line.error[0] / (line.value[0] * line.value[0]));
        data_draw(d, 0, data_find(d, "units"), data_find(d, "seconds"), "elements", "time, s", "%.10g * x + %.10g", line.value[0],
                  line.value[1]);
    } else if (!status)
        data_note(d, "the times are too few, or all of the same number of elements, for a line");
    for (int k = energy_column(d, -1, "_j", name); k >= 0 && !status; k = energy_column(d, k, "_j", name))
        status = analyse_energy(d, k, name, units, seconds);
    yoke_release(d->context, units);
    yoke_release(d->context, seconds);
    return status;
}

static yoke_status analyse_offset(data *d, int panel, int column, const char *name, const char *unit, const char *label,
                                  const double *units)
{
    char text[DATA_NAME];
    double *values = NULL;
    fit line;
    yoke_status status = data_get(d, column, &values);
    if (status) return status;
    if (fit_offset(d->rows, units, values, &line)) {
        snprintf(text, sizeof text, "%.50s per unit", name);
        data_say(d, text, unit, line.value[0], line.error[0]);
        snprintf(text, sizeof text, "units without %.50s", name);
        data_say(d, text, "", line.value[1], line.error[1]);
        data_draw(d, panel, data_find(d, "units"), column, "elements", label, "%.10g * (x > %.10g ? x - %.10g : 0)", line.value[0],
                  line.value[1], line.value[1]);
    } else if (data_known(d, column) > 0)
        data_note(d, "%s does not grow with the number of elements: no line is fitted", name);
    yoke_release(d->context, values);
    return YOKE_OK;
}

yoke_status energy_analyse_copy(data *d)
{
    char name[DATA_NAME], text[DATA_NAME + 16];
    double *units = NULL;
    yoke_status status = data_get(d, data_find(d, "units"), &units);
    if (!status) status = analyse_offset(d, 0, data_find(d, "seconds"), "time", "s", "time, s", units);
    if (!status && d->num_results > 0)
        data_say(d, "rate", "B/s", WORK_UNIT_BYTES / d->result[0].value,
                 WORK_UNIT_BYTES * d->result[0].error / (d->result[0].value * d->result[0].value));
    for (int k = energy_column(d, -1, "_j", name); k >= 0 && !status; k = energy_column(d, k, "_j", name)) {
        snprintf(text, sizeof text, "energy of %s", name);
        status = analyse_offset(d, 1, k, text, "J", "energy, J", units);
    }
    yoke_release(d->context, units);
    return status;
}
