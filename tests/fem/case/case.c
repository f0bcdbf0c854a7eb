/* Case files: what is read, defaults, places, the reference of the keys, hostile files.  Bad cases one by one: see cases/bad and case_file.c. */
#include "context.h"

#include <math.h>
#include <unistd.h>

#include "base/failing.h"
#include "case/case.h"
#include "space/problem/problem.h"
#include "whole_file.h"

static const char minimal[] = "mesh: meshes/a.msh\n"
                              "materials:\n"
                              "  - {volume: steel, youngs_modulus: 210e9, poisson_ratio: 0.3}\n"
                              "boundary:\n"
                              "  - {face: left, displacement: [0, free, -1e-3]}\n";

static const char full[] = "mesh: /meshes/a.msh\n"
                           "problem: elasticity\n"
                           "element: s2\n"
                           "materials:\n"
                           "  - {volume: steel, youngs_modulus: 210e9, poisson_ratio: 0.3, density: 7850}\n"
                           "  - volume: \"alu 1\"\n"
                           "    youngs_modulus: 70e9\n"
                           "    poisson_ratio: .34\n"
                           "    density: 2700\n"
                           "boundary:\n"
                           "  - {face: left, displacement: [0, free, -1e-3]}\n"
                           "  - {face: 17, traction: [0, 0, 1e6]}\n"
                           "  - {face: bore, pressure: 5e6}\n"
                           "  - {edge: e, displacement: [free, free, 0]}\n"
                           "gravity: [0, 0, -9.81]\n"
                           "refine:\n"
                           "  initial: 1\n"
                           "  boxes: [{from: [0, 0, 0], to: [0.5, 1, 1], level: 2}]\n"
                           "  steps: 8\n"
                           "  tolerance: 1e-3\n"
                           "  fraction: 0.5\n"
                           "  max_elements: 1000\n"
                           "solver: {relative_residual: 1e-6, preconditioner: jacobi, operator: stored, max_iterations: 7}\n"
                           "output: {directory: results, fields: [displacement, level]}\n"
                           "probes: [{name: tip, x: [1.0, 0.1, -0.1]}]\n";

static fem_case *parse(const char *path, const char *text)
{
    fem_case *input = NULL;
    yoke_status status = fem_case_parse(context, path, text, strlen(text), NULL, 0, &input);
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    return input;
}

static void assert_place(app_place place, int line, int column)
{
    assert_int_equal(place.line, line);
    assert_int_equal(place.column, column);
    assert_int_equal(place.override, 0);
}

static void assert_vector(const app_vector *vector, double x, double y, double z)
{
    assert_true(vector->value[0] == x && vector->value[1] == y && vector->value[2] == z);
    assert_int_equal(vector->mask, 7);
}

/* ------------------------------------------------------------------------------------------ reading */

static void defaults_are_those_of_the_reference(void **state)
{
    (void)state;
    fem_case *input = parse("dir/case.yaml", minimal);
    const fem_case_keys *keys = &input->keys;
    assert_int_equal(keys->problem.value, FEM_ELASTICITY);
    assert_int_equal(keys->element.value, FEM_Q2);
    assert_vector(&keys->gravity, 0, 0, 0);
    assert_int_equal(keys->refine.initial.value, 0);
    assert_int_equal(keys->refine.boxes.count, 0);
    assert_int_equal(keys->refine.steps.value, 0);
    assert_true(keys->refine.tolerance.value == 0);
    assert_true(keys->refine.fraction.value == 0.3);
    assert_int_equal(keys->refine.max_elements.value, 2000000);
    assert_true(isnan(keys->solver.relative_residual.value) && keys->solver.energy_error.value == 1e-6);
    assert_int_equal(keys->solver.preconditioner.value, FEM_PRECONDITIONER_AUTO);
    assert_int_equal(keys->solver.operator.value, FEM_OPERATOR_MATRIXFREE);
    assert_int_equal(keys->solver.max_iterations.value, 10000);
    assert_string_equal(keys->output.directory.value, "out/case");
    assert_int_equal(keys->output.fields.value, (FEM_FIELDS_ELASTICITY & ~(1 << FEM_FIELD_TEMPERATURE)) | 1 << FEM_FIELD_ERROR |
                                                    1 << FEM_FIELD_PART | 1 << FEM_FIELD_LEVEL | 1 << FEM_FIELD_MATERIAL);
    assert_int_equal(keys->probes.count, 0);
    assert_true(isnan(keys->materials.items[0].density.value));
    assert_false(app_given(keys->refine.fraction.place) || app_given(keys->refine.place) || app_given(keys->gravity.place));
    fem_case_destroy(input);
}

