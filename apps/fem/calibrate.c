#include "calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/distribution/round.h"
#include "adapt/distribution/trial.h"
#include "common/calibrate/calibrate.h"
#include "mesh/cube.h"
#include "session.h"
#include "space/forest/forest.h"

/* Number of elements on which products are compared, and largest number in a cube; making the cube takes seconds per million elements. */
enum { CHECKED_ELEMENTS = 512, MAX_ELEMENTS = 2 << 20 };
/*
 * Fraction of a device's memory that is used, and approximate number of bytes per element that the device and its copy of the mesh need in
 * main memory.
 */
static const double memory_part = 0.5, host_bytes = 6000;
/* Each size has its own mesh and operator, whose set-up takes as long as hundreds of products. */
static const double longest_call_s = 0.01;
/* Relative differences of the products of two operators up to which these count as rounding. */
static const double double_tolerance = 1e-12, single_tolerance = 1e-5;

typedef struct command_words {
    const char *element, *problem, *operator_name, *mesh;
} command_words;

/* What is measured: the operator that the options describe, or that of the multigrid's coarser levels. */
typedef struct settings {
    const command_words *words;
    int coarse;
} settings;

/* The cube, its operator on the run's devices, and the trials with it. */
typedef struct axmebe {
    yoke_context *context;
    yoke_run *run;
    fem_devices *devices;
    fem_element element;
    int components;
    fem_cube_shape shape;
    fem_operator operator_kind;
    fem_precision precision;
    fem_works works;
    fem_mesh *mesh;
    fem_problem *problem;
    fem_forest *forest;
    fem_space *space;
    fem_boundary *boundary;
    fem_constraints *constraints;
    fem_trial *trial;
} axmebe;

/* ------------------------------------------------------------------------------------------------------ settings */

static yoke_status read_settings(yoke_context *context, const settings *of, axmebe *a)
{
    static const char *const elements[] = {"q2", "s2", "q1", NULL}, *const problems[] = {"elasticity", "poisson", NULL};
    static const char *const operators[] = {"matrixfree", "stored", NULL}, *const shapes[] = {"curved", "affine", "deformed", NULL};
    const command_words *w = of->words;
    int element = 0, problem = 0, operator_kind = 0, shape = 0;
    if (of->coarse && (w->element || w->operator_name))
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "--%s: coarser levels of the multigrid have q1 elements and the matrix-free operator; leave it out",
                         w->element ? "element" : "operator");
    yoke_status status = app_option_choice(context, "element", w->element, elements, &element);
    if (!status) status = app_option_choice(context, "problem", w->problem, problems, &problem);
    if (!status) status = app_option_choice(context, "operator", w->operator_name, operators, &operator_kind);
    if (!status) status = app_option_choice(context, "mesh", w->mesh, shapes, &shape);
    a->element = of->coarse ? FEM_Q1 : (fem_element[]){FEM_Q2, FEM_S2, FEM_Q1}[element];
    a->components = problem ? 1 : 3;
    a->operator_kind = operator_kind ? FEM_STORED : FEM_MATRIXFREE;
    a->precision = of->coarse ? FEM_SINGLE : FEM_DOUBLE;
    a->shape = (fem_cube_shape[]){FEM_CUBE_CURVED, FEM_CUBE_AFFINE, FEM_CUBE_DEFORMED}[shape];
    return status;
}

static yoke_status prepare(yoke_context *context, const void *of)
{
    const settings *s = of;
    axmebe unused = {0};
    yoke_status status = read_settings(context, s, &unused);
    return status ? status : fem_session_start(context, NULL);
}

/* ---------------------------------------------------------------------------------------------------------- cube */

