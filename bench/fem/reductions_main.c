/* yoke-bench-fem-reductions, started by `yoke bench fem-reductions`, and by bench/fem-reductions under mpirun. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "common/ranks/ranks.h"
#include "fem/reductions.h"
#include "fem/words.h"
#include "session.h"

static const char *const operator_names[] = {"matrixfree", "stored", NULL};

typedef struct command_line {
    app_list operands, overrides;
    const char *ways, *operator_name, *residual, *json;
    int64_t threads, steps, repeats;
    bool quick;
} command_line;

static const app_column columns[] = {
    {"way", "how the products of elements are added; on several ranks each of them has a subdomain of its own"},
    {"ranks, threads", "of the solve; threads of each rank"},
    {"iter", "iterations; > where the solve did not converge"},
    {"ms/iter", "milliseconds of an iteration, median of the solves"},
    {"product", "milliseconds of a product within them"},
    {"/triad", "least bytes of an iteration over its time, as part of the triad's bandwidth on as many threads"},
    {"/chunks", "ms/iter over that of the way chunks"},
    {"energy", "relative difference of the strain energy from the first way's"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "ways",
         .value = "LIST",
         .help = "the ways below, between commas; by default all that there are cores for",
         .text = &line->ways},
        {.name = "threads", .value = "N", .minimum = 1, .maximum = 1024, .help = "by default one for each core", .number = &line->threads},
        {.name = "steps",
         .value = "N",
         .minimum = 0,
         .maximum = 100,
         .help = "refinements of the mesh; by default the case's",
         .number = &line->steps},
        {.name = "repeats",
         .value = "N",
         .minimum = 1,
         .maximum = FEM_REDUCTIONS_MAX_REPEATS,
         .help = "solves of each way, in turns; by default 5",
         .number = &line->repeats},
        {.name = "operator", .value = "NAME", .help = "matrixfree (the default) or stored", .text = &line->operator_name},
        {.name = "residual", .value = "X", .help = "relative residual; by default 1e-8", .text = &line->residual},
        {.name = "set", .value = "KEY=VALUE", .help = "replace a key of the case file; may be repeated", .list = &line->overrides},
        {.name = "quick", .help = "a trial run: the triad is measured shortly", .flag = &line->quick},
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "CASE",
        .operands_least = 1,
        .operands_most = 1,
        .summary = "Solves a case by conjugate gradients, with each way to add the products of elements.",
        .options = options,
        .columns = columns,
        .details = "Ways: chunks (of yoke fem), private, cas, locks, colouring, owner, unsynchronised, subdomains.\n"
                   "The mesh is refined as by yoke fem; the preconditioner is jacobi.  Under mpirun the only way is that of yoke fem.\n"
                   "bench/fem-reductions runs it with several numbers of threads and of ranks (docs/notes/benchmarks-solver.md).\n"
                   "Exit codes: 0 done, 1 a way solves otherwise or the run failed, 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

static yoke_status read_options(yoke_context *context, const command_line *line, fem_reductions_options *options)
{
    const int ranks = app_ranks_count(options->ranks);
    yoke_topology topology;
    int kind = 0;
    yoke_status status = app_option_choice(context, "operator", line->operator_name, operator_names, &kind);
    options->operator_kind = kind ? FEM_STORED : FEM_MATRIXFREE;
    options->threads = line->threads ? (int)line->threads : app_ranks_threads(options->ranks, omp_get_max_threads());
    options->repeats = (int)line->repeats;
    if (!status) status = app_option_real(context, "residual", line->residual, 1e-14, 0.1, &options->relative_residual);
    if (!status && line->ways)
        status = fem_bench_read_words(context, "ways", line->ways, fem_reductions_name, FEM_REDUCTIONS_WAYS,
                                      "chunks, private, cas, locks, colouring, owner, unsynchronised and subdomains", &options->ways);
    if (!status) status = yoke_topology_get(context, &topology);
    if (!status && !line->ways) options->ways = ranks > 1 ? 1 : (1u << FEM_REDUCTIONS_WAYS) - 1;
    if (!status && !line->ways && options->threads > topology.cores) options->ways &= ~(1u << FEM_REDUCTIONS_SUBDOMAINS);
    if (!status && ranks > 1 && options->ways != 1)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "--ways: on several ranks there is chunks only");
    return status;
}

/* ---------------------------------------------------------------------------------------------------- output */

static const fem_reductions_row *chunks_of(const fem_reductions_result *result)
{
    for (int i = 0; i < result->num_rows; i++)
        if (result->row[i].way == FEM_BENCH_ADD_CHUNKS) return &result->row[i];
    return NULL;
}

static void print_result(app_terminal *terminal, const fem_reductions_options *options, const fem_reductions_result *result,
                         double triad_bytes_per_s)
{
    const fem_reductions_row *chunks = chunks_of(result);
    app_print(terminal, "%lld elements, %lld dofs, %.1f MB for an iteration at least\n", (long long)result->elements,
              (long long)result->dofs, result->bytes_per_iteration * 1e-6);
    app_print(terminal, "%-14s %5s %7s %6s %9s %9s %7s %8s %9s\n", "way", "ranks", "threads", "iter", "ms/iter", "product", "/triad",
              "/chunks", "energy");
    for (int i = 0; i < result->num_rows; i++) {
        const fem_reductions_row *row = &result->row[i];
        app_print(terminal, "%-14s %5d %7d %s%5lld %9.3f %9.3f %7.3f %8.3f %9.1e\n", fem_reductions_name[row->way],
                  app_ranks_count(options->ranks), options->threads, isnan(row->strain_energy_j) ? ">" : " ", (long long)row->iterations,
                  row->median_iteration_s * 1e3, row->median_product_s * 1e3,
                  result->bytes_per_iteration / row->median_iteration_s / triad_bytes_per_s,
                  chunks ? row->median_iteration_s / chunks->median_iteration_s : (double)NAN,
                  row->strain_energy_j / result->row[0].strain_energy_j - 1);
    }
}

