#include "output/table.h"

#include <math.h>
#include <stdio.h>

#include "common/console/append.h"

/* Appends "; what m unit, predicted p (+1.2 %)" if both values are known. */
static void append_pair(char line[FEM_EXPLANATION], const char *what, double predicted, double measured, const char *unit)
{
    if (isnan(predicted) || isnan(measured)) return;
    app_append(line, FEM_EXPLANATION, "%s%s %.4g%s, predicted %.4g (%+.1f %%)", *line ? "; " : "", what, measured, unit, predicted,
               100 * (predicted / measured - 1));
}

void fem_table_explain(const fem_step_record *step, char line[FEM_EXPLANATION])
{
    line[0] = 0;
    if (step->preconditioner_reason) snprintf(line, FEM_EXPLANATION, "%s", step->preconditioner_reason);
    append_pair(line, "a product", step->predicted_product_s, step->measured_product_s, " s");
    append_pair(line, "its energy", step->predicted_product_j, step->measured_product_j, " J");
    append_pair(line, "products", step->predicted_applications, (double)step->operator_applications, "");
    append_pair(line, "the solve with these products", step->time_with_l_s, step->measured_time_s, " s");
    append_pair(line, "its energy", step->energy_with_l_j, step->measured_energy_j, " J");
}

static void append_number(char line[FEM_TABLE_LINE], int width, const char *format, double number)
{
    char text[64];
    snprintf(text, sizeof text, format, number);
    app_append(line, FEM_TABLE_LINE, " %*s", width, isnan(number) ? "-" : text);
}

/* Prints three digits; from 100 on, whole seconds. */
static void append_seconds(char line[FEM_TABLE_LINE], int width, double seconds)
{
    append_number(line, width, seconds >= 100 ? "%.0f" : "%.3g", seconds);
}

void fem_table_header(const fem_table *table, char line[FEM_TABLE_LINE])
{
    line[0] = 0;
    app_append(line, FEM_TABLE_LINE, "%4s %8s %8s %4s", "step", "elements", "dofs", "iter");
    if (table->gpu) app_append(line, FEM_TABLE_LINE, " %5s", "GPU %");
    app_append(line, FEM_TABLE_LINE, " %9s", "s/product");
    if (table->prediction) app_append(line, FEM_TABLE_LINE, " %9s", "s planned");
    app_append(line, FEM_TABLE_LINE, " %7s", "s solve");
    if (table->energy) app_append(line, FEM_TABLE_LINE, " %8s", "energy J");
    app_append(line, FEM_TABLE_LINE, " %9s", "estimate");
    if (table->components == 3) {
        char title[FEM_UNIT_TEXT + 8];
        const char *unit = table->stress_unit ? table->stress_unit : "";
        snprintf(title, sizeof title, "Mises%s%s", FEM_UNIT_AFTER(unit));
        app_append(line, FEM_TABLE_LINE, " %10s", title);
    }
    app_append(line, FEM_TABLE_LINE, " %7s", "s total");
}

/* Seconds per product of each part, as "1.2e-03" or "1.2e-03/3.4e-04"; for several ranks, which may be many, the longest time. */
static void append_products(char line[FEM_TABLE_LINE], const fem_step_record *step)
{
    char text[FEM_TABLE_LINE] = "";
    const int ranks = step->num_parts > 0 ? step->parts[step->num_parts - 1].rank + 1 : 1;
    if (ranks > 1) app_append(text, FEM_TABLE_LINE, isnan(step->measured_product_s) ? "-" : "%.1e", step->measured_product_s);
    for (int i = 0; i < step->num_parts && ranks == 1; i++) {
        double seconds = step->parts[i].seconds_per_product;
        if (i > 0) app_append(text, FEM_TABLE_LINE, "/");
        if (isnan(seconds))
            app_append(text, FEM_TABLE_LINE, "-");
        else
            app_append(text, FEM_TABLE_LINE, "%.1e", seconds);
    }
    app_append(line, FEM_TABLE_LINE, " %9s", step->num_parts > 0 ? text : "-");
}

/* Seconds of the whole step, without parts that are unknown. */
static double total_s(const fem_step_record *step)
{
    const double seconds[] = {step->refine_s, step->setup_s, step->solve_s, step->estimate_s, step->write_s};
    double sum = 0;
    int known = 0;
    for (int i = 0; i < 5; i++) {
        sum += isnan(seconds[i]) ? 0 : seconds[i];
        known += !isnan(seconds[i]);
    }
    return known > 0 ? sum : NAN;
}

void fem_table_row(const fem_table *table, const fem_step_record *step, char line[FEM_TABLE_LINE])
{
    line[0] = 0;
    app_append(line, FEM_TABLE_LINE, "%4d %8lld %8lld %4lld", step->step, (long long)step->elements, (long long)step->dofs,
               (long long)step->iterations);
    if (table->gpu) append_number(line, 5, "%.1f", 100 * step->gpu_share);
    append_products(line, step);
    if (table->prediction) append_seconds(line, 9, step->predicted_time_s);
    append_seconds(line, 7, step->measured_time_s);
    if (table->energy) append_number(line, 8, "%.4g", step->measured_energy_j);
    append_number(line, 9, "%.2e", step->relative_error_estimate);
    if (table->components == 3) append_number(line, 10, "%.4e", step->max_von_mises_pa);
    append_seconds(line, 7, total_s(step));
}
