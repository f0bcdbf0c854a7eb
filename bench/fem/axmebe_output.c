#include "fem/axmebe_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/console/numbers.h"
#include "common/files/plot.h"
#include "common/files/record.h"
#include "fem/roofline.h"

static double rate(const fem_axmebe_row *row) { return (double)row->dofs / row->time.median_s; }
static double bandwidth(const fem_axmebe_row *row) { return row->bytes / row->time.median_s; }
static const char *exchange(const fem_axmebe_row *row) { return row->exchange < 0 ? "-" : fem_axmebe_exchange_name[row->exchange]; }

/* ---------------------------------------------------------------------------------------------------- table */

void fem_axmebe_print_header(app_terminal *terminal)
{
    app_print(terminal, "%-24s %-17s %-8s %8s %9s %9s %8s %7s %7s %7s %7s %9s %12s %10s  %s\n", "devices", "variant", "exchange",
              "elements", "dofs", "us/elem", "Mdof/s", "GB/s", "/triad", "/DGEMM", "GFLOP/s", "us/elem+", "bytes moved", "difference",
              "mesh");
}

void fem_axmebe_print_row(const fem_axmebe_row *row, void *user)
{
    app_terminal *terminal = user;
    char text[7][32];
    if (row->why_not[0]) {
        app_print(terminal, "%-24s %-17s %-8s %8lld %9lld  not measured: %.160s  %s\n", row->set, fem_axmebe_variant_name[row->variant],
                  exchange(row), (long long)row->elements, (long long)row->dofs, row->why_not, row->mesh);
        return;
    }
    app_print(terminal, "%-24s %-17s %-8s %8lld %9lld %s %s %s %s %s %s %s %12lld %10.1e  %s\n", row->set,
              fem_axmebe_variant_name[row->variant], exchange(row), (long long)row->elements, (long long)row->dofs,
              app_number_text(text[0], 9, 3, row->time.median_s / (double)row->elements * 1e6),
              app_number_text(text[1], 8, 2, rate(row) * 1e-6), app_number_text(text[2], 7, 2, bandwidth(row) * 1e-9),
              app_number_text(text[3], 7, 3, bandwidth(row) / row->triad_bytes_per_s),
              app_number_text(text[4], 7, 3, rate(row) / row->dgemm_flops_per_s * 1e3),
              app_number_text(text[5], 7, 1, row->flops / row->time.median_s * 1e-9),
              app_number_text(text[6], 9, 3, row->transferred_s / (double)row->elements * 1e6), (long long)row->exchange_bytes,
              row->difference, row->mesh);
}

void fem_axmebe_print_hanging(app_terminal *terminal, const fem_axmebe_result *result)
{
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_axmebe_row *row = &result->rows[i], *without = fem_axmebe_find_conforming(result, row);
        if (!without || row->why_not[0] || without->why_not[0]) continue;
        app_print(terminal, "%s, %s, %s, %lld elements, %lld hanging nodes: %+.1f %% time per element against %s\n", row->set,
                  fem_axmebe_variant_name[row->variant], row->mesh, (long long)row->elements, (long long)row->hanging_nodes,
                  100 * (row->time.median_s / (double)row->elements / (without->time.median_s / (double)without->elements) - 1),
                  without->mesh);
    }
}

void fem_axmebe_print_ceilings(app_terminal *terminal, const fem_axmebe_result *result)
{
    char text[512];
    for (int i = 0; i < result->num_ceilings; i++) {
        app_ceilings_text(&result->ceilings[i], text, sizeof text);
        app_print(terminal, "%s\n", text);
    }
}

void fem_axmebe_print_exchange(app_terminal *terminal, const fem_axmebe_result *result)
{
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_axmebe_row *halo = &result->rows[i], *full = fem_axmebe_find(result, halo, FEM_EXCHANGE_FULL);
        if (halo->exchange != FEM_EXCHANGE_HALO || !full || halo->why_not[0] || full->why_not[0] || !halo->exchange_bytes) continue;
        app_print(terminal, "%s, %s, %lld elements: halo moves %lld bytes in a product, full %lld: %.1f times less\n", halo->set,
                  fem_axmebe_variant_name[halo->variant], (long long)halo->elements, (long long)halo->exchange_bytes,
                  (long long)full->exchange_bytes, (double)full->exchange_bytes / (double)halo->exchange_bytes);
    }
}