static void every_key_is_read_with_its_place(void **state)
{
    (void)state;
    fem_case *input = parse("dir/case.yaml", full);
    const fem_case_keys *keys = &input->keys;
    assert_int_equal(keys->element.value, FEM_S2);
    assert_int_equal(keys->materials.count, 2);
    assert_place(keys->materials.place, 5, 3);
    const fem_case_material *alu = &keys->materials.items[1];
    assert_string_equal(alu->volume.value, "alu 1");
    assert_true(alu->youngs_modulus.value == 70e9 && alu->poisson_ratio.value == 0.34 && alu->density.value == 2700);
    assert_place(alu->place, 6, 5);
    assert_place(alu->poisson_ratio.place, 8, 20);
    assert_int_equal(keys->boundary.count, 4);
    const fem_case_boundary *items = keys->boundary.items;
    assert_string_equal(items[0].face.value, "left");
    assert_int_equal(items[0].displacement.mask, 5);
    assert_true(items[0].displacement.value[0] == 0 && items[0].displacement.value[2] == -1e-3);
    assert_place(items[0].displacement.place, 11, 32);
    assert_false(app_given(items[0].traction.place) || app_given(items[0].pressure.place) || app_given(items[0].edge.place));
    assert_string_equal(items[1].face.value, "17");
    assert_vector(&items[1].traction, 0, 0, 1e6);
    assert_true(items[2].pressure.value == 5e6);
    assert_string_equal(items[3].edge.value, "e");
    assert_vector(&keys->gravity, 0, 0, -9.81);
    assert_int_equal(keys->refine.initial.value, 1);
    assert_int_equal(keys->refine.boxes.count, 1);
    assert_vector(&keys->refine.boxes.items[0].to, 0.5, 1, 1);
    assert_int_equal(keys->refine.boxes.items[0].level.value, 2);
    assert_int_equal(keys->refine.steps.value, 8);
    assert_true(keys->refine.tolerance.value == 1e-3 && keys->refine.fraction.value == 0.5);
    assert_int_equal(keys->refine.max_elements.value, 1000);
    assert_true(keys->solver.relative_residual.value == 1e-6);
    assert_int_equal(keys->solver.preconditioner.value, FEM_PRECONDITIONER_JACOBI);
    assert_int_equal(keys->solver.operator.value, FEM_OPERATOR_STORED);
    assert_int_equal(keys->solver.max_iterations.value, 7);
    assert_string_equal(keys->output.directory.value, "results");
    assert_int_equal(keys->output.fields.value, 1 << FEM_FIELD_DISPLACEMENT | 1 << FEM_FIELD_LEVEL);
    assert_string_equal(keys->probes.items[0].name.value, "tip");
    assert_vector(&keys->probes.items[0].x, 1.0, 0.1, -0.1);
    fem_case_destroy(input);
}

static void mesh_path_is_relative_to_the_case_file(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text, *mesh;
    } expected[] = {
        {"dir/case.yaml", minimal, "dir/meshes/a.msh"},
        {"/case.yaml", minimal, "/meshes/a.msh"},
        {"case.yaml", minimal, "meshes/a.msh"},
        {"dir/case.yaml", full, "/meshes/a.msh"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        fem_case *input = parse(expected[i].path, expected[i].text);
        assert_string_equal(input->mesh_path, expected[i].mesh);
        fem_case_destroy(input);
    }
}

static void overrides_replace_add_and_append(void **state)
{
    (void)state;
    const char *const overrides[] = {"refine.steps=5",
                                     "materials[0].youngs_modulus=1e9",
                                     "boundary.1.displacement=[free, 0, free]",
                                     "boundary.1.point=corner",
                                     "refine.steps=6",
                                     "probes=[{name: a=b, x: [1, 2, 3]}]",
                                     "mesh=other.msh"};
    fem_case *input = NULL;
    yoke_status status = fem_case_parse(context, "dir/case.yaml", minimal, strlen(minimal), overrides, 7, &input);
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    const fem_case_keys *keys = &input->keys;
    assert_int_equal(keys->refine.steps.value, 6);
    assert_int_equal(keys->refine.steps.place.override, 5);
    assert_true(keys->refine.fraction.value == 0.3);
    assert_true(keys->materials.items[0].youngs_modulus.value == 1e9);
    assert_int_equal(keys->boundary.count, 2);
    assert_int_equal(keys->boundary.items[1].displacement.mask, 2);
    assert_string_equal(keys->boundary.items[1].point.value, "corner");
    assert_string_equal(keys->probes.items[0].name.value, "a=b");
    assert_string_equal(input->mesh_path, "dir/other.msh");
    fem_case_destroy(input);
}

