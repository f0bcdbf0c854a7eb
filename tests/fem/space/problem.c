/* From a case and a mesh to the boundary value problem. Errors and warnings one by one: see cases/ and case_file.c. */
#include "context.h"

#include <math.h>

#include "base/failing.h"
#include "case/case.h"
#include "fem/fixtures/case_mesh.h"
#include "space/problem/checks.h"
#include "space/problem/problem.h"

static const char elastic[] = "mesh: a\n"
                              "element: s2\n"
                              "materials:\n"
                              "  - {volume: steel, youngs_modulus: 200e9, poisson_ratio: 0.25, density: 8000}\n"
                              "  - {volume: aluminium, youngs_modulus: 70e9, poisson_ratio: 0}\n"
                              "boundary:\n"
                              "  - {face: left, displacement: [0, free, -1e-3]}\n"
                              "  - {edge: upright, displacement: [free, 2, free]}\n"
                              "  - {point: on-x, displacement: [free, 2, free]}\n"
                              "  - {face: right, traction: [1, 2, 3]}\n"
                              "  - {face: top, pressure: 5e6}\n";

static fem_case *parse(yoke_context *own, const char *text, const char *const *overrides, int num_overrides)
{
    fem_case *input = NULL;
    if (fem_case_parse(own, "case.yaml", text, strlen(text), overrides, num_overrides, &input) != YOKE_OK)
        fail_msg("%s", yoke_last_error(own));
    return input;
}

static fem_problem *resolve(const fem_case *input, const fem_mesh *mesh)
{
    fem_problem *problem = NULL;
    if (fem_problem_create(input, mesh, &problem) != YOKE_OK) fail_msg("%s", yoke_last_error(input->context));
    return problem;
}

static void moduli_groups_and_conditions_are_those_of_the_case(void **state)
{
    (void)state;
    fem_mesh *mesh = case_mesh_create(context, "materials");
    fem_case *input = parse(context, elastic, NULL, 0);
    fem_problem *problem = resolve(input, mesh);
    fem_case_destroy(input); /* the problem does not need it any more */
    assert_int_equal(problem->components, 3);
    assert_int_equal(problem->element, FEM_S2);
    assert_int_equal(problem->num_materials, 2);
    /* nu = 1/4: lambda = mu = 0.4 E; nu = 0: lambda = 0, mu = E / 2 */
    assert_true(fabs(problem->materials[0].lambda - 80e9) < 1 && fabs(problem->materials[0].mu - 80e9) < 1);
    assert_true(problem->materials[1].lambda == 0 && problem->materials[1].mu == 35e9);
    assert_true(problem->materials[0].density == 8000 && isnan(problem->materials[1].density));
    assert_true(problem->materials[1].force[2] == 0);
    for (int e = 0; e < 8; e++) assert_int_equal(problem->material_of[e], e % 2);
    static const struct {
        fem_condition_kind kind;
        const char *group;
        unsigned mask;
        double value[3];
    } expected[] = {
        {FEM_DIRICHLET, "left", 5, {0, 0, -1e-3}}, {FEM_DIRICHLET, "upright", 2, {0, 2, 0}}, {FEM_DIRICHLET, "on-x", 2, {0, 2, 0}},
        {FEM_TRACTION, "right", 0, {1, 2, 3}},     {FEM_PRESSURE, "top", 0, {5e6, 0, 0}},
    };
    assert_int_equal(problem->num_conditions, 5);
    for (int c = 0; c < 5; c++) {
        assert_int_equal(problem->conditions[c].kind, expected[c].kind);
        assert_string_equal(mesh->groups[problem->conditions[c].group].name, expected[c].group);
        assert_int_equal(problem->conditions[c].mask, expected[c].mask);
        assert_memory_equal(problem->conditions[c].value, expected[c].value, sizeof expected[c].value);
    }
    fem_problem_destroy(problem);
    case_mesh_destroy(mesh);
}