static void close_cube(axmebe *a)
{
    fem_trial_destroy(a->trial);
    fem_constraints_destroy(a->constraints);
    fem_boundary_destroy(a->boundary);
    fem_space_destroy(a->space);
    fem_forest_destroy(a->forest);
    fem_problem_destroy(a->problem);
    fem_mesh_destroy(a->mesh);
    a->trial = NULL;
    a->constraints = NULL;
    a->boundary = NULL;
    a->space = NULL;
    a->forest = NULL;
    a->problem = NULL;
    a->mesh = NULL;
}

/* Finds the smallest of the sizes (4 .. 7)^3 x 8^level that has at least this many elements. */
static void cube_size(int64_t elements, int trees[3], int *level)
{
    int64_t side = 4;
    for (*level = 0; (7 * 7 * 7 << 3 * *level) < elements; ++*level) continue;
    while ((side * side * side << 3 * *level) < elements) side++;
    for (int i = 0; i < 3; i++) trees[i] = (int)side;
}

static yoke_status make_cube(axmebe *a, int64_t elements)
{
    int trees[3], level;
    close_cube(a);
    cube_size(elements, trees, &level);
    yoke_status status = fem_cube_mesh(a->context, trees, a->shape, NULL, &a->mesh);
    if (!status) status = fem_problem_of_one_material(a->mesh, a->element, a->components, &a->problem);
    if (!status) status = fem_forest_create(a->mesh, level, &a->forest);
    if (!status) status = fem_space_create(a->problem, a->forest, a->element, &a->space);
    if (!status) status = fem_boundary_create(a->space, &a->boundary);
    if (!status) status = fem_constraints_create(a->space, a->boundary, &a->constraints);
    if (!status) status = fem_trial_create(a->space, a->constraints, a->devices, a->operator_kind, a->precision, &a->trial);
    if (status) close_cube(a);
    return status;
}

/* Makes a larger cube only if it is needed, because most devices never use the largest one. */
static yoke_status have_cube(axmebe *a, int64_t elements)
{
    return a->trial && a->space->num_elements >= elements ? YOKE_OK : make_cube(a, elements);
}

/* --------------------------------------------------------------------------------------------------------- check */

/* Computes y = A x on one device of the run. */
static yoke_status device_product(const axmebe *a, int device, const double *x, double *y, int64_t *bytes)
{
    int32_t cut[FEM_MAX_DEVICES + 1] = {0};
    fem_decomposition *decomposition = NULL;
    fem_vector *from = NULL, *to = NULL;
    for (int i = device; i < a->devices->count; i++) cut[i + 1] = a->space->num_elements;
    const fem_decomposition_options options = {
        .devices = a->devices, .cut = cut, .precision = a->precision, .operator_kind = a->operator_kind};
    yoke_status status = fem_decomposition_create(a->space, a->constraints, &options, &decomposition);
    if (!status) status = fem_vector_create(decomposition, &from);
    if (!status) status = fem_vector_create(decomposition, &to);
    if (!status) {
        fem_vector_write(from, x);
        fem_decomposition_product(decomposition, 1, from, to);
        fem_vector_read(to, y);
        status = fem_decomposition_status(decomposition);
    }
    if (!status) *bytes = fem_decomposition_memory_bytes(decomposition);
    fem_vector_destroy(from);
    fem_vector_destroy(to);
    fem_decomposition_destroy(decomposition);
    return status;
}

/* Computes the same product by the other operator in double precision, on the calling thread. */
static yoke_status reference_product(const axmebe *a, const double *x, double *y)
{
    const fem_subdomain_options options = {.precision = FEM_DOUBLE,
                                           .operator_kind = a->operator_kind == FEM_STORED ? FEM_MATRIXFREE : FEM_STORED};
    fem_subdomain *s = NULL;
    fem_subdomain_vector *from = NULL, *to = NULL;
    yoke_status status = fem_subdomain_cpu_create(a->space, a->constraints, &options, &s);
    if (status) return status;
    status = s->call->vector_create(s, &from);
    if (!status) status = s->call->vector_create(s, &to);
    if (!status) {
        s->call->write(s, from, x);
        s->call->product_interface(s, from, to);
        s->call->product_interior(s, from, to);
        s->call->mask(s, to);
        s->call->read_wait(s, to, y);
        status = s->status;
    }
    if (from) s->call->vector_destroy(s, from);
    if (to) s->call->vector_destroy(s, to);
    s->call->destroy(s);
    return status;
}