static void decimal_point_does_not_depend_on_exponent_or_sign(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } numbers[] = {{"1", 1}, {"+1.5", 1.5}, {".5", 0.5}, {"5.", 5}, {"2.1e11", 2.1e11}, {"2.1E+11", 2.1e11}, {"21e-1", 2.1}, {"007", 7}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char override[64];
        const char *overrides[] = {override};
        snprintf(override, sizeof override, "materials.0.youngs_modulus=%s", numbers[i].text);
        fem_case *input = NULL;
        assert_int_equal(fem_case_parse(context, "c", minimal, strlen(minimal), overrides, 1, &input), YOKE_OK);
        assert_true(input->keys.materials.items[0].youngs_modulus.value == numbers[i].value);
        fem_case_destroy(input);
    }
}

/* ------------------------------------------------------------------------------------------ hostile files */

static void assert_refused(const char *path, const char *expected)
{
    fem_case *input = NULL;
    assert_int_equal(fem_case_read(context, path, NULL, 0, &input), YOKE_ERROR_INPUT);
    if (strstr(yoke_last_error(context), expected) == NULL) fail_msg("expected '%s' in '%s'", expected, yoke_last_error(context));
    assert_null(input);
}

static void missing_files_directories_and_devices_are_refused(void **state)
{
    (void)state;
    assert_refused("/nonexistent/case.yaml", "/nonexistent/case.yaml: cannot be read: No such file or directory");
    assert_refused("/", "/: is not a regular file");
    assert_refused("/dev/zero", "/dev/zero: is not a regular file");
}

static void huge_file_is_refused_unread(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-test-case-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (off_t)1 << 40), 0);
    close(file);
    fem_case *input = NULL;
    yoke_status status = fem_case_read(context, path, NULL, 0, &input);
    unlink(path);
    assert_int_equal(status, YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "is larger than 1048576 bytes"));
}

/* A megabyte of one character or pattern: neither the stack nor a minute is used up. */
static void a_megabyte_of_brackets_dashes_or_items_is_refused(void **state)
{
    (void)state;
    static const char *const patterns[] = {"[",      "{",  "- ",  "? ",  "a: {", "[{a: ", "&a ", "- {}\n",
                                           "a: 1\n", "\"", "#\n", "-\n", "*a ",  "!a ",   "|\n", "%"};
    char *text = malloc(APP_YAML_BYTES);
    assert_non_null(text);
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        size_t length = strlen(patterns[p]);
        for (size_t i = 0; i < APP_YAML_BYTES; i++) text[i] = patterns[p][i % length];
        fem_case *input = NULL;
        assert_int_equal(fem_case_parse(context, "c", text, APP_YAML_BYTES, NULL, 0, &input), YOKE_ERROR_INPUT);
    }
    free(text);
}

static void too_many_items_are_refused(void **state)
{
    (void)state;
    enum { ITEMS = 10001 };
    static char text[ITEMS * 40];
    size_t used = (size_t)sprintf(text, "mesh: a\nmaterials: [{volume: v, youngs_modulus: 1, poisson_ratio: 0}]\nboundary:\n");
    for (int i = 0; i < ITEMS; i++) used += (size_t)sprintf(text + used, "- {face: a, pressure: 1}\n");
    fem_case *input = NULL;
    assert_int_equal(fem_case_parse(context, "c", text, used, NULL, 0, &input), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "boundary has 10001 items; at most 10000 are read"));
}

/* ------------------------------------------------------------------------------------------ memory */

static void every_failing_allocation_is_an_error_without_a_leak(void **state)
{
    (void)state;
    const char *const overrides[] = {"refine.steps=5", "boundary[4]={face: right, pressure: 1}"};
    yoke_status status = YOKE_ERROR_MEMORY;
    int n = 0;
    for (; status != YOKE_OK; n++) {
        failing memory = {.fail_at = 0};
        yoke_options options = failing_options(&memory);
        yoke_context *limited;
        assert_int_equal(yoke_context_create(&options, &limited), YOKE_OK);
        int64_t before = memory.outstanding;
        failing_allow(&memory, n);
        fem_case *input = NULL;
        status = fem_case_parse(limited, "dir/case.yaml", full, strlen(full), overrides, 2, &input);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_true((status == YOKE_OK) == (input != NULL));
        fem_case_destroy(input);
        assert_int_equal(memory.outstanding, before);
        yoke_context_destroy(limited);
    }
    assert_true(n > 3);
}

/* ------------------------------------------------------------------------------------------ fuzzing */

