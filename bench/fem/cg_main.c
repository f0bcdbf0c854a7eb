/* yoke-bench-cg, started by `yoke bench cg`. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "fem/cg.h"
#include "fem/words.h"
#include "session.h"

static const char *const operator_names[] = {"matrixfree", "stored"};

typedef struct command_line {
    const char *elements, *element, *meshes, *preconditioners, *threads, *operator_name, *residual, *seconds, *json, *directory;
} command_line;

static const app_column columns[] = {
    {"mesh", "as in --mesh"},
    {"precond.", "preconditioner"},
    {"threads", "threads of the solve"},
    {"elements, dofs", "of the mesh"},
    {"iter", "iterations"},
    {"applied", "products with the matrix of the mesh: of the iterations, the preconditioner and the set-up"},
    {"set-up s", "numbering, constraints, operators and preconditioner; not the coarse mesh and its refinement"},
    {"solve s", "the conjugate gradient method"},
    {"Mdof/s", "million dofs times iterations over solve s"},
    {"product", "million dofs a second of a product within the solve, mean of both precisions"},
    {"/DGEMM", "product per GFLOP/s of DGEMM in double precision on as many threads"},
    {"speedup", "of the solve against one thread, where that was measured before"},
    {"B/dof", "peak memory of the process since the row began, in bytes for each dof"},
    {"compliance", "b.u; compared with the published value where there is one"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "elements", .value = "LIST", .help = "approximate numbers of elements; by default 4096,32768", .text = &line->elements},
        {.name = "element", .value = "KIND", .help = "q1, s2 or q2 (the default)", .text = &line->element},
        {.name = "mesh",
         .value = "LIST",
         .help = "affine, deformed, and these with -hanging nodes; by default affine,deformed",
         .text = &line->meshes},
        {.name = "preconditioners", .value = "LIST", .help = "jacobi,multigrid; by default both", .text = &line->preconditioners},
        {.name = "threads", .value = "LIST", .help = "numbers of threads; by default one, and all", .text = &line->threads},
        {.name = "operator", .value = "NAME", .help = "matrixfree (the default) or stored", .text = &line->operator_name},
        {.name = "residual", .value = "X", .help = "relative residual; by default 1e-8", .text = &line->residual},
        {.name = "seconds",
         .value = "S",
         .help = "repeat the solves of a row for S seconds, at least one solve; by default 3; 0: a trial run",
         .text = &line->seconds},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-cg"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Solves a cube of elasticity by conjugate gradients: meshes x numbers of elements x preconditioners x threads.",
        .options = options,
        .columns = columns,
        .details = "E = 1, nu = 0.3, clamped at x = 0, a traction (0, 0, -1e-3) at x = 1, from zero (docs/notes/benchmarks-solver.md).\n"
                   "Exit codes: 0 done, 1 a compliance is not the published one or the run failed, 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status read_meshes(yoke_context *context, const char *list, fem_bench_cg_options *options)
{
    const unsigned curved = 1u << FEM_CUBE_CURVED | 1u << (FEM_CUBE_SHAPES + FEM_CUBE_CURVED);
    static const char exist[] = "affine and deformed, and each with -hanging";
    yoke_status status = fem_bench_read_words(context, "mesh", list, fem_bench_mesh_name, FEM_BENCH_MESHES, exist, &options->meshes);
    if (!status && (options->meshes & curved))
        status = yoke_fail(context, YOKE_ERROR_INPUT, "--mesh: curved: there are %s, between commas", exist);
    return status;
}

static yoke_status read_options(yoke_context *context, const command_line *line, fem_bench_cg_options *options)
{
    char threads[32];
    const int all = omp_get_max_threads();
    const int kind = fem_bench_find_word(line->operator_name ? line->operator_name : "matrixfree", operator_names, 2);
    snprintf(threads, sizeof threads, all > 1 ? "1,%d" : "%d", all);
    if (kind < 0) return yoke_fail(context, YOKE_ERROR_INPUT, "--operator %s: expected matrixfree or stored", line->operator_name);
    *options = (fem_bench_cg_options){.operator_kind = kind ? FEM_STORED : FEM_MATRIXFREE, .relative_residual = 1e-8, .seconds = 3};
    yoke_status status = fem_bench_read_element(context, line->element, &options->element);
    if (!status)
        status = fem_bench_read_numbers(context, "elements", line->elements ? line->elements : "4096,32768", 100000000, FEM_CG_MAX,
                                        options->size, &options->num_sizes);
    if (!status)
        status = fem_bench_read_numbers(context, "threads", line->threads ? line->threads : threads, 4096, FEM_CG_MAX, options->threads,
                                        &options->num_threads);
    if (!status) status = read_meshes(context, line->meshes ? line->meshes : "affine,deformed", options);
    if (!status)
        status = fem_bench_read_words(context, "preconditioners", line->preconditioners ? line->preconditioners : "jacobi,multigrid",
                                      fem_solver_name, FEM_CG_PRECONDITIONERS, "jacobi and multigrid", &options->preconditioners);
    if (!status) status = app_option_real(context, "residual", line->residual, 1e-15, 0.1, &options->relative_residual);
    if (!status) status = app_option_real(context, "seconds", line->seconds, 0, 3600, &options->seconds);
    options->ceilings = options->seconds == 0 ? 1 : 2;
    return status;
}

static yoke_status write_record(yoke_context *context, const command_line *line, const fem_bench_cg_options *options,
                                const fem_bench_cg_result *result, int argc, char **argv)
{
    json_t *record = NULL;
    if (!line->json) return YOKE_OK;
    yoke_status status = app_record_create(context, "yoke bench cg", argc, argv, &record);
    if (status) return status;
    status = app_record_set(context, record, "element", json_string(fem_bench_element_name[options->element]));
    if (!status) status = app_record_set(context, record, "operator", json_string(operator_names[options->operator_kind == FEM_STORED]));
    if (!status) status = app_record_set(context, record, "asked_residual", json_real(options->relative_residual));
    if (!status) status = app_record_set(context, record, "rows", fem_bench_cg_rows(result));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

static void print_ceilings(app_terminal *terminal, const fem_bench_cg_result *result)
{
    char text[512];
    for (int64_t i = 0; i < result->num_rows; i++) {
        int64_t before = 0;
        while (before < i && result->rows[before].threads != result->rows[i].threads) before++;
        if (before < i) continue; /* printed already */
        app_ceilings_text(&result->rows[i].ceilings, text, sizeof text);
        app_print(terminal, "%s\n", text);
    }
}

