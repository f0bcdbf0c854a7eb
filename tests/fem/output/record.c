#include "output/record.h"

#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/table.h"
#include "unit.h"

static const char case_text[] = "mesh: block.msh\n"
                                "element: s2\n"
                                "materials: [{volume: steel, youngs_modulus: 210e9, poisson_ratio: 0.3}]\n"
                                "boundary: [{face: wall, displacement: [0, 0, 0]}]\n"
                                "refine: {steps: 5, tolerance: 1e-3}\n"
                                "solver: {preconditioner: multigrid}\n";

/* All that a record refers to. */
typedef struct fixture {
    yoke_context *context;
    fem_case *input;
    fem_group groups[2];
    fem_mesh mesh;
    fem_problem problem;
    fem_reaction reactions[2];
    fem_probe probe;
    fem_probe_value value;
    fem_step_results results;
    fem_part_record part;
    char directory[32], path[64];
} fixture;

static void start(fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(yoke_context_create(NULL, &f->context), YOKE_OK);
    assert_int_equal(fem_case_parse(f->context, "block.yaml", case_text, strlen(case_text), NULL, 0, &f->input), YOKE_OK);
    f->groups[0].name = "wall";
    f->groups[1].name = "foot\xff"; /* not UTF-8 */
    f->mesh = (fem_mesh){.num_groups = 2, .groups = f->groups};
    f->problem = (fem_problem){.components = 3, .mesh = &f->mesh};
    f->reactions[0] = (fem_reaction){.group = 0, .force_n = {1, 2, 3}, .moment_nm = {4, 5, 6}};
    f->reactions[1] = (fem_reaction){.group = 1, .force_n = {-1, -2, -3}};
    f->probe = (fem_probe){.name = "tip", .x = {0.5, 0.25, 0.125}};
    f->value = (fem_probe_value){.value = {1e-3, 2e-3, 3e-3}, .tensor = {1, 2, 3, 4, 5, 6}, .von_mises_pa = 7};
    f->results = (fem_step_results){.problem = &f->problem,
                                    .num_reactions = 2,
                                    .reactions = f->reactions,
                                    .load_force_n = {10, 0, 0},
                                    .num_probes = 1,
                                    .probes = &f->probe,
                                    .values = &f->value};
    f->part =
        (fem_part_record){.device = "openmp", .threads = 3, .elements = 64, .seconds_per_element = 1e-6, .seconds_per_product = 6.4e-5};
    strcpy(f->directory, "/tmp/yoke-record-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    snprintf(f->path, sizeof f->path, "%s/run.json", f->directory);
}

static void end(fixture *f)
{
    unlink(f->path);
    assert_int_equal(rmdir(f->directory), 0);
    fem_case_destroy(f->input);
    yoke_context_destroy(f->context);
}

static fem_step_record full_step(const fixture *f, int step)
{
    return (fem_step_record){.step = step,
                             .elements = 64,
                             .dofs = 2187,
                             .hanging_nodes = 12,
                             .iterations = 9,
                             .operator_applications = 77,
                             .relative_residual = 5e-9,
                             .error_estimate = 2.5,
                             .relative_error_estimate = 0.05,
                             .strain_energy_j = 42,
                             .max_displacement_m = 1e-4,
                             .max_von_mises_pa = 123456.78,
                             .num_parts = 1,
                             .parts = &f->part,
                             .share = FEM_SHARE_CPU,
                             .gpu_share = 0,
                             .predicted_time_s = NAN,
                             .predicted_energy_j = NAN,
                             .measured_time_s = 0.5,
                             .measured_energy_j = 12,
                             .energy_kind = "estimated",
                             .memory_bytes = 5e6,
                             .messages_per_iteration = 6.5,
                             .sent_bytes_per_iteration = 7000,
                             .most_messages_per_iteration = 3.5,
                             .most_sent_bytes_per_iteration = 4000,
                             .refine_s = 0.1,
                             .setup_s = 0.2,
                             .solve_s = 0.5,
                             .estimate_s = 0.3,
                             .write_s = NAN};
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    assert_non_null(root);
    return root;
}

/* The value at a path of keys and indices separated by dots. */
static json_t *at(json_t *root, const char *keys)
{
    char copy[128], *rest = copy;
    assert_true(strlen(keys) < sizeof copy);
    strcpy(copy, keys);
    for (char *key = strtok_r(rest, ".", &rest); key; key = strtok_r(NULL, ".", &rest)) {
        root = json_is_array(root) ? json_array_get(root, strtoul(key, NULL, 10)) : json_object_get(root, key);
        if (!root) fail_msg("no key %s of %s", key, keys);
    }
    return root;
}

static void a_step_has_all_keys_with_their_values(void **state)
{
    (void)state;
    fixture f;
    fem_record *record;
    char *argv[] = {"yoke-fem", "block.yaml"};
    start(&f);
    const char *const paths[2] = {f.path, NULL};
    assert_int_equal(fem_record_create(f.input, 2, argv, 2, paths, &record), YOKE_OK);
    assert_int_not_equal(access(f.path, F_OK), 0);
    fem_step_record step = full_step(&f, 0);
    assert_int_equal(fem_record_step(record, &step, &f.results), YOKE_OK);
    json_t *root = load(f.path);
    const struct {
        const char *keys;
        double value;
    } numbers[] = {
        {"steps.0.step", 0},
        {"steps.0.elements", 64},
        {"steps.0.dofs", 2187},
        {"steps.0.hanging_nodes", 12},
        {"steps.0.iterations", 9},
        {"steps.0.operator_applications", 77},
        {"steps.0.relative_residual", 5e-9},
        {"steps.0.error_estimate", 2.5},
        {"steps.0.relative_error_estimate", 0.05},
        {"steps.0.strain_energy_j", 42},
        {"steps.0.max_displacement_m", 1e-4},
        {"steps.0.max_von_mises_pa", 123456.78},
        {"steps.0.memory_bytes", 5e6},
        {"steps.0.messages.per_iteration", 6.5},
        {"steps.0.messages.bytes_per_iteration", 7000},
        {"steps.0.messages.most_per_iteration", 3.5},
        {"steps.0.messages.most_bytes_per_iteration", 4000},
        {"steps.0.parts.0.elements", 64},
        {"steps.0.parts.0.seconds_per_element", 1e-6},
        {"steps.0.parts.0.threads", 3},
        {"steps.0.parts.0.seconds_per_product", 6.4e-5},
        {"steps.0.parts.0.halo_bytes", 0},
        {"steps.0.gpu_share", 0},
        {"steps.0.measured.time_s", 0.5},
        {"steps.0.measured.energy_j", 12},
        {"steps.0.seconds.refine", 0.1},
        {"steps.0.seconds.setup", 0.2},
        {"steps.0.seconds.solve", 0.5},
        {"steps.0.seconds.estimate", 0.3},
        {"reactions.0.force_n.2", 3},
        {"reactions.0.moment_nm.0", 4},
        {"reactions.1.force_n.0", -1},
        {"loads.force_n.0", 10},
        {"loads.moment_nm.1", 0},
        {"probes.0.x.1", 0.25},
        {"probes.0.displacement.2", 3e-3},
        {"probes.0.stress.5", 6},
        {"probes.0.von_mises", 7},
        {"case.refine.steps", 5},
        {"case.refine.tolerance", 1e-3},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        json_t *value = at(root, numbers[i].keys);
        assert_true(json_is_number(value) && json_number_value(value) == numbers[i].value);
    }
    const char *const texts[][2] = {{"program", "yoke fem"},
                                    {"steps.0.case", "cpu"},
                                    {"steps.0.parts.0.device", "openmp"},
                                    {"reactions.0.face", "wall"},
                                    {"reactions.1.face", "foot?"},
                                    {"probes.0.name", "tip"},
                                    {"case.path", "block.yaml"},
                                    {"case.mesh", "block.msh"},
                                    {"case.problem", "elasticity"},
                                    {"case.element", "s2"},
                                    {"command.1", "block.yaml"},
                                    {"steps.0.measured.energy_kind", "estimated"},
                                    {"version", yoke_version()},
                                    {"case.solver.preconditioner", "multigrid"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) assert_string_equal(json_string_value(at(root, texts[i][0])), texts[i][1]);
    const char *const unknown[] = {"stopped_by", "steps.0.predicted.time_s", "steps.0.predicted.energy_j", "steps.0.seconds.write"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) assert_true(json_is_null(at(root, unknown[i])));
    json_decref(root);
    fem_record_destroy(record);
    end(&f);
}

static void unknown_numbers_are_null(void **state)
{
    (void)state;
    fixture f;
    fem_record *record;
    start(&f);
    const char *const paths[1] = {f.path};
    assert_int_equal(fem_record_create(f.input, 0, NULL, 1, paths, &record), YOKE_OK);
    fem_step_record step = fem_step_unknown(3);
    f.results.num_probes = f.results.num_reactions = 0;
    assert_int_equal(fem_record_step(record, &step, &f.results), YOKE_OK);
    json_t *root = load(f.path), *value;
    const char *key;
    json_object_foreach (at(root, "steps.0.seconds"), key, value) assert_true(json_is_null(value));
    json_object_foreach (at(root, "steps.0.measured"), key, value) assert_true(json_is_null(value));
    const char *const unknown[] = {"relative_residual",  "error_estimate",   "strain_energy_j",
                                   "max_displacement_m", "max_von_mises_pa", "gpu_share"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_true(json_is_null(json_object_get(at(root, "steps.0"), unknown[i])));
    assert_int_equal(json_integer_value(at(root, "steps.0.step")), 3);
    assert_int_equal(json_array_size(at(root, "steps.0.parts")), 0);
    assert_int_equal(json_array_size(at(root, "probes")), 0);
    json_decref(root);
    fem_record_destroy(record);
    end(&f);
}

static void the_file_is_whole_after_each_step_and_says_why_the_run_ended(void **state)
{
    (void)state;
    fixture f;
    fem_record *record;
    char device[] = "/dev/null";
    start(&f);
    const char *const paths[2] = {f.path, device};
    assert_int_equal(fem_record_create(f.input, 0, NULL, 2, paths, &record), YOKE_OK);
    for (int i = 0; i < 3; i++) {
        fem_step_record step = full_step(&f, i);
        f.value.von_mises_pa = 100 + i;
        assert_int_equal(fem_record_step(record, &step, &f.results), YOKE_OK);
        json_t *root = load(f.path);
        assert_int_equal(json_array_size(at(root, "steps")), i + 1);
        assert_int_equal(json_array_size(at(root, "probes")), 1); /* those of the last step */
        assert_true(json_number_value(at(root, "probes.0.von_mises")) == 100 + i);
        assert_true(json_is_null(at(root, "stopped_by")));
        json_decref(root);
    }
    assert_int_equal(fem_record_finish(record, "tolerance"), YOKE_OK);
    json_t *root = load(f.path);
    assert_string_equal(json_string_value(at(root, "stopped_by")), "tolerance");
    assert_int_equal(json_array_size(at(root, "steps")), 3);
    json_decref(root);
    fem_record_destroy(record);
    end(&f);
}

static void a_pipe_gets_one_document_at_the_end(void **state)
{
    (void)state;
    fixture f;
    fem_record *record;
    int ends[2];
    char path[32], text[65536];
    start(&f);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    const char *const paths[1] = {path};
    assert_int_equal(fem_record_create(f.input, 0, NULL, 1, paths, &record), YOKE_OK);
    for (int i = 0; i < 2; i++) {
        fem_step_record step = full_step(&f, i);
        assert_int_equal(fem_record_step(record, &step, &f.results), YOKE_OK);
    }
    assert_int_equal(fem_record_finish(record, "steps"), YOKE_OK);
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, sizeof text - length)) > 0;) length += (size_t)got;
    close(ends[0]);
    json_error_t error;
    json_t *root = json_loadb(text, length, 0, &error); /* refuses anything after the document */
    assert_non_null(root);
    assert_int_equal(json_array_size(at(root, "steps")), 2);
    json_decref(root);
    fem_record_destroy(record);
    end(&f);
}

