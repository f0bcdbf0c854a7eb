#include "fem/cg.h"

#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "fem/measure.h"

enum { MAX_SOLVES = 15, MAX_ITERATIONS = 100000 };

typedef struct run {
    yoke_context *context;
    const fem_bench_cg_options *options;
    fem_bench_cg_report *report;
    void *user;
    fem_bench_cg_result *result;
    app_ceilings ceilings[FEM_CG_MAX]; /* by number of threads */
} run;

static int interrupted(void *user)
{
    (void)user;
    return app_interrupted();
}

/* ---------------------------------------------------------------------------------------------------- values */

double fem_bench_cg_reference(fem_element element, int64_t elements)
{
    static const struct {
        fem_element element;
        int64_t elements;
        double compliance; /* the value on which PETSc, MFEM and deal.II agree */
    } known[] = {{FEM_Q1, 32 * 32 * 32, 6.83878799e-06},
                 {FEM_Q1, 64 * 64 * 64, 6.85191359e-06},
                 {FEM_Q2, 16 * 16 * 16, 6.85204242e-06},
                 {FEM_Q2, 32 * 32 * 32, 6.85639489e-06}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].element == element && known[i].elements == elements) return known[i].compliance;
    return NAN;
}

double fem_bench_cg_rate(const fem_bench_cg_row *row) { return (double)row->dofs * (double)row->iterations / row->solve_s; }

const fem_bench_cg_row *fem_bench_cg_single(const fem_bench_cg_result *result, const fem_bench_cg_row *row)
{
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_bench_cg_row *other = &result->rows[i];
        if (other->threads == 1 && other->elements == row->elements && other->preconditioner == row->preconditioner &&
            !strcmp(other->mesh, row->mesh))
            return other;
    }
    return NULL;
}

static yoke_status keep_row(run *r, const fem_bench_cg_row *row)
{
    fem_bench_cg_result *result = r->result;
    yoke_status status = yoke_grow(r->context, &result->rows, result->num_rows, &result->room, 32, sizeof *row);
    if (status) return status;
    result->rows[result->num_rows++] = *row;
    if (r->report) r->report(result, &result->rows[result->num_rows - 1], r->user);
    return YOKE_OK;
}

void fem_bench_cg_result_destroy(fem_bench_cg_result *result)
{
    if (result->context) yoke_release(result->context, result->rows);
    *result = (fem_bench_cg_result){0};
}

/* ---------------------------------------------------------------------------------------------------- memory */

/* Resets the peak to the memory in use now.  Returns zero if the system does not support this. */
static int forget_peak(void)
{
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return 0;
    int written = fputs("5", file) >= 0;
    return fclose(file) == 0 && written;
}

static double peak_bytes(void)
{
    char line[256];
    double kilobytes = NAN;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf kB", &kilobytes) == 1) break;
    if (file) fclose(file);
    return kilobytes * 1024;
}

/* ---------------------------------------------------------------------------------------------------- solves */

static double compliance(const fem_solution *solution, int64_t dofs)
{
    double sum = 0;
    for (int64_t i = 0; i < dofs; i++) sum += solution->load[i] * solution->u[i];
    return sum;
}

static yoke_status solve(run *r, const fem_bench_model *model, fem_devices *devices, fem_bench_cg_row *row, double *setup_s,
                         double *solve_s, double *product_s)
{
    const int32_t cut[2] = {0, model->space->num_elements};
    const fem_hooks hooks = {.interrupted = interrupted};
    const fem_solve_options options = {.solver = (fem_solver)row->preconditioner,
                                       .operator_kind = r->options->operator_kind,
                                       .relative_residual = r->options->relative_residual,
                                       .max_iterations = MAX_ITERATIONS,
                                       .devices = devices,
                                       .cut = cut};
    fem_solution *solution = NULL;
    yoke_status status = fem_solve(model->space, model->boundary, model->constraints, NULL, &options, &hooks, &solution);
    if (status) return status;
    *setup_s = model->discretise_s + solution->setup_s;
    *solve_s = solution->solve_s;
    *product_s = solution->shares[0].seconds_per_product;
    row->iterations = solution->iterations;
    row->applications = solution->operator_applications;
    row->relative_residual = solution->relative_residual;
    row->held_bytes = solution->memory_bytes;
    row->compliance = compliance(solution, row->dofs);
    fem_solution_destroy(solution);
    return YOKE_OK;
}