static json_t *rows_value(const fem_reductions_result *result)
{
    json_t *array = json_array();
    for (int i = 0; i < result->num_rows; i++) {
        const fem_reductions_row *row = &result->row[i];
        array = app_json_append(array, json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "way", fem_reductions_name[row->way], "iterations",
                                                 (json_int_t)row->iterations, "strain_energy_j", app_json_number(row->strain_energy_j),
                                                 "seconds_per_iteration", app_json_number(row->median_iteration_s), "seconds_per_product",
                                                 app_json_number(row->median_product_s), "all_seconds_per_iteration",
                                                 app_json_numbers(row->iteration_s, row->solves), "all_seconds_per_product",
                                                 app_json_numbers(row->product_s, row->solves)));
    }
    return array;
}

static yoke_status write_record(yoke_context *context, const char *path, const fem_reductions_options *options,
                                const fem_reductions_result *result, const app_ceilings *ceilings, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench fem-reductions", argc, argv, &record);
    if (status) return status;
    status = app_record_set(context, record, "ranks", json_integer(app_ranks_count(options->ranks)));
    if (!status) status = app_record_set(context, record, "threads", json_integer(options->threads));
    if (!status) status = app_record_set(context, record, "steps", json_integer(options->steps));
    if (!status) status = app_record_set(context, record, "operator", json_string(operator_names[options->operator_kind == FEM_STORED]));
    if (!status) status = app_record_set(context, record, "elements", json_integer(result->elements));
    if (!status) status = app_record_set(context, record, "dofs", json_integer(result->dofs));
    if (!status) status = app_record_set(context, record, "bytes_per_iteration", app_json_number(result->bytes_per_iteration));
    if (!status) status = app_record_set(context, record, "triad_bytes_per_s", app_json_number(ceilings->triad_bytes_per_s));
    if (!status) status = app_record_set(context, record, "rows", rows_value(result));
    if (!status) status = app_record_write(context, record, path);
    json_decref(record);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- run */

static yoke_status measure(yoke_context *context, app_terminal *terminal, const command_line *line, const fem_reductions_options *options,
                           const app_ceilings *ceilings, int argc, char **argv)
{
    fem_reductions_result result;
    yoke_status status = fem_reductions_run(context, options, &result);
    const int first = app_ranks_number(options->ranks) == 0;
    if (status && status != YOKE_ERROR_NUMERIC) return status;
    if (first && result.num_rows && result.row[0].solves) print_result(terminal, options, &result, ceilings->triad_bytes_per_s);
    const yoke_status written = first && line->json ? write_record(context, line->json, options, &result, ceilings, argc, argv) : YOKE_OK;
    return status ? status : app_ranks_agree(options->ranks, written);
}

static yoke_status run(yoke_context *context, app_terminal *terminal, app_ranks *ranks, const command_line *line, int argc, char **argv)
{
    fem_case *input = NULL;
    fem_mesh *mesh = NULL;
    fem_problem *problem = NULL;
    fem_reductions_options options = {.ranks = ranks, .relative_residual = 1e-8};
    app_ceilings ceilings = app_ceilings_unknown(1);
    yoke_status status = read_options(context, line, &options);
    if (!status) status = fem_case_read(context, line->operands.text[0], line->overrides.text, line->overrides.count, &input);
    if (!status && input->heat_path)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: takes its temperature from another case, which is not solved here",
                           line->operands.text[0]);
    if (!status && app_ranks_number(ranks) == 0) status = app_file_check(context, line->json);
    /*
     * Measured before this process has threads that could interfere.  Several ranks would measure at the same time, which is not
     * meaningful.
     */
    if (!status && app_ranks_count(ranks) == 1) status = app_ceilings_measure(context, options.threads, line->quick, NULL, &ceilings);
    status = app_ranks_agree(ranks, status);
    if (!status) status = app_ranks_agree(ranks, fem_session_start(context, ranks));
    if (!status) status = fem_case_read_mesh(input, ranks, NULL, &mesh);
    if (!status) status = app_ranks_agree(ranks, fem_problem_create(input, mesh, &problem));
    if (!status) {
        options.input = input;
        options.problem = problem;
        options.steps = line->steps >= 0 ? line->steps : input->keys.refine.steps.value;
        status = measure(context, terminal, line, &options, &ceilings, argc, argv);
    }
    fem_problem_destroy(problem);
    fem_mesh_destroy(mesh);
    fem_case_destroy(input);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.steps = -1, .repeats = 5};
    bool answered = false;
    app_ranks *ranks = NULL;
    yoke_status status = app_ranks_start(context, &ranks);
    if (status) return status;
    terminal->further = app_ranks_number(ranks) > 0;
    if (terminal->further) answered = app_options_ask_help(argc, argv);
    status = app_ranks_agree(ranks, answered ? YOKE_OK : parse(context, terminal, argc, argv, &line, &answered));
    double any = answered;
    app_ranks_max(ranks, &any, 1);
    if (!status && !(any > 0)) status = app_ranks_agree(ranks, app_interrupt_catch(context));
    if (!status && !(any > 0)) status = run(context, terminal, ranks, &line, argc, argv);
    fem_session_end(ranks);
    return app_ranks_end(ranks, terminal, status);
}

int main(int argc, char **argv) { return app_program("yoke bench fem-reductions", start, argc, argv); }
