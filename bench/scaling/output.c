#include "scaling/output.h"

#include <math.h>
#include <stdio.h>

#include "common/files/directory.h"
#include "common/files/plot.h"
#include "common/files/record.h"

/* ---------------------------------------------------------------------------------------------------- tables */

void scaling_print_head(app_terminal *terminal, bool weak)
{
    app_print(terminal, "\n%s scaling: milliseconds of an iteration\n", weak ? "weak" : "strong");
    app_print(terminal, "%6s %10s %8s %8s %8s %8s %8s %8s %9s %6s %9s %6s  %s\n", "ranks", "elements", "work", "cuts", "halo", "sums",
              "gather", "rank 0", "formula", "%", "simulated", "%", "largest");
}

void scaling_print_row(app_terminal *terminal, const scaling_row *row)
{
    const scaling_terms *t = &row->terms;
    char simulated[32] = "        -      -";
    if (row->is_simulated)
        snprintf(simulated, sizeof simulated, "%9.3f %6.1f", 1e3 * row->simulated.iteration_s, 100 * scaling_simulated_efficiency(row));
    app_print(terminal, "%6lld %10lld %8.3f %8.3f %8.3f %8.3f %8.3f %8.3f %9.3f %6.1f %s  %s\n", (long long)row->ranks,
              (long long)row->elements, 1e3 * t->work_s, 1e3 * t->imbalance_s, 1e3 * t->halo_s, 1e3 * t->reduction_s, 1e3 * t->gather_s,
              1e3 * t->last_s, 1e3 * t->total_s, 100 * scaling_efficiency(row), simulated, scaling_largest(t));
}

void scaling_print_measured(app_terminal *terminal, const scaling_results *results)
{
    app_print(terminal, "\nrecords of runs, and the formula for as many elements and ranks (per iteration)\n");
    app_print(terminal, "%6s %10s %10s %10s %10s %10s %12s %12s %12s %12s\n", "ranks", "elements", "ms", "formula", "messages", "formula",
              "bytes", "formula", "most bytes", "formula");
    for (int i = 0; i < results->num_measured; i++) {
        const scaling_measured *m = &results->measured[i];
        app_print(terminal, "%6lld %10lld %10.3f %10.3f %10.1f %10.1f %12.0f %12.0f %12.0f %12.0f\n", (long long)m->ranks,
                  (long long)m->elements, 1e3 * m->iteration_s, 1e3 * m->terms.total_s, m->messages, m->terms.messages, m->bytes,
                  m->terms.bytes, m->most_bytes, m->terms.most_bytes);
    }
}

/* ------------------------------------------------------------------------------------------------ data, figure */

static void print_rows(FILE *out, const void *data)
{
    const scaling_results *all = data;
    fputs("scaling,ranks,elements,work_s,cuts_s,halo_s,sums_s,gather_s,rank_0_s,formula_s,efficiency,simulated_s,simulated_efficiency,"
          "largest,"
          "neighbours,most_neighbours,messages,simulated_messages,bytes,simulated_bytes\n",
          out);
    for (int i = 0; i < all->num_rows; i++) {
        const scaling_row *row = &all->rows[i];
        const scaling_terms *t = &row->terms;
        fprintf(out, "%s,%lld,%lld,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,", row->weak ? "weak" : "strong", (long long)row->ranks,
                (long long)row->elements, t->work_s, t->imbalance_s, t->halo_s, t->reduction_s, t->gather_s, t->last_s, t->total_s,
                scaling_efficiency(row));
        if (row->is_simulated) {
            const scaling_simulated *s = &row->simulated;
            fprintf(out, "%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", s->iteration_s, scaling_simulated_efficiency(row), s->largest,
                    s->neighbours, s->most_neighbours, t->messages, s->messages, t->bytes, s->bytes);
        } else {
            fprintf(out, ",,,,,%.9g,,%.9g,\n", t->messages, t->bytes);
        }
    }
}

static void draw_terms(FILE *out, const scaling_results *all, bool weak)
{
    static const char *const names[] = {"work", "cuts", "halo", "sums", "gather", "rank 0", "formula", "simulated"};
    fprintf(out, "$%s << END\n", weak ? "weak" : "strong");
    for (int i = 0; i < all->num_rows; i++) {
        const scaling_row *row = &all->rows[i];
        const scaling_terms *t = &row->terms;
        if (row->weak != weak) continue;
        fprintf(out, "%lld %.6g %.6g %.6g %.6g %.6g %.6g %.6g ", (long long)row->ranks, 1e3 * t->work_s, 1e3 * t->imbalance_s,
                1e3 * t->halo_s, 1e3 * t->reduction_s, 1e3 * t->gather_s, 1e3 * t->last_s, 1e3 * t->total_s);
        if (row->is_simulated)
            fprintf(out, "%.6g\n", 1e3 * row->simulated.iteration_s);
        else
            fputs("NaN\n", out);
    }
    fprintf(out, "END\nset title '%s scaling, %s'\nset ylabel 'ms of an iteration'\nplot ", weak ? "weak" : "strong",
            all->setting.network.name);
    for (int k = 0; k < 8; k++)
        fprintf(out, "%s$%s using 1:%d with %s title '%s'", k ? ", " : "", weak ? "weak" : "strong", k + 2,
                k == 6   ? "lines lw 3 lc 'black'"
                : k == 7 ? "points pt 6 ps 1.5 lc 'black'"
                         : "linespoints",
                names[k]);
    fputc('\n', out);
}