static void gravity_acts_on_each_density(void **state)
{
    (void)state;
    const char *const overrides[] = {"gravity=[1, 0, -10]", "materials[1].density=0.5"};
    fem_mesh *mesh = case_mesh_create(context, "materials");
    fem_case *input = parse(context, elastic, overrides, 2);
    fem_problem *problem = resolve(input, mesh);
    assert_true(problem->materials[0].force[0] == 8000 && problem->materials[0].force[1] == 0 && problem->materials[0].force[2] == -80000);
    assert_true(problem->materials[1].force[0] == 0.5 && problem->materials[1].force[2] == -5);
    fem_problem_destroy(problem);
    fem_case_destroy(input);
    case_mesh_destroy(mesh);
}

static void poisson_has_one_component(void **state)
{
    (void)state;
    static const char text[] = "mesh: a\nproblem: poisson\n"
                               "materials: [{volume: steel, conductivity: 50, source: 7}]\n"
                               "boundary: [{point: origin, value: 3}, {face: top, flux: -4}]\n";
    fem_mesh *mesh = case_mesh_create(context, "cube");
    fem_case *input = parse(context, text, NULL, 0);
    fem_problem *problem = resolve(input, mesh);
    assert_int_equal(problem->components, 1);
    assert_true(problem->materials[0].lambda == 0 && problem->materials[0].mu == 50 && problem->materials[0].force[0] == 7);
    assert_int_equal(problem->conditions[0].kind, FEM_DIRICHLET);
    assert_int_equal(problem->conditions[0].mask, 1);
    assert_true(problem->conditions[0].value[0] == 3);
    assert_int_equal(problem->conditions[1].kind, FEM_TRACTION);
    assert_true(problem->conditions[1].value[0] == -4);
    fem_problem_destroy(problem);
    fem_case_destroy(input);
    case_mesh_destroy(mesh);
}

/* A support of one small face far away holds the body as well as a large one, whatever the body's place and size. */
static void verdict_on_rigid_motions_does_not_depend_on_place_and_size(void **state)
{
    (void)state;
    static const double sizes[] = {1e-6, 1, 1e6}, places[] = {0, 1e3};
    fem_case *constrained = parse(context, elastic, NULL, 0);
    const char *const overrides[] = {"boundary[1]={face: right, pressure: 1}", "boundary[2]={face: right, pressure: 1}"};
    fem_case *loose = parse(context, elastic, overrides, 2);
    for (int i = 0; i < 6; i++) {
        fem_mesh *mesh = case_mesh_create(context, "materials");
        for (int v = 0; v < 81; v++) mesh->vertices[v] = sizes[i % 3] * (mesh->vertices[v] + places[i / 3]);
        fem_problem *problem = resolve(constrained, mesh);
        fem_problem_destroy(problem);
        assert_int_equal(fem_problem_create(loose, mesh, &problem), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(context), "rigid: the body can move freely: translation along y;"));
        case_mesh_destroy(mesh);
    }
    fem_case_destroy(constrained);
    fem_case_destroy(loose);
}

