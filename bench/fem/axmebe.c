#include "fem/axmebe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fem/roofline.h"
#include "operator/kernels/batch.h"

const char *const fem_axmebe_variant_name[FEM_AXMEBE_VARIANTS] = {
    "matrixfree", "stored", "matrixfree-colour", "matrixfree-atomic", "alg3-1", "alg3-2", "alg3-3", "alg3-4"};
const char *const fem_axmebe_exchange_name[2] = {"halo", "full"};

static const int64_t most_triad = 30000000;

typedef struct run {
    yoke_context *context;
    const fem_axmebe_options *options;
    fem_axmebe_report *report;
    void *user;
    fem_axmebe_result *result;
    double triad[FEM_AXMEBE_MAX_SETS]; /* bytes per second; 0: not measured yet */
    double dgemm[FEM_AXMEBE_MAX_SETS]; /* operations per second; NaN: not known */
    /* Members below: of the present size. */
    const char *mesh;
    int64_t asked;
    const fem_bench_model *model;
    fem_bench_elements *elements; /* created when they are first needed */
    double *u, *expected, *y;     /* [dofs] */
} run;

/* ----------------------------------------------------------------------------------------------------- rows */

static int is_matrix_free(int variant)
{
    return variant == FEM_AXMEBE_MATRIXFREE || variant == FEM_AXMEBE_COLOUR || variant == FEM_AXMEBE_ATOMIC;
}

double fem_axmebe_least_bytes(const fem_space *space, int variant)
{
    const int nodes = space->element == FEM_S2 ? 20 : space->slots, m = nodes * space->components;
    const double affine = is_matrix_free(variant) ? fem_subdomain_affine_fraction(space) : 0;
    const double data = is_matrix_free(variant) ? ((1 - affine) * space->slots + affine) * FEM_FACTORS : m * (m + 1) / 2.0;
    return space->num_elements * (data * sizeof(double) + nodes * sizeof(int32_t)) +
           2.0 * space->num_nodes * space->components * sizeof(double);
}

static fem_axmebe_row new_row(const run *r, int set, int variant, int exchange)
{
    const fem_space *space = r->model->space;
    fem_axmebe_row row = {.variant = variant,
                          .exchange = exchange,
                          .mesh = r->mesh,
                          .asked = r->asked,
                          .elements = space->num_elements,
                          .dofs = (int64_t)space->num_nodes * space->components,
                          .hanging_nodes = space->num_hanging,
                          .time = {.median_s = NAN, .quartile_low_s = NAN, .quartile_high_s = NAN},
                          .transferred_s = NAN,
                          .bytes = fem_axmebe_least_bytes(space, variant),
                          .flops = fem_bench_flops(space, variant),
                          .triad_bytes_per_s = exchange < 0 ? r->triad[set] : NAN,
                          .dgemm_flops_per_s = r->dgemm[set],
                          .difference = NAN};
    snprintf(row.set, sizeof row.set, "%s", r->options->set[set]);
    return row;
}

static yoke_status keep_row(run *r, const fem_axmebe_row *row)
{
    fem_axmebe_result *result = r->result;
    yoke_status status = yoke_grow(r->context, &result->rows, result->num_rows, &result->room, 64, sizeof *row);
    if (status) return status;
    result->rows[result->num_rows++] = *row;
    if (r->report) r->report(row, r->user);
    return YOKE_OK;
}

/* A failure of one device or variant becomes the reason in its row, and the run continues. */
static yoke_status excuse(run *r, yoke_status status, fem_axmebe_row *row)
{
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY && status != YOKE_ERROR_UNAVAILABLE) return status;
    snprintf(row->why_not, sizeof row->why_not, "%s", yoke_last_error(r->context));
    for (char *c = row->why_not; *c; c++)
        if (*c == '\n') *c = ' '; /* line ends of a compiler's messages */
    return YOKE_OK;
}

const fem_axmebe_row *fem_axmebe_find(const fem_axmebe_result *result, const fem_axmebe_row *row, int exchange)
{
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_axmebe_row *other = &result->rows[i];
        if (other->exchange == exchange && other->variant == row->variant && other->elements == row->elements &&
            !strcmp(other->set, row->set) && !strcmp(other->mesh, row->mesh))
            return other;
    }
    return NULL;
}

