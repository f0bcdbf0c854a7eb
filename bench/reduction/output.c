#include "reduction/output.h"

#include <math.h>
#include <string.h>

#include "common/files/directory.h"
#include "common/files/plot.h"
#include "common/files/record.h"

/* Writes "locks 16" or "cas". */
static void write_label(const reduction_row *row, char label[32])
{
    if (row->num_locks > 0)
        snprintf(label, 32, "%s %lld", reduction_name(row->kind), (long long)row->num_locks);
    else
        snprintf(label, 32, "%s", reduction_name(row->kind));
}

static const char *source_name(bool product) { return product ? "computed" : "stored"; }

/* --------------------------------------------------------------------------------------------------- table */

void reduction_print_head(app_terminal *terminal, bool product)
{
    app_print(terminal, "\nelement vectors %s\n%-15s %7s %10s %10s %9s %8s %7s %8s  %s\n", source_name(product), "method", "threads", "ms",
              "med max", "ns/add", "/unsync", "/triad", "speed-up", "result");
}

void reduction_print_row(app_terminal *terminal, const reduction_row *row)
{
    char label[32], range[24], triad[16] = "-";
    write_label(row, label);
    snprintf(range, sizeof range, "+%.0f +%.0f %%", 100 * (row->seconds / row->min_s - 1), 100 * (row->max_s / row->min_s - 1));
    if (!isnan(row->triad)) snprintf(triad, sizeof triad, "%.2f", row->triad);
    app_print(terminal, "%-15s %7d %10.3f %10s %9.3f %8.2f %7s %8.2f  ", label, row->threads, 1e3 * row->min_s, range,
              1e9 * row->addition_s, row->unsynchronised, triad, row->speedup);
    if (row->wrong > 0)
        app_print(terminal, "wrong: %lld dofs; not used\n", (long long)row->wrong);
    else
        app_print(terminal, "%.1e\n", row->error);
}

void reduction_print_synthetic(app_terminal *terminal, const reduction_results *results)
{
    app_print(terminal, "\nadditions to one place, ns each (wall-clock time over additions of all threads)\n%7s %9s %9s", "threads", "work",
              "work ns");
    for (int k = 0; k < NUM_SYNTHETIC; k++) app_print(terminal, " %14s", synthetic_name((synthetic_kind)k));
    for (int i = 0; i < results->num_synthetic; i++) {
        const synthetic_row *row = &results->synthetic[i];
        if (row->kind == 0) app_print(terminal, "\n%7d %9lld %9.2f", row->threads, (long long)row->work, 1e9 * row->work_s);
        app_print(terminal, " %14.3f", 1e9 * row->addition_s);
    }
    app_print(terminal, "\n");
}

/* --------------------------------------------------------------------------------------------------- files */

static void write_number(FILE *out, double value)
{
    fputc(',', out);
    if (isfinite(value)) fprintf(out, "%.9g", value);
}

static void print_rows(FILE *out, const void *data)
{
    const reduction_results *results = data;
    fputs("vectors,method,locks,threads,seconds,least_s,most_s,seconds_per_addition,over_unsynchronised,over_triad,speedup,error,wrong_"
          "dofs\n",
          out);
    for (int i = 0; i < results->num_rows; i++) {
        const reduction_row *row = &results->row[i];
        fprintf(out, "%s,%s,%lld,%d", source_name(row->product), reduction_name(row->kind), (long long)row->num_locks, row->threads);
        const double values[] = {row->seconds,        row->min_s, row->max_s,   row->addition_s,
                                 row->unsynchronised, row->triad, row->speedup, row->error};
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) write_number(out, values[k]);
        fprintf(out, ",%lld\n", (long long)row->wrong);
    }
}