static double difference(const double *y, const double *expected, int64_t count)
{
    double off = 0, norm = 0;
    for (int64_t i = 0; i < count; i++) {
        off += (y[i] - expected[i]) * (y[i] - expected[i]);
        norm += expected[i] * expected[i];
    }
    return sqrt(off / norm);
}

/*
 * Excludes a device that fails or has a wrong product.  Sets in *trial the device memory per element, and the largest difference of the
 * other devices.
 */
static yoke_status check_devices(const axmebe *a, const double *x, double *y, const double *expected, app_calibrate_trial *trial)
{
    const int64_t dofs = (int64_t)a->space->num_nodes * a->components;
    const yoke_run_device *list;
    int64_t count, taken = 0;
    yoke_status status = yoke_run_devices(a->run, &list, &count);
    for (int i = 0; i < count && !status; i++) {
        char why[400];
        if (!list[i].active) continue;
        status = device_product(a, i, x, y, &taken);
        const double off = status ? 0 : difference(y, expected, dofs);
        trial->memory_bytes_per_unit = fmax(trial->memory_bytes_per_unit, (double)taken / a->space->num_elements);
        if (!status && off <= (a->precision == FEM_DOUBLE ? double_tolerance : single_tolerance)) {
            trial->difference = fmax(trial->difference, off);
            continue;
        }
        if (status && status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY && status != YOKE_ERROR_UNAVAILABLE) break;
        if (status)
            snprintf(why, sizeof why, "%s", yoke_last_error(a->context));
        else
            snprintf(why, sizeof why, "its product differs from that of the host's cores by %.2g, which is more than rounding", off);
        status = yoke_run_fail(a->run, i, why);
        if (!status) status = yoke_run_devices(a->run, &list, &count);
    }
    return status;
}

