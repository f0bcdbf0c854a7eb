#include "energy_output.h"

#include <limits.h>
#include <math.h>

#include "common/directory.h"
#include "common/file.h"
#include "common/plot.h"
#include "common/record.h"

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

static yoke_status open_file(yoke_context *context, const char *directory, const char *name, const char *ending, app_file **file)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s.%s", directory, name, ending) >= (int)sizeof path)
        return yoke_fail(context, YOKE_ERROR_INPUT, "the name of the directory %s is too long", directory);
    return app_file_create(context, path, file);
}

yoke_status energy_write(yoke_context *context, const char *directory, const char *experiment, const data *d, bool *drawn)
{
    char name[64], script[72];
    app_file *file;
    snprintf(name, sizeof name, "energy-%.40s", experiment);
    snprintf(script, sizeof script, "%s.gp", name);
    *drawn = false;
    yoke_status status = app_directory_make(context, directory);
    if (!status) status = open_file(context, directory, name, "csv", &file);
    if (status) return status;
    data_write_csv(d, app_file_stream(file));
    status = app_file_commit(file);
    if (status || d->rows == 0 || d->num_curves == 0) return status;
    status = open_file(context, directory, name, "gp", &file);
    if (status) return status;
    data_write_script(d, name, app_file_stream(file));
    status = app_file_commit(file);
    return status ? status : app_plot_draw(context, directory, script, drawn);
}

/* Appends, and gives up both where memory ends. */
static json_t *append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0) return array;
    json_decref(array);
    return NULL;
}

json_t *energy_results_value(const data *d)
{
    json_t *array = json_array();
    for (int i = 0; i < d->num_results; i++)
        array = append(array,
                       json_pack("{s:o, s:o, s:o, s:o}", "name", app_json_text(d->result[i].name), "unit", app_json_text(d->result[i].unit),
                                 "value", app_json_number(d->result[i].value), "standard_error", app_json_number(d->result[i].error)));
    return array;
}

json_t *energy_notes_value(const data *d)
{
    json_t *array = json_array();
    for (int i = 0; i < d->num_notes; i++) array = append(array, app_json_text(d->note[i]));
    return array;
}

json_t *energy_columns_value(const data *d)
{
    json_t *object = json_object();
    for (int k = 0; k < d->columns; k++) {
        json_t *array = json_array();
        for (int64_t i = 0; i < d->rows; i++) array = append(array, app_json_number(d->values[i * d->columns + k]));
        if (json_object_set_new(object, d->column[k], array) == 0) continue;
        json_decref(object);
        return NULL;
    }
    return object;
}