static uint32_t next_random(uint32_t *seed) /* xorshift32 (Marsaglia 2003) */
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static size_t mutate(char *text, size_t length, size_t room, uint32_t *seed)
{
    static const char *const pieces[] = {"[",  "]",  "{", "}",  ": ", "\n", "- ", "free", "nan", "1e999", "&a ",
                                         "*a", "\"", "'", "\t", "-",  "0",  "~",  "|",    "#",   "!"};
    int edits = (int)(next_random(seed) % 5);
    for (int i = 0; i < edits && length > 8; i++) {
        size_t at = next_random(seed) % length;
        uint32_t what = next_random(seed) % 4;
        const char *piece = pieces[next_random(seed) % (sizeof pieces / sizeof pieces[0])];
        size_t size = strlen(piece);
        if (what == 0) {
            text[at] = (char)next_random(seed);
        } else if (what == 1) {
            size_t cut = 1 + next_random(seed) % (length - at < 20 ? length - at : 20);
            memmove(text + at, text + at + cut, length - at - cut);
            length -= cut;
        } else if (length + size < room) {
            memmove(text + at + size, text + at, length - at);
            memcpy(text + at, piece, size);
            length += size;
        }
    }
    return length;
}

static void mutated_cases_are_read_or_refused_with_a_place(void **state)
{
    (void)state;
    uint32_t seed = 20240607;
    int good = 0, bad = 0;
    for (int round = 0; round < 4000; round++) {
        char text[4096], override[128] = "refine.steps=5 [a]: {b}, - c";
        memcpy(text, full, sizeof full);
        size_t length = mutate(text, sizeof full - 1, sizeof text, &seed);
        size_t end = mutate(override, strlen(override), sizeof override - 1, &seed);
        override[end] = '\0';
        const char *overrides[] = {override};
        fem_case *input = NULL;
        yoke_status status = fem_case_parse(context, "c.yaml", text, length, overrides, round % 4 == 0, &input);
        if (status == YOKE_OK) {
            good++;
            const fem_case_keys *keys = &input->keys;
            assert_true(keys->materials.count > 0 && keys->boundary.count > 0);
            for (int i = 0; i < keys->materials.count; i++)
                assert_true(isfinite(keys->materials.items[i].youngs_modulus.value) && keys->materials.items[i].youngs_modulus.value > 0);
            fem_case_destroy(input);
        } else {
            bad++;
            const char *message = yoke_last_error(context);
            assert_int_equal(status, YOKE_ERROR_INPUT);
            assert_true(strncmp(message, "c.yaml:", 7) == 0 || strncmp(message, "--set ", 6) == 0);
        }
    }
    assert_true(good > 100 && bad > 1000);
}

/* ------------------------------------------------------------------------------------------ documentation */

static char *read_file(const char *name)
{
    const char *source = getenv("YOKE_SOURCE_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", source != NULL ? source : ".", name);
    size_t length = 0;
    char *text = whole_file_read(path, &length);
    assert_true(length > 0);
    return text;
}

/* docs/reference/case-file.md ends with the tables that the schema gives. */
static void reference_in_the_manual_is_that_of_the_schema(void **state)
{
    (void)state;
    char *manual = read_file("docs/reference/case-file.md"), *reference = NULL;
    assert_int_equal(app_schema_reference(context, fem_case_schema, &reference), YOKE_OK);
    const char *begin = strstr(manual, "### The whole case");
    assert_non_null(begin);
    if (strcmp(begin, reference) != 0)
        fail_msg("docs/reference/case-file.md is stale; its end, from '### The whole case' on, must be:\n%s", reference);
    yoke_release(context, reference);
    free(manual);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(defaults_are_those_of_the_reference),
    cmocka_unit_test(every_key_is_read_with_its_place),
    cmocka_unit_test(mesh_path_is_relative_to_the_case_file),
    cmocka_unit_test(overrides_replace_add_and_append),
    cmocka_unit_test(decimal_point_does_not_depend_on_exponent_or_sign),
    cmocka_unit_test(missing_files_directories_and_devices_are_refused),
    cmocka_unit_test(huge_file_is_refused_unread),
    cmocka_unit_test(a_megabyte_of_brackets_dashes_or_items_is_refused),
    cmocka_unit_test(too_many_items_are_refused),
    cmocka_unit_test(every_failing_allocation_is_an_error_without_a_leak),
    cmocka_unit_test(mutated_cases_are_read_or_refused_with_a_place),
    cmocka_unit_test(reference_in_the_manual_is_that_of_the_schema),
};

UNIT_MAIN(tests, context_start, context_end)