const fem_axmebe_row *fem_axmebe_find_conforming(const fem_axmebe_result *result, const fem_axmebe_row *row)
{
    const char *dash = strchr(row->mesh, '-');
    const size_t length = dash ? (size_t)(dash - row->mesh) : 0;
    for (int64_t i = 0; dash && i < result->num_rows; i++) {
        const fem_axmebe_row *other = &result->rows[i];
        if (other->exchange == row->exchange && other->variant == row->variant && other->asked == row->asked &&
            !strcmp(other->set, row->set) && strlen(other->mesh) == length && !strncmp(other->mesh, row->mesh, length))
            return other;
    }
    return NULL;
}

void fem_axmebe_result_destroy(fem_axmebe_result *result)
{
    if (result->context) yoke_release(result->context, result->rows);
    *result = (fem_axmebe_result){0};
}

/* -------------------------------------------------------------------------------------------------- checking */

static double difference(const run *r)
{
    const fem_space *space = r->model->space;
    const int64_t dofs = (int64_t)space->num_nodes * space->components;
    double square = 0, apart = 0;
    for (int64_t i = 0; i < dofs; i++) {
        square += r->expected[i] * r->expected[i];
        apart += (r->y[i] - r->expected[i]) * (r->y[i] - r->expected[i]);
    }
    return sqrt(apart / square);
}

/* Whether the result of the row is correct, so that it may be timed. */
static int is_right(run *r, fem_axmebe_row *row)
{
    row->difference = difference(r);
    if (row->difference <= FEM_AXMEBE_TOLERANCE) return 1;
    snprintf(row->why_not, sizeof row->why_not, "its result differs from that of the stored operator by %.1e of its norm: not measured",
             row->difference);
    r->result->wrong++;
    return 0;
}

/* --------------------------------------------------------------------------------------------------- devices */

static yoke_status open_set(const run *r, int set, fem_devices **devices)
{
    char names[FEM_AXMEBE_NAME];
    snprintf(names, sizeof names, "%s", r->options->set[set]);
    for (char *plus = names; (plus = strchr(plus, '+'));) *plus = ',';
    return fem_devices_open(r->context, names, devices);
}

/* ----------------------------------------------------------------------------------------------------- decompositions */

typedef struct decomposition_work {
    fem_decomposition *decomposition;
    fem_vector *x, *y;
} decomposition_work;

static yoke_status multiply(void *user, int64_t times)
{
    const decomposition_work *work = user;
    for (int64_t i = 0; i < times; i++) fem_decomposition_product(work->decomposition, 0, work->x, work->y);
    return fem_decomposition_status(work->decomposition);
}

static void release_decomposition(decomposition_work *work)
{
    fem_vector_destroy(work->x);
    fem_vector_destroy(work->y);
    if (work->decomposition) fem_decomposition_destroy(work->decomposition);
    *work = (decomposition_work){0};
}

/* Creates the decomposition with equal shares, and computes its product with r->u in r->y. */
static yoke_status make_decomposition(run *r, fem_devices *devices, fem_operator operator_kind, fem_adding adding, fem_exchange exchange,
                                      decomposition_work *work)
{
    int32_t cut[FEM_MAX_DEVICES + 1];
    for (int i = 0; i <= devices->count; i++) cut[i] = (int32_t)((int64_t)r->model->space->num_elements * i / devices->count);
    const fem_decomposition_options options = {
        .devices = devices, .cut = cut, .precision = FEM_DOUBLE, .operator_kind = operator_kind, .adding = adding, .exchange = exchange};
    yoke_status status = fem_decomposition_create(r->model->space, r->model->constraints, &options, &work->decomposition);
    if (!status) status = fem_vector_create(work->decomposition, &work->x);
    if (!status) status = fem_vector_create(work->decomposition, &work->y);
    if (status) return status;
    fem_vector_write(work->x, r->u);
    fem_decomposition_product(work->decomposition, 0, work->x, work->y);
    fem_vector_read(work->y, r->y);
    return fem_decomposition_status(work->decomposition);
}