static void print_synthetic(FILE *out, const void *data)
{
    const reduction_results *results = data;
    fputs("method,threads,work,work_s,seconds_per_addition,lost\n", out);
    for (int i = 0; i < results->num_synthetic; i++) {
        const synthetic_row *row = &results->synthetic[i];
        fprintf(out, "%s,%d,%lld", synthetic_name(row->kind), row->threads, (long long)row->work);
        write_number(out, row->work_s);
        write_number(out, row->addition_s);
        write_number(out, row->lost);
        fputc('\n', out);
    }
}

static int most_threads(const reduction_results *results)
{
    int most = 1;
    for (int i = 0; i < results->num_rows; i++) most = results->row[i].threads > most ? results->row[i].threads : most;
    return most;
}

/* Fig. 4.3a: one thread and all threads without work; fig. 4.3b: all threads as a function of the work. */
static void draw_synthetic(const reduction_results *results, FILE *out)
{
    const int most = most_threads(results);
    fputs("$bars << END\n", out);
    for (int i = 0; i < results->num_synthetic; i++) {
        const synthetic_row *row = &results->synthetic[i];
        if (row->work != 0 || row->threads != 1) continue;
        double all = row->addition_s;
        for (int j = 0; j < results->num_synthetic; j++) {
            const synthetic_row *other = &results->synthetic[j];
            if (other->work == 0 && other->threads == most && other->kind == row->kind) all = other->addition_s;
        }
        fprintf(out, "%s %.6g %.6g\n", synthetic_name(row->kind), 1e9 * row->addition_s, 1e9 * all);
    }
    fputs("END\n", out);
    for (int k = 0; k < NUM_SYNTHETIC; k++) {
        fprintf(out, "$%s << END\n", synthetic_name((synthetic_kind)k));
        for (int i = 0; i < results->num_synthetic; i++) {
            const synthetic_row *row = &results->synthetic[i];
            if ((int)row->kind == k && row->threads == most) fprintf(out, "%.6g %.6g\n", 1e9 * row->work_s, 1e9 * row->addition_s);
        }
        fputs("END\n", out);
    }
    fprintf(
        out,
        "set title 'addition without work (fig. 4.3a)'\nset ylabel 'ns per addition'\nset style data histogram\nset style fill solid 0.6\n"
        "plot $bars using 2:xtic(1) title '1 thread', '' using 3 title '%d threads'\n"
        "set title '%d threads, with work between additions (fig. 4.3b)'\nset xlabel 'ns of work per addition'\nset style data "
        "linespoints\nplot ",
        most, most);
    for (int k = 0; k < NUM_SYNTHETIC; k++)
        fprintf(out, "%s$%s using 1:2 title '%s'", k ? ", " : "", synthetic_name((synthetic_kind)k), synthetic_name((synthetic_kind)k));
    fputc('\n', out);
}

static void draw_locks(const reduction_results *results, FILE *out)
{
    const int most = most_threads(results);
    for (int product = 0; product < 2; product++) {
        fprintf(out, "$locks%d << END\n", product);
        for (int i = 0; i < results->num_rows; i++) {
            const reduction_row *row = &results->row[i];
            if (row->product == product && row->kind == REDUCTION_LOCKS && row->threads == most)
                fprintf(out, "%lld %.6g\n", (long long)row->num_locks, 1e3 * row->min_s);
        }
        fputs("END\n", out);
    }
    fprintf(out,
            "set title '%d threads, locks (fig. 4.4)'\nset logscale x 4\nset xlabel 'locks'\nset ylabel 'ms'\n"
            "plot $locks0 using 1:2 title 'stored', $locks1 using 1:2 title 'computed'\nunset logscale x\n",
            most);
}

