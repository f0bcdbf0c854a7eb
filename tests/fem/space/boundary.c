/* Conditions on the leaves of a refined mesh: areas, resultants of loads, and which nodes are constrained. */
#include "space/boundary.h"

#include <math.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/maps.h"
#include "fem/fixtures/reference_operator.h"
#include "near.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static void create(block *b, cube_map *map, int order, int components)
{
    uint64_t random = 17;
    block_options options = {.elements = {2, 2, 2}, .map = map, .order = order, .turn = 5, .components = components};
    block_create(&options, b);
    for (int i = 0; i < 3; i++) block_refine(b, i ? 0.2 : 0.6, &random);
}

static double *loads(const block *b)
{
    double *load = block_zeros((int64_t)b->space->num_nodes * b->problem.components, sizeof *load);
    assert_int_equal(fem_space_load(b->space, b->boundary, load), YOKE_OK);
    return load;
}

/* Sum of the nodal loads, and of x cross load. */
static void resultant(const block *b, const double *load, double force[3], double moment[3])
{
    memset(force, 0, 3 * sizeof *force);
    memset(moment, 0, 3 * sizeof *moment);
    for (int64_t i = 0; i < b->space->num_nodes; i++) {
        const double *x = b->space->x + 3 * i, *f = load + 3 * i;
        for (int a = 0; a < 3; a++) {
            int a1 = (a + 1) % 3, a2 = (a + 2) % 3;
            force[a] += f[a];
            moment[a] += x[a1] * f[a2] - x[a2] * f[a1];
        }
    }
}

/* --------------------------------------------------------------------------------------------------- surfaces */

/* Edges of the sheared cube are u = (2, 0, 0.1), v = (0.3, 1, 0), w = (0, -0.2, 0.7): faces are parallelograms. */
static void tractions_add_up_to_traction_times_area(void **state)
{
    static const double edge[3][3] = {{2, 0, 0.1}, {0.3, 1, 0}, {0, -0.2, 0.7}};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int face = 0; face < 6; face++) {
            block b;
            double force[3], moment[3], area = 0;
            const double *p = edge[face / 2 == 0 ? 1 : 0], *q = edge[face / 2 == 2 ? 1 : 2];
            for (int a = 0; a < 3; a++) {
                double c = p[(a + 1) % 3] * q[(a + 2) % 3] - p[(a + 2) % 3] * q[(a + 1) % 3];
                area += c * c;
            }
            create(&b, map_shear, 1 + i % 2, 3);
            block_add_condition(&b, (fem_condition){FEM_TRACTION, face, 0, {3, -5, 7}});
            block_discretise(&b, elements[i]);
            double *load = loads(&b);
            resultant(&b, load, force, moment);
            assert_near(force[0], 3 * sqrt(area), 1e-12);
            assert_near(force[1], -5 * sqrt(area), 1e-12);
            assert_near(force[2], 7 * sqrt(area), 1e-12);
            free(load);
            block_destroy(&b);
        }
}

static void pressure_on_one_face_pushes_inwards(void **state)
{
    (void)state;
    for (int face = 0; face < 6; face++) {
        block b;
        double force[3], moment[3];
        create(&b, NULL, 1, 3);
        block_add_condition(&b, (fem_condition){FEM_PRESSURE, face, 0, {4, 0, 0}});
        block_discretise(&b, FEM_Q2);
        double *load = loads(&b);
        resultant(&b, load, force, moment);
        for (int a = 0; a < 3; a++) assert_near(force[a], a == face / 2 ? (face % 2 ? -4 : 4) : 0, 1e-13);
        free(load);
        block_destroy(&b);
    }
}

