#include "bench_axmebe_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/plot.h"
#include "common/record.h"

enum { PATH_LENGTH = 4096 };

static double rate(const fem_axmebe_row *row) { return (double)row->dofs / row->time.median_s; }
static double bandwidth(const fem_axmebe_row *row) { return row->bytes / row->time.median_s; }
static const char *exchange(const fem_axmebe_row *row) { return row->exchange < 0 ? "-" : fem_axmebe_exchange_name[row->exchange]; }

/* ---------------------------------------------------------------------------------------------------- table */

void fem_axmebe_print_header(app_terminal *terminal)
{
    app_print(terminal, "%-24s %-10s %-8s %8s %9s %9s %8s %7s %7s %9s %12s %10s\n", "devices", "variant", "exchange", "elements", "dofs",
              "us/elem", "Mdof/s", "GB/s", "/triad", "us/elem+", "bytes moved", "difference");
}

/* A number in so many columns, or "-" where it is not known. */
static const char *number(char text[32], int width, int digits, double value)
{
    if (isfinite(value))
        snprintf(text, 32, "%*.*f", width, digits, value);
    else
        snprintf(text, 32, "%*s", width, "-");
    return text;
}

void fem_axmebe_print_row(const fem_axmebe_row *row, void *user)
{
    app_terminal *terminal = user;
    char text[6][32];
    if (row->why_not[0]) {
        app_print(terminal, "%-24s %-10s %-8s %8lld %9lld  not measured: %.160s\n", row->set, fem_axmebe_variant_name[row->variant],
                  exchange(row), (long long)row->elements, (long long)row->dofs, row->why_not);
        return;
    }
    app_print(terminal, "%-24s %-10s %-8s %8lld %9lld %s %s %s %s %s %12lld %10.1e\n", row->set, fem_axmebe_variant_name[row->variant],
              exchange(row), (long long)row->elements, (long long)row->dofs,
              number(text[0], 9, 3, row->time.median_s / (double)row->elements * 1e6), number(text[1], 8, 2, rate(row) * 1e-6),
              number(text[2], 7, 2, bandwidth(row) * 1e-9), number(text[3], 7, 3, bandwidth(row) / row->triad_bytes_per_s),
              number(text[4], 9, 3, row->transferred_s / (double)row->elements * 1e6), (long long)row->exchange_bytes, row->difference);
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

/* --------------------------------------------------------------------------------------------------- record */

static json_t *row_object(const fem_axmebe_row *row)
{
    const int measured = !row->why_not[0];
    return json_pack("{s:o, s:s, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", /*  */
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
                     app_json_number(row->difference), "why_not", measured ? json_null() : app_json_text(row->why_not));
}

json_t *fem_axmebe_rows(const fem_axmebe_result *result)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < result->num_rows; i++)
        if (json_array_append_new(array, row_object(&result->rows[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* -------------------------------------------------------------------------------------------------- figures */

static int same_series(const fem_axmebe_row *a, const fem_axmebe_row *b)
{
    return a->variant == b->variant && a->exchange == b->exchange && !strcmp(a->set, b->set);
}

/* Whether row i is the first measured one of its series. */
static int begins_series(const fem_axmebe_result *result, int64_t i)
{
    if (result->rows[i].why_not[0]) return 0;
    for (int64_t k = 0; k < i; k++)
        if (!result->rows[k].why_not[0] && same_series(&result->rows[k], &result->rows[i])) return 0;
    return 1;
}

static void print_data(FILE *out, const fem_axmebe_result *result)
{
    fputs(
        "# yoke bench axmebe: products y = A u.  One block for each set of devices, variant and exchange; nan: not measured.\n"
        "# 1 devices  2 variant  3 exchange  4 elements  5 dofs  6 seconds per product  7 lower quartile  8 upper quartile\n"
        "# 9 seconds with u to and y from the device  10 dofs per second  11 least bytes  12 bytes per second  13 triad bytes per second\n"
        "# 14 bytes moved between devices in a product  15 difference from the stored operator\n",
        out);
    for (int64_t i = 0; i < result->num_rows; i++) {
        if (!begins_series(result, i)) continue;
        for (int64_t k = i; k < result->num_rows; k++) {
            const fem_axmebe_row *row = &result->rows[k];
            if (row->why_not[0] || !same_series(row, &result->rows[i])) continue;
            fprintf(out, "%s %s %s %lld %lld %.6e %.6e %.6e %.6e %.6e %.6e %.6e %.6e %lld %.2e\n", row->set,
                    fem_axmebe_variant_name[row->variant], exchange(row), (long long)row->elements, (long long)row->dofs,
                    row->time.median_s, row->time.quartile_low_s, row->time.quartile_high_s, row->transferred_s, rate(row), row->bytes,
                    bandwidth(row), row->triad_bytes_per_s, (long long)row->exchange_bytes, row->difference);
        }
        fputs("\n\n", out);
    }
}

/* One curve for each block of the data that is wanted. */
static void print_curves(FILE *out, const fem_axmebe_result *result, int alg3_only, const char *columns)
{
    int block = 0, curves = 0;
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_axmebe_row *row = &result->rows[i];
        if (!begins_series(result, i)) continue;
        if (!alg3_only || row->variant >= FEM_AXMEBE_ALG3)
            fprintf(out, "%s'axmebe.dat' index %d using %s with linespoints title '%s %s%s%s'", curves++ ? ", \\\n     " : "plot ", block,
                    columns, row->set, fem_axmebe_variant_name[row->variant], row->exchange < 0 ? "" : " ",
                    row->exchange < 0 ? "" : exchange(row));
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

static void print_script(FILE *out, const fem_axmebe_result *result)
{
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

typedef void printer(FILE *out, const fem_axmebe_result *result);

static yoke_status write_file(const fem_axmebe_result *result, const char *directory, const char *name, printer *print)
{
    char path[PATH_LENGTH];
    app_file *file;
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return yoke_fail(result->context, YOKE_ERROR_INPUT, "the name of the directory is too long: %s", directory);
    yoke_status status = app_file_create(result->context, path, &file);
    if (status) return status;
    print(app_file_stream(file), result);
    return app_file_commit(file);
}

yoke_status fem_axmebe_write(const fem_axmebe_result *result, const char *directory, bool *drawn)
{
    *drawn = false;
    yoke_status status = write_file(result, directory, "axmebe.dat", print_data);
    if (!status) status = write_file(result, directory, "axmebe.gp", print_script);
    if (!status && any_series(result, 0)) status = app_plot_draw(result->context, directory, "axmebe.gp", drawn);
    return status;
}
