/* BDF files: one body in every way of writing it; what is not read is refused by name, with its line. */
#include <math.h>

#include "fem/fixtures/mesh_files.h"

static char said[4096];

static void keep_line(yoke_log_level level, const char *text, void *user)
{
    (void)level, (void)user;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

static const char *write_bdf(const mesh_files *files, const char *before, const char *cards, const char *after)
{
    static const char nodes[] = "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,1.,1.,0.\nGRID,4,,0.,1.,0.\n"
                                "GRID,5,,0.,0.,1.\nGRID,6,,1.,0.,1.\nGRID,7,,1.,1.,1.\nGRID,8,,0.,1.,1.\n";
    static const char cube[] = "CHEXA,1,9,1,2,3,4,5,6\n,7,8\n";
    char text[8192];
    snprintf(text, sizeof text, "%sBEGIN BULK\n%s%s%sENDDATA\n", before, nodes, cards ? cards : cube, after);
    write_text(own_path(files, "cube.bdf"), text);
    return own_path(files, "cube.bdf");
}

/* The unit cube, and what was said of it. */
static void must_be_the_cube(const mesh_files *files, const char *path)
{
    yoke_context *context = NULL;
    fem_mesh *mesh = NULL;
    double sum[3] = {0};
    (void)files;
    said[0] = 0;
    assert_int_equal(yoke_context_create(&(yoke_options){.log = keep_line, .log_level = YOKE_LOG_INFO}, &context), YOKE_OK);
    if (fem_mesh_read(context, path, NULL, &mesh) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    assert_int_equal(mesh->num_elements, 1);
    assert_true(fem_mesh_find_group(mesh, 3, "9") >= 0);
    for (int v = 0; v < 8; v++)
        for (int axis = 0; axis < 3; axis++) {
            double x = mesh->vertices[3 * v + axis];
            assert_true(fabs(x) < 1e-14 || fabs(x - 1) < 1e-14);
            sum[axis] += x;
        }
    for (int axis = 0; axis < 3; axis++) assert_true(fabs(sum[axis] - 4) < 1e-13);
    fem_mesh_destroy(mesh);
    yoke_context_destroy(context);
}

static void one_cube_in_every_way_of_writing_it(void **state)
{
    static const char *const cards[] = {
        "CHEXA,1,9,1,2,3,4,5,6\n,7,8\n", "CHEXA,1,9,1,2,3,4,5,6,+a\n+a,7,8\n", "  chexa, 1, 9, 1, 2, 3, 4, 5, 6\n+, 7, 8\n",
        "CHEXA   1       9       1       2       3       4       5       6\n        7       8\n",
        "CHEXA   1       9       1       2       3       4       5       6       +HEX1\n$ a comment\n\n+HEX1   7       8\n",
        "CHEXA   1       9       1       2       3       4       5       6       HEX1\n+HEX1   7       8\n",
        "CHEXA\t1\t9\t1\t2\t3\t4\t5\t6\n\t7\t8\n",
        /* the parentheses say that this is one text */
        ("CHEXA*  1               9               1               2\n*       3               4               5               6\n"
         "*       7               8\n"),
        "CHEXA*,1,9,1,2,*a\n*a,3,4,5,6\n*,7,8\n", "CHEXA,1,9,1,2,3,4,5,6 $ a comment, CHEXA,2\n,7,8\n"};
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        must_be_the_cube(*state, write_bdf(*state, "", cards[i], ""));
        assert_string_equal(said, "");
    }
}

static void nodes_in_every_way_of_writing_numbers(void **state)
{
    static const char *const one[] = {"1.", "1", "+1.0", "1.E0", "1.0D+0", "10.-1", "0.1+1", ".1E+01", "100.0-02"};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        char text[2048] = "SOL 101\nCEND\nTITLE = GRID\nBEGIN BULK\nGRDSET,,,,,,,456\n", line[128];
        for (int n = 0; n < 8; n++) {
            snprintf(line, sizeof line, n % 2 ? "GRID,%d,0,%s,%s,%s\n" : "GRID    %-16d%-8s%-8s%-8s0       123\n", n + 1,
                     n % 4 == 1 || n % 4 == 2 ? one[i] : "", n % 4 >= 2 ? one[i] : "0.", n >= 4 ? one[i] : "-0.0");
            strcat(text, line);
        }
        strcat(text, "CHEXA,1,9,1,2,3,4,5,6\n,7,8\nENDDATA\n");
        write_text(own_path(*state, "cube.nas"), text);
        must_be_the_cube(*state, own_path(*state, "cube.nas"));
        assert_non_null(strstr(said, "constraints of GRID or GRDSET"));
    }
}