static void pressure_on_a_closed_surface_leaves_no_force_and_no_moment(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int order = 1; order <= 2; order++) {
            block b;
            double force[3], moment[3];
            create(&b, body_bend, order, 3);
            for (int face = 0; face < 6; face++) block_add_condition(&b, (fem_condition){FEM_PRESSURE, face, 0, {2, 0, 0}});
            block_discretise(&b, elements[i]);
            double *load = loads(&b);
            resultant(&b, load, force, moment);
            for (int a = 0; a < 3; a++) {
                assert_near(force[a], 0, 1e-12);
                assert_near(moment[a], 0, 1e-12);
            }
            free(load);
            block_destroy(&b);
        }
}

/* Gauss: the integral of x . n over the surface is 3 V. */
static void pressure_works_on_the_position_by_three_volumes(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        double work = 0;
        create(&b, body_bend, 2, 3);
        for (int face = 0; face < 6; face++) block_add_condition(&b, (fem_condition){FEM_PRESSURE, face, 0, {1, 0, 0}});
        block_discretise(&b, elements[i]);
        double *load = loads(&b);
        for (int64_t k = 0; k < 3 * (int64_t)b.space->num_nodes; k++) work += load[k] * b.space->x[k];
        assert_near(work, -3 * reference_volume(b.space), 1e-11);
        free(load);
        block_destroy(&b);
    }
}

static void flux_adds_up_to_flux_times_area(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        double sum = 0;
        create(&b, NULL, 1, 1);
        block_add_condition(&b, (fem_condition){FEM_TRACTION, 3, 0, {2.5, 0, 0}});
        block_discretise(&b, elements[i]);
        double *load = loads(&b);
        for (int64_t k = 0; k < b.space->num_nodes; k++) sum += load[k];
        assert_near(sum, 2.5, 1e-13);
        free(load);
        block_destroy(&b);
    }
}

/* sigma n of a linear stress field sigma_ij = c_ij + x_k d_ijk, with f = -div sigma, is in equilibrium: no resultant force. */
static void linear_traction(const double x[3], const double normal[3], double *t, void *user)
{
    (void)user;
    for (int i = 0; i < 3; i++) {
        t[i] = 0;
        for (int j = 0; j < 3; j++) t[i] += ((i == j ? 2 : 0.5) + (i + j + 1) * x[j] - x[(j + 1) % 3]) * normal[j];
    }
}

static void linear_force(const double x[3], double *f, void *user)
{
    (void)x, (void)user;
    for (int i = 0; i < 3; i++) f[i] = -((i + 1) + (i + 2) + (i + 3));
}

static void given_functions_of_force_and_traction_are_in_equilibrium(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        double force[3], moment[3];
        create(&b, body_bend, 1, 3);
        for (int face = 0; face < 6; face++) block_add_condition(&b, (fem_condition){FEM_TRACTION, face, 0, {1e9, 1e9, 1e9}});
        b.problem.fields = (fem_fields){.force = linear_force, .traction = linear_traction};
        block_discretise(&b, elements[i]);
        double *load = loads(&b);
        resultant(&b, load, force, moment);
        for (int a = 0; a < 3; a++) assert_near(force[a], 0, 1e-11);
        free(load);
        block_destroy(&b);
    }
}

static void body_force_adds_up_to_force_times_volume_of_each_material(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int components = 1; components <= 3; components += 2) {
            block b;
            double sum[3] = {0};
            create(&b, map_shear, 1, components); /* sheared volume: det = 2 x 0.7 - 0.3 x (0 + 0.02) */
            const double volume = 2 * (1 * 0.7 - 0) - 0.3 * (0 * 0.7 + 0.2 * 0.1);
            block_two_materials(&b, 10);
            memcpy(b.material[0].force, (double[3]){1, -2, 3}, sizeof b.material[0].force);
            memcpy(b.material[1].force, (double[3]){10, 20, -5}, sizeof b.material[1].force);
            block_discretise(&b, elements[i]);
            double *load = loads(&b);
            for (int64_t k = 0; k < b.space->num_nodes; k++)
                for (int c = 0; c < components; c++) sum[c] += load[k * components + c];
            for (int c = 0; c < components; c++)
                assert_near(sum[c], 0.5 * volume * (b.material[0].force[c] + b.material[1].force[c]), 1e-12);
            free(load);
            block_destroy(&b);
        }
}

