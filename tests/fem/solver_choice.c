/* Which preconditioner "auto" takes. */
#include "solver_choice.h"

#include <math.h>

#include "unit.h"

/* All that the choice looks at. */
typedef struct mesh_size {
    fem_mesh mesh;
    fem_problem problem;
    fem_space space;
} mesh_size;

static void set_size(mesh_size *m, fem_element element, int components, int64_t vertices, int32_t nodes)
{
    memset(m, 0, sizeof *m);
    m->mesh.num_vertices = vertices;
    m->problem = (fem_problem){.mesh = &m->mesh, .components = components, .element = element};
    m->space = (fem_space){.problem = &m->problem, .element = element, .components = components, .num_nodes = nodes};
}

static fem_solver_choice open_choice(void)
{
    return (fem_solver_choice){.asked = FEM_PRECONDITIONER_AUTO, .relative_residual = 1e-8, .max_iterations = 10000, .steps = 5};
}

static fem_solver chosen(fem_solver_choice *choice, const mesh_size *m)
{
    fem_solver_choose(choice, &m->space);
    return choice->solver;
}

static void what_is_asked_for_is_taken(void **state)
{
    (void)state;
    static const fem_preconditioner asked[] = {FEM_PRECONDITIONER_JACOBI, FEM_PRECONDITIONER_MULTIGRID};
    static const fem_solver taken[] = {FEM_SOLVER_JACOBI, FEM_SOLVER_MULTIGRID};
    for (int i = 0; i < 2; i++) {
        for (int32_t nodes = 30; nodes < 100000000; nodes *= 100) {
            mesh_size m;
            fem_solver_choice choice = open_choice();
            set_size(&m, FEM_Q2, 3, 8, nodes);
            choice.asked = asked[i];
            assert_int_equal(chosen(&choice, &m), taken[i]);
            assert_int_equal(choice.solver_iterations, 10000);
            assert_true(isnan(choice.model_s[0]) && isnan(choice.model_s[1]));
        }
    }
}

static void plans_get_multigrid_in_every_step(void **state)
{
    (void)state;
    mesh_size m;
    fem_solver_choice choice = open_choice();
    set_size(&m, FEM_Q2, 3, 8, 300);
    assert_int_equal(chosen(&choice, &m), FEM_SOLVER_JACOBI);
    choice.steady = 1;
    assert_int_equal(chosen(&choice, &m), FEM_SOLVER_MULTIGRID);
}

/* With each element and problem: Jacobi's cost grows faster, so there is one size from which on multigrid is taken. */
static void small_meshes_are_jacobis_and_large_ones_multigrids(void **state)
{
    (void)state;
    for (int element = FEM_Q1; element <= FEM_Q2; element++) {
        for (int components = 1; components <= 3; components += 2) {
            int changes = 0;
            fem_solver last = FEM_SOLVER_JACOBI;
            for (double nodes = 50; nodes < 2e7; nodes *= 1.3) {
                mesh_size m;
                fem_solver_choice choice = open_choice();
                set_size(&m, (fem_element)element, components, 20, (int32_t)nodes);
                fem_solver solver = chosen(&choice, &m);
                assert_true(choice.model_s[solver] <= choice.model_s[!solver]);
                changes += solver != last;
                last = solver;
            }
            assert_int_equal(last, FEM_SOLVER_MULTIGRID);
            assert_int_equal(changes, 1);
        }
    }
}

/* A large coarse mesh has to be factored, which Jacobi need not. */
static void a_large_coarse_mesh_speaks_for_jacobi(void **state)
{
    (void)state;
    mesh_size few, many;
    fem_solver_choice choice = open_choice();
    set_size(&few, FEM_Q2, 3, 100, 10000);
    set_size(&many, FEM_Q2, 3, 4900, 10000);
    assert_int_equal(chosen(&choice, &few), FEM_SOLVER_MULTIGRID);
    double with_few_s = choice.model_s[FEM_SOLVER_MULTIGRID], jacobi_s = choice.model_s[FEM_SOLVER_JACOBI];
    fem_solver_choose(&choice, &many.space);
    assert_true(choice.model_s[FEM_SOLVER_MULTIGRID] > with_few_s);
    assert_true(choice.model_s[FEM_SOLVER_JACOBI] == jacobi_s);
}