static void corners_of_faces_and_edges_lie_on_them(void **state)
{
    (void)state;
    int corners[4];
    for (int face = 0; face < 6; face++) {
        assert_int_equal(fem_member_corners(2, face, corners), 4);
        for (int i = 0; i < 4; i++) assert_int_equal(corners[i] >> face / 2 & 1, face % 2);
    }
    static const int edges[12][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    for (int edge = 0; edge < 12; edge++) {
        assert_int_equal(fem_member_corners(1, edge, corners), 2);
        assert_true(corners[0] == edges[edge][0] && corners[1] == edges[edge][1]);
    }
}

/* Faces between elements are shared, those of the surface are not; two cubes at one edge are two pieces. */
static void shared_faces_and_pieces(void **state)
{
    (void)state;
    uint8_t shared[8];
    int32_t piece[8], pieces;
    fem_mesh *mesh = case_mesh_create(context, "cube");
    assert_int_equal(fem_connect_elements(mesh, shared, piece, &pieces), YOKE_OK);
    assert_int_equal(pieces, 1);
    for (int e = 0; e < 8; e++) {
        assert_int_equal(piece[e], 0);
        for (int face = 0; face < 6; face++) /* the face looks inwards where it is not on the element's own side of the cube */
            assert_int_equal(shared[e] >> face & 1, (e >> face / 2 & 1) != face % 2);
    }
    case_mesh_destroy(mesh);
    mesh = case_mesh_create(context, "hinge");
    assert_int_equal(fem_connect_elements(mesh, shared, piece, &pieces), YOKE_OK);
    assert_true(pieces == 2 && piece[0] == 0 && piece[1] == 1 && shared[0] == 0 && shared[1] == 0);
    case_mesh_destroy(mesh);
}

static void memory_is_estimated_from_element_and_operator(void **state)
{
    (void)state;
    static const struct {
        const char *element, *operator;
        double bytes; /* of a thousand elements */
    } expected[] = {
        {"element=q1", "solver.operator=matrixfree", 2.4e6},           {"element=s2", "solver.operator=matrixfree", 9.6e6},
        {"element=q2", "solver.operator=matrixfree", 19.2e6},          {"element=q1", "solver.operator=stored", 2.4e6 + 300 * 8e3},
        {"element=q2", "solver.operator=stored", 19.2e6 + 3321 * 8e3},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const char *const overrides[] = {expected[i].element, expected[i].operator};
        fem_case *input = parse(context, elastic, overrides, 2);
        assert_true(fabs(fem_case_memory_bytes(input, 1000) - expected[i].bytes) < 1);
        fem_case_destroy(input);
    }
}

static void output_check_leaves_nothing_behind(void **state)
{
    (void)state;
    char directory[] = "/tmp/yoke-test-problem-XXXXXX", override[128];
    assert_non_null(mkdtemp(directory));
    static const char *const below[] = {"", "/", "/a/b/c", "/./x/"};
    for (int i = 0; i < 4; i++) {
        const char *const overrides[] = {override};
        snprintf(override, sizeof override, "output.directory=%s%s", directory, below[i]);
        fem_case *input = parse(context, elastic, overrides, 1);
        assert_int_equal(fem_case_check_output(input), YOKE_OK);
        fem_case_destroy(input);
    }
    assert_int_equal(remove(directory), 0); /* fails unless it is empty */
}

static void every_failing_allocation_is_an_error_without_a_leak(void **state)
{
    (void)state;
    failing memory = {.fail_at = 0};
    yoke_options options = failing_options(&memory);
    yoke_context *limited;
    assert_int_equal(yoke_context_create(&options, &limited), YOKE_OK);
    fem_mesh *mesh = case_mesh_create(limited, "materials");
    fem_case *input = parse(limited, elastic, NULL, 0);
    int64_t before = memory.outstanding, n = 0;
    for (yoke_status status = YOKE_ERROR_MEMORY; status != YOKE_OK; n++) {
        failing_allow(&memory, n);
        fem_problem *problem = NULL;
        status = fem_problem_create(input, mesh, &problem);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_true((status == YOKE_OK) == (problem != NULL));
        fem_problem_destroy(problem);
        assert_int_equal(memory.outstanding, before);
    }
    assert_true(n > 8);
    fem_case_destroy(input);
    case_mesh_destroy(mesh);
    yoke_context_destroy(limited);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(moduli_groups_and_conditions_are_those_of_the_case),
    cmocka_unit_test(gravity_acts_on_each_density),
    cmocka_unit_test(poisson_has_one_component),
    cmocka_unit_test(verdict_on_rigid_motions_does_not_depend_on_place_and_size),
    cmocka_unit_test(corners_of_faces_and_edges_lie_on_them),
    cmocka_unit_test(shared_faces_and_pieces),
    cmocka_unit_test(memory_is_estimated_from_element_and_operator),
    cmocka_unit_test(output_check_leaves_nothing_behind),
    cmocka_unit_test(every_failing_allocation_is_an_error_without_a_leak),
};

UNIT_MAIN(tests, context_start, context_end)