/* ------------------------------------------------------------------------------------------------ constraints */

/* Whether a point of the unit cube lies on the group. */
static int on_group(int group, const double x[3])
{
    if (group < 6) return x[group / 2] == group % 2;
    if (group == BLOCK_UPRIGHT) return x[0] == 0 && x[1] == 0;
    if (group == BLOCK_AXIS) return x[0] == 0.5 && x[1] == 0.5;
    return x[0] == (group == BLOCK_ON_X) && x[1] == (group == BLOCK_ON_Y) && x[2] == 0;
}

static void nodes_of_faces_edges_and_points_are_constrained_and_no_others(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int group = 0; group < BLOCK_GROUPS; group++) {
            block b;
            int64_t constrained = 0;
            create(&b, NULL, 1, 3);
            block_add_condition(&b, (fem_condition){FEM_DIRICHLET, group, 5, {0.25, 9, -3}});
            block_discretise(&b, elements[i]);
            for (int64_t k = 0; k < b.space->num_nodes; k++) {
                int on = on_group(group, b.space->x + 3 * k);
                constrained += on;
                assert_int_equal(b.constraints->prescribed[k], on ? 5 : 0);
                for (int c = 0; c < 3; c++) {
                    assert_near(b.constraints->value[3 * k + c], !on || c == 1 ? 0 : c == 0 ? 0.25 : -3, 0);
                    assert_int_equal(b.constraints->owner[3 * k + c], on && c != 1 ? 0 : -1);
                }
            }
            assert_true(group < 6 ? constrained > 9 : group <= BLOCK_AXIS ? constrained > 3 : constrained == 1);
            block_destroy(&b);
        }
}

static void first_condition_owns_a_component_that_several_prescribe(void **state)
{
    (void)state;
    block b;
    create(&b, NULL, 1, 3);
    block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 1, {1, 0, 0}});             /* x = 0: u_x */
    block_add_condition(&b, (fem_condition){FEM_TRACTION, 1, 0, {1, 0, 0}});              /* holds nothing */
    block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 2, 7, {2, 3, 4}});             /* y = 0: all */
    block_add_condition(&b, (fem_condition){FEM_DIRICHLET, BLOCK_UPRIGHT, 4, {0, 0, 5}}); /* its edge: u_z */
    block_discretise(&b, FEM_Q2);
    for (int64_t k = 0; k < b.space->num_nodes; k++) {
        const double *x = b.space->x + 3 * k, *value = b.constraints->value + 3 * k;
        const int16_t *owner = b.constraints->owner + 3 * k;
        int left = x[0] == 0, front = x[1] == 0;
        assert_int_equal(b.constraints->prescribed[k], front ? 7 : left ? 1 : 0);
        assert_int_equal(owner[0], left ? 0 : front ? 2 : -1);
        assert_int_equal(owner[1], front ? 2 : -1);
        assert_int_equal(owner[2], front ? 2 : -1);
        assert_near(value[0], left ? 1 : front ? 2 : 0, 0);
        assert_near(value[1], front ? 3 : 0, 0);
        assert_near(value[2], front ? 4 : 0, 0);
    }
    block_destroy(&b);
}

static void dirichlet_function(const double x[3], double *g, void *user)
{
    (void)user;
    for (int a = 0; a < 3; a++) g[a] = 10 * a + x[a];
}

static void given_function_prescribes_its_values_at_the_nodes(void **state)
{
    (void)state;
    block b;
    create(&b, body_bend, 2, 3);
    block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 1, 6, {7, 7, 7}});
    b.problem.fields.dirichlet = dirichlet_function;
    block_discretise(&b, FEM_Q2);
    int64_t constrained = 0;
    for (int64_t k = 0; k < b.space->num_nodes; k++) {
        if (!b.constraints->prescribed[k]) continue;
        constrained++;
        assert_near(b.constraints->value[3 * k], 0, 0);
        for (int a = 1; a < 3; a++) assert_near(b.constraints->value[3 * k + a], 10 * a + b.space->x[3 * k + a], 0);
    }
    assert_true(constrained > 25);
    block_destroy(&b);
}

