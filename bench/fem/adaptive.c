#include "fem/adaptive.h"

#include <math.h>
#include <stdio.h>

#include "common/files/plot.h"
#include "common/files/record.h"

double fem_bench_adapt_rest(const fem_bench_adapt_step *step) { return step->refine_s + step->setup_s + step->estimate_s; }

/* ---------------------------------------------------------------------------------------------------- record */

static int64_t integer(const json_t *object, const char *key) { return json_integer_value(json_object_get(object, key)); }

static fem_bench_adapt_step read_step(const json_t *object)
{
    const json_t *seconds = json_object_get(object, "seconds"), *parts = json_object_get(object, "parts");
    return (fem_bench_adapt_step){
        .step = integer(object, "step"),
        .elements = integer(object, "elements"),
        .dofs = integer(object, "dofs"),
        .hanging_nodes = integer(object, "hanging_nodes"),
        .iterations = integer(object, "iterations"),
        .applications = integer(object, "operator_applications"),
        .refine_s = app_json_read_number(seconds, "refine"),
        .setup_s = app_json_read_number(seconds, "setup"),
        .solve_s = app_json_read_number(seconds, "solve"),
        .estimate_s = app_json_read_number(seconds, "estimate"),
        .write_s = app_json_read_number(seconds, "write"),
        .product_s = json_array_size(parts) == 1 ? app_json_read_number(json_array_get(parts, 0), "seconds_per_product") : NAN,
    };
}

yoke_status fem_bench_adapt_read(yoke_context *context, const json_t *record, fem_bench_adapt_result *result)
{
    const json_t *steps = json_object_get(record, "steps");
    const int64_t count = (int64_t)json_array_size(steps);
    if (count == 0) return yoke_fail(context, YOKE_ERROR_SYSTEM, "the run left a record without steps");
    yoke_status status = yoke_allocate(context, count, sizeof *result->steps, &result->steps);
    if (status) return status;
    result->context = context;
    result->num_steps = count;
    for (int64_t i = 0; i < count; i++) result->steps[i] = read_step(json_array_get(steps, (size_t)i));
    return YOKE_OK;
}

void fem_bench_adapt_result_destroy(fem_bench_adapt_result *result)
{
    if (result->context) yoke_release(result->context, result->steps);
    result->context = NULL;
}

json_t *fem_bench_adapt_steps(const fem_bench_adapt_result *result)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < result->num_steps; i++) {
        const fem_bench_adapt_step *s = &result->steps[i];
        json_t *object = json_pack(
            "{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "step", (json_int_t)s->step, "elements",
            (json_int_t)s->elements, "dofs", (json_int_t)s->dofs, "hanging_nodes", (json_int_t)s->hanging_nodes, "iterations",
            (json_int_t)s->iterations, "operator_applications", (json_int_t)s->applications, "refine_s", app_json_number(s->refine_s),
            "setup_s", app_json_number(s->setup_s), "solve_s", app_json_number(s->solve_s), "estimate_s", app_json_number(s->estimate_s),
            "write_s", app_json_number(s->write_s), "rest_s", app_json_number(fem_bench_adapt_rest(s)), "rest_over_solve",
            app_json_number(fem_bench_adapt_rest(s) / s->solve_s), "seconds_per_product", app_json_number(s->product_s));
        array = app_json_append(array, object);
    }
    return array;
}

/* ----------------------------------------------------------------------------------------------------- table */