static fem_adding adding_of(int variant)
{
    return variant == FEM_AXMEBE_COLOUR ? FEM_ADD_COLOUR : variant == FEM_AXMEBE_ATOMIC ? FEM_ADD_ATOMIC : FEM_ADD_SUM;
}

static int has_device_subdomains(const fem_devices *devices)
{
    for (int i = 0; i < devices->count; i++)
        if (!devices->list[i].host_functions) return 1;
    return 0;
}

static yoke_status measure_decomposition(run *r, fem_devices *devices, fem_axmebe_row *row)
{
    decomposition_work work = {0};
    if (adding_of(row->variant) != FEM_ADD_SUM && !has_device_subdomains(devices)) {
        snprintf(row->why_not, sizeof row->why_not, "the host's cores know one way of adding up");
        return YOKE_OK;
    }
    yoke_status status =
        make_decomposition(r, devices, row->variant == FEM_AXMEBE_STORED ? FEM_STORED : FEM_MATRIXFREE, adding_of(row->variant),
                           row->exchange == FEM_EXCHANGE_FULL ? FEM_EXCHANGE_FULL : FEM_EXCHANGE_HALO, &work);
    if (!status && is_right(r, row)) {
        status = fem_bench_measure(r->context, r->options->seconds, multiply, &work, &row->time);
        for (int i = 0; !status && i < devices->count; i++) {
            fem_decomposition_share share;
            fem_decomposition_get_share(work.decomposition, i, &share);
            row->exchange_bytes += share.interface_bytes;
        }
    }
    status = excuse(r, status, row);
    release_decomposition(&work);
    return status;
}

/* Opens the devices anew for each row, so that a lost device affects only one row. */
static yoke_status measure_operators(run *r, int set)
{
    const int several = strchr(r->options->set[set], '+') != NULL;
    yoke_status status = YOKE_OK;
    for (int variant = 0; !status && variant < FEM_AXMEBE_ALG3; variant++)
        for (int exchange = 0; !status && exchange < (several ? 2 : 1); exchange++) {
            fem_devices *devices = NULL;
            if (!(r->options->variants >> variant & 1) || (several && !(r->options->exchanges >> exchange & 1))) continue;
            fem_axmebe_row row = new_row(r, set, variant, several ? exchange : -1);
            status = open_set(r, set, &devices);
            if (!status) status = measure_decomposition(r, devices, &row);
            if (!status) status = keep_row(r, &row);
            fem_devices_close(devices);
        }
    return status;
}

/* ---------------------------------------------------------------------------------------- variants of Alg. 3 */

typedef struct device_work {
    fem_bench_device *bench;
    fem_bench_variant variant;
    int transfers;
} device_work;

static yoke_status multiply_on_device(void *user, int64_t times)
{
    const device_work *work = user;
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; !status && i < times; i++) status = fem_bench_device_product(work->bench, work->variant, work->transfers);
    return status ? status : fem_bench_device_finish(work->bench);
}

static yoke_status measure_variant(run *r, fem_bench_device *bench, fem_axmebe_row *row)
{
    device_work work = {bench, (fem_bench_variant)(row->variant - FEM_AXMEBE_ALG3), 0};
    fem_bench_time transferred;
    yoke_status status = fem_bench_device_write(bench, r->u);
    if (!status) status = multiply_on_device(&work, 1);
    if (!status) status = fem_bench_device_read(bench, r->y);
    if (status || !is_right(r, row)) return excuse(r, status, row);
    status = fem_bench_measure(r->context, r->options->seconds, multiply_on_device, &work, &row->time);
    work.transfers = 1;
    if (!status) status = fem_bench_measure(r->context, r->options->seconds, multiply_on_device, &work, &transferred);
    if (!status) row->transferred_s = transferred.median_s;
    return excuse(r, status, row);
}

static yoke_status make_elements(run *r)
{
    fem_devices *host = NULL;
    yoke_status status = fem_devices_open(r->context, "openmp", &host);
    if (status) return status;
    status = fem_bench_elements_create(r->model->space, r->model->constraints, &host->list[0], &r->elements);
    fem_devices_close(host);
    return status;
}