/* Returns the row that corresponds to `row` on one thread of the host's cores, or NULL. */
static const fem_axmebe_row *find_single(const fem_axmebe_result *result, const fem_axmebe_row *row)
{
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_axmebe_row *other = &result->rows[i];
        if (fem_bench_host_threads(other->set) == 1 && other->variant == row->variant && other->elements == row->elements &&
            !strcmp(other->mesh, row->mesh) && !other->why_not[0])
            return other;
    }
    return NULL;
}

void fem_axmebe_print_scaling(app_terminal *terminal, const fem_axmebe_result *result)
{
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_axmebe_row *row = &result->rows[i], *single = find_single(result, row);
        const int threads = fem_bench_host_threads(row->set);
        if (threads < 2 || row->exchange >= 0 || row->why_not[0] || !single) continue;
        app_print(terminal, "%s, %s, %s, %lld elements: %.2f times as fast on %d threads as on one\n", row->set,
                  fem_axmebe_variant_name[row->variant], row->mesh, (long long)row->elements, single->time.median_s / row->time.median_s,
                  threads);
    }
}

/* --------------------------------------------------------------------------------------------------- record */

static json_t *row_object(const fem_axmebe_row *row)
{
    const int measured = !row->why_not[0];
    return json_pack("{s:o, s:s, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o,"
                     " s:s, s:I, s:f, s:f, s:o, s:o, s:o}",
                     "devices", app_json_text(row->set), "variant", fem_axmebe_variant_name[row->variant], "exchange",
                     row->exchange < 0 ? json_null() : json_string(fem_axmebe_exchange_name[row->exchange]), "elements",
                     (json_int_t)row->elements, "dofs", (json_int_t)row->dofs, "hanging_nodes", (json_int_t)row->hanging_nodes,
                     "seconds_per_product", app_json_number(row->time.median_s), "quartile_low_s",
                     app_json_number(row->time.quartile_low_s), "quartile_high_s", app_json_number(row->time.quartile_high_s), "products",
                     (json_int_t)row->time.times, "seconds_with_transfers", app_json_number(row->transferred_s), "seconds_per_element",
                     app_json_number(row->time.median_s / (double)row->elements), "dofs_per_s", app_json_number(rate(row)), "least_bytes",
                     row->bytes, "bytes_per_s", app_json_number(bandwidth(row)), "triad_bytes_per_s",
                     app_json_number(row->triad_bytes_per_s), "triad_fraction", app_json_number(bandwidth(row) / row->triad_bytes_per_s),
                     "exchange_bytes", measured ? json_integer((json_int_t)row->exchange_bytes) : json_null(), "difference",
                     app_json_number(row->difference), "why_not", measured ? json_null() : app_json_text(row->why_not), "mesh", row->mesh,
                     "elements_asked", (json_int_t)row->asked, "flops", row->flops, "flops_per_byte", row->flops / row->bytes,
                     "flops_per_s", app_json_number(row->flops / row->time.median_s), "dgemm_flops_per_s",
                     app_json_number(row->dgemm_flops_per_s), "mdof_per_dgemm_gflop",
                     app_json_number(rate(row) / row->dgemm_flops_per_s * 1e3));
}

json_t *fem_axmebe_rows(const fem_axmebe_result *result)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < result->num_rows; i++) array = app_json_append(array, row_object(&result->rows[i]));
    return array;
}

json_t *fem_axmebe_ceilings(const fem_axmebe_result *result)
{
    json_t *array = json_array();
    for (int i = 0; i < result->num_ceilings; i++) array = app_json_append(array, app_ceilings_json(&result->ceilings[i]));
    return array;
}

/* -------------------------------------------------------------------------------------------------- figures */

static int same_series(const fem_axmebe_row *a, const fem_axmebe_row *b)
{
    return a->variant == b->variant && a->exchange == b->exchange && !strcmp(a->set, b->set) && !strcmp(a->mesh, b->mesh);
}

/* Whether row i is the first measured row of its series. */
static int begins_series(const fem_axmebe_result *result, int64_t i)
{
    if (result->rows[i].why_not[0]) return 0;
    for (int64_t k = 0; k < i; k++)
        if (!result->rows[k].why_not[0] && same_series(&result->rows[k], &result->rows[i])) return 0;
    return 1;
}