/* Middle nodes at a fifth of the height instead of a half: dz/dr is -1/5 at the bottom, but positive at the three Gauss points. */
static void element_that_folds_at_its_loaded_face_is_refused(void **state)
{
    (void)state;
    block b;
    block_options options = {.elements = {1, 1, 1}, .order = 1, .components = 3};
    block_create(&options, &b);
    block_add_condition(&b, (fem_condition){FEM_PRESSURE, 4, 0, {1, 0, 0}});
    block_discretise(&b, FEM_Q2);
    for (int64_t k = 0; k < b.space->num_nodes; k++)
        if (b.space->x[3 * k + 2] == 0.5) b.space->x[3 * k + 2] = 0.2;
    double *load = block_zeros(3 * (int64_t)b.space->num_nodes, sizeof *load);
    assert_int_equal(fem_space_load(b.space, b.boundary, load), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(b.context), "element 101 folds at its loaded face"));
    free(load);
    block_destroy(&b);
}

/* ----------------------------------------------------------------------------------------------------- memory */

static void lack_of_memory_at_any_place_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    block_options shape = {.elements = {2, 1, 1}, .order = 1, .turn = 5, .components = 3, .memory = &options};
    block b;
    block_create(&shape, &b);
    block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    block_add_condition(&b, (fem_condition){FEM_PRESSURE, 1, 0, {1, 0, 0}});
    b.material[0].force[2] = -1;
    yoke_status status = YOKE_ERROR_MEMORY;
    int64_t outstanding = memory.outstanding;
    for (int n = 1; status; n++) {
        fem_space *space = NULL, *corners = NULL;
        fem_boundary *boundary = NULL;
        fem_constraints *constraints = NULL;
        double *load = NULL;
        memory.fail_at = memory.calls + n;
        status = fem_space_create(&b.problem, b.forest, FEM_Q2, &space);
        if (!status) status = fem_space_create_corners(space, &corners);
        if (!status) status = fem_boundary_create(space, &boundary);
        if (!status) status = fem_constraints_create(space, boundary, &constraints);
        if (!status) status = yoke_allocate(b.context, 3 * (int64_t)space->num_nodes, sizeof *load, &load);
        if (!status) status = fem_space_load(space, boundary, load);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_true(n < 100 && (n > 15 || status));
        yoke_release(b.context, load);
        fem_constraints_destroy(constraints);
        fem_boundary_destroy(boundary);
        fem_space_destroy(corners);
        fem_space_destroy(space);
        assert_int_equal(memory.outstanding, outstanding);
    }
    memory.fail_at = 0;
    block_destroy(&b);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tractions_add_up_to_traction_times_area),
    cmocka_unit_test(pressure_on_one_face_pushes_inwards),
    cmocka_unit_test(pressure_on_a_closed_surface_leaves_no_force_and_no_moment),
    cmocka_unit_test(pressure_works_on_the_position_by_three_volumes),
    cmocka_unit_test(flux_adds_up_to_flux_times_area),
    cmocka_unit_test(given_functions_of_force_and_traction_are_in_equilibrium),
    cmocka_unit_test(body_force_adds_up_to_force_times_volume_of_each_material),
    cmocka_unit_test(nodes_of_faces_edges_and_points_are_constrained_and_no_others),
    cmocka_unit_test(first_condition_owns_a_component_that_several_prescribe),
    cmocka_unit_test(given_function_prescribes_its_values_at_the_nodes),
    cmocka_unit_test(element_that_folds_at_its_loaded_face_is_refused),
    cmocka_unit_test(lack_of_memory_at_any_place_is_reported_and_leaves_nothing),
};

UNIT_MAIN(tests, body_start, body_end)