/* Loads the elements to the device of a set.  If this is not possible, *bench is NULL and the row has the reason. */
static yoke_status load_elements(run *r, int set, fem_devices **devices, fem_bench_device **bench, fem_axmebe_row *row)
{
    yoke_status status = r->elements ? YOKE_OK : make_elements(r);
    if (!status) status = open_set(r, set, devices);
    return status ? status : excuse(r, fem_bench_device_create(&(*devices)->list[0], r->elements, bench), row);
}

/* The variants share the data on the device.  The device is opened and filled anew after a variant that could not be measured. */
static yoke_status measure_variants(run *r, int set)
{
    fem_devices *devices = NULL;
    fem_bench_device *bench = NULL;
    yoke_status status = YOKE_OK;
    for (int variant = FEM_AXMEBE_ALG3; !status && variant < FEM_AXMEBE_VARIANTS; variant++) {
        if (!(r->options->variants >> variant & 1)) continue;
        fem_axmebe_row row = new_row(r, set, variant, -1);
        if (!bench) status = load_elements(r, set, &devices, &bench, &row);
        if (!status && bench) status = measure_variant(r, bench, &row);
        if (!status) status = keep_row(r, &row);
        if (!row.why_not[0]) continue;
        fem_bench_device_destroy(bench);
        fem_devices_close(devices);
        bench = NULL;
        devices = NULL;
    }
    fem_bench_device_destroy(bench);
    fem_devices_close(devices);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- sizes */

/* NaN if the device cannot compute it; its rows will contain the reason. */
static yoke_status measure_triad(run *r, int set)
{
    fem_devices *devices = NULL;
    int64_t count = r->options->triad, free_bytes = 0, all_bytes = 0;
    fem_axmebe_row unused = {.why_not = ""};
    r->triad[set] = NAN;
    yoke_status status = open_set(r, set, &devices);
    if (status) return status;
    if (!count) status = yoke_device_memory(devices->list[0].device, &free_bytes, &all_bytes);
    if (!status && !count) count = free_bytes / 4 / 24 < most_triad ? free_bytes / 4 / 24 : most_triad;
    if (!status) status = fem_bench_triad(r->context, &devices->list[0], count > 0 ? count : 1, &r->triad[set]);
    fem_devices_close(devices);
    return excuse(r, status, &unused);
}

/*
 * Measures the ceilings for each number of threads in the sets, before anything else runs in this process, so that no other thread
 * interferes.
 */
static yoke_status measure_ceilings(run *r)
{
    const fem_axmebe_options *options = r->options;
    fem_axmebe_result *result = r->result;
    yoke_status status = YOKE_OK;
    for (int set = 0; !status && set < options->num_sets; set++) {
        const int threads = fem_bench_host_threads(options->set[set]);
        int at = 0;
        r->dgemm[set] = NAN;
        if (!threads || !options->ceilings) continue;
        while (at < result->num_ceilings && result->ceilings[at].threads != threads) at++;
        if (at == FEM_AXMEBE_MAX_CEILINGS) continue;
        if (at == result->num_ceilings) {
            status = app_ceilings_measure(r->context, threads, options->ceilings == 1, NULL, &result->ceilings[at]);
            if (!status) result->num_ceilings++;
        }
        if (!status) r->dgemm[set] = result->ceilings[at].dgemm_flops_per_s;
    }
    return status;
}

static yoke_status measure_set(run *r, int set)
{
    const int several = strchr(r->options->set[set], '+') != NULL;
    yoke_status status = !several && r->triad[set] == 0 ? measure_triad(r, set) : YOKE_OK;
    if (!status) status = measure_operators(r, set);
    return status || several ? status : measure_variants(r, set);
}

/* Reproducible numbers in [-1, 1) (splitmix64). */
static void fill_random(double *values, int64_t count)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < count; i++) {
        uint64_t z = state += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        values[i] = (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
    }
}

/* r->expected: the product by the stored operator on all cores. */
static yoke_status make_expected(run *r)
{
    fem_devices *host = NULL;
    decomposition_work work = {0};
    yoke_status status = fem_devices_open(r->context, "openmp", &host);
    if (status) return status;
    double *y = r->y;
    r->y = r->expected;
    status = make_decomposition(r, host, FEM_STORED, FEM_ADD_SUM, FEM_EXCHANGE_HALO, &work);
    r->y = y;
    release_decomposition(&work);
    fem_devices_close(host);
    return status;
}

