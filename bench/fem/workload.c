#include "fem/workload.h"

#include <math.h>
#include <string.h>

#include "fem/measure.h"

enum { MAX_LEVEL = 7 };

const char *const fem_bench_mesh_name[FEM_BENCH_MESHES] = {"curved",         "affine",         "deformed",
                                                           "curved-hanging", "affine-hanging", "deformed-hanging"};

/* ------------------------------------------------------------------------------------------------------ cube */

/* Finds three numbers that differ by at most one and whose product is near n. */
static void near_cube(double n, int sides[3])
{
    int side = (int)fmax(1, floor(cbrt(n) + 1e-9)), best[3] = {side, side, side};
    for (int larger = 1; larger <= 3; larger++) {
        double product = pow(side, 3 - larger) * pow(side + 1, larger);
        if (fabs(product - n) < fabs((double)best[0] * best[1] * best[2] - n))
            for (int a = 0; a < 3; a++) best[a] = side + (a >= 3 - larger);
    }
    memcpy(sides, best, sizeof best);
}

void fem_bench_cube_size(int64_t elements, int trees[3], int *level)
{
    for (*level = MAX_LEVEL; *level >= 0; --*level) {
        double each = pow(8, *level);
        near_cube((double)elements / each, trees);
        double got = (double)trees[0] * trees[1] * trees[2] * each;
        if (*level == 0 || fabs(got - (double)elements) <= 0.02 * (double)elements) return;
    }
}

static const char *name_face(const double centre[3], void *user)
{
    (void)user;
    return centre[0] < 1e-9 ? "clamped" : centre[0] > 1 - 1e-9 ? "loaded" : NULL;
}

static yoke_status add_conditions(fem_problem *problem)
{
    yoke_status status = yoke_allocate(problem->context, 2, sizeof *problem->conditions, &problem->conditions);
    if (status) return status;
    problem->num_conditions = 2;
    problem->conditions[0] = (fem_condition){.kind = FEM_DIRICHLET, .group = fem_mesh_find_group(problem->mesh, 2, "clamped"), .mask = 7};
    problem->conditions[1] =
        (fem_condition){.kind = FEM_TRACTION, .group = fem_mesh_find_group(problem->mesh, 2, "loaded"), .value = {0, 0, -1e-3}};
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------------------- model */

static yoke_status create(yoke_context *context, fem_bench_model **model)
{
    fem_bench_model *made = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *made, &made);
    if (status) return status;
    made->context = context;
    *model = made;
    return YOKE_OK;
}

static yoke_status discretise(fem_bench_model *model)
{
    double start_s = yoke_clock_s();
    yoke_status status = fem_space_create(model->problem, model->forest, model->problem->element, &model->space);
    if (!status) status = fem_boundary_create(model->space, &model->boundary);
    if (!status) status = fem_constraints_create(model->space, model->boundary, &model->constraints);
    model->discretise_s = yoke_clock_s() - start_s;
    return status;
}

static yoke_status finish(yoke_status status, fem_bench_model *made, fem_bench_model **model)
{
    if (!status) status = discretise(made);
    if (status)
        fem_bench_model_destroy(made);
    else
        *model = made;
    return status;
}

/* Distances of the leaves' centres from the cube's origin, before the cube is curved. */
static void measure_distances(const fem_bench_model *model, const int trees[3], double *distance)
{
    const p8est_t *p8est = model->forest->p8est;
    int64_t e = 0;
    for (p4est_topidx_t t = p8est->first_local_tree; t <= p8est->last_local_tree; t++) {
        p8est_tree_t *tree = p8est_tree_array_index(p8est->trees, t);
        const int at[3] = {t % trees[0], t / trees[0] % trees[1], t / trees[0] / trees[1]};
        for (size_t q = 0; q < tree->quadrants.elem_count; q++) {
            const p8est_quadrant_t *leaf = p8est_quadrant_array_index(&tree->quadrants, q);
            const p4est_qcoord_t corner[3] = {leaf->x, leaf->y, leaf->z}, half = P8EST_QUADRANT_LEN(leaf->level) / 2;
            double square = 0;
            for (int a = 0; a < 3; a++) square += pow((at[a] + (double)(corner[a] + half) / P8EST_ROOT_LEN) / trees[a], 2);
            distance[e++] = sqrt(square);
        }
    }
}

/* Refines the leaves nearest to the origin: each adds seven leaves, and the balance between sizes adds more. */
static yoke_status refine_corner(fem_bench_model *model, const int trees[3], int64_t elements)
{
    const int64_t leaves = fem_forest_leaves(model->forest), wanted = (elements - leaves) / 7;
    double *distance = NULL, *sorted = NULL;
    uint8_t *mark = NULL;
    yoke_status status = yoke_allocate(model->context, leaves, sizeof *distance, &distance);
    if (!status) status = yoke_allocate(model->context, leaves, sizeof *sorted, &sorted);
    if (!status) status = yoke_allocate(model->context, leaves, 1, &mark);
    if (!status) {
        measure_distances(model, trees, distance);
        memcpy(sorted, distance, (size_t)leaves * sizeof *sorted);
        double limit = fem_bench_quantile(sorted, leaves, fmin(1, (double)wanted / (double)leaves));
        for (int64_t e = 0; e < leaves; e++) mark[e] = distance[e] <= limit;
        status = fem_forest_refine(model->forest, mark);
    }
    yoke_release(model->context, distance);
    yoke_release(model->context, sorted);
    yoke_release(model->context, mark);
    return status;
}