static void print_data(FILE *out, const void *data)
{
    const fem_axmebe_result *result = data;
    fputs(
        "# yoke bench axmebe: products y = A u.  One block for each set of devices, variant, exchange and mesh; nan: not measured.\n"
        "# 1 devices  2 variant  3 exchange  4 elements  5 dofs  6 seconds per product  7 lower quartile  8 upper quartile\n"
        "# 9 seconds with u to and y from the device  10 dofs per second  11 least bytes  12 bytes per second  13 triad bytes per second\n"
        "# 14 bytes moved between devices in a product  15 difference from the stored operator\n"
        "# 16 mesh  17 operations of a product  18 operations per second  19 those of DGEMM\n",
        out);
    for (int64_t i = 0; i < result->num_rows; i++) {
        if (!begins_series(result, i)) continue;
        for (int64_t k = i; k < result->num_rows; k++) {
            const fem_axmebe_row *row = &result->rows[k];
            if (row->why_not[0] || !same_series(row, &result->rows[i])) continue;
            fprintf(out, "%s %s %s %lld %lld %.6e %.6e %.6e %.6e %.6e %.6e %.6e %.6e %lld %.2e %s %.6e %.6e %.6e\n", row->set,
                    fem_axmebe_variant_name[row->variant], exchange(row), (long long)row->elements, (long long)row->dofs,
                    row->time.median_s, row->time.quartile_low_s, row->time.quartile_high_s, row->transferred_s, rate(row), row->bytes,
                    bandwidth(row), row->triad_bytes_per_s, (long long)row->exchange_bytes, row->difference, row->mesh, row->flops,
                    row->flops / row->time.median_s, row->dgemm_flops_per_s);
        }
        fputs("\n\n", out);
    }
}

/* Draws a curve for each requested block of the data. */
static void print_curves(FILE *out, const fem_axmebe_result *result, int alg3_only, const char *columns)
{
    int block = 0, curves = 0;
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_axmebe_row *row = &result->rows[i];
        if (!begins_series(result, i)) continue;
        if (!alg3_only || row->variant >= FEM_AXMEBE_ALG3)
            fprintf(out, "%s'axmebe.dat' index %d using %s with linespoints title '%s %s%s%s %s'", curves++ ? ", \\\n     " : "plot ",
                    block, columns, row->set, fem_axmebe_variant_name[row->variant], row->exchange < 0 ? "" : " ",
                    row->exchange < 0 ? "" : exchange(row), row->mesh);
        block++;
    }
    if (curves) fputs("\n", out);
}

static int any_series(const fem_axmebe_result *result, int alg3_only)
{
    for (int64_t i = 0; i < result->num_rows; i++)
        if (!result->rows[i].why_not[0] && (!alg3_only || result->rows[i].variant >= FEM_AXMEBE_ALG3)) return 1;
    return 0;
}

static void print_script(FILE *out, const void *data)
{
    const fem_axmebe_result *result = data;
    fputs("# gnuplot axmebe.gp, in the directory of axmebe.dat\n"
          "set terminal svg size 800,560 dynamic background rgb 'white'\n"
          "set encoding utf8\n"
          "set termoption noenhanced\n"
          "set logscale xy\nset format '%g'\nset grid\nset key outside below\nset xlabel 'elements'\n",
          out);
    if (any_series(result, 0)) {
        fputs("set output 'throughput.svg'\nset ylabel 'dofs per second'\nset title 'Products y = A u'\n", out);
        print_curves(out, result, 0, "4:10");
    }
    if (any_series(result, 1)) {
        fputs("set output 'variants.svg'\nset ylabel 'seconds per product, with transfers'\n"
              "set title 'Variants of Alg. 3 (Lang and Rünger 2013, fig. 7)'\n",
              out);
        print_curves(out, result, 1, "4:9");
    }
}

yoke_status fem_axmebe_write(const fem_axmebe_result *result, const char *directory, bool *drawn)
{
    *drawn = false;
    yoke_status status = app_file_write(result->context, directory, "axmebe.dat", print_data, result);
    if (!status) status = app_file_write(result->context, directory, "axmebe.gp", print_script, result);
    if (!status && any_series(result, 0)) status = app_plot_draw(result->context, directory, "axmebe.gp", drawn);
    return status ? status : fem_bench_write_roofline(result, directory);
}