static void print_sums(app_terminal *terminal, const fem_bench_adapt_result *result)
{
    const fem_bench_adapt_step *last = &result->steps[result->num_steps - 1];
    double rest_s = 0, solve_s = 0, write_s = 0;
    char text[512];
    for (int64_t i = 0; i < result->num_steps; i++) {
        rest_s += fem_bench_adapt_rest(&result->steps[i]);
        solve_s += result->steps[i].solve_s;
        write_s += result->steps[i].write_s;
    }
    app_ceilings_text(&result->ceilings, text, sizeof text);
    app_print(terminal, "%s\n", text);
    app_print(terminal, "all steps: solve %.2f s, rest %.2f s, write %.2f s; whole run %.2f s; peak %.0f bytes a dof of the last step\n",
              solve_s, rest_s, write_s, result->run_s, result->peak_bytes / (double)last->dofs);
    app_print(terminal, "last step: rest %.2f of the solve's time; product %.1f Mdof/s, %.3f of DGEMM's GFLOP/s\n",
              fem_bench_adapt_rest(last) / last->solve_s, (double)last->dofs / last->product_s * 1e-6,
              (double)last->dofs / last->product_s * 1e3 / result->ceilings.dgemm_flops_per_s);
}

void fem_bench_adapt_print(app_terminal *terminal, const fem_bench_adapt_result *result)
{
    app_print(terminal, "%4s %9s %9s %8s %5s %7s %8s %8s %8s %8s %8s %10s\n", "step", "elements", "dofs", "hanging", "iter", "applied",
              "refine s", "set-up s", "solve s", "estim. s", "write s", "rest/solve");
    for (int64_t i = 0; i < result->num_steps; i++) {
        const fem_bench_adapt_step *s = &result->steps[i];
        app_print(terminal, "%4lld %9lld %9lld %8lld %5lld %7lld %8.3f %8.3f %8.3f %8.3f %8.3f %10.2f\n", (long long)s->step,
                  (long long)s->elements, (long long)s->dofs, (long long)s->hanging_nodes, (long long)s->iterations,
                  (long long)s->applications, s->refine_s, s->setup_s, s->solve_s, s->estimate_s, s->write_s,
                  fem_bench_adapt_rest(s) / s->solve_s);
    }
    print_sums(terminal, result);
}

/* ---------------------------------------------------------------------------------------------------- figure */

static void print_data(FILE *out, const void *data)
{
    const fem_bench_adapt_result *result = data;
    fputs(
        "# yoke bench adapt: seconds of an adaptive run by step and phase\n"
        "# 1 step  2 elements  3 dofs  4 hanging nodes  5 iterations  6 applications  7 refine  8 set-up  9 solve  10 estimate  11 write\n",
        out);
    for (int64_t i = 0; i < result->num_steps; i++) {
        const fem_bench_adapt_step *s = &result->steps[i];
        fprintf(out, "%lld %lld %lld %lld %lld %lld %.6e %.6e %.6e %.6e %.6e\n", (long long)s->step, (long long)s->elements,
                (long long)s->dofs, (long long)s->hanging_nodes, (long long)s->iterations, (long long)s->applications, s->refine_s,
                s->setup_s, s->solve_s, s->estimate_s, s->write_s);
    }
}

static void print_script(FILE *out, const void *data)
{
    (void)data;
    fputs("# gnuplot adapt.gp, in the directory of adapt.dat\n"
          "set terminal svg size 800,480 dynamic background rgb 'white'\nset encoding utf8\n"
          "set output 'adapt.svg'\nset title 'An adaptive run: seconds by phase'\n"
          "set style data histograms\nset style histogram rowstacked\nset style fill solid 0.7\nset boxwidth 0.8\n"
          "set xlabel 'dofs'\nset ylabel 'seconds'\nset grid ytics\nset key top left\nset xtics rotate by -45\n"
          "plot 'adapt.dat' using 9:xtic(3) title 'solve', '' using 8 title 'set up', '' using 10 title 'estimate', \\\n"
          "     '' using 7 title 'refine', '' using 11 title 'write'\n",
          out);
}

yoke_status fem_bench_adapt_write(const fem_bench_adapt_result *result, const char *directory, bool *drawn)
{
    const app_plot plot = {.directory = directory, .base = "adapt", .print_data = print_data, .print_script = print_script};
    return app_plot_write(result->context, &plot, result, drawn);
}
