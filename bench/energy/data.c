#include "energy/data.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void data_release(data *d)
{
    yoke_release(d->context, d->values);
    *d = (data){.context = d->context};
}

/* -------------------------------------------------------------------------------------------------- table */

int data_find(const data *d, const char *name)
{
    for (int k = 0; k < d->columns; k++)
        if (strcmp(d->column[k], name) == 0) return k;
    return -1;
}

int data_column(data *d, const char *name)
{
    int found = data_find(d, name);
    if (found >= 0) return found;
    if (d->columns == DATA_MAX_COLUMNS) return -1;
    snprintf(d->column[d->columns], sizeof d->column[0], "%s", name);
    return d->columns++;
}

yoke_status data_add(data *d, const double *row)
{
    yoke_status status = yoke_grow(d->context, &d->values, d->rows, &d->capacity, 64, (size_t)d->columns * sizeof(double));
    if (status) return status;
    memcpy(d->values + d->rows++ * d->columns, row, (size_t)d->columns * sizeof(double));
    return YOKE_OK;
}

int64_t data_known(const data *d, int column)
{
    int64_t known = 0;
    for (int64_t i = 0; i < d->rows; i++) known += isfinite(d->values[i * d->columns + column]) != 0;
    return known;
}

yoke_status data_get(const data *d, int column, double **values)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(d->context, d->rows, sizeof(double), &memory);
    if (status) return status;
    *values = memory;
    for (int64_t i = 0; i < d->rows; i++) (*values)[i] = d->values[i * d->columns + column];
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ findings */

void data_say(data *d, const char *name, const char *unit, double value, double error)
{
    if (d->num_results == DATA_MAX_RESULTS) return;
    data_result *result = &d->result[d->num_results++];
    snprintf(result->name, sizeof result->name, "%s", name);
    snprintf(result->unit, sizeof result->unit, "%s", unit);
    result->value = value;
    result->error = error;
}

void data_note(data *d, const char *format, ...)
{
    if (d->num_notes == DATA_MAX_NOTES) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->note[d->num_notes++], sizeof d->note[0], format, arguments);
    va_end(arguments);
}

void data_draw(data *d, int panel, int x, int y, const char *x_label, const char *y_label, const char *format, ...)
{
    if (d->num_curves == DATA_MAX_CURVES) return;
    data_curve *curve = &d->curve[d->num_curves++];
    *curve = (data_curve){.panel = panel, .x = x, .y = y, .divide = -1};
    snprintf(curve->x_label, sizeof curve->x_label, "%s", x_label);
    snprintf(curve->y_label, sizeof curve->y_label, "%s", y_label);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(curve->expression, sizeof curve->expression, format, arguments);
    va_end(arguments);
}

void data_divide(data *d, int column)
{
    if (d->num_curves > 0) d->curve[d->num_curves - 1].divide = column;
}

/* ---------------------------------------------------------------------------------------------------- CSV */

void data_write_csv(const data *d, FILE *out)
{
    for (int k = 0; k < d->columns; k++) fprintf(out, "%s%s", k ? "," : "", d->column[k]);
    for (int64_t i = 0; i < d->rows; i++)
        for (int k = 0; k < d->columns; k++) {
            double value = d->values[i * d->columns + k];
            fputs(k ? "," : "\n", out);
            if (isfinite(value)) fprintf(out, "%.12g", value);
        }
    fputc('\n', out);
}

static yoke_status read_names(data *d, const char *path, char *line)
{
    for (char *name = line; name != NULL;) {
        char *comma = strchr(name, ',');
        if (comma != NULL) *comma = '\0';
        /* The names are inserted into a script for gnuplot. */
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-/+ ";
        if (*name == '\0' || strspn(name, allowed) != strlen(name) || strlen(name) >= DATA_NAME || data_find(d, name) >= 0 ||
            data_column(d, name) < 0)
            return yoke_fail(d->context, YOKE_ERROR_INPUT,
                             "%s: the first line names the columns, at most %d different ones with 1 to %d letters, digits and _.:-/+ "
                             "each; found \"%.80s\"",
                             path, DATA_MAX_COLUMNS, DATA_NAME - 1, name);
        name = comma != NULL ? comma + 1 : NULL;
    }
    return YOKE_OK;
}

