#include "fem/reductions.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "adapt/boxes.h"
#include "estimate/estimate.h"
#include "estimate/mark.h"
#include "fem/axmebe.h"
#include "fem/measure.h"
#include "solver/solve.h"

const char *const fem_reductions_name[FEM_REDUCTIONS_WAYS] = {"chunks", "private",        "cas",       "locks", "colouring",
                                                              "owner",  "unsynchronised", "subdomains"};

typedef struct run {
    yoke_context *context;
    const fem_reductions_options *options;
    fem_forest *forest;
    fem_space *space;
    fem_boundary *boundary;
    fem_constraints *constraints;
} run;

static int interrupted(void *user) { return app_ranks_interrupted(user); }

/* ----------------------------------------------------------------------------------------------------- mesh */

static void release_space(run *r)
{
    fem_constraints_destroy(r->constraints);
    fem_boundary_destroy(r->boundary);
    fem_space_destroy(r->space);
    r->constraints = NULL;
    r->boundary = NULL;
    r->space = NULL;
}

static yoke_status make_space(run *r)
{
    const fem_problem *problem = r->options->problem;
    yoke_status status = fem_space_create(problem, r->forest, problem->element, &r->space);
    if (!status) status = fem_boundary_create(r->space, &r->boundary);
    return status ? status : fem_constraints_create(r->space, r->boundary, &r->constraints);
}

static yoke_status mark_and_refine(run *r, const double *u)
{
    double *indicator = NULL;
    uint8_t *mark = NULL;
    int64_t marked = 0;
    fem_estimate_result estimate;
    const int32_t elements = r->space->num_elements;
    app_ranks *ranks = r->options->ranks;
    yoke_status status = yoke_allocate(r->context, elements, sizeof *indicator, &indicator);
    if (!status) status = yoke_allocate(r->context, elements, 1, &mark);
    status = app_ranks_agree(ranks, status);
    if (!status) status = fem_estimate(r->space, r->boundary, u, indicator, &estimate);
    if (!status) status = fem_mark(r->context, ranks, elements, indicator, r->options->input->keys.refine.fraction.value, mark, &marked);
    if (!status) status = fem_forest_refine(r->forest, mark);
    if (!status) status = fem_forest_partition(r->forest, NULL);
    yoke_release(r->context, indicator);
    yoke_release(r->context, mark);
    return status;
}

static yoke_status solve_by_multigrid(const run *r, fem_devices *devices, fem_solution **solution)
{
    const int32_t cut[2] = {0, r->space->num_elements};
    const fem_hooks hooks = {.interrupted = interrupted, .user = r->options->ranks};
    const fem_solve_options options = {
        .solver = FEM_SOLVER_MULTIGRID, .energy_error = 1e-6, .max_iterations = 10000, .devices = devices, .cut = cut};
    return fem_solve(r->space, r->boundary, r->constraints, NULL, &options, &hooks, solution);
}

/* Refines as yoke fem does; the last mesh remains with its space. */
static yoke_status make_mesh(run *r, fem_devices *devices)
{
    const fem_case *input = r->options->input;
    yoke_status status = fem_forest_create(r->options->problem->mesh, (int)input->keys.refine.initial.value, &r->forest);
    status = app_ranks_agree(r->options->ranks, status);
    if (!status) status = fem_refine_boxes(&input->keys.refine, r->options->problem, r->forest);
    if (!status) status = fem_forest_partition(r->forest, NULL);
    for (int64_t step = 0; !status && step < r->options->steps; step++) {
        fem_solution *solution = NULL;
        status = make_space(r);
        if (!status) status = solve_by_multigrid(r, devices, &solution);
        if (!status) status = mark_and_refine(r, solution->u);
        fem_solution_destroy(solution);
        release_space(r);
    }
    return status ? status : make_space(r);
}

/*
 * Bytes of an iteration: those of a product, and 18 numbers of vectors per degree of freedom: 3 for (p, q), (r, q) and (q, q); 6 for x +=
 * alpha p and r -= alpha q; 4 for z = B r, two of them for the blocks; 2 for (r, z); 3 for p = z + beta p.
 */
static double least_bytes(const run *r)
{
    const int variant = r->options->operator_kind == FEM_STORED ? FEM_AXMEBE_STORED : FEM_AXMEBE_MATRIXFREE;
    double bytes = fem_axmebe_least_bytes(r->space, variant) + 18.0 * r->space->num_nodes * r->space->components * sizeof(double);
    app_ranks_sum(r->options->ranks, &bytes, 1);
    return bytes;
}

/* --------------------------------------------------------------------------------------------------- solves */

