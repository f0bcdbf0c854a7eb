#include "energy/output.h"

#include <math.h>

#include "common/files/directory.h"
#include "common/files/plot.h"
#include "common/files/record.h"

void energy_print(app_terminal *terminal, const data *d)
{
    for (int i = 0; i < d->num_results; i++) {
        const data_result *result = &d->result[i];
        char error[48] = "";
        if (!isnan(result->error)) snprintf(error, sizeof error, "+- %.2g ", result->error);
        app_print(terminal, "%-44s %12.5g %s%s\n", result->name, result->value, error, result->unit);
    }
    for (int i = 0; i < d->num_notes; i++) app_print(terminal, "%s\n", d->note[i]);
}

typedef struct named_data {
    const data *d;
    char name[64];
} named_data;

static void print_csv(FILE *out, const void *of)
{
    const named_data *named = of;
    data_write_csv(named->d, out);
}

static void print_script(FILE *out, const void *of)
{
    const named_data *named = of;
    data_write_script(named->d, named->name, out);
}

yoke_status energy_write(yoke_context *context, const char *directory, const char *experiment, const data *d, bool *drawn)
{
    char file[72];
    named_data named = {.d = d};
    snprintf(named.name, sizeof named.name, "energy-%.40s", experiment);
    snprintf(file, sizeof file, "%s.csv", named.name);
    *drawn = false;
    yoke_status status = app_directory_make(context, directory);
    if (status) return status;
    if (d->rows == 0 || d->num_curves == 0) return app_file_write(context, directory, file, print_csv, &named);
    const app_plot plot = {
        .directory = directory, .base = named.name, .ending = ".csv", .print_data = print_csv, .print_script = print_script};
    return app_plot_write(context, &plot, &named, drawn);
}

json_t *energy_results_value(const data *d)
{
    json_t *array = json_array();
    for (int i = 0; i < d->num_results; i++)
        array = app_json_append(array, json_pack("{s:o, s:o, s:o, s:o}", "name", app_json_text(d->result[i].name), "unit",
                                                 app_json_text(d->result[i].unit), "value", app_json_number(d->result[i].value),
                                                 "standard_error", app_json_number(d->result[i].error)));
    return array;
}

json_t *energy_notes_value(const data *d)
{
    json_t *array = json_array();
    for (int i = 0; i < d->num_notes; i++) array = app_json_append(array, app_json_text(d->note[i]));
    return array;
}

json_t *energy_columns_value(const data *d)
{
    json_t *object = json_object();
    for (int k = 0; k < d->columns; k++) {
        json_t *array = json_array();
        for (int64_t i = 0; i < d->rows; i++) array = app_json_append(array, app_json_number(d->values[i * d->columns + k]));
        if (json_object_set_new(object, d->column[k], array) == 0) continue;
        json_decref(object);
        return NULL;
    }
    return object;
}