static yoke_status check_products(axmebe *a, app_calibrate_trial *trial)
{
    double *x = NULL, *y = NULL, *expected = NULL;
    const int64_t dofs = (int64_t)a->space->num_nodes * a->components;
    yoke_status status = yoke_allocate(a->context, dofs, sizeof *x, &x);
    if (!status) status = yoke_allocate(a->context, dofs, sizeof *y, &y);
    if (!status) status = yoke_allocate(a->context, dofs, sizeof *expected, &expected);
    if (!status) {
        for (int64_t i = 0; i < dofs; i++) x[i] = sin(0.7 * (double)i) + 0.3;
        status = reference_product(a, x, expected);
    }
    if (!status) status = check_devices(a, x, y, expected, trial);
    yoke_release(a->context, x);
    yoke_release(a->context, y);
    yoke_release(a->context, expected);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- opening */

/* Finds the largest number of elements that fits into the memory of every device and, with the mesh, into main memory. */
static yoke_status most_units(const axmebe *a, double bytes, int64_t *most)
{
    enum { VECTORS = 3 };
    const fem_subdomain_options options = {.precision = a->precision, .operator_kind = a->operator_kind};
    const double device_bytes = fmax(bytes, fem_subdomain_device_bytes(a->space, &options, CHECKED_ELEMENTS, VECTORS) / CHECKED_ELEMENTS);
    const yoke_run_device *list;
    yoke_topology topology;
    int64_t count = 0, unused, all;
    double elements = MAX_ELEMENTS;
    yoke_status status = yoke_topology_get(a->context, &topology);
    if (!status && topology.memory_bytes > 0)
        elements = fmin(elements, memory_part * (double)topology.memory_bytes / (host_bytes + device_bytes));
    if (!status) status = yoke_run_devices(a->run, &list, &count);
    for (int i = 0; i < count && !status; i++) {
        if (!list[i].active || !strcmp(list[i].info->kind, "sim")) continue;
        status = yoke_device_memory(list[i].device, &unused, &all);
        if (!status && all > 0) elements = fmin(elements, memory_part * (double)all / device_bytes);
    }
    *most = (int64_t)fmax(1, elements);
    return status;
}

static yoke_status try_alone(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    axmebe *a = user;
    yoke_status status = have_cube(a, units);
    return status ? status : fem_trial_run(a->trial, device, units, calls, seconds);
}

static yoke_status try_together(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed)
{
    axmebe *a = user;
    int64_t most = 1;
    for (int i = 0; i < a->devices->count; i++)
        if (units[i] > most) most = units[i];
    yoke_status status = have_cube(a, most);
    return status ? status : fem_trial_run_together(a->trial, units, calls, seconds, failed);
}

static yoke_status take_devices(axmebe *a)
{
    yoke_device *devices[FEM_MAX_DEVICES];
    const yoke_run_device *list;
    int64_t count;
    yoke_status status = yoke_run_devices(a->run, &list, &count);
    if (status) return status;
    for (int64_t i = 0; i < count; i++) devices[i] = list[i].device;
    return fem_devices_take(a->context, devices, (int)count, &a->devices);
}

static void close_axmebe(void *user)
{
    axmebe *a = user;
    close_cube(a);
    fem_devices_close(a->devices);
    yoke_release(a->context, a);
}

static yoke_status open_axmebe(yoke_context *context, yoke_run *run, const void *of, app_calibrate_trial *trial)
{
    const settings *s = of;
    axmebe *a = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *a, &a);
    if (status) return status;
    a->context = context;
    a->run = run;
    *trial =
        (app_calibrate_trial){.longest_call_s = longest_call_s, .difference = NAN, .alone = try_alone, .together = try_together, .user = a};
    status = read_settings(context, s, a);
    if (!status) status = take_devices(a);
    if (!status) status = make_cube(a, CHECKED_ELEMENTS);
    if (!status) fem_works_name(a->space, a->operator_kind, &a->works);
    if (!status) status = fem_works_tell(&a->works, context, run);
    if (!status) status = check_products(a, trial);
    if (!status) status = most_units(a, trial->memory_bytes_per_unit, &trial->max_units);
    if (status) return status;
    trial->work = s->coarse ? a->works.coarse : a->works.fine;
    /* As in the papers, x is copied to the device before a product. */
    trial->copy_bytes_per_unit = (double)sizeof(double) * (double)a->components * a->space->num_nodes / a->space->num_elements;
    return YOKE_OK;
}

yoke_status fem_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_words w = {0};
    const settings fine = {.words = &w}, coarse = {.words = &w, .coarse = 1};
    const app_option options[] = {
        {.name = "element", .value = "KIND", .help = "q2 (the default), s2 or q1", .text = &w.element},
        {.name = "problem", .value = "KIND", .help = "elasticity (the default) or poisson", .text = &w.problem},
        {.name = "operator", .value = "NAME", .help = "matrixfree (the default) or stored", .text = &w.operator_name},
        {.name = "mesh", .value = "SHAPE", .help = "shape of the elements: curved (the default), affine or deformed", .text = &w.mesh},
        {0},
    };
    const app_calibrate_kernel kernels[] = {
        {"axmebe", "product y = A x of yoke fem on the mesh of the solve, in double precision; a unit is an element", &fine, prepare,
         open_axmebe, close_axmebe},
        {"axmebe-coarse", "this product on the coarser levels of multigrid: q1, single precision", &coarse, prepare, open_axmebe,
         close_axmebe},
        {0},
    };
    const app_calibrate_front front = {.kernels = kernels, .options = options};
    return app_calibrate(context, terminal, argc, argv, &front);
}
