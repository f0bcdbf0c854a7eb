/* UNV files: what Gmsh would pass over in silence, or crash on, is read, said, or refused with its line. */
#include <string.h>

#include "fem/fixtures/mesh_files.h"

#define END "    -1\n"
/* Two unit cubes in a row along x. */
static const char nodes[] = END "  2411\n"
                                "         1         1         1        11\n   0.0D+00   0.0D+00   0.0D+00\n         2         1         1  "
                                "      11\n   1.0D+00   0.0D+00   0.0D+00\n"
                                "         3         1         1        11\n   2.0D+00   0.0D+00   0.0D+00\n         4         1         1  "
                                "      11\n   0.0D+00   1.0D+00   0.0D+00\n"
                                "         5         1         1        11\n   1.0D+00   1.0D+00   0.0D+00\n         6         1         1  "
                                "      11\n   2.0D+00   1.0D+00   0.0D+00\n"
                                "         7         1         1        11\n   0.0D+00   0.0D+00   1.0D+00\n         8         1         1  "
                                "      11\n   1.0D+00   0.0D+00   1.0D+00\n"
                                "         9         1         1        11\n   2.0D+00   0.0D+00   1.0D+00\n        10         1         1  "
                                "      11\n   0.0D+00   1.0D+00   1.0D+00\n"
                                "        11         1         1        11\n   1.0D+00   1.0D+00   1.0D+00\n        12         1         1  "
                                "      11\n   2.0D+00   1.0D+00   1.0D+00\n" END;
/* The faces at x = 0 and x = 2, then the cubes.  Properties have numbers of groups, as where writers give all elements the same ones. */
static const char elements[] =
    END "  2412\n"
        "        21        94         2         1         7         4\n         1         7        10         4\n"
        "        22        94         2         1         7         4\n         3         6        12         9\n"
        "        31       115         2         1         7         8\n         1         2         5         4         7         8        "
        "11        10\n"
        "        32       115         2         1         7         8\n         2         3         6         5         8         9        "
        "12        11\n" END;
static const char groups[] = END "  2467\n"
                                 "         1         0         0         0         0         0         0         1\nleft\n"
                                 "         8        21         0         0\n"
                                 "         2         0         0         0         0         0         0         1\nleft, not\n"
                                 "         8        22         0         0\n"
                                 "         3         0         0         0         0         0         0         2\nbody\n"
                                 "         8        31         0         0         8        32         0         0\n" END;