static yoke_status repeat(run *r, const fem_bench_model *model, fem_devices *devices, fem_bench_cg_row *row)
{
    double setup_s[MAX_SOLVES], solve_s[MAX_SOLVES], product_s[MAX_SOLVES], start_s = yoke_clock_s();
    yoke_status status = YOKE_OK;
    while (!status && row->solves < MAX_SOLVES && (row->solves == 0 || yoke_clock_s() - start_s < r->options->seconds)) {
        const int i = row->solves++;
        status = solve(r, model, devices, row, &setup_s[i], &solve_s[i], &product_s[i]);
    }
    if (status) return status;
    row->setup_s = fem_bench_quantile(setup_s, row->solves, 0.5);
    row->solve_s = fem_bench_quantile(solve_s, row->solves, 0.5);
    row->product_s = fem_bench_quantile(product_s, row->solves, 0.5);
    return YOKE_OK;
}

static yoke_status measure_row(run *r, const fem_bench_cube_options *cube, fem_bench_cg_row *row)
{
    fem_bench_model *model = NULL;
    fem_devices *devices = NULL;
    const int peak_known = forget_peak();
    omp_set_num_threads(row->threads);
    yoke_status status = fem_bench_cube_of(r->context, cube, &model);
    if (!status) status = fem_devices_open(r->context, "openmp", &devices);
    if (!status) {
        row->elements = model->space->num_elements;
        row->dofs = (int64_t)model->space->num_nodes * model->space->components;
        row->hanging_nodes = model->space->num_hanging;
        status = repeat(r, model, devices, row);
    }
    fem_devices_close(devices);
    fem_bench_model_destroy(model);
    if (status) return status;
    row->peak_bytes = peak_known ? peak_bytes() : NAN;
    if (cube->mesh.shape == FEM_CUBE_AFFINE && !cube->mesh.hanging && r->options->relative_residual <= 1e-7)
        row->reference = fem_bench_cg_reference(cube->element, row->elements);
    if (fabs(row->compliance - row->reference) > FEM_CG_TOLERANCE * row->reference) r->result->wrong++;
    return keep_row(r, row);
}

/* Starts with the fewest threads, so that the speed-up of more threads is known as soon as they are measured. */
static yoke_status measure_size(run *r, int mesh, int64_t size)
{
    const fem_bench_cg_options *options = r->options;
    const fem_bench_cube_options cube = {.elements = size,
                                         .mesh = {(fem_cube_shape)(mesh % FEM_CUBE_SHAPES), mesh / FEM_CUBE_SHAPES},
                                         .element = options->element,
                                         .components = 3,
                                         .loaded = 1};
    yoke_status status = YOKE_OK;
    for (int p = 0; p < FEM_CG_PRECONDITIONERS; p++)
        for (int t = 0; !status && t < options->num_threads; t++) {
            fem_bench_cg_row row = {.mesh = fem_bench_mesh_name[mesh],
                                    .preconditioner = p,
                                    .threads = (int)options->threads[t],
                                    .asked = size,
                                    .reference = NAN,
                                    .ceilings = r->ceilings[t]};
            if (options->preconditioners >> p & 1) status = measure_row(r, &cube, &row);
        }
    return status;
}

/* Called before this process has threads that could interfere. */
static yoke_status measure_ceilings(run *r)
{
    const fem_bench_cg_options *options = r->options;
    yoke_status status = YOKE_OK;
    for (int t = 0; !status && t < options->num_threads; t++) {
        r->ceilings[t] = app_ceilings_unknown((int)options->threads[t]);
        if (options->ceilings)
            status = app_ceilings_measure(r->context, (int)options->threads[t], options->ceilings == 1, NULL, &r->ceilings[t]);
    }
    return status;
}

yoke_status fem_bench_cg_run(yoke_context *context, const fem_bench_cg_options *options, fem_bench_cg_report *report, void *user,
                             fem_bench_cg_result *result)
{
    run r = {.context = context, .options = options, .report = report, .user = user, .result = result};
    *result = (fem_bench_cg_result){.context = context, .element = options->element};
    yoke_status status = measure_ceilings(&r);
    for (int mesh = 0; mesh < FEM_BENCH_MESHES; mesh++)
        for (int i = 0; !status && i < options->num_sizes; i++)
            if (options->meshes >> mesh & 1) status = measure_size(&r, mesh, options->size[i]);
    if (!status && result->wrong)
        status = yoke_fail(context, YOKE_ERROR_NUMERIC, "%d of %lld compliances differ from the published value", result->wrong,
                           (long long)result->num_rows);
    return status;
}