/*
 * The comparison stores all matrices once.  The variants of Alg. 3 need two more copies: two while the matrices are computed, later one in
 * addition to that on a host device.  Everything else is small.
 */
static yoke_status check_memory(const run *r, int64_t size)
{
    static const int nodes[] = {[FEM_Q1] = 8, [FEM_S2] = 20, [FEM_Q2] = 27};
    const fem_axmebe_options *options = r->options;
    const double m = nodes[options->element] * options->components, copies = options->variants >> FEM_AXMEBE_ALG3 ? 3 : 1;
    const double needed = (double)size * m * (m + 1) / 2 * sizeof(double) * copies;
    yoke_topology topology;
    yoke_status status = yoke_topology_get(r->context, &topology);
    if (status || needed <= (double)topology.memory_bytes) return status;
    return yoke_fail(r->context, YOKE_ERROR_INPUT, "%lld elements need about %.1f GB for their matrices, this machine has %.1f GB",
                     (long long)size, needed / 1e9, (double)topology.memory_bytes / 1e9);
}

/* mesh: number as in fem_bench_mesh_name */
static yoke_status make_model(run *r, int mesh, int64_t size, fem_bench_model **model)
{
    const fem_axmebe_options *options = r->options;
    const fem_bench_cube_options cube = {.elements = size,
                                         .mesh = {(fem_cube_shape)(mesh % FEM_CUBE_SHAPES), mesh / FEM_CUBE_SHAPES},
                                         .element = options->element,
                                         .components = options->components};
    r->mesh = options->problem ? "case" : fem_bench_mesh_name[mesh];
    r->asked = size;
    return options->problem ? fem_bench_refined(options->problem, size, model) : fem_bench_cube_of(r->context, &cube, model);
}

static yoke_status measure_size(run *r, int mesh, int64_t size)
{
    const fem_axmebe_options *options = r->options;
    fem_bench_model *model = NULL;
    yoke_status status = check_memory(r, size);
    if (!status) status = make_model(r, mesh, size, &model);
    if (status) return status;
    const int64_t dofs = (int64_t)model->space->num_nodes * model->space->components;
    r->model = model;
    status = yoke_allocate(r->context, dofs, sizeof(double), &r->u);
    if (!status) status = yoke_allocate(r->context, dofs, sizeof(double), &r->expected);
    if (!status) status = yoke_allocate(r->context, dofs, sizeof(double), &r->y);
    if (!status) fill_random(r->u, dofs);
    if (!status) status = make_expected(r);
    for (int set = 0; !status && set < options->num_sets; set++) status = measure_set(r, set);
    fem_bench_elements_destroy(r->elements);
    r->elements = NULL;
    yoke_release(r->context, r->u);
    yoke_release(r->context, r->expected);
    yoke_release(r->context, r->y);
    r->u = r->expected = r->y = NULL;
    fem_bench_model_destroy(model);
    return status;
}

yoke_status fem_axmebe_run(yoke_context *context, const fem_axmebe_options *options, fem_axmebe_report *report, void *user,
                           fem_axmebe_result *result)
{
    run r = {.context = context, .options = options, .report = report, .user = user, .result = result};
    yoke_status status = YOKE_OK;
    const unsigned meshes = options->problem || !options->meshes ? 1u << FEM_CUBE_CURVED : options->meshes;
    *result = (fem_axmebe_result){.context = context};
    status = measure_ceilings(&r);
    for (int mesh = 0; mesh < FEM_BENCH_MESHES; mesh++)
        for (int i = 0; !status && i < options->num_sizes; i++)
            if (meshes >> mesh & 1) status = measure_size(&r, mesh, options->size[i]);
    if (!status && result->wrong)
        status = yoke_fail(context, YOKE_ERROR_NUMERIC, "%d of %lld variants gave another result than the stored operator", result->wrong,
                           (long long)result->num_rows);
    return status;
}