/* Writes the results, even if the run failed later; status: that of the run. */
static yoke_status finish(yoke_context *context, app_terminal *terminal, const command_line *line, const fem_bench_cg_options *options,
                          const fem_bench_cg_result *result, int argc, char **argv)
{
    bool drawn = false;
    if (!result->num_rows) return YOKE_OK;
    print_ceilings(terminal, result);
    yoke_status status = fem_bench_cg_write(result, line->directory, &drawn);
    if (!status) status = write_record(context, line, options, result, argc, argv);
    if (!status) app_print(terminal, "data%s in %s\n", drawn ? " and figure" : "; figure: gnuplot cg.gp", line->directory);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    fem_bench_cg_options options;
    fem_bench_cg_result result = {0};
    command_line line = {.directory = "out/bench-cg"};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = read_options(context, &line, &options);
    if (!status) status = app_interrupt_catch(context);
    if (!status) status = app_directory_make(context, line.directory);
    if (!status) status = app_file_check(context, line.json);
    if (!status) status = fem_session_start(context, NULL);
    if (status) return status;
    fem_bench_cg_print_header(terminal);
    status = fem_bench_cg_run(context, &options, fem_bench_cg_print_row, terminal, &result);
    yoke_status written = finish(context, terminal, &line, &options, &result, argc, argv);
    fem_bench_cg_result_destroy(&result);
    return status ? status : written;
}

int main(int argc, char **argv)
{
    int code = app_program("yoke bench cg", start, argc, argv);
    fem_session_end(NULL);
    return code;
}