static void a_finer_residual_speaks_for_multigrid(void **state)
{
    (void)state;
    mesh_size m;
    double ratio[2];
    set_size(&m, FEM_S2, 3, 100, 3000);
    for (int i = 0; i < 2; i++) {
        fem_solver_choice choice = open_choice();
        choice.relative_residual = i ? 1e-12 : 1e-4;
        fem_solver_choose(&choice, &m.space);
        ratio[i] = choice.model_s[FEM_SOLVER_JACOBI] / choice.model_s[FEM_SOLVER_MULTIGRID];
    }
    assert_true(ratio[1] > ratio[0]);
}

static void iterations_are_learned(void **state)
{
    (void)state;
    mesh_size m, eight_times;
    fem_solver_choice choice = open_choice();
    set_size(&m, FEM_Q2, 3, 8, 300);
    set_size(&eight_times, FEM_Q2, 3, 8, 2400);
    fem_solver_choose(&choice, &m.space);
    fem_solver_learn(&choice, &m.space, &(fem_solution){.solver = FEM_SOLVER_JACOBI, .iterations = 40});
    fem_solver_choose(&choice, &m.space);
    double once_s = choice.model_s[FEM_SOLVER_JACOBI] / 40;
    fem_solver_learn(&choice, &m.space, &(fem_solution){.solver = FEM_SOLVER_JACOBI, .iterations = 20});
    fem_solver_choose(&choice, &m.space);
    assert_true(fabs(choice.model_s[FEM_SOLVER_JACOBI] / (20 * once_s) - 1) < 1e-12);
    assert_int_equal(chosen(&choice, &eight_times), FEM_SOLVER_JACOBI);
    assert_int_equal(choice.solver_iterations, 2 * 2 * 20); /* twice as many in each direction, and as many again in doubt */

    double nine_s = choice.model_s[FEM_SOLVER_MULTIGRID];
    fem_solver_learn(&choice, &m.space, &(fem_solution){.solver = FEM_SOLVER_MULTIGRID, .iterations = 30});
    fem_solver_choose(&choice, &eight_times.space);
    assert_true(choice.model_s[FEM_SOLVER_MULTIGRID] > 1.1 * nine_s);
}

static void jacobi_is_not_taken_where_it_could_not_end(void **state)
{
    (void)state;
    mesh_size m;
    fem_solver_choice choice = open_choice();
    set_size(&m, FEM_Q2, 3, 8, 300);
    choice.max_iterations = 50; /* 12 x the cube root of 900 is 116 */
    assert_int_equal(chosen(&choice, &m), FEM_SOLVER_MULTIGRID);
    assert_int_equal(choice.solver_iterations, 50);
    choice.max_iterations = 120;
    assert_int_equal(chosen(&choice, &m), FEM_SOLVER_JACOBI);
    assert_int_equal(choice.solver_iterations, 120);
}

static void where_jacobi_failed_multigrid_takes_over_for_good(void **state)
{
    (void)state;
    mesh_size m;
    fem_solver_choice choice = open_choice();
    set_size(&m, FEM_Q2, 3, 8, 300);
    assert_int_equal(chosen(&choice, &m), FEM_SOLVER_JACOBI);
    assert_true(choice.solver_iterations < choice.max_iterations);
    fem_solver_choose_other(&choice, &m.space);
    assert_int_equal(choice.solver, FEM_SOLVER_MULTIGRID);
    assert_int_equal(choice.solver_iterations, choice.max_iterations);
    fem_solver_learn(&choice, &m.space, &(fem_solution){.solver = FEM_SOLVER_MULTIGRID, .iterations = 9});
    for (int32_t nodes = 300; nodes < 3000000; nodes *= 2) {
        set_size(&m, FEM_Q2, 3, 8, nodes);
        assert_int_equal(chosen(&choice, &m), FEM_SOLVER_MULTIGRID);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_asked_for_is_taken),
    cmocka_unit_test(plans_get_multigrid_in_every_step),
    cmocka_unit_test(small_meshes_are_jacobis_and_large_ones_multigrids),
    cmocka_unit_test(a_large_coarse_mesh_speaks_for_jacobi),
    cmocka_unit_test(a_finer_residual_speaks_for_multigrid),
    cmocka_unit_test(iterations_are_learned),
    cmocka_unit_test(jacobi_is_not_taken_where_it_could_not_end),
    cmocka_unit_test(where_jacobi_failed_multigrid_takes_over_for_good),
};

UNIT_MAIN(tests, NULL, NULL)