static void a_scalar_problem_has_flows_values_and_gradients(void **state)
{
    (void)state;
    fixture f;
    fem_record *record;
    start(&f);
    f.problem.components = 1;
    const char *const paths[1] = {f.path};
    assert_int_equal(fem_record_create(f.input, 0, NULL, 1, paths, &record), YOKE_OK);
    fem_step_record step = full_step(&f, 0);
    assert_int_equal(fem_record_step(record, &step, &f.results), YOKE_OK);
    json_t *root = load(f.path);
    assert_true(json_number_value(at(root, "reactions.0.flow")) == 1);
    assert_true(json_number_value(at(root, "loads.flow")) == 10);
    assert_true(json_number_value(at(root, "probes.0.value")) == 1e-3);
    assert_int_equal(json_array_size(at(root, "probes.0.gradient")), 3);
    assert_null(json_object_get(at(root, "probes.0"), "stress"));
    assert_null(json_object_get(at(root, "reactions.0"), "force_n"));
    json_decref(root);
    fem_record_destroy(record);
    end(&f);
}

/* A tetrahedron becomes four hexahedra, a prism six, a hexahedron eight; what the file has none of is not listed. */
static void the_record_counts_what_was_split(void **state)
{
    (void)state;
    fixture f;
    fem_record *record;
    start(&f);
    const char *const paths[1] = {f.path};
    const fem_mesh mesh = {.num_elements = 28, .order = 2, .split = {3, 0, 2}, .worst_shape = 0.5, .worst_tag = 17};
    assert_int_equal(fem_record_create(f.input, 0, NULL, 1, paths, &record), YOKE_OK);
    assert_int_equal(fem_record_mesh(record, &mesh), YOKE_OK);
    assert_int_equal(fem_record_finish(record, "steps"), YOKE_OK);
    json_t *root = load(f.path);
    assert_int_equal(json_integer_value(at(root, "mesh.hexahedra")), 28);
    assert_int_equal(json_integer_value(at(root, "mesh.order")), 2);
    assert_int_equal(json_integer_value(at(root, "mesh.worst_element")), 17);
    assert_int_equal(json_array_size(at(root, "mesh.split")), 2);
    assert_string_equal(json_string_value(at(root, "mesh.split.0.kind")), "tetrahedra");
    assert_int_equal(json_integer_value(at(root, "mesh.split.0.elements")), 3);
    assert_int_equal(json_integer_value(at(root, "mesh.split.0.hexahedra")), 12);
    assert_string_equal(json_string_value(at(root, "mesh.split.1.kind")), "hexahedra");
    assert_int_equal(json_integer_value(at(root, "mesh.split.1.hexahedra")), 16);
    json_decref(root);
    fem_record_destroy(record);
    end(&f);
}

