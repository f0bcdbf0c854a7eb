/* Output of solves: table, figure and record. */
#include <math.h>
#include <string.h>

#include "common/console/numbers.h"
#include "common/files/plot.h"
#include "common/files/record.h"
#include "fem/cg.h"

static double speedup(const fem_bench_cg_result *result, const fem_bench_cg_row *row)
{
    const fem_bench_cg_row *single = fem_bench_cg_single(result, row);
    return single ? single->solve_s / row->solve_s : NAN;
}

static double setup_speedup(const fem_bench_cg_result *result, const fem_bench_cg_row *row)
{
    const fem_bench_cg_row *single = fem_bench_cg_single(result, row);
    return single ? single->setup_s / row->setup_s : NAN;
}

static double product_rate(const fem_bench_cg_row *row) { return (double)row->dofs / row->product_s; }

/* ---------------------------------------------------------------------------------------------------- table */

void fem_bench_cg_print_header(app_terminal *terminal)
{
    app_print(terminal, "%-16s %-9s %7s %8s %9s %5s %7s %8s %8s %8s %7s %7s %7s %6s  %s\n", "mesh", "precond.", "threads", "elements",
              "dofs", "iter", "applied", "set-up s", "solve s", "Mdof/s", "product", "/DGEMM", "speedup", "B/dof", "compliance");
}

static const char *judge(const fem_bench_cg_row *row)
{
    if (isnan(row->reference)) return "";
    return fabs(row->compliance - row->reference) <= FEM_CG_TOLERANCE * row->reference ? " as published" : " NOT as published";
}

void fem_bench_cg_print_row(const fem_bench_cg_result *result, const fem_bench_cg_row *row, void *terminal)
{
    char text[4][32];
    app_print(terminal, "%-16s %-9s %7d %8lld %9lld %5lld %7lld %8.3f %8.3f %8.2f %s %s %s %s  %.8e%s\n", row->mesh,
              fem_solver_name[row->preconditioner], row->threads, (long long)row->elements, (long long)row->dofs,
              (long long)row->iterations, (long long)row->applications, row->setup_s, row->solve_s, fem_bench_cg_rate(row) * 1e-6,
              app_number_text(text[0], 7, 1, product_rate(row) * 1e-6),
              app_number_text(text[1], 7, 3, product_rate(row) / row->ceilings.dgemm_flops_per_s * 1e3),
              app_number_text(text[2], 7, 2, speedup(result, row)), app_number_text(text[3], 6, 0, row->peak_bytes / (double)row->dofs),
              row->compliance, judge(row));
}

/* --------------------------------------------------------------------------------------------------- record */

static json_t *row_object(const fem_bench_cg_result *result, const fem_bench_cg_row *row)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
                     "s:o, s:o}",
                     "mesh", row->mesh, "preconditioner", fem_solver_name[row->preconditioner], "threads", row->threads, "solves",
                     row->solves, "elements_asked", (json_int_t)row->asked, "elements", (json_int_t)row->elements, "dofs",
                     (json_int_t)row->dofs, "hanging_nodes", (json_int_t)row->hanging_nodes, "iterations", (json_int_t)row->iterations,
                     "operator_applications", (json_int_t)row->applications, "relative_residual", app_json_number(row->relative_residual),
                     "setup_s", app_json_number(row->setup_s), "solve_s", app_json_number(row->solve_s), "seconds_per_product",
                     app_json_number(row->product_s), "product_dofs_per_s", app_json_number(product_rate(row)), "dofs_per_s_per_iteration",
                     app_json_number(fem_bench_cg_rate(row)), "held_bytes", (json_int_t)row->held_bytes, "peak_bytes",
                     app_json_number(row->peak_bytes), "bytes_per_dof", app_json_number(row->peak_bytes / (double)row->dofs), "compliance",
                     app_json_number(row->compliance), "published_compliance", app_json_number(row->reference), "solve_speedup",
                     app_json_number(speedup(result, row)), "setup_speedup", app_json_number(setup_speedup(result, row)),
                     "product_mdof_per_dgemm_gflop", app_json_number(product_rate(row) / row->ceilings.dgemm_flops_per_s * 1e3), "ceilings",
                     app_ceilings_json(&row->ceilings));
}

json_t *fem_bench_cg_rows(const fem_bench_cg_result *result)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < result->num_rows; i++) array = app_json_append(array, row_object(result, &result->rows[i]));
    return array;
}

/* --------------------------------------------------------------------------------------------------- figure */

static int same_series(const fem_bench_cg_row *a, const fem_bench_cg_row *b)
{
    return a->preconditioner == b->preconditioner && a->threads == b->threads && !strcmp(a->mesh, b->mesh);
}

static int begins_series(const fem_bench_cg_result *result, int64_t i)
{
    for (int64_t k = 0; k < i; k++)
        if (same_series(&result->rows[k], &result->rows[i])) return 0;
    return 1;
}

static void print_data(FILE *out, const void *data)
{
    const fem_bench_cg_result *result = data;
    fputs("# yoke bench cg: solves of a cube.  One block for each mesh, preconditioner and number of threads; nan: not known\n"
          "# 1 mesh  2 preconditioner  3 threads  4 elements  5 dofs  6 iterations  7 applications  8 set-up s  9 solve s\n"
          "# 10 seconds per product  11 dofs per second and iteration  12 peak bytes  13 compliance\n",
          out);
    for (int64_t i = 0; i < result->num_rows; i++) {
        if (!begins_series(result, i)) continue;
        for (int64_t k = i; k < result->num_rows; k++) {
            const fem_bench_cg_row *row = &result->rows[k];
            if (!same_series(row, &result->rows[i])) continue;
            fprintf(out, "%s %s %d %lld %lld %lld %lld %.6e %.6e %.6e %.6e %.6e %.9e\n", row->mesh, fem_solver_name[row->preconditioner],
                    row->threads, (long long)row->elements, (long long)row->dofs, (long long)row->iterations, (long long)row->applications,
                    row->setup_s, row->solve_s, row->product_s, fem_bench_cg_rate(row), row->peak_bytes, row->compliance);
        }
        fputs("\n\n", out);
    }
}

static void print_script(FILE *out, const void *data)
{
    const fem_bench_cg_result *result = data;
    int block = 0;
    fputs("# gnuplot cg.gp, in the directory of cg.dat\n"
          "set terminal svg size 800,560 dynamic background rgb 'white'\nset encoding utf8\nset termoption noenhanced\n"
          "set output 'cg.svg'\nset title 'Solves of a cube: set-up and solve'\nset logscale xy\nset format '%g'\nset grid\n"
          "set key outside below\nset xlabel 'dofs'\nset ylabel 'seconds'\n",
          out);
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_bench_cg_row *row = &result->rows[i];
        if (!begins_series(result, i)) continue;
        fprintf(out, "%s'cg.dat' index %d using 5:($8+$9) with linespoints title '%s %s, %d thread%s'", block ? ", \\\n     " : "plot ",
                block, row->mesh, fem_solver_name[row->preconditioner], row->threads, row->threads > 1 ? "s" : "");
        block++;
    }
    fputs("\n", out);
}

yoke_status fem_bench_cg_write(const fem_bench_cg_result *result, const char *directory, bool *drawn)
{
    const app_plot plot = {.directory = directory, .base = "cg", .print_data = print_data, .print_script = print_script};
    return app_plot_write(result->context, &plot, result, drawn);
}