/* Fig. 4.5; of the variants with locks, only the one with most locks. */
static void draw_speedups(const reduction_results *results, bool product, FILE *out)
{
    int64_t locks = 0;
    for (int i = 0; i < results->num_rows; i++) locks = results->row[i].num_locks > locks ? results->row[i].num_locks : locks;
    for (int kind = REDUCTION_PRIVATE; kind <= REDUCTION_UNSYNCHRONISED; kind++) {
        fprintf(out, "$speed%d%d << END\n", (int)product, kind);
        for (int i = 0; i < results->num_rows; i++) {
            const reduction_row *row = &results->row[i];
            if (row->product == product && (int)row->kind == kind && (row->num_locks == 0 || row->num_locks == locks))
                fprintf(out, "%d %.6g\n", row->threads, row->speedup);
        }
        fputs("END\n", out);
    }
    fprintf(out, "set title 'element vectors %s (fig. 4.5)'\nset xlabel 'threads'\nset ylabel 'speed-up'\nplot ", source_name(product));
    for (int kind = REDUCTION_PRIVATE; kind <= REDUCTION_UNSYNCHRONISED; kind++)
        fprintf(out, "%s$speed%d%d using 1:2 title '%s'", kind ? ", " : "", (int)product, kind, reduction_name((reduction_kind)kind));
    fputc('\n', out);
}

static void print_script(FILE *out, const void *data)
{
    const reduction_results *results = data;
    fputs("# gnuplot reduction.gp\nset terminal svg size 1100, 1300 noenhanced background 'white'\nset output 'reduction.svg'\nset grid\n"
          "set yrange [0:*]\nset key left top\nset multiplot layout 3, 2\n",
          out);
    draw_synthetic(results, out);
    draw_locks(results, out);
    draw_speedups(results, false, out);
    draw_speedups(results, true, out);
    fputs("unset multiplot\n", out);
}

yoke_status reduction_write(yoke_context *context, const char *directory, const reduction_results *results, bool *drawn)
{
    yoke_status status = app_directory_make(context, directory);
    if (!status) status = app_file_write(context, directory, "reduction-synthetic.csv", print_synthetic, results);
    const app_plot plot = {
        .directory = directory, .base = "reduction", .ending = ".csv", .print_data = print_rows, .print_script = print_script};
    return status ? status : app_plot_write(context, &plot, results, drawn);
}

/* -------------------------------------------------------------------------------------------------- record */

json_t *reduction_rows_value(const reduction_results *results)
{
    json_t *array = json_array();
    for (int i = 0; i < results->num_rows; i++) {
        const reduction_row *row = &results->row[i];
        array = app_json_append(
            array, json_pack("{s:s, s:s, s:I, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "vectors", source_name(row->product),
                             "method", reduction_name(row->kind), "locks", (json_int_t)row->num_locks, "threads", row->threads, "seconds",
                             app_json_number(row->seconds), "least_s", app_json_number(row->min_s), "most_s", app_json_number(row->max_s),
                             "seconds_per_addition", app_json_number(row->addition_s), "over_unsynchronised",
                             app_json_number(row->unsynchronised), "over_triad", app_json_number(row->triad), "speedup",
                             app_json_number(row->speedup), "error", app_json_number(row->error), "wrong_dofs", (json_int_t)row->wrong));
    }
    return array;
}

json_t *reduction_synthetic_value(const reduction_results *results)
{
    json_t *array = json_array();
    for (int i = 0; i < results->num_synthetic; i++) {
        const synthetic_row *row = &results->synthetic[i];
        array =
            app_json_append(array, json_pack("{s:s, s:i, s:I, s:o, s:o, s:o}", "method", synthetic_name(row->kind), "threads", row->threads,
                                             "work", (json_int_t)row->work, "work_s", app_json_number(row->work_s), "seconds_per_addition",
                                             app_json_number(row->addition_s), "lost", app_json_number(row->lost)));
    }
    return array;
}

json_t *reduction_triads_value(const reduction_results *results)
{
    json_t *array = json_array();
    for (int i = 0; i < results->num_triads; i++)
        array = app_json_append(array, json_pack("{s:i, s:o}", "threads", results->triad[i].threads, "bytes_per_s",
                                                 app_json_number(results->triad[i].bytes_per_s)));
    return array;
}