static void print_script(FILE *out, const void *data)
{
    const scaling_results *all = data;
    fputs("# gnuplot scaling.gp\nset terminal svg size 1100, 520 noenhanced background 'white'\nset output 'scaling.svg'\nset grid\n"
          "set key below\nset logscale xy\nset yrange [1e-3:]\nset xlabel 'ranks'\nset multiplot layout 1, 2\n",
          out);
    draw_terms(out, all, true);
    draw_terms(out, all, false);
    fputs("unset multiplot\n", out);
}

yoke_status scaling_write(yoke_context *context, const char *directory, const scaling_results *results, bool *drawn)
{
    const app_plot plot = {
        .directory = directory, .base = "scaling", .ending = ".csv", .print_data = print_rows, .print_script = print_script};
    yoke_status status = app_directory_make(context, directory);
    return status ? status : app_plot_write(context, &plot, results, drawn);
}

/* ---------------------------------------------------------------------------------------------------- record */

json_t *scaling_setting_value(const scaling_setting *setting)
{
    const scaling_network *n = &setting->network;
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:f}", "network", n->name, "latency_s", n->latency_s, "overhead_s",
                     n->overhead_s, "bytes_per_s", n->bytes_per_s, "fine_element_s", setting->machine.fine_s, "coarse_element_s",
                     setting->machine.coarse_s, "gathered", (json_int_t)setting->solver.gathered, "aligned",
                     (json_int_t)setting->solver.aligned, "noise", setting->noise);
}

static json_t *terms_value(const scaling_terms *t)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "work_s", t->work_s, "cuts_s", t->imbalance_s, "halo_s",
                     t->halo_s, "sums_s", t->reduction_s, "gather_s", t->gather_s, "rank_0_s", t->last_s, "total_s", t->total_s, "messages",
                     t->messages, "bytes", t->bytes, "most_messages", t->most_messages, "most_bytes", t->most_bytes);
}

static json_t *simulated_value(const scaling_simulated *s)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I}", "iteration_s", s->iteration_s, "largest", s->largest, "neighbours",
                     s->neighbours, "most_neighbours", s->most_neighbours, "messages", s->messages, "bytes", s->bytes, "most_messages",
                     s->most_messages, "most_bytes", s->most_bytes, "simulated_messages", (json_int_t)s->simulated);
}

json_t *scaling_rows_value(const scaling_results *results)
{
    json_t *array = json_array();
    for (int i = 0; i < results->num_rows; i++) {
        const scaling_row *row = &results->rows[i];
        array =
            app_json_append(array, json_pack("{s:s, s:I, s:I, s:o, s:f, s:o, s:o, s:s}", "scaling", row->weak ? "weak" : "strong", "ranks",
                                             (json_int_t)row->ranks, "elements", (json_int_t)row->elements, "formula",
                                             terms_value(&row->terms), "efficiency", scaling_efficiency(row), "simulated",
                                             row->is_simulated ? simulated_value(&row->simulated) : json_null(), "simulated_efficiency",
                                             app_json_number(scaling_simulated_efficiency(row)), "largest", scaling_largest(&row->terms)));
    }
    return array;
}

json_t *scaling_measured_value(const scaling_results *results)
{
    json_t *array = json_array();
    for (int i = 0; i < results->num_measured; i++) {
        const scaling_measured *m = &results->measured[i];
        array = app_json_append(array, json_pack("{s:o, s:I, s:I, s:I, s:f, s:f, s:f, s:o, s:o, s:o}", "record", app_json_text(m->path),
                                                 "ranks", (json_int_t)m->ranks, "elements", (json_int_t)m->elements, "iterations",
                                                 (json_int_t)m->iterations, "iteration_s", m->iteration_s, "messages", m->messages, "bytes",
                                                 m->bytes, "most_messages", app_json_number(m->most_messages), "most_bytes",
                                                 app_json_number(m->most_bytes), "formula", terms_value(&m->terms)));
    }
    return array;
}
