#include "fem/overhead.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/files/plot.h"
#include "estimate/estimate.h"
#include "estimate/mark.h"

typedef struct run {
    yoke_context *context;
    const fem_overhead_options *options;
    fem_devices *devices;
    fem_forest *forest;
    int32_t cut[FEM_MAX_DEVICES + 1];
    /* Members below: of the present step. */
    fem_space *space;
    fem_boundary *boundary;
    fem_constraints *constraints;
} run;

static int interrupted(void *user)
{
    (void)user;
    return app_interrupted();
}

/* ---------------------------------------------------------------------------------------------------- shares */

static yoke_status make_shares(const run *r, double share[FEM_MAX_DEVICES])
{
    const double gpu_share = r->options->gpu_share;
    const int count = r->devices->count;
    int gpus = 0;
    for (int i = 0; i < count; i++) gpus += !r->devices->list[i].host_functions;
    if (!isnan(gpu_share) && (gpus == 0 || gpus == count))
        return yoke_fail(r->context, YOKE_ERROR_INPUT, "--share needs the host's cores and another device to share between");
    for (int i = 0; i < count; i++) {
        const int gpu = !r->devices->list[i].host_functions;
        share[i] = isnan(gpu_share) ? 1.0 / count : gpu ? gpu_share / gpus : (1 - gpu_share) / (count - gpus);
    }
    return YOKE_OK;
}

static yoke_status make_cut(run *r)
{
    double share[FEM_MAX_DEVICES], sum = 0;
    yoke_status status = make_shares(r, share);
    for (int i = 0; !status && i < r->devices->count; i++) {
        sum += share[i];
        r->cut[i + 1] = (int32_t)lround(sum * r->space->num_elements);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- solves */

/* Solves once, beginning with zero; u: NULL, or [num_nodes][components] for the solution. */
static yoke_status solve(const run *r, int measuring, double *seconds, int64_t *iterations, double *u)
{
    const fem_case_solver *solver = &r->options->input->keys.solver;
    const fem_hooks hooks = {.interrupted = interrupted};
    const fem_solve_options options = {.solver = solver->preconditioner.value == FEM_PRECONDITIONER_JACOBI   ? FEM_SOLVER_JACOBI
                                                 : solver->preconditioner.value == FEM_PRECONDITIONER_DIRECT ? FEM_SOLVER_DIRECT
                                                                                                             : FEM_SOLVER_MULTIGRID,
                                       .operator_kind = solver->operator.value == FEM_OPERATOR_STORED ? FEM_STORED : FEM_MATRIXFREE,
                                       .energy_error = solver->energy_error.value,
                                       .relative_residual = solver->relative_residual.value,
                                       .max_iterations = (int)solver->max_iterations.value,
                                       .devices = r->devices,
                                       .cut = r->cut,
                                       .unmeasured = !measuring};
    fem_solution *solution = NULL;
    yoke_status status = fem_solve(r->space, r->boundary, r->constraints, NULL, &options, &hooks, &solution);
    if (status) return status;
    *seconds = solution->solve_s;
    *iterations = solution->iterations;
    if (u) memcpy(u, solution->u, (size_t)r->space->num_nodes * (size_t)r->space->components * sizeof *u);
    if (solution->restarts)
        status =
            yoke_fail(r->context, YOKE_ERROR_DEVICE, "a device failed during a solve, so that the shares were not fixed; see yoke fem");
    fem_solution_destroy(solution);
    return status;
}

/* The order within a pair alternates, so that a slow drift of the machine's speed favours neither side. */
static yoke_status solve_pairs(const run *r, fem_overhead_step *step)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; !status && i < step->pairs; i++)
        for (int side = 0; !status && side < 2; side++) {
            const int measuring = side == i % 2;
            status = solve(r, measuring, measuring ? &step->measuring_s[i] : &step->plain_s[i], &step->iterations, NULL);
        }
    return status ? status : fem_bench_compare(r->context, step->measuring_s, step->plain_s, step->pairs, &step->difference);
}

/* Refines the mesh; *ended: there is no next mesh. */
static yoke_status refine(run *r, const double *u, int *ended)
{
    const fem_case_refine *limits = &r->options->input->keys.refine;
    const int32_t elements = r->space->num_elements;
    double *indicator = NULL;
    uint8_t *mark = NULL;
    int64_t marked = 0;
    fem_estimate_result estimate;
    yoke_status status = yoke_allocate(r->context, elements, sizeof *indicator, &indicator);
    if (!status) status = yoke_allocate(r->context, elements, 1, &mark);
    if (!status) status = fem_estimate(r->space, r->boundary, u, indicator, &estimate);
    if (!status) status = fem_mark(r->context, NULL, elements, indicator, limits->fraction.value, mark, &marked);
    if (!status && marked) status = fem_forest_refine(r->forest, mark);
    yoke_release(r->context, indicator);
    yoke_release(r->context, mark);
    if (status) return status;
    const int64_t leaves = fem_forest_leaves(r->forest);
    *ended = leaves == elements || leaves > limits->max_elements.value;
    return YOKE_OK;
}

