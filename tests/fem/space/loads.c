/* Total forces on faces and centrifugal forces: what they add up to, and exact solutions under them. */
#include <math.h>

#include "unit.h"

#include "estimate/estimate.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/maps.h"
#include "fem/fixtures/model.h"
#include "near.h"
#include "output/quantities/stress.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static double *loads(const fem_space *space, const fem_boundary *boundary)
{
    double *load = block_zeros((int64_t)space->num_nodes * space->components, sizeof *load);
    if (fem_space_load(space, boundary, load)) fail_msg("%s", yoke_last_error(space->context));
    return load;
}

static void sum_loads(const fem_space *space, const double *load, double *sum)
{
    for (int c = 0; c < space->components; c++) sum[c] = 0;
    for (int64_t i = 0; i < space->num_nodes; i++)
        for (int c = 0; c < space->components; c++) sum[c] += load[space->components * i + c];
}

/* ------------------------------------------------------------------------------------------------ total forces */

/* On a curved face with hanging nodes, and again after each refinement. */
static void total_force_is_the_sum_of_the_loads_on_every_mesh(void **state)
{
    static const double force[3] = {3e3, -5e2, 7};
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        uint64_t random = 17;
        block_options options = {.elements = {2, 2, 2}, .map = body_bend, .order = 2, .turn = 5, .components = 3};
        block_create(&options, &b);
        block_add_condition(&b, (fem_condition){FEM_FORCE, i, 0, {3e3, -5e2, 7}});
        for (int step = 0; step < 4; step++) {
            if (step) block_refine(&b, 0.4, &random);
            block_discretise(&b, elements[i]);
            double sum[3], *load = loads(b.space, b.boundary);
            sum_loads(b.space, load, sum);
            for (int c = 0; c < 3; c++) assert_near(sum[c], force[c], 1e-12 * force[0]);
            free(load);
        }
        block_destroy(&b);
    }
}

/* It is the same as the traction force / area. */
static void total_force_is_spread_evenly(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        double *load[2];
        int64_t count = 0;
        for (int k = 0; k < 2; k++) {
            block b;
            uint64_t random = 17;
            block_options options = {.elements = {2, 2, 2}, .order = 1, .turn = 5, .components = 3};
            block_create(&options, &b);
            block_refine(&b, 0.4, &random);
            block_add_condition(&b, (fem_condition){k ? FEM_FORCE : FEM_TRACTION, 3, 0, {2, 3, -1}}); /* the face's area is 1 */
            block_discretise(&b, elements[i]);
            load[k] = loads(b.space, b.boundary);
            count = 3 * (int64_t)b.space->num_nodes;
            block_destroy(&b);
        }
        assert_true(block_difference(load[1], load[0], count) < 1e-13);
        free(load[0]);
        free(load[1]);
    }
}

static void total_heat_is_the_sum_of_the_loads(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        uint64_t random = 17;
        double sum[1];
        block_options options = {.elements = {2, 2, 2}, .map = body_bend, .order = 2, .turn = 5, .components = 1};
        block_create(&options, &b);
        block_refine(&b, 0.4, &random);
        block_add_condition(&b, (fem_condition){FEM_FORCE, 5, 0, {40, 0, 0}});
        block_discretise(&b, elements[i]);
        double *load = loads(b.space, b.boundary);
        sum_loads(b.space, load, sum);
        assert_near(sum[0], 40, 1e-11);
        free(load);
        block_destroy(&b);
    }
}

/* -------------------------------------------------------------------------------------------------- rotation */

/* Resultant: mass x square x distance of the centre of mass; work on the positions: square x moment of inertia about the axis. */
static void centrifugal_force_has_the_resultant_and_work_of_its_definition(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        uint64_t random = 17;
        double sum[3], work = 0;
        block_options options = {.elements = {2, 2, 2}, .order = 1, .turn = 5, .components = 3};
        block_create(&options, &b);
        block_refine(&b, 0.4, &random);
        block_two_materials(&b, 1);
        b.material[0].density = b.material[1].density = 5;
        b.problem.rotation = (fem_rotation){.axis = {0, 0.6, 0.8}, .through = {2, 0.5, 0.5}, .square = 9};
        block_discretise(&b, elements[i]);
        double *load = loads(b.space, b.boundary);
        sum_loads(b.space, load, sum);
        assert_near(sum[0], 45 * -1.5, 1e-11); /* the centre is at (1/2, 1/2, 1/2) */
        assert_near(sum[1], 0, 1e-11);
        assert_near(sum[2], 0, 1e-11);
        for (int64_t k = 0; k < 3 * (int64_t)b.space->num_nodes; k++) work += load[k] * (b.space->x[k] - b.problem.rotation.through[k % 3]);
        assert_near(work, 45 * (1.5 * 1.5 + 1.0 / 6), 1e-10); /* of a cube about any axis through its centre: 1/6 */
        free(load);
        block_destroy(&b);
    }
}