static yoke_status make_forest(fem_bench_model *model, const fem_bench_cube_options *options, const int trees[3], int level)
{
    yoke_status status = fem_forest_create(model->mesh, level, &model->forest);
    if (status || !options->mesh.hanging) return status;
    const int64_t coarse = fem_forest_leaves(model->forest), added = options->elements - coarse;
    status = refine_corner(model, trees, coarse + added / 3);
    return status ? status : refine_corner(model, trees, options->elements);
}

yoke_status fem_bench_cube_of(yoke_context *context, const fem_bench_cube_options *options, fem_bench_model **model)
{
    int trees[3], level;
    fem_bench_model *made = NULL;
    if (options->elements < 1 || options->elements > INT32_MAX)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a cube of %lld elements: expected 1 to %d", (long long)options->elements,
                         INT32_MAX);
    if (options->loaded && options->mesh.shape == FEM_CUBE_CURVED)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "the faces of a curved cube are no planes: it cannot be loaded");
    fem_bench_cube_size(options->elements, trees, &level);
    if (options->mesh.hanging && level > 0)
        level--; /* refinement adds the missing elements */
    else if (options->mesh.hanging)
        fem_bench_cube_size((options->elements + 2) / 3, trees, &level);
    for (; options->mesh.shape == FEM_CUBE_DEFORMED && trees[0] < 4 && level > 0; level--)
        for (int a = 0; a < 3; a++) trees[a] *= 2;
    yoke_status status = create(context, &made);
    if (status) return status;
    status = fem_cube_mesh(context, trees, options->mesh.shape, options->loaded ? name_face : NULL, &made->mesh);
    if (!status) status = fem_problem_of_one_material(made->mesh, options->element, options->components, &made->problem);
    if (!status && options->loaded) status = add_conditions(made->problem);
    if (!status) status = make_forest(made, options, trees, level);
    return finish(status, made, model);
}

/* Refines leaves in Morton order: each adds seven leaves, and the balance between sizes adds more. */
static yoke_status refine_first(fem_bench_model *model, int64_t elements)
{
    int64_t leaves = fem_forest_leaves(model->forest), count = (elements - leaves) / 7;
    if (count <= 0) return YOKE_OK;
    uint8_t *mark = NULL;
    yoke_status status = yoke_allocate(model->context, leaves, 1, &mark);
    if (status) return status;
    memset(mark, 1, (size_t)(count < leaves ? count : leaves));
    status = fem_forest_refine(model->forest, mark);
    yoke_release(model->context, mark);
    return status;
}

static yoke_status copy_materials(fem_bench_model *model, const fem_problem *problem)
{
    yoke_context *context = model->context;
    fem_problem *copy;
    int64_t elements = problem->mesh->num_elements;
    yoke_status status = yoke_allocate(context, 1, sizeof *copy, &copy);
    if (status) return status;
    model->problem = copy;
    *copy = *problem;
    copy->num_conditions = 0;
    copy->conditions = NULL;
    copy->fields = (fem_fields){0};
    copy->materials = NULL;
    copy->material_of = NULL;
    status = yoke_allocate(context, copy->num_materials, sizeof *copy->materials, &copy->materials);
    if (!status) status = yoke_allocate(context, elements, sizeof *copy->material_of, &copy->material_of);
    if (status) return status;
    memcpy(copy->materials, problem->materials, (size_t)copy->num_materials * sizeof *copy->materials);
    memcpy(copy->material_of, problem->material_of, (size_t)elements * sizeof *copy->material_of);
    return YOKE_OK;
}

yoke_status fem_bench_refined(const fem_problem *problem, int64_t elements, fem_bench_model **model)
{
    fem_bench_model *made = NULL;
    int64_t leaves = problem->mesh->num_elements;
    int level = 0;
    if (elements < leaves)
        return yoke_fail(problem->context, YOKE_ERROR_INPUT, "%lld elements: the mesh %s has %lld already", (long long)elements,
                         problem->mesh->path, (long long)leaves);
    for (; level < FEM_MAX_LEVEL && leaves <= elements / 8; level++) leaves *= 8;
    yoke_status status = create(problem->context, &made);
    if (status) return status;
    status = copy_materials(made, problem);
    if (!status) status = fem_forest_create(problem->mesh, level, &made->forest);
    if (!status) status = refine_first(made, elements);
    return finish(status, made, model);
}

void fem_bench_model_destroy(fem_bench_model *model)
{
    if (!model) return;
    fem_constraints_destroy(model->constraints);
    fem_boundary_destroy(model->boundary);
    fem_space_destroy(model->space);
    fem_forest_destroy(model->forest);
    if (model->problem) {
        yoke_release(model->context, model->problem->materials);
        yoke_release(model->context, model->problem->material_of);
        yoke_release(model->context, model->problem->conditions);
        yoke_release(model->context, model->problem);
    }
    fem_mesh_destroy(model->mesh);
    yoke_release(model->context, model);
}