static void a_file_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    fixture f;
    fem_record *record;
    char nowhere[64];
    start(&f);
    snprintf(nowhere, sizeof nowhere, "%s/nowhere/run.json", f.directory);
    const char *const paths[2] = {nowhere, f.path};
    assert_int_equal(fem_record_create(f.input, 0, NULL, 2, paths, &record), YOKE_OK);
    fem_step_record step = full_step(&f, 0);
    assert_int_equal(fem_record_step(record, &step, &f.results), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(f.context), nowhere));
    fem_record_destroy(record);
    const char *const full[1] = {"/dev/full"};
    assert_int_equal(fem_record_create(f.input, 0, NULL, 1, full, &record), YOKE_OK);
    assert_int_equal(fem_record_finish(record, "steps"), YOKE_ERROR_SYSTEM);
    assert_non_null(strstr(yoke_last_error(f.context), "/dev/full"));
    fem_record_destroy(record);
    end(&f);
}

/* jansson's memory ends after so many blocks. */
static int blocks_left;

static void *limited_malloc(size_t bytes) { return blocks_left-- > 0 ? malloc(bytes) : NULL; }

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    const char *const paths[1] = {f.path};
    yoke_status status = YOKE_ERROR_MEMORY;
    int failures = 0;
    for (int blocks = 0; status != YOKE_OK && blocks < 5000; blocks++) {
        fem_record *record = NULL;
        fem_step_record step = full_step(&f, 0);
        json_set_alloc_funcs(limited_malloc, free);
        blocks_left = blocks;
        status = fem_record_create(f.input, 0, NULL, 1, paths, &record);
        if (status == YOKE_OK) status = fem_record_mesh(record, &(fem_mesh){.split = {1, 1, 1}});
        if (status == YOKE_OK) status = fem_record_step(record, &step, &f.results);
        if (status == YOKE_OK) status = fem_record_finish(record, "steps");
        fem_record_destroy(record);
        json_set_alloc_funcs(malloc, free);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        failures += status == YOKE_ERROR_MEMORY;
    }
    assert_int_equal(status, YOKE_OK);
    assert_true(failures > 100);
    end(&f);
}

