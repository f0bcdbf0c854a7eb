#include "output/quantities/reaction.h"

#include <math.h>

#include "fem/fixtures/body.h"
#include "mesh/shape.h"
#include "unit.h"

/* Adds the internal forces of the exact stress sigma(x), by 4 x 4 x 4 Gauss points: A u where u is the exact solution in the space. */
static void add_internal_forces(const body *b, const manufactured *solution, double *nodal)
{
    double point[4], weight[4];
    fem_gauss(4, point, weight);
    const fem_space *space = b->space;
    int n = space->components;
    for (int32_t e = 0; e < space->num_elements; e++) {
        double x[81], local[81] = {0}, gradient[81], value[27];
        fem_space_geometry(space, e, x);
        for (int g = 0; g < 64; g++) {
            double r[3] = {point[g & 3], point[g >> 2 & 3], point[g >> 4]}, jacobian[3][3], inverse[3][3], at[3] = {0}, s[9];
            fem_shape(space->slots_1d, r, value, gradient, NULL);
            double volume = fem_map(space->slots, x, gradient, jacobian, inverse) * weight[g & 3] * weight[g >> 2 & 3] * weight[g >> 4];
            for (int slot = 0; slot < space->slots; slot++)
                for (int a = 0; a < 3; a++) at[a] += value[slot] * x[3 * slot + a];
            manufactured_stress(solution, at, s);
            for (int slot = 0; slot < space->slots; slot++)
                for (int i = 0; i < 3; i++) {
                    double derivative = 0;
                    for (int j = 0; j < 3; j++) derivative += gradient[3 * slot + j] * inverse[j][i];
                    for (int c = 0; c < n; c++) local[n * slot + c] += volume * s[3 * c + i] * derivative;
                }
        }
        fem_space_fold(space, e, n, local, nodal);
    }
}

typedef struct balance {
    int count;
    fem_reaction *reactions;
    double load_force[3], load_moment[3];
    double sum_force[3], sum_moment[3]; /* of reactions and loads */
} balance;

/* Reactions where u is `solution`, which the space holds, under the loads of the body's conditions. */
static void find_balance(const body *b, const manufactured *solution, balance *result)
{
    fem_boundary *boundary;
    fem_constraints *constraints;
    size_t dofs = (size_t)b->space->num_nodes * (size_t)b->space->components;
    double *residual = calloc(dofs, sizeof *residual), *load = calloc(dofs, sizeof *load);
    assert_true(residual && load);
    assert_int_equal(fem_boundary_create(b->space, &boundary), YOKE_OK);
    assert_int_equal(fem_constraints_create(b->space, boundary, &constraints), YOKE_OK);
    assert_int_equal(fem_space_load(b->space, boundary, load), YOKE_OK);
    add_internal_forces(b, solution, residual);
    for (size_t i = 0; i < dofs; i++) residual[i] -= load[i];
    assert_int_equal(fem_reactions_create(b->space, constraints, residual, &result->count, &result->reactions), YOKE_OK);
    fem_resultant(b->space, load, result->load_force, result->load_moment);
    for (int a = 0; a < 3; a++) {
        result->sum_force[a] = result->load_force[a];
        result->sum_moment[a] = result->load_moment[a];
        for (int i = 0; i < result->count; i++) {
            result->sum_force[a] += result->reactions[i].force_n[a];
            result->sum_moment[a] += result->reactions[i].moment_nm[a];
        }
    }
    fem_constraints_destroy(constraints);
    fem_boundary_destroy(boundary);
    free(residual);
    free(load);
}

/* A homogeneous stress: the tractions on five faces are loads, the sixth is constrained. */
static void a_clamped_face_holds_the_traction_of_a_homogeneous_stress(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(210e9, 0.3);
    double s[9], origin[3] = {0, 0, 0};
    manufactured_stress(&solution, origin, s);
    for (int element = FEM_Q1; element <= FEM_Q2; element++) {
        body_options options = {.elements = {2, 2, 2},
                                .map = body_distort,
                                .order = 2,
                                .element = (fem_element)element,
                                .uneven = 3,
                                .num_conditions = 6,
                                .solution = &solution};
        options.conditions[0] = (fem_condition){.kind = FEM_DIRICHLET, .group = 0, .mask = 7};
        for (int face = 1; face < 6; face++) {
            options.conditions[face] = (fem_condition){.kind = FEM_TRACTION, .group = face};
            for (int c = 0; c < 3; c++) options.conditions[face].value[c] = (face % 2 ? 1 : -1) * s[3 * c + face / 2];
        }
        body b;
        balance found;
        body_create(&options, &b);
        find_balance(&b, &solution, &found);
        assert_int_equal(found.count, 1);
        assert_string_equal(b.mesh->groups[found.reactions[0].group].name, "-x");
        double scale = fabs(s[0]) + fabs(s[4]) + fabs(s[8]);
        /* Traction -sigma e_x on the unit face about (0, 1/2, 1/2): its moment is x cross t. */
        const double t[3] = {-s[0], -s[3], -s[6]};
        const double moment[3] = {0.5 * t[2] - 0.5 * t[1], 0.5 * t[0], -0.5 * t[0]};
        for (int a = 0; a < 3; a++) {
            assert_true(fabs(found.reactions[0].force_n[a] - t[a]) <= 1e-11 * scale);
            assert_true(fabs(found.reactions[0].moment_nm[a] - moment[a]) <= 1e-11 * scale);
            assert_true(fabs(found.load_force[a] + t[a]) <= 1e-11 * scale);
            assert_true(fabs(found.sum_force[a]) <= 1e-11 * scale && fabs(found.sum_moment[a]) <= 1e-11 * scale);
        }
        yoke_release(b.context, found.reactions);
        body_destroy(&b);
    }
}

