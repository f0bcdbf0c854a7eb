/* The devices of a run, and a solve on them that fails. */
#include <math.h>

#include "unit.h"

#include "adapt/distribution/distribution.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/maps.h"

/* As where memory ends within the iteration: another solver is tried. */
static void a_solve_after_one_that_failed_is_planned_anew(void **state)
{
    block b;
    block_options shape = {.elements = {2, 2, 2}, .map = map_shear, .order = 1, .components = 3};
    const fem_case input = {.context = NULL};
    fem_distribution *d;
    fem_solve_options solve = {.solver = FEM_SOLVER_DIRECT};
    (void)state;
    block_create(&shape, &b);
    block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    block_discretise(&b, FEM_Q1);
    const fem_distribution_options options = {.input = &input,
                                              .devices = "openmp",
                                              .operator_kind = FEM_MATRIXFREE,
                                              .objective = YOKE_OBJECTIVE_TIME,
                                              .max_slowdown = NAN,
                                              .power_cap_w = NAN,
                                              .deadline_s = NAN,
                                              .gpu_share = NAN};
    assert_int_equal(fem_distribution_create(b.context, &options, &d), YOKE_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fem_distribution_plan(d, b.space, b.constraints, &solve), YOKE_OK);
        if (solve.round->begin(solve.round->user)) fail_msg("%s", yoke_last_error(b.context));
        solve.solver = FEM_SOLVER_MULTIGRID;
    }
    fem_distribution_destroy(d);
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_solve_after_one_that_failed_is_planned_anew),
};

UNIT_MAIN(tests, body_start, body_end)