static yoke_status open_devices(const run *r, int way, fem_devices **devices)
{
    char names[FEM_MAX_DEVICES * 16] = "openmp";
    omp_set_num_threads(r->options->threads);
    if (way == FEM_REDUCTIONS_SUBDOMAINS)
        for (int i = 0, length = 0; i < r->options->threads && i < FEM_MAX_DEVICES; i++)
            length += snprintf(names + length, sizeof names - (size_t)length, "%sopenmp:%d-%d", i ? "," : "", i, i);
    return app_ranks_agree(r->options->ranks, fem_devices_open(r->context, names, devices));
}

/* If addends are lost, a solve may fail; the time of its iterations is known nevertheless. */
static yoke_status solve_once(const run *r, fem_reductions_row *row)
{
    const int may_fail = row->way == FEM_BENCH_ADD_UNSYNCHRONISED && r->options->threads > 1, i = row->solves;
    fem_devices *devices = NULL;
    fem_bench_adding_solution solution = {.strain_energy_j = NAN};
    yoke_status status = open_devices(r, row->way, &devices);
    if (!status) {
        const fem_bench_adding_options options = {.way = row->way < FEM_BENCH_ADDINGS ? (fem_bench_adding)row->way : FEM_BENCH_ADD_CHUNKS,
                                                  .devices = devices,
                                                  .operator_kind = r->options->operator_kind,
                                                  .relative_residual = r->options->relative_residual,
                                                  .max_iterations = may_fail ? 5000 : 100000};
        status = fem_bench_adding_solve(r->space, r->boundary, r->constraints, &options, &solution);
    }
    fem_devices_close(devices);
    if (may_fail && status == YOKE_ERROR_NUMERIC) status = YOKE_OK;
    if (status) return status;
    row->solves++;
    row->iterations = solution.iterations;
    row->strain_energy_j = solution.strain_energy_j;
    row->iteration_s[i] = solution.iteration_s;
    row->product_s[i] = solution.product_s;
    return YOKE_OK;
}

/* Alternates between the methods, each round beginning with another one, so that a drift of the machine's speed affects all of them. */
static yoke_status solve_in_turns(const run *r, fem_reductions_result *result)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < r->options->repeats; i++)
        for (int k = 0; !status && k < result->num_rows; k++) status = solve_once(r, &result->row[(i + k) % result->num_rows]);
    for (int k = 0; !status && k < result->num_rows; k++) {
        fem_reductions_row *row = &result->row[k];
        double sorted[FEM_REDUCTIONS_MAX_REPEATS];
        memcpy(sorted, row->iteration_s, sizeof sorted);
        row->median_iteration_s = fem_bench_quantile(sorted, row->solves, 0.5);
        memcpy(sorted, row->product_s, sizeof sorted);
        row->median_product_s = fem_bench_quantile(sorted, row->solves, 0.5);
    }
    return status;
}

static yoke_status check(const run *r, const fem_reductions_result *result)
{
    const double expected = result->row[0].strain_energy_j;
    for (int k = 1; k < result->num_rows; k++) {
        const fem_reductions_row *row = &result->row[k];
        if (row->way == FEM_BENCH_ADD_UNSYNCHRONISED || fabs(row->strain_energy_j - expected) <= 1e-8 * fabs(expected)) continue;
        return yoke_fail(r->context, YOKE_ERROR_NUMERIC, "%s: strain energy %.15g, but %.15g by %s", fem_reductions_name[row->way],
                         row->strain_energy_j, expected, fem_reductions_name[result->row[0].way]);
    }
    return YOKE_OK;
}

yoke_status fem_reductions_run(yoke_context *context, const fem_reductions_options *options, fem_reductions_result *result)
{
    run r = {.context = context, .options = options};
    *result = (fem_reductions_result){0};
    for (int way = 0; way < FEM_REDUCTIONS_WAYS; way++)
        if (options->ways >> way & 1) result->row[result->num_rows++] = (fem_reductions_row){.way = way};
    fem_devices *devices = NULL;
    yoke_status status = open_devices(&r, FEM_BENCH_ADD_CHUNKS, &devices);
    if (!status) status = make_mesh(&r, devices);
    fem_devices_close(devices);
    if (!status) {
        result->elements = r.space->num_global_elements;
        result->dofs = r.space->num_global_nodes * r.space->components;
        result->bytes_per_iteration = least_bytes(&r);
        status = solve_in_turns(&r, result);
    }
    if (!status) status = app_ranks_agree(options->ranks, check(&r, result));
    release_space(&r);
    fem_forest_destroy(r.forest);
    return status;
}
