#include "model.h"

#include <math.h>

#include "unit.h"

#include "mesh/shape.h"
#include "solving.h"

/* -------------------------------------------------------------------------------------------------- problem */

/* Each coarse element has a material of its own, which tests may change. */
static void create_problem(const model_options *options, model *m)
{
    fem_problem *p = &m->problem;
    const manufactured *solution = options->solution;
    int count = m->mesh->num_elements;
    *p = (fem_problem){.context = m->context, .mesh = m->mesh, .components = solution->components, .element = options->element};
    p->fields = manufactured_fields(solution);
    p->temperature.given = solution->temperature != NULL;
    p->num_materials = count;
    p->materials = calloc((size_t)count, sizeof *p->materials);
    p->material_of = calloc((size_t)count, sizeof *p->material_of);
    p->conditions = calloc((size_t)(2 * CUBE_GROUPS), sizeof *p->conditions);
    assert_true(p->materials && p->material_of && p->conditions);
    for (int e = 0; e < count; e++) {
        p->materials[e] = (fem_material){.lambda = solution->lambda, .mu = solution->mu, .density = NAN, .expansion = solution->expansion};
        p->material_of[e] = (int16_t)e;
    }
    for (int i = 0; i < CUBE_GROUPS; i++) {
        int group = cube_group(m->mesh, i);
        unsigned all = solution->components == 3 ? 7 : 1, mask = options->prescribed[i] & all;
        if (group < 0) continue;
        if (mask) p->conditions[p->num_conditions++] = (fem_condition){FEM_DIRICHLET, group, mask, {0, 0, 0}};
        if (mask != all) p->conditions[p->num_conditions++] = (fem_condition){FEM_TRACTION, group, 0, {0, 0, 0}};
    }
}

static void make_space(model *m)
{
    fem_boundary_destroy(m->boundary);
    fem_space_destroy(m->space);
    assert_int_equal(fem_space_create(&m->problem, m->forest, m->problem.element, &m->space), YOKE_OK);
    assert_int_equal(fem_boundary_create(m->space, &m->boundary), YOKE_OK);
}

void model_create(const model_options *options, model *m)
{
    memset(m, 0, sizeof *m);
    assert_int_equal(yoke_context_create(NULL, &m->context), YOKE_OK);
    const int *n = options->elements;
    cube_mesh_create(m->context, &(cube_options){{n[0], n[1], n[2]}, options->order, options->map, options->keep}, &m->mesh);
    create_problem(options, m);
    assert_int_equal(fem_forest_create(m->mesh, options->level, &m->forest), YOKE_OK);
    make_space(m);
}

void model_destroy(model *m)
{
    fem_boundary_destroy(m->boundary);
    fem_space_destroy(m->space);
    fem_forest_destroy(m->forest);
    free(m->problem.materials);
    free(m->problem.material_of);
    free(m->problem.conditions);
    fem_mesh_destroy(m->mesh);
    yoke_context_destroy(m->context);
}

void model_refine(model *m, const uint8_t *mark)
{
    int64_t leaves = fem_forest_leaves(m->forest);
    uint8_t *all = malloc((size_t)leaves);
    assert_non_null(all);
    memset(all, 1, (size_t)leaves);
    assert_int_equal(fem_forest_refine(m->forest, mark ? mark : all), YOKE_OK);
    free(all);
    make_space(m);
}

void model_refine_unevenly(model *m)
{
    int64_t leaves = fem_forest_leaves(m->forest);
    uint8_t *mark = malloc((size_t)leaves);
    assert_non_null(mark);
    for (int64_t e = 0; e < leaves; e++) mark[e] = e % 5 == 0;
    model_refine(m, mark);
    free(mark);
    assert_true(m->space->num_hanging > 0);
}

double *model_interpolant(const model *m, const manufactured *solution)
{
    const fem_space *space = m->space;
    double *u = malloc(sizeof(double) * (size_t)(space->num_nodes * space->components));
    assert_non_null(u);
    for (int64_t i = 0; i < space->num_nodes; i++) solution->value(solution, space->x + 3 * i, u + space->components * i);
    return u;
}

/* --------------------------------------------------------------------------------------------------- solver */

double *model_solve(const model *m)
{
    static const fem_solve_options options = {.solver = FEM_SOLVER_JACOBI, .relative_residual = 1e-11, .max_iterations = 5000};
    fem_constraints *constraints;
    fem_solution *solution;
    assert_int_equal(fem_constraints_create(m->space, m->boundary, &constraints), YOKE_OK);
    if (solve_alone(m->space, m->boundary, constraints, NULL, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(m->context));
    size_t bytes = sizeof(double) * (size_t)(m->space->num_nodes * m->space->components);
    double *u = malloc(bytes);
    assert_non_null(u);
    memcpy(u, solution->u, bytes);
    fem_solution_destroy(solution);
    fem_constraints_destroy(constraints);
    return u;
}

/* --------------------------------------------------------------------------------------------------- errors */

/* Gradients by x of all slots at reference point r of an element with positions x; returns the determinant. */
static double gradients(const fem_space *space, const double *x, const double r[3], double value[27], double gradient[27][3])
{
    double reference[81], jacobian[3][3], inverse[3][3];
    fem_shape(space->slots_1d, r, value, reference, NULL);
    double determinant = fem_map(space->slots, x, reference, jacobian, inverse);
    assert_true(determinant > 0);
    for (int s = 0; s < space->slots; s++)
        for (int i = 0; i < 3; i++) {
            gradient[s][i] = 0;
            for (int j = 0; j < 3; j++) gradient[s][i] += reference[3 * s + j] * inverse[j][i];
        }
    return determinant;
}

/* a(v, v) density of a gradient. */
static double energy_density(int components, const fem_material *material, const double g[9])
{
    double square = 0, mixed = 0, trace = g[0];
    for (int i = 0; i < 3 * components; i++) square += g[i] * g[i];
    if (components == 1) return material->mu * square;
    trace += g[4] + g[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) mixed += g[3 * i + j] * g[3 * j + i];
    return material->lambda * trace * trace + material->mu * (square + mixed);
}

model_errors model_error(const model *m, const manufactured *solution, const double *u)
{
    const fem_space *space = m->space;
    int components = space->components;
    double point[5], weight[5], energy = 0, l2 = 0;
    fem_gauss(5, point, weight);
    for (int32_t e = 0; e < space->num_elements; e++) {
        double x[81], v[81];
        fem_space_geometry(space, e, x);
        fem_space_expand(space, e, components, u, v);
        for (int q = 0; q < 125; q++) {
            double value[27], g[27][3], at[3] = {0}, error[3], slope[9], r[3] = {point[q % 5], point[q / 5 % 5], point[q / 25]};
            double w = weight[q % 5] * weight[q / 5 % 5] * weight[q / 25] * gradients(space, x, r, value, g);
            for (int s = 0; s < space->slots; s++)
                for (int i = 0; i < 3; i++) at[i] += value[s] * x[3 * s + i];
            solution->value(solution, at, error);
            solution->gradient(solution, at, slope);
            for (int s = 0; s < space->slots; s++)
                for (int c = 0; c < components; c++) {
                    error[c] -= value[s] * v[components * s + c];
                    for (int i = 0; i < 3; i++) slope[3 * c + i] -= g[s][i] * v[components * s + c];
                }
            energy += w * energy_density(components, fem_space_material(space, e), slope);
            for (int c = 0; c < components; c++) l2 += w * error[c] * error[c];
        }
    }
    return (model_errors){sqrt(energy), sqrt(l2)};
}
