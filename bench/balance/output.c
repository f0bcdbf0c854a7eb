#include "balance/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/console/numbers.h"
#include "common/files/directory.h"
#include "common/files/plot.h"

void output_collect(simulated_row *row, simulated_pair *pairs, int64_t count)
{
    int64_t known = count;
    while (known > 0 && isnan(pairs[known - 1].excess)) known--;
    for (int q = 0; q < OUTPUT_QUANTILES; q++) row->quantile[q] = known > 0 ? pairs[(known - 1) * q / (OUTPUT_QUANTILES - 1)].excess : NAN;
    double *values = calloc((size_t)count, sizeof *values);
    for (int r = 0; r < SIMULATE_ROUNDS; r++) {
        row->median[r] = row->p95[r] = row->mean[r] = NAN;
        if (values == NULL) continue;
        double sum = 0;
        for (int64_t k = 0; k < count; k++) sum += values[k] = (double)pairs[k].course[r];
        row->mean[r] = sum / (double)count;
        app_sort(values, count);
        row->median[r] = values[(count - 1) / 2];
        row->p95[r] = values[(count - 1) * 95 / 100];
    }
    free(values);
}

typedef struct table {
    const simulated_row *rows;
    int count;
} table;

static void print_data(FILE *out, const void *data)
{
    const table *t = data;
    fprintf(out, "# Two blocks for each row of the table, in its order: quantiles of the excess, and the course of the excess.\n");
    for (int i = 0; i < t->count; i++) {
        const simulated_row *row = &t->rows[i];
        const simulated_case *s = &row->simulation;
        fprintf(out, "# %s, noise %g %%, disturbance %s %g, devices %s, policy %s\n# part of the pairs  excess %%\n",
                family_name(s->family), 100 * s->noise, disturbance_name(s->disturbance), s->factor, s->devices ? "2" : "3-8",
                method_name(s->method));
        for (int q = 0; q < OUTPUT_QUANTILES; q++) fprintf(out, "%g %.6g\n", q / (OUTPUT_QUANTILES - 1.0), 100 * row->quantile[q]);
        fprintf(out, "\n\n# round  median excess %%  95 %% quantile  mean\n");
        for (int r = 0; r < SIMULATE_ROUNDS; r++)
            fprintf(out, "%d %.6g %.6g %.6g\n", r + 1, 100 * row->median[r], 100 * row->p95[r], 100 * row->mean[r]);
        fprintf(out, "\n\n");
    }
}

/* Undisturbed pairs of devices, the only rows whose curves are comparable. */
static bool in_figure(const simulated_case *s) { return s->disturbance == DISTURBANCE_NONE && s->devices == 2; }

static void print_curves(FILE *out, const table *t, int block, const char *columns)
{
    bool first = true;
    for (int i = 0; i < t->count; i++) {
        const simulated_case *s = &t->rows[i].simulation;
        if (!in_figure(s)) continue;
        fprintf(out, "%s 'balance.dat' index %d using %s with lines title '%s, %g %%, %s'", first ? "plot" : ", \\\n    ", 2 * i + block,
                columns, family_name(s->family), 100 * s->noise, method_name(s->method));
        first = false;
    }
    fprintf(out, "%s\n", first ? "# no row without disturbance" : "");
}

static void print_script(FILE *out, const void *data)
{
    fputs("# gnuplot balance.gp, in the directory of balance.dat\n"
          "set terminal svg size 1000, 900 background 'white'\nset output 'balance.svg'\nset multiplot layout 2, 1\nset logscale y\nset "
          "grid\n"
          "set key outside right\nset ylabel 'makespan over best fixed share, %'\n"
          "set xlabel 'part of the pairs'\nset title 'Mean excess of rounds 5 to 30'\nset yrange [1e-3:200]\n",
          out);
    print_curves(out, data, 0, "1:2");
    fputs("set xlabel 'round'\nset title 'Excess of each round, 95 % quantile'\n", out);
    print_curves(out, data, 1, "1:3");
    fputs("unset multiplot\n", out);
}

yoke_status output_write(yoke_context *context, const simulated_row *rows, int count, const char *directory, bool *drawn)
{
    yoke_status status = app_directory_make(context, directory);
    const app_plot plot = {.directory = directory, .base = "balance", .print_data = print_data, .print_script = print_script};
    return status ? status : app_plot_write(context, &plot, &(table){rows, count}, drawn);
}