static void stretch(const manufactured *solution, const double x[3], double *g)
{
    (void)solution;
    (void)x;
    const double strain[9] = {1e-3, 0, 0, 0, -4e-4, 0, 0, 0, 2e-4};
    memcpy(g, strain, sizeof strain);
}

/* Symmetry planes share edges, and one is named twice: each holds the normal force of the stress on its face and nothing else. */
static void symmetry_planes_hold_the_normal_force_of_tension(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(210e9, 0.3);
    solution.gradient = stretch;
    body_options options = {
        .elements = {3, 2, 2}, .map = body_distort, .order = 2, .element = FEM_Q2, .uneven = 2, .num_conditions = 7, .solution = &solution};
    double s[9], origin[3] = {0, 0, 0};
    manufactured_stress(&solution, origin, s);
    const int constrained[4] = {0, 2, 4, 0};
    for (int i = 0; i < 4; i++)
        options.conditions[i] = (fem_condition){.kind = FEM_DIRICHLET, .group = constrained[i], .mask = i == 3 ? 6u : 1u << i};
    for (int i = 0; i < 3; i++) {
        options.conditions[4 + i] = (fem_condition){.kind = FEM_TRACTION, .group = 2 * i + 1};
        options.conditions[4 + i].value[i] = s[4 * i];
    }
    body b;
    balance found;
    body_create(&options, &b);
    find_balance(&b, &solution, &found);
    assert_int_equal(found.count, 3);
    const char *const names[3] = {"-x", "-y", "-z"};
    double scale = fabs(s[0]) + fabs(s[4]) + fabs(s[8]);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(b.mesh->groups[found.reactions[i].group].name, names[i]);
        for (int c = 0; c < 3; c++) assert_true(fabs(found.reactions[i].force_n[c] + (c == i ? s[4 * i] : 0)) <= 1e-11 * scale);
    }
    for (int a = 0; a < 3; a++) assert_true(fabs(found.sum_force[a]) <= 1e-11 * scale && fabs(found.sum_moment[a]) <= 1e-11 * scale);
    yoke_release(b.context, found.reactions);
    body_destroy(&b);
}

/* A quadratic displacement has a body force, and tractions that vary over the faces. */
static void reactions_and_loads_sum_to_zero_under_body_force(void **state)
{
    (void)state;
    manufactured solution = manufactured_quadratic(210e9, 0.3);
    for (int element = FEM_S2; element <= FEM_Q2; element++) {
        body_options options = {
            .elements = {2, 3, 2}, .order = 1, .element = (fem_element)element, .uneven = 3, .num_conditions = 6, .solution = &solution};
        for (int face = 0; face < 6; face++)
            options.conditions[face] = (fem_condition){.kind = face < 2 ? FEM_DIRICHLET : FEM_TRACTION, .group = face, .mask = 7};
        body b;
        balance found;
        body_create(&options, &b);
        b.problem.fields = manufactured_fields(&solution);
        find_balance(&b, &solution, &found);
        assert_int_equal(found.count, 2);
        double scale = 0;
        for (int a = 0; a < 3; a++) scale += fabs(found.reactions[0].force_n[a]) + fabs(found.load_force[a]);
        assert_true(scale > 0);
        for (int a = 0; a < 3; a++) assert_true(fabs(found.sum_force[a]) <= 1e-11 * scale && fabs(found.sum_moment[a]) <= 1e-11 * scale);
        yoke_release(b.context, found.reactions);
        body_destroy(&b);
    }
}

static void flow_through_a_constrained_face_is_conductivity_times_gradient(void **state)
{
    (void)state;
    manufactured solution = manufactured_poisson_linear(3.5);
    body_options options = {
        .elements = {2, 2, 2}, .map = body_distort, .order = 2, .element = FEM_Q2, .uneven = 2, .num_conditions = 6, .solution = &solution};
    double s[9], origin[3] = {0, 0, 0};
    manufactured_stress(&solution, origin, s);
    for (int face = 0; face < 6; face++)
        options.conditions[face] = (fem_condition){
            .kind = face == 5 ? FEM_DIRICHLET : FEM_TRACTION, .group = face, .mask = 1, .value = {(face % 2 ? 1 : -1) * s[face / 2]}};
    body b;
    balance found;
    body_create(&options, &b);
    find_balance(&b, &solution, &found);
    assert_int_equal(found.count, 1);
    assert_true(fabs(found.reactions[0].force_n[0] - s[2]) <= 1e-11 * fabs(s[2]));
    assert_true(fabs(found.sum_force[0]) <= 1e-11 * fabs(s[2]));
    for (int a = 0; a < 3; a++) assert_true(found.reactions[0].moment_nm[a] == 0);
    yoke_release(b.context, found.reactions);
    body_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_clamped_face_holds_the_traction_of_a_homogeneous_stress),
    cmocka_unit_test(symmetry_planes_hold_the_normal_force_of_tension),
    cmocka_unit_test(reactions_and_loads_sum_to_zero_under_body_force),
    cmocka_unit_test(flow_through_a_constrained_face_is_conductivity_times_gradient),
};

UNIT_MAIN(tests, body_start, body_end)