static void the_table_is_aligned_and_fits_100_columns(void **state)
{
    (void)state;
    fixture f;
    char header[FEM_TABLE_LINE], row[FEM_TABLE_LINE];
    start(&f);
    for (int columns = 0; columns < 16; columns++) {
        fem_table table = {.components = columns & 8 ? 1 : 3, .gpu = columns & 1, .prediction = columns & 2, .energy = columns & 4};
        fem_step_record steps[3] = {full_step(&f, 0), fem_step_unknown(12), full_step(&f, 8)};
        steps[2].elements = 2000000;
        steps[2].dofs = 49000000;
        steps[2].refine_s = 4321;
        steps[2].gpu_share = 1;
        fem_table_header(&table, header);
        assert_true(strlen(header) < 100);
        for (int i = 0; i < 3; i++) {
            fem_table_row(&table, &steps[i], row);
            assert_int_equal(strlen(row), strlen(header));
        }
    }
    fem_table table = {.components = 3};
    fem_step_record step = full_step(&f, 2);
    fem_table_header(&table, header);
    assert_string_equal(header, "step elements     dofs iter s/product s solve  estimate      Mises s total");
    table.stress_unit = "MPa";
    fem_table_header(&table, header);
    assert_string_equal(header, "step elements     dofs iter s/product s solve  estimate  Mises MPa s total");
    fem_table_row(&table, &step, row);
    assert_string_equal(row, "   2       64     2187    9   6.4e-05     0.5  5.00e-02 1.2346e+05     1.1");
    end(&f);
}

