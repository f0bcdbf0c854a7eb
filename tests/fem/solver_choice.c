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

/* A compact body of eight coarse elements. */
static void set_size(mesh_size *m, fem_element element, int components, int64_t vertices, int32_t nodes)
{
    static const int slots_1d[] = {[FEM_Q1] = 2, [FEM_S2] = 3, [FEM_Q2] = 3},
                     nodes_per_element[] = {[FEM_Q1] = 1, [FEM_S2] = 4, [FEM_Q2] = 8};
    memset(m, 0, sizeof *m);
    m->mesh.num_elements = 8;
    m->mesh.num_vertices = vertices;
    m->problem = (fem_problem){.mesh = &m->mesh, .components = components, .element = element};
    m->space = (fem_space){.problem = &m->problem,
                           .element = element,
                           .components = components,
                           .slots_1d = slots_1d[element],
                           .num_elements = nodes / nodes_per_element[element],
                           .num_nodes = nodes};
}

static fem_solver_choice open_choice(void)
{
    return (fem_solver_choice){.asked = FEM_PRECONDITIONER_AUTO, .relative_residual = 1e-8, .max_iterations = 10000, .across = 3.5};
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
        for (int32_t nodes = 30; nodes < 10000000; nodes *= 100) {
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
    set_size(&few, FEM_Q2, 3, 100, 40000);
    set_size(&many, FEM_Q2, 3, 4900, 40000);
    assert_int_equal(chosen(&choice, &few), FEM_SOLVER_MULTIGRID);
    double with_few_s = choice.model_s[FEM_SOLVER_MULTIGRID], jacobi_s = choice.model_s[FEM_SOLVER_JACOBI];
    fem_solver_choose(&choice, &many.space);
    double with_many_s = choice.model_s[FEM_SOLVER_MULTIGRID];
    assert_true(with_many_s > with_few_s);
    assert_true(choice.model_s[FEM_SOLVER_JACOBI] == jacobi_s);

    choice.steps = 3; /* its factor is kept: it serves four steps then */
    fem_solver_choose(&choice, &many.space);
    double shared_s = choice.model_s[FEM_SOLVER_MULTIGRID];
    fem_solver_learn(&choice, &many.space, &(fem_solution){.solver = FEM_SOLVER_MULTIGRID, .iterations = 9});
    assert_int_equal(choice.steps, 2);
    fem_solver_choose(&choice, &many.space);
    double kept_s = choice.model_s[FEM_SOLVER_MULTIGRID];
    assert_true(fabs((with_many_s - shared_s) - 3 * (shared_s - kept_s)) < 1e-12);
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

/* A bar of 5 x 2 x 1 elements whose edges along it are longer, turned. */
static void elements_across_a_body_are_counted(void **state)
{
    (void)state;
    double vertices[6 * 3 * 2][3];
    int32_t corners[10][8];
    for (int i = 0; i < 36; i++) {
        double x = 1.5 * (i % 6), y = i / 6 % 3, z = i / 18;
        memcpy(vertices[i], (double[]){0.6 * x - 0.8 * y + 7, 0.8 * x + 0.6 * y, z}, sizeof vertices[i]);
    }
    for (int e = 0; e < 10; e++)
        for (int c = 0; c < 8; c++) corners[e][c] = e % 5 + (c & 1) + 6 * (e / 5 + (c >> 1 & 1)) + 18 * (c >> 2);
    fem_mesh mesh = {.num_elements = 10, .num_vertices = 36, .vertices = vertices[0], .corners = corners[0]};
    double width = 0.6 * 7.5 + 0.8 * 2, depth = 0.8 * 7.5 + 0.6 * 2;
    assert_true(fabs(fem_solver_across(&mesh) - sqrt(width * width + depth * depth + 1)) < 1e-12);
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
    /* five for each of 3.5 x 2 x the cube root of 300 / 8 nodes across the body, and as many again in doubt: more than what was learned tells */
    assert_int_equal(choice.solver_iterations, (int)ceil(2 * 5 * 3.5 * 2 * cbrt(300.0 / 8)));

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
    choice.max_iterations = 50; /* 5 x 3.5 x 2 x the cube root of 37 / 8 are 58 */
    assert_int_equal(chosen(&choice, &m), FEM_SOLVER_MULTIGRID);
    assert_int_equal(choice.solver_iterations, 50);
    choice.max_iterations = 60;
    assert_int_equal(chosen(&choice, &m), FEM_SOLVER_JACOBI);
    assert_int_equal(choice.solver_iterations, 60);
}

static void where_jacobi_failed_multigrid_takes_over_for_good(void **state)
{
    (void)state;
    mesh_size m;
    fem_solver_choice choice = open_choice();
    set_size(&m, FEM_Q2, 3, 8, 300);
    assert_int_equal(chosen(&choice, &m), FEM_SOLVER_JACOBI);
    assert_true(choice.solver_iterations < choice.max_iterations);
    fem_solver_choose_other(&choice);
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
    cmocka_unit_test(elements_across_a_body_are_counted),
    cmocka_unit_test(iterations_are_learned),
    cmocka_unit_test(jacobi_is_not_taken_where_it_could_not_end),
    cmocka_unit_test(where_jacobi_failed_multigrid_takes_over_for_good),
};

UNIT_MAIN(tests, NULL, NULL)