static void what_the_case_gives_is_named_in_one_line(void **state)
{
    must_be_the_cube(*state,
                     write_bdf(*state, "SOL 101\nCEND\n", NULL,
                               "SPC1,1,123,1,2,3,4\nFORCE,2,5,,1.,0.,0.,1.\nFORCE,2,6,,1.,0.,0.,1.\nMAT1,1,2.1+11,,0.3\nPSOLID,9,1\n"
                               "PARAM,POST,-1\nCORD2R,7,,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nRBE2,77,1,123,2,3\nCELAS2,78,1.E6,1,1\n"));
    assert_non_null(strstr(said, "come from the case; not read: SPC1 (1), FORCE (2), MAT1 (1)\n"));
    assert_non_null(strstr(said, "left out: RBE2 (1), CELAS2 (1)\n"));
    assert_null(strstr(said, "CORD2R"));
    assert_null(strstr(said, "PARAM"));
}

static void systems_of_displacements_are_named(void **state)
{
    must_be_the_cube(*state, write_bdf(*state, "", NULL, "GRID,99,,5.,5.,5.,7\n"));
    assert_non_null(strstr(said, "(CD)"));
}

static void what_changes_the_body_is_refused_by_name(void **state)
{
    static const char *const cards[][2] = {
        {"INCLUDE 'nodes.bdf'\n", "INCLUDE"},
        {"include 'nodes.bdf'\n", "INCLUDE"},
        {"GRDSET,,7\n", "coordinate system 7"},
        {"GRDSET                 7\n", "coordinate system 7"},
        {"GRDSET         7\n", "GRDSET: field 2"},
        {"GRDSET,,,,,,,,3\n", "GRDSET: superelements"},
        {"GRID,9,7,1.,0.,0.\n", "coordinate system 7"},
        {"GRID*   9               7               1.              0.\n*       0.\n", "coordinate system 7"},
        {"GRID,9,,1.,0.,0.,,,3\n", "superelements"},
        {"GRIDB,9,,,90.,,,,5\n", "GRIDB"},
        {"CHEXA1,2,9,1,2,3,4,5,6\n,7,8\n", "CHEXA1"},
        {"CIHEX2,2,9,1,2,3,4,5,6\n,7,8\n", "CIHEX2"},
        {"CTRIAX6,2,9,1,2,3,4,5,6\n", "CTRIAX6"},
        {"CPYRAM,2,9,1,2,3,4,5\n", "CPYRAM"},
        {"RINGAX,3,,1.,10.\n", "RINGAX"},
        {"CFLUID4,2,9,1,2,3,4,5,6\n", "CFLUID4"},
        {"PSOLID,9,1,,,,,PFLUID\n", "PSOLID"},
        {"SELOC,1,2,3,4\n", "SELOC"},
        {"BEGIN BULK SUPER=2\n", "BEGIN"},
        {"EGRID,9,1,2.,0.,0.\n", "EGRID"},
        {"=,*(1),=,=\n", "replicated"},
        {"/,3,4\n", "delete"},
        {"GRID,1,,0.,0.,0.\n", "node 1 is given a second time (first in line 2)"},
        {"CQUAD4,1,9,1,2,3,4\n", "element 1 is given a second time (first in line 10)"},
        {"GRID,9,,1.x,0.,0.\n", "'1.x' in field 4"},
        {"GRID,9,,nan,0.,0.\n", "'nan'"},
        {"GRID,nine,,0.,0.,0.\n", "'nine' in field 2"},
        {"GRID,0,,0.,0.,0.\n", "number 0"},
        {"GRID,999999999999,,0.,0.,0.\n", "number 999999999999"},
        {"CHEXA,2,9,1,2,3,4,5,6\n,7,8,9,10\n", "10 nodes"},
        {"CTETRA,2,9,1,2,3,5,,6\n", "5 nodes"},
        {"CHEXA,2,9,1,2,3,4,5,6,+a\n", "continued by '+a'"},
        {"CHEXA,2,9,1,2,3,4,5,6,+a\n+b,7,8\n", "'+b'"},
        {"GRID,1-1-1-1-1-1-1-1-1-1-1-1-1-1,,1-1-1-1-1-1-1-1-1-1-1-1-1-1-1,0.\n", "field 2"},
        {"GRID,9,,1-1-1-1-1-1-1-1-1-1-1-1-1-1-1,0.\n", "field 4"}};
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        must_refuse(*state, write_bdf(*state, "", NULL, cards[i][0]),
                    strchr(cards[i][1], '(') || strstr(cards[i][0], "+b") ? "line 1" : "line 12", cards[i][1], NULL);
}