static void several_parts_show_their_seconds_per_product_side_by_side(void **state)
{
    (void)state;
    fixture f;
    char row[FEM_TABLE_LINE];
    start(&f);
    const fem_part_record parts[3] = {{.device = "openmp", .seconds_per_product = 1.2e-3},
                                      {.device = "cuda:0", .seconds_per_product = 3e-4},
                                      {.device = "cuda:1", .seconds_per_product = NAN}};
    fem_step_record step = full_step(&f, 2);
    step.num_parts = 3;
    step.parts = parts;
    step.gpu_share = 0.75;
    fem_table table = {.components = 3, .gpu = true};
    fem_table_row(&table, &step, row);
    assert_non_null(strstr(row, "  75.0 1.2e-03/3.0e-04/- "));
    fem_part_record many[200];
    for (int i = 0; i < 200; i++) many[i] = parts[0];
    step.num_parts = 200;
    step.parts = many;
    fem_table_row(&table, &step, row);
    assert_true(strlen(row) < FEM_TABLE_LINE);
    end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_step_has_all_keys_with_their_values),
    cmocka_unit_test(unknown_numbers_are_null),
    cmocka_unit_test(the_file_is_whole_after_each_step_and_says_why_the_run_ended),
    cmocka_unit_test(a_pipe_gets_one_document_at_the_end),
    cmocka_unit_test(a_scalar_problem_has_flows_values_and_gradients),
    cmocka_unit_test(the_record_counts_what_was_split),
    cmocka_unit_test(a_file_that_cannot_be_written_is_named),
    cmocka_unit_test(memory_may_end_anywhere),
    cmocka_unit_test(the_table_is_aligned_and_fits_100_columns),
    cmocka_unit_test(several_parts_show_their_seconds_per_product_side_by_side),
};

UNIT_MAIN(tests, NULL, NULL)