static void create_rotating(const manufactured *solution, double density, double speed, fem_element element, model *m)
{
    model_options options = {.solution = solution,
                             .element = element,
                             .elements = {4, 8, 1},
                             .order = 2,
                             .map = map_quarter,
                             .prescribed = {0, 0, 2, 1, 4, 4, 0}}; /* symmetry planes, rollers on both ends */
    model_create(&options, m);
    m->problem.fields.force = NULL; /* the rotation makes it */
    m->problem.rotation = (fem_rotation){.axis = {0, 0, 1}, .through = {0, 0, -7}, .square = speed * speed};
    for (int k = 0; k < m->problem.num_materials; k++) m->problem.materials[k].density = density;
}

static void rotating_cylinder_has_its_exact_displacement_and_hoop_stress(void **state)
{
    const double density = 7850, speed = 400;
    manufactured solution = manufactured_rotating_cylinder(210e9, 0.3, 1, 2, density, speed);
    (void)state;
    for (int i = 1; i < 3; i++) {
        model m;
        create_rotating(&solution, density, speed, elements[i], &m);
        double *u = model_solve(&m), difference = 0, largest = 0, worst = 0, exact[9];
        for (int64_t k = 0; k < m.space->num_nodes; k++) {
            solution.value(&solution, m.space->x + 3 * k, exact);
            for (int c = 0; c < 3; c++) {
                difference = fmax(difference, fabs(u[3 * k + c] - exact[c]));
                largest = fmax(largest, fabs(exact[c]));
            }
        }
        assert_near(difference / largest, 0, 1e-3);
        fem_stress *stress;
        assert_int_equal(fem_stress_create(m.space, u, &stress), YOKE_OK);
        manufactured_stress(&solution, (double[3]){1, 0, 0.1}, exact);
        for (int32_t k = 0; k < stress->points.num_nodes; k++) {
            const double *x = m.space->x + 3 * (int64_t)stress->node[k];
            if (hypot(x[0] - 1, x[1]) < 1e-9) worst = fmax(worst, fabs(stress->value[6 * k + 1] / exact[4] - 1));
        }
        assert_near(worst, 0, 0.02);
        fem_stress_destroy(stress);
        free(u);
        model_destroy(&m);
    }
}

/* With the body force left out of the residual the estimate would stay where it is while the error falls. */
static void estimate_of_a_rotating_cylinder_knows_the_force_at_each_point(void **state)
{
    const double density = 7850, speed = 400;
    manufactured solution = manufactured_rotating_cylinder(210e9, 0.3, 1, 2, density, speed);
    (void)state;
    for (int i = 0; i < 3; i++) {
        model m;
        create_rotating(&solution, density, speed, elements[i], &m);
        for (int level = 0; level < 2; level++) {
            if (level) model_refine(&m, NULL);
            double *u = model_solve(&m);
            double *indicator = block_zeros(m.space->num_elements, sizeof *indicator);
            fem_estimate_result result;
            assert_int_equal(fem_estimate(m.space, m.boundary, u, indicator, &result), YOKE_OK);
            double index = result.estimate / model_error(&m, &solution, u).energy;
            if (!(index > 0.5 && index < 5)) fail_msg("element %d, level %d: effectivity index %g", i, level, index);
            free(indicator);
            free(u);
        }
        model_destroy(&m);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(total_force_is_the_sum_of_the_loads_on_every_mesh),
    cmocka_unit_test(total_force_is_spread_evenly),
    cmocka_unit_test(total_heat_is_the_sum_of_the_loads),
    cmocka_unit_test(centrifugal_force_has_the_resultant_and_work_of_its_definition),
    cmocka_unit_test(rotating_cylinder_has_its_exact_displacement_and_hoop_stress),
    cmocka_unit_test(estimate_of_a_rotating_cylinder_knows_the_force_at_each_point),
};

UNIT_MAIN(tests, body_start, body_end)
