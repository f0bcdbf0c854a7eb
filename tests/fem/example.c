/* Every shipped case fits its mesh: groups, materials, supports, probes; no warning. */
#include "unit.h"

#include <math.h>

#include "case/case.h"
#include "space/problem/problem.h"

static yoke_context *context;
static char warning[1024];

static void keep_warning(yoke_log_level level, const char *text, void *user)
{
    (void)level;
    (void)user;
    snprintf(warning, sizeof warning, "%s", text);
}

static int start(void **state)
{
    (void)state;
    yoke_options options = {.log = keep_warning, .log_level = YOKE_LOG_WARNING};
    return yoke_context_create(&options, &context) == YOKE_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    yoke_context_destroy(context);
    return 0;
}

static void check(yoke_status status)
{
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(context));
}

static void assert_fits(const char *name, const char *volume)
{
    const char *source = getenv("YOKE_SOURCE_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/examples/%s.yaml", source != NULL ? source : ".", name);
    fem_case *input = NULL;
    fem_mesh *mesh = NULL;
    fem_problem *problem = NULL;
    warning[0] = '\0';
    check(fem_case_read(context, path, NULL, 0, &input));
    check(fem_mesh_read(context, input->mesh_path, NULL, &mesh));
    check(fem_problem_create(input, mesh, &problem));
    assert_string_equal(warning, "");
    assert_string_equal(mesh->groups[problem->materials[0].group].name, volume);
    fem_problem_destroy(problem);
    fem_mesh_destroy(mesh);
    fem_case_destroy(input);
}

static void drill_hole_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("drill-hole", "steel");
}

static void crankshaft_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("crankshaft", "steel");
}

static void cylinder_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("cylinder", "steel");
}

static void fichera_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("fichera", "body");
}

static void lame_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("lame", "wall");
}

static void hollow_sphere_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("hollow-sphere", "wall");
}

static void sphere_cavity_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("sphere-cavity", "body");
}

static void plate_with_hole_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("plate-with-hole", "plate");
}

static void cantilever_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("cantilever", "beam");
}

static void bracket_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("bracket", "steel");
}

static void two_materials_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("two-materials", "steel");
}

static void hot_pipe_and_its_heat_fit_their_mesh(void **state)
{
    (void)state;
    assert_fits("hot-pipe-heat", "wall");
    assert_fits("hot-pipe", "wall");
}

static void le1_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("le1", "membrane");
}

static void le10_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("le10", "plate");
}

static void le11_fits_its_mesh(void **state)
{
    (void)state;
    assert_fits("le11", "solid");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bracket_fits_its_mesh),
    cmocka_unit_test(drill_hole_fits_its_mesh),
    cmocka_unit_test(crankshaft_fits_its_mesh),
    cmocka_unit_test(cylinder_fits_its_mesh),
    cmocka_unit_test(fichera_fits_its_mesh),
    cmocka_unit_test(lame_fits_its_mesh),
    cmocka_unit_test(hollow_sphere_fits_its_mesh),
    cmocka_unit_test(sphere_cavity_fits_its_mesh),
    cmocka_unit_test(plate_with_hole_fits_its_mesh),
    cmocka_unit_test(cantilever_fits_its_mesh),
    cmocka_unit_test(two_materials_fits_its_mesh),
    cmocka_unit_test(hot_pipe_and_its_heat_fit_their_mesh),
    cmocka_unit_test(le1_fits_its_mesh),
    cmocka_unit_test(le10_fits_its_mesh),
    cmocka_unit_test(le11_fits_its_mesh),
};

UNIT_MAIN(tests, start, end)