static void an_include_among_the_control_cards(void **state)
{
    must_refuse(*state, write_bdf(*state, "SOL 101\nINCLUDE 'control.inc'\nCEND\n", NULL, ""), "line 2", "INCLUDE", NULL);
}

static void a_line_that_continues_none(void **state)
{
    write_text(own_path(*state, "first.bdf"), "BEGIN BULK\n+a,1,2\nGRID,1,,0.,0.,0.\nENDDATA\n");
    must_refuse(*state, own_path(*state, "first.bdf"), "line 2", "continues none", NULL);
}

static void a_line_that_is_too_long(void **state)
{
    char text[6000] = "BEGIN BULK\nGRID,1,,0.,0.,0.";
    memset(text + strlen(text), ' ', 4000);
    strcat(text, "\nENDDATA\n");
    write_text(own_path(*state, "long.bdf"), text);
    must_refuse(*state, own_path(*state, "long.bdf"), "line 2", "too long", NULL);
}

/* The mid-nodes of a tetrahedron in NASTRAN's order: 1-2, 2-3, 3-1, 1-4, 2-4, 3-4. */
static void a_curved_tetrahedron(void **state)
{
    write_text(own_path(*state, "curved.bdf"),
               "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,0.,1.,0.\nGRID,4,,0.,0.,1.\n"
               "GRID,12,,.5,-.1,0.\nGRID,23,,.6,.5,0.\nGRID,31,,0.,.5,-.1\nGRID,14,,-.1,0.,.5\nGRID,24,,.5,0.,.6\nGRID,34,,0.,.6,.5\n"
               "CTETRA,5,9,1,2,3,4,12,23\n,31,14,24,34\nENDDATA\n");
    fem_mesh *mesh = must_read(*state, own_path(*state, "curved.bdf"));
    assert_int_equal(mesh->num_elements, 4);
    assert_int_equal(mesh->order, 2);
    /* Mid-nodes are where an edge of a part ends: beside corner 2 (x = 1) those are nodes 12, 23, 24. */
    for (int e = 0; e < 4; e++) {
        const double *x = mesh->geometry + 81 * (int64_t)e;
        if (x[0] != 1) continue;
        double middle = 0;
        for (int axis = 0, slot = 2; axis < 3; axis++, slot *= 3)
            for (int i = 0; i < 3; i++) middle += x[3 * slot + i];
        assert_true(fabs(middle - (0.4 + 1.1 + 1.1)) < 1e-14);
    }
    fem_mesh_destroy(mesh);
}

static const struct CMUnitTest tests[] = {
    MESH_TEST(one_cube_in_every_way_of_writing_it),
    MESH_TEST(nodes_in_every_way_of_writing_numbers),
    MESH_TEST(what_the_case_gives_is_named_in_one_line),
    MESH_TEST(systems_of_displacements_are_named),
    MESH_TEST(what_changes_the_body_is_refused_by_name),
    MESH_TEST(an_include_among_the_control_cards),
    MESH_TEST(a_line_that_continues_none),
    MESH_TEST(a_line_that_is_too_long),
    MESH_TEST(a_curved_tetrahedron),
};

UNIT_MAIN(tests, NULL, NULL)