/* Puts `to` in place of the first `from`. */
static void change(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    assert_non_null(at);
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

static const char *write_unv(const mesh_files *files, const char *group_dataset, const char *from, const char *to)
{
    char text[8192];
    snprintf(text, sizeof text, "%s%s%s", nodes, elements, group_dataset);
    if (from) change(text, from, to);
    write_text(own_path(files, "cubes.unv"), text);
    return own_path(files, "cubes.unv");
}

static char said[4096];

static void keep_line(yoke_log_level level, const char *text, void *user)
{
    (void)level, (void)user;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

/* Two cubes, their faces and the body; what was said of them is in `said`. */
static void must_be_the_cubes(const char *path)
{
    yoke_context *context = NULL;
    fem_mesh *mesh = NULL;
    double sum = 0;
    said[0] = 0;
    assert_int_equal(yoke_context_create(&(yoke_options){.log = keep_line, .log_level = YOKE_LOG_INFO}, &context), YOKE_OK);
    if (fem_mesh_read(context, path, NULL, &mesh) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    const int left = fem_mesh_find_group(mesh, 2, "left"), right = fem_mesh_find_group(mesh, 2, "left,_not"),
              body = fem_mesh_find_group(mesh, 3, "body");
    assert_int_equal(mesh->num_elements, 2);
    assert_int_equal(mesh->num_vertices, 12);
    for (int v = 0; v < 36; v++) sum += mesh->vertices[v];
    assert_true(sum == 24); /* 12 of x, 6 of y, 6 of z */
    assert_true(left >= 0 && mesh->groups[left].count == 1);
    assert_true(right >= 0 && mesh->groups[right].count == 1 && mesh->groups[right].element[0] != mesh->groups[left].element[0]);
    assert_true(body >= 0 && mesh->groups[body].count == 2);
    fem_mesh_destroy(mesh);
    yoke_context_destroy(context);
}

static void groups_are_read_from_all_datasets_of_their_layout(void **state)
{
    static const char *const datasets[] = {"2435", "2452", "2467", "2477"};
    for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++) {
        must_be_the_cubes(write_unv(*state, groups, "2467", datasets[i]));
        assert_string_equal(said, "");
    }
}

static void groups_of_another_layout_are_said(void **state)
{
    yoke_context *context = NULL;
    fem_mesh *mesh = NULL;
    said[0] = 0;
    assert_int_equal(yoke_context_create(&(yoke_options){.log = keep_line, .log_level = YOKE_LOG_INFO}, &context), YOKE_OK);
    assert_int_equal(fem_mesh_read(context, write_unv(*state, groups, "2467", "2430"), NULL, &mesh), YOKE_OK);
    assert_non_null(strstr(said, "left out: groups of dataset 2430 (1)"));
    fem_mesh_destroy(mesh);
    yoke_context_destroy(context);
}

/* Gmsh ends the dataset there; without groups nobody misses the elements behind. */
static void a_line_that_is_no_element_is_refused(void **state)
{
    must_refuse(*state, write_unv(*state, "", "        32       115", "      x 32       115"), "line 36", "this is no element", NULL);
    must_refuse(*state, write_unv(*state, "", "         7         8        11        10\n", "\n"), "line 36", "not the nodes of an element",
                NULL);
    must_refuse(*state, write_unv(*state, "", "        12        11\n" END, "\n" END), "line 38",
                "the dataset ends before the nodes of an element", NULL);
    must_refuse(*state, write_unv(*state, "", "         2         3         6         5         8         9        12        11\n", ""),
                "line 37", "the dataset ends before the nodes of an element", NULL);
}

static void a_line_that_is_no_node_is_refused(void **state)
{
    must_refuse(*state, write_unv(*state, groups, "        12         1         1", "      x 12         1         1"), "line 25",
                "this is no node", NULL);
    must_refuse(*state, write_unv(*state, groups, "   2.0D+00   1.0D+00   1.0D+00", "   2.0D+00   1.0D+00"), "line 26", "three numbers",
                NULL);
    must_refuse(*state, write_unv(*state, groups, "        12         1         1        11", "         2         1         1        11"),
                "line 25", "node 2 is given a second time (first in line 5)", NULL);
}

static void exponents_in_small_letters_are_read(void **state)
{
    must_be_the_cubes(write_unv(*state, groups, "   2.0D+00   1.0D+00   1.0D+00", "   2.0d+00   1.0d+00   1.0d+00"));
}

static void elements_that_are_not_read_are_said_or_refused(void **state)
{
    static const char first[] = "        21        94";
    must_refuse(*state, write_unv(*state, "", "        32       115", "        32       117"), "line 36", "element 32 is of type 117",
                "third order", NULL);
    must_refuse(*state, write_unv(*state, "", "        32       115", "        32       116"), "line 36", "has 8 nodes; 20 are expected",
                NULL);
    must_be_the_cubes(
        write_unv(*state, groups, first,
                  "        20       122         1         1         7         3\n         1         2         3\n        21        94"));
    assert_non_null(strstr(said, "left out: elements of type 122 (1)"));
}

/* On which Gmsh crashes; it writes such groups itself where there are physical points. */
static void groups_may_name_what_is_not_read(void **state)
{
    char text[2048];
    snprintf(text, sizeof text, "%s", groups);
    change(text, "         0         1\nleft\n",
           "         0         4\nleft\n         7         1         0         0         8        99         0         0\n"
           "         8       100         0         0\n");
    must_be_the_cubes(write_unv(*state, text, NULL, NULL));
    assert_non_null(strstr(said, "left out: nodes as members of groups (1), absent elements of groups (2)"));
}

static void damaged_groups_are_refused(void **state)
{
    must_refuse(*state, write_unv(*state, groups, "left\n", "\n"), "line 42", "a group has no name", NULL);
    must_refuse(*state, write_unv(*state, groups, "         0         1\nleft", "         0         x\nleft"), "line 41",
                "this is no group", NULL);
    must_refuse(*state, write_unv(*state, groups, "         8        21         0", "         8        21"), "line 43",
                "no members of a group", NULL);
    must_refuse(*state, write_unv(*state, groups, "         0         2\nbody", "         0         3\nbody"),
                "the dataset ends before the members of a group", NULL);
}

/* Both cubes have property 2. */
static void materials_are_groups_where_there_are_no_others(void **state)
{
    fem_mesh *mesh =
        must_read(*state, write_unv(*state, "", "        32       115         2         1", "        32       115         2         7"));
    const int one = fem_mesh_find_group(mesh, 3, "1"), seven = fem_mesh_find_group(mesh, 3, "7"), faces = fem_mesh_find_group(mesh, 2, "1");
    assert_true(one >= 0 && mesh->groups[one].count == 1 && seven >= 0 && mesh->groups[seven].count == 1);
    assert_true(mesh->groups[one].element[0] != mesh->groups[seven].element[0]);
    assert_true(faces >= 0 && mesh->groups[faces].count == 2);
    fem_mesh_destroy(mesh);
}

static const struct CMUnitTest tests[] = {
    MESH_TEST(materials_are_groups_where_there_are_no_others),
    MESH_TEST(groups_are_read_from_all_datasets_of_their_layout),
    MESH_TEST(groups_of_another_layout_are_said),
    MESH_TEST(a_line_that_is_no_element_is_refused),
    MESH_TEST(a_line_that_is_no_node_is_refused),
    MESH_TEST(exponents_in_small_letters_are_read),
    MESH_TEST(elements_that_are_not_read_are_said_or_refused),
    MESH_TEST(groups_may_name_what_is_not_read),
    MESH_TEST(damaged_groups_are_refused),
};

UNIT_MAIN(tests, NULL, NULL)
