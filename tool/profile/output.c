/* Writes a profile as CSV, figure and record. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/files/file.h"
#include "common/files/plot.h"
#include "common/files/record.h"
#include "profile/profile.h"

const char *profile_shape_text(const yoke_sensor *sensor, char text[96])
{
    double window = 1e3 * sensor->window_s;
    switch (sensor->shape) {
    case YOKE_SENSOR_HALVES:
        snprintf(text, 96, "two halves, the second %.1f ms later", window);
        break;
    case YOKE_SENSOR_LOW_PASS:
        snprintf(text, 96, "low pass with a time constant of %.0f ms", window);
        break;
    case YOKE_SENSOR_MEAN:
        snprintf(text, 96, "mean over %.1f ms", window);
        break;
    }
    return text;
}

static void write_points(FILE *out, const yoke_profile_point *points, int64_t count, const char *what, char separator)
{
    for (int64_t i = 0; i < count; i++) {
        fprintf(out, "%.9g%c%.9g%c", points[i].time_s, separator, points[i].power_w, separator);
        if (!isnan(points[i].uncertainty_w)) fprintf(out, "%.9g", points[i].uncertainty_w);
        fprintf(out, "%c%s\n", separator, what);
    }
}

yoke_status profile_write_csv(yoke_context *context, const yoke_profile *profile, const char *path)
{
    app_file *file = NULL;
    yoke_status status = app_file_create(context, path, &file);
    if (status) return status;
    fputs("time_s,power_w,uncertainty_w,what\n", app_file_stream(file));
    write_points(app_file_stream(file), profile->points, profile->num_points, "profile", ',');
    write_points(app_file_stream(file), profile->readings, profile->num_readings, "reading", ',');
    return app_file_commit(file);
}

/* ------------------------------------------------------------------------------------------------------ figure */

typedef struct figure {
    const profile_work *work;
    const yoke_profile *profile;
    app_plot_place place;
} figure;

static void print_data(FILE *out, const void *data)
{
    const yoke_profile *profile = ((const figure *)data)->profile;
    fputs("# time ms, power W, uncertainty W: the profile\n", out);
    for (int64_t i = 0; i < profile->num_points; i++)
        fprintf(out, "%.9g %.9g %.9g\n", 1e3 * profile->points[i].time_s, profile->points[i].power_w, profile->points[i].uncertainty_w);
    if (profile->num_points == 0) fputs("0 NaN NaN\n", out);
    fputs("\n\n# time ms, power W: what the sensor showed\n", out);
    for (int64_t i = 0; i < profile->num_readings; i++)
        fprintf(out, "%.9g %.9g\n", 1e3 * profile->readings[i].time_s, profile->readings[i].power_w);
    if (profile->num_readings == 0) fputs("0 NaN\n", out);
}

static void print_script(FILE *out, const void *data)
{
    const figure *f = data;
    const profile_work *work = f->work;
    const yoke_profile *profile = f->profile;
    char title[256];
    snprintf(title, sizeof title, "%.120s, %.60s%s", work->name, work->meter_name, work->simulated ? " (simulated)" : "");
    for (char *c = title; *c; c++)
        if (*c == '\'' || *c == '\n' || *c == '\\') *c = ' ';
    fprintf(out, "set terminal svg size 800,600 noenhanced\nset output '%s.svg'\nset title '%s'\n", f->place.base, title);
    fputs("set xlabel 'time since the start of a run, ms'\nset ylabel 'power, W'\nset style fill transparent solid 0.3 noborder\n", out);
    fprintf(out, "set arrow from first %.9g, graph 0 to first %.9g, graph 1 nohead dashtype 2\n", 1e3 * profile->run_s,
            1e3 * profile->run_s);
    fprintf(
        out,
        "plot '%s.dat' index 0 using 1:($2-$3):($2+$3) with filledcurves title '95 %%', '' index 0 using 1:2 with lines linewidth 2 title "
        "'profile', '' index 1 using 1:2 with dots title 'shown by the sensor'\n",
        f->place.base);
}

yoke_status profile_write_plot(const profile_work *work, const yoke_profile *profile, const char *path, bool *drawn)
{
    figure f = {.work = work, .profile = profile};
    const app_plot plot = {.directory = f.place.directory, .base = f.place.base, .print_data = print_data, .print_script = print_script};
    yoke_status status = app_plot_split(work->context, path, &f.place);
    return status ? status : app_plot_write(work->context, &plot, &f, drawn);
}

/* ------------------------------------------------------------------------------------------------------ record */

static json_t *points_array(const yoke_profile_point *points, int64_t count)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < count; i++)
        array = app_json_append(array, json_pack("[o, o, o]", app_json_number(points[i].time_s), app_json_number(points[i].power_w),
                                                 app_json_number(points[i].uncertainty_w)));
    return array;
}

static json_t *sensor_object(const yoke_sensor *s)
{
    static const char *const shapes[] = {"mean", "halves", "low pass"};
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "shape", shapes[s->shape], "period_s", app_json_number(s->period_s), "delay_s",
                     app_json_number(s->delay_s), "window_s", app_json_number(s->window_s), "noise_w", app_json_number(s->noise_w),
                     "quantum_w", app_json_number(s->quantum_w), "gain_error", app_json_number(s->gain_error));
}

static json_t *result_object(const yoke_profile *p)
{
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "energy_j", app_json_number(p->energy_j),
                               "uncertainty_j", app_json_number(p->uncertainty_j), "statistical_j", app_json_number(p->statistical_j),
                               "dynamic_j", app_json_number(p->dynamic_j), "idle_w", app_json_number(p->idle_w), "run_s",
                               app_json_number(p->run_s), "lowest_c", app_json_number(p->low_c), "highest_c", app_json_number(p->high_c),
                               "device_s", app_json_number(p->device_s), "resolution_s", app_json_number(p->resolution_s));
    json_t *rest = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "runs", (json_int_t)p->runs, "reads", (json_int_t)p->reads, "burst",
                             (json_int_t)p->burst, "reading_s", app_json_number(p->reading_s), "why_no_profile",
                             p->why_no_profile[0] ? app_json_text(p->why_no_profile) : json_null(), "profile",
                             points_array(p->points, p->num_points), "readings", points_array(p->readings, p->num_readings));
    if (object == NULL || rest == NULL || json_object_update(object, rest) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(rest);
    return object;
}

yoke_status profile_write_record(const profile_work *work, const yoke_sensor *sensor, const yoke_profile *profile, const char *path,
                                 int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(work->context, "yoke profile", argc, argv, &record);
    if (status) return status;
    status = app_record_set(work->context, record, "kernel", app_json_text(work->name));
    if (!status) status = app_record_set(work->context, record, "meter", app_json_text(work->meter_text));
    if (!status) status = app_record_set(work->context, record, "simulated", json_boolean(work->simulated != NULL));
    if (!status) status = app_record_set(work->context, record, "sensor", sensor_object(sensor));
    if (!status) status = app_record_set(work->context, record, "result", result_object(profile));
    if (!status) status = app_record_write(work->context, record, path);
    json_decref(record);
    return status;
}