static yoke_status read_row(data *d, const char *path, int64_t number, const char *line)
{
    double row[DATA_MAX_COLUMNS];
    for (int k = 0; k < d->columns; k++) {
        char *end;
        row[k] = strtod(line, &end);
        if (end == line) row[k] = NAN;
        if (*end != (k + 1 < d->columns ? ',' : '\0') || isinf(row[k]))
            return yoke_fail(d->context, YOKE_ERROR_INPUT, "%s:%lld: expected %d numbers between commas, column %d (%s) is \"%.40s\"", path,
                             (long long)number, d->columns, k + 1, d->column[k], line);
        line = end + 1;
    }
    return data_add(d, row);
}

static yoke_status read_lines(data *d, const char *path, FILE *in)
{
    enum { LINE = 4096, MAX_ROWS = 10000000 };
    char line[LINE];
    yoke_status status = YOKE_OK;
    for (int64_t number = 1; !status && fgets(line, LINE, in) != NULL; number++) {
        size_t length = strlen(line);
        if (length == LINE - 1 || d->rows == MAX_ROWS)
            return yoke_fail(d->context, YOKE_ERROR_INPUT, "%s:%lld: a line of %d bytes, or more than %d lines, is no table of samples",
                             path, (long long)number, LINE, MAX_ROWS);
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = '\0';
        if (length == 0 || line[0] == '#') continue;
        status = d->columns == 0 ? read_names(d, path, line) : read_row(d, path, number, line);
    }
    if (!status && ferror(in))
        status = yoke_fail(d->context, YOKE_ERROR_INPUT, "%s: the samples cannot be read: %s", path, strerror(errno));
    if (!status && d->columns == 0)
        status =
            yoke_fail(d->context, YOKE_ERROR_INPUT, "%s: there is no table of samples, which begins with the names of its columns", path);
    return status;
}

yoke_status data_read_csv(data *d, const char *path, const char *const *wanted)
{
    FILE *in = fopen(path, "r");
    if (in == NULL) return yoke_fail(d->context, YOKE_ERROR_INPUT, "%s: the samples cannot be read: %s", path, strerror(errno));
    yoke_status status = read_lines(d, path, in);
    fclose(in);
    for (int k = 0; !status && wanted[k] != NULL; k++)
        if (data_find(d, wanted[k]) < 0)
            status = yoke_fail(d->context, YOKE_ERROR_INPUT, "%s: there is no column \"%s\" in the first line", path, wanted[k]);
    if (!status && d->rows == 0) status = yoke_fail(d->context, YOKE_ERROR_INPUT, "%s: there are no samples below the names", path);
    return status;
}

/* -------------------------------------------------------------------------------------------------- figure */

static void write_panel(const data *d, const char *name, int panel, FILE *out)
{
    bool first = true;
    for (int k = 0; k < d->num_curves; k++) {
        const data_curve *curve = &d->curve[k];
        if (curve->panel != panel) continue;
        if (first) fprintf(out, "set xlabel '%s'\nset ylabel '%s'\n", curve->x_label, curve->y_label);
        fprintf(out, "%s '%s.csv' using %d:", first ? "plot" : ", \\\n    ", name, curve->x + 1);
        if (curve->divide >= 0)
            fprintf(out, "($%d/$%d)", curve->y + 1, curve->divide + 1);
        else
            fprintf(out, "%d", curve->y + 1);
        fprintf(out, " with points title '%s'", d->column[curve->y]);
        if (curve->expression[0]) fprintf(out, ", %s with lines title '%s, fit'", curve->expression, d->column[curve->y]);
        first = false;
    }
    fputc('\n', out);
}

void data_write_script(const data *d, const char *name, FILE *out)
{
    int panels = 0;
    for (int k = 0; k < d->num_curves; k++) panels = d->curve[k].panel >= panels ? d->curve[k].panel + 1 : panels;
    fprintf(
        out,
        "# gnuplot %s.gp, in the directory of %s.csv\nset datafile separator ','\nset key autotitle columnhead\n"
        "set terminal svg size 900, %d background 'white'\nset output '%s.svg'\nset grid\nset key outside right noenhanced\nset multiplot "
        "layout %d, 1\n",
        name, name, 60 + 380 * (panels > 0 ? panels : 1), name, panels > 0 ? panels : 1);
    for (int panel = 0; panel < panels; panel++) write_panel(d, name, panel, out);
    fputs("unset multiplot\n", out);
}