static void release_mesh(run *r)
{
    fem_constraints_destroy(r->constraints);
    fem_boundary_destroy(r->boundary);
    fem_space_destroy(r->space);
    r->constraints = NULL;
    r->boundary = NULL;
    r->space = NULL;
}

static yoke_status one_step(run *r, fem_overhead_step *step, int *ended)
{
    double *u = NULL, unused;
    yoke_status status = fem_space_create(r->options->problem, r->forest, r->options->problem->element, &r->space);
    if (!status) status = fem_boundary_create(r->space, &r->boundary);
    if (!status) status = fem_constraints_create(r->space, r->boundary, &r->constraints);
    if (!status) status = make_cut(r);
    if (!status) status = yoke_allocate(r->context, (int64_t)r->space->num_nodes * r->space->components, sizeof *u, &u);
    if (!status) status = solve(r, 1, &unused, &step->iterations, u); /* warm-up */
    if (!status) {
        step->elements = r->space->num_elements;
        step->dofs = (int64_t)r->space->num_nodes * r->space->components;
        status = solve_pairs(r, step);
    }
    if (!status && step->step < r->options->steps) status = refine(r, u, ended);
    yoke_release(r->context, u);
    release_mesh(r);
    return status;
}

yoke_status fem_overhead_run(yoke_context *context, const fem_overhead_options *options, fem_overhead_report *report, void *user,
                             fem_overhead_result *result)
{
    run r = {.context = context, .options = options};
    int ended = 0;
    *result = (fem_overhead_result){.context = context};
    yoke_status status = yoke_allocate(context, 2 * (int64_t)(options->steps + 1) * options->pairs, sizeof(double), &result->seconds);
    if (!status) status = fem_devices_open(context, options->devices, &r.devices);
    if (!status) status = fem_forest_create(options->problem->mesh, (int)options->input->keys.refine.initial.value, &r.forest);
    for (int i = 0; !status && !ended && i <= options->steps; i++) {
        fem_overhead_step *step = &result->steps[i];
        double *seconds = result->seconds + 2 * (int64_t)i * options->pairs;
        *step = (fem_overhead_step){.step = i, .pairs = options->pairs, .measuring_s = seconds, .plain_s = seconds + options->pairs};
        status = one_step(&r, step, &ended);
        if (status) break;
        result->num_steps++;
        if (report) report(step, user);
    }
    fem_forest_destroy(r.forest);
    fem_devices_close(r.devices);
    return status;
}

void fem_overhead_result_destroy(fem_overhead_result *result)
{
    if (result->context) yoke_release(result->context, result->seconds);
    *result = (fem_overhead_result){0};
}

/* ---------------------------------------------------------------------------------------------------- figure */

static void print_data(FILE *out, const void *data)
{
    const fem_overhead_result *result = data;
    fputs("# yoke bench overhead: seconds of a solve with and without measuring, medians; nan: not known\n"
          "# 1 step  2 elements  3 dofs  4 iterations  5 measuring  6 plain  7 difference  8 its uncertainty (95 %)  9 pairs\n",
          out);
    for (int i = 0; i < result->num_steps; i++) {
        const fem_overhead_step *step = &result->steps[i];
        const fem_bench_difference *d = &step->difference;
        fprintf(out, "%d %lld %lld %lld %.6e %.6e %.6e %.6e %d\n", step->step, (long long)step->elements, (long long)step->dofs,
                (long long)step->iterations, d->median_a, d->median_b, d->median, d->uncertainty, step->pairs);
    }
}

static void print_script(FILE *out, const void *data)
{
    (void)data;
    fputs("# gnuplot overhead.gp, in the directory of overhead.dat\n"
          "set terminal svg size 800,480 dynamic background rgb 'white'\n"
          "set encoding utf8\n"
          "set output 'overhead.svg'\n"
          "set title 'Solve with and without measuring (Lang and Rünger 2013, fig. 6)'\n"
          "set xlabel 'refinement step'\nset ylabel 'seconds'\nset grid\nset key top left\nset yrange [0:*]\n"
          "plot 'overhead.dat' using 1:5 with linespoints title 'with measuring', \\\n"
          "     '' using 1:6 with linespoints title 'without measuring'\n",
          out);
}

yoke_status fem_overhead_write(const fem_overhead_result *result, const char *directory, bool *drawn)
{
    const app_plot plot = {.directory = directory, .base = "overhead", .print_data = print_data, .print_script = print_script};
    return app_plot_write(result->context, &plot, result, drawn);
}
