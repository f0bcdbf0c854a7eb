#include "output/vtu.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fem/fixtures/body.h"
#include "mesh/shape.h"
#include "unit.h"

/* ------------------------------------------------------------------------------------------- reading it back */

typedef struct file {
    char *text;
    size_t bytes;
    const char *appended; /* what offsets count from */
    int64_t points, cells;
} file;

static char *read_whole(const char *path, size_t *bytes)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(stream);
    rewind(stream);
    char *text = malloc(*bytes + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *bytes, stream), *bytes);
    text[*bytes] = 0;
    fclose(stream);
    return text;
}

static int64_t attribute(const char *from, const char *name)
{
    const char *at = strstr(from, name);
    assert_non_null(at);
    return strtoll(at + strlen(name), NULL, 10);
}

static void read_vtu(const char *path, file *f)
{
    f->text = read_whole(path, &f->bytes);
    f->points = attribute(f->text, "NumberOfPoints=\"");
    f->cells = attribute(f->text, "NumberOfCells=\"");
    const char *mark = "<AppendedData encoding=\"raw\">\n_";
    f->appended = strstr(f->text, mark);
    assert_non_null(f->appended);
    f->appended += strlen(mark);
    const char *end = "\n  </AppendedData>\n</VTKFile>\n";
    assert_string_equal(f->text + f->bytes - strlen(end), end);
    assert_non_null(strstr(f->text, "header_type=\"UInt64\""));
    assert_non_null(strstr(f->text, "byte_order=\"LittleEndian\""));
}

/* The values of an array, a copy to be freed; NULL where the file has none of that name.  bytes: what the array should have. */
static void *array_of(const file *f, const char *name, int64_t bytes)
{
    char tag[64];
    uint64_t written;
    snprintf(tag, sizeof tag, "Name=\"%s\"", name);
    const char *at = strstr(f->text, tag);
    if (!at || at > f->appended) return NULL;
    int64_t offset = attribute(at, "offset=\"");
    assert_true(offset >= 0 && (size_t)offset + sizeof written <= f->bytes - (size_t)(f->appended - f->text));
    memcpy(&written, f->appended + offset, sizeof written);
    assert_int_equal(written, bytes);
    assert_true((size_t)offset + sizeof written + written <= f->bytes - (size_t)(f->appended - f->text));
    void *copy = malloc(written + 1);
    assert_non_null(copy);
    memcpy(copy, f->appended + offset + sizeof written, written);
    return copy;
}

/* ------------------------------------------------------------------------------------------------- a run */

typedef struct run {
    body b;
    double *u;
    fem_stress *stress;
    char directory[64], path[96];
    file f;
} run;

static void start_run(const body_options *options, run *r)
{
    body_create(options, &r->b);
    r->u = body_values(&r->b, options->solution);
    assert_int_equal(fem_stress_create(r->b.space, r->u, &r->stress), YOKE_OK);
    strcpy(r->directory, "/tmp/yoke-vtu-XXXXXX");
    assert_non_null(mkdtemp(r->directory));
    snprintf(r->path, sizeof r->path, "%s/step-00.vtu", r->directory);
}

static yoke_status write_whole(const fem_vtu *vtu, const char *path)
{
    app_file *whole = NULL;
    yoke_status status = fem_vtu_start(vtu, path, &whole);
    return status ? status : app_file_commit(whole);
}

static void end_run(run *r)
{
    fem_stress_destroy(r->stress);
    free(r->u);
    body_destroy(&r->b);
    unlink(r->path);
    assert_int_equal(rmdir(r->directory), 0); /* no temporary file is left */
}

static fem_vtu everything(const run *r) { return (fem_vtu){.space = r->b.space, .stress = r->stress, .u = r->u, .fields = INT64_MAX}; }

/* ------------------------------------------------------------------------------------------------- tests */

/*
 * Local coordinates of the nodes of VTK's cells as their classes document them (GetParametricCoords of vtkHexahedron,
 * vtkQuadraticHexahedron, vtkTriQuadraticHexahedron): the first 8, 20 or all 27.
 */
static const double vtk_coordinates[27][3] = {{0, 0, 0},   {1, 0, 0},   {1, 1, 0},   {0, 1, 0},   {0, 0, 1},   {1, 0, 1},   {1, 1, 1},
                                              {0, 1, 1},   {.5, 0, 0},  {1, .5, 0},  {.5, 1, 0},  {0, .5, 0},  {.5, 0, 1},  {1, .5, 1},
                                              {.5, 1, 1},  {0, .5, 1},  {0, 0, .5},  {1, 0, .5},  {1, 1, .5},  {0, 1, .5},  {0, .5, .5},
                                              {1, .5, .5}, {.5, 0, .5}, {.5, 1, .5}, {.5, .5, 0}, {.5, .5, 1}, {.5, .5, .5}};

static void check_cells(const run *r, int type, int nodes)
{
    const fem_space *space = r->b.space;
    const file *f = &r->f;
    double *x = array_of(f, "points", 24 * f->points);
    int64_t *connectivity = array_of(f, "connectivity", 8 * nodes * f->cells), *offsets = array_of(f, "offsets", 8 * f->cells);
    unsigned char *types = array_of(f, "types", f->cells), *used = calloc((size_t)f->points, 1);
    assert_true(x && connectivity && offsets && types && used);
    for (int64_t e = 0; e < f->cells; e++) {
        double slot_x[81], shape[27];
        fem_space_geometry(space, (int32_t)e, slot_x);
        assert_int_equal(types[e], type);
        assert_int_equal(offsets[e], (e + 1) * nodes);
        for (int i = 0; i < nodes; i++) {
            int64_t point = connectivity[nodes * e + i];
            assert_in_range(point, 0, f->points - 1);
            used[point] = 1;
            fem_shape(space->slots_1d, vtk_coordinates[i], shape, NULL, NULL);
            for (int a = 0; a < 3; a++) {
                double expected = 0;
                for (int s = 0; s < space->slots; s++) expected += shape[s] * slot_x[3 * s + a];
                assert_true(fabs(x[3 * point + a] - expected) < 1e-14);
            }
        }
    }
    for (int64_t i = 0; i < f->points; i++) assert_true(used[i]);
    free(x);
    free(connectivity);
    free(offsets);
    free(types);
    free(used);
}

static void cells_have_their_nodes_where_vtk_documents_them(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    const int type[3] = {12, 25, 29}, nodes[3] = {8, 20, 27};
    for (int element = FEM_Q1; element <= FEM_Q2; element++) {
        body_options options = {
            .elements = {2, 2, 3}, .map = body_bend, .order = 2, .element = (fem_element)element, .uneven = 3, .solution = &solution};
        run r;
        start_run(&options, &r);
        fem_vtu vtu = everything(&r);
        assert_int_equal(write_whole(&vtu, r.path), YOKE_OK);
        read_vtu(r.path, &r.f);
        assert_int_equal(r.f.cells, r.b.space->num_elements);
        check_cells(&r, type[element], nodes[element]);
        free(r.f.text);
        end_run(&r);
    }
}

/* The values are the roots of det(factor T - value I), in descending order; T in VTK's order. */
static void check_characteristic_roots(const double t[6], const double value[3], double factor)
{
    double size = fmax(fabs(value[0]), fabs(value[2]));
    assert_true(value[0] >= value[1] && value[1] >= value[2]);
    for (int i = 0; i < 3; i++) {
        double a = factor * t[0] - value[i], b = factor * t[1] - value[i], c = factor * t[2] - value[i];
        double xy = factor * t[3], yz = factor * t[4], xz = factor * t[5];
        double determinant = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
        assert_true(fabs(determinant) <= 1e-9 * size * size * size);
    }
    assert_true(fabs(value[0] + value[1] + value[2] - factor * (t[0] + t[1] + t[2])) <= 1e-9 * size);
}

/* Linear displacement in two materials: all values, at hanging nodes and on both sides of the interface, are known. */
static void point_fields_are_exact_at_every_point_and_jump_between_materials(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(210e9, 0.3);
    const int nodes[3] = {8, 20, 27};
    for (int element = FEM_Q1; element <= FEM_Q2; element++) {
        body_options options = {.elements = {4, 2, 2},
                                .map = body_bend,
                                .order = 2,
                                .element = (fem_element)element,
                                .uneven = 3,
                                .materials = 2,
                                .solution = &solution};
        run r;
        start_run(&options, &r);
        fem_vtu vtu = everything(&r);
        assert_int_equal(write_whole(&vtu, r.path), YOKE_OK);
        read_vtu(r.path, &r.f);
        file *f = &r.f;
        double *x = array_of(f, "points", 24 * f->points), *u = array_of(f, "displacement", 24 * f->points);
        double *stress = array_of(f, "stress", 48 * f->points), *von_mises = array_of(f, "von_mises", 8 * f->points), s[9], origin[3] = {0};
        int64_t *connectivity = array_of(f, "connectivity", 8 * nodes[element] * f->cells);
        int32_t *material = array_of(f, "material", 4 * f->cells);
        double *strain = array_of(f, "strain", 48 * f->points), *principal = array_of(f, "principal_stress", 24 * f->points);
        double *principal_strain = array_of(f, "principal_strain", 24 * f->points);
        assert_true(x && u && stress && von_mises && connectivity && material && strain && principal && principal_strain);
        assert_null(array_of(f, "value", 0));
        assert_null(array_of(f, "gradient", 0));
        for (int64_t i = 0; i < f->points; i++) {
            double exact[3];
            solution.value(&solution, x + 3 * i, exact);
            for (int c = 0; c < 3; c++) assert_true(fabs(u[3 * i + c] - exact[c]) <= 1e-13 * (1 + fabs(exact[c])));
        }
        manufactured_stress(&solution, origin, s);
        const double ordered[6] = {s[0], s[4], s[8], s[1], s[5], s[2]}; /* VTK's: xx yy zz xy yz xz */
        double g[9], exact_strain[6];
        solution.gradient(&solution, origin, g);
        for (int c = 0; c < 6; c++) exact_strain[c] = (g[(int[]){0, 4, 8, 1, 5, 2}[c]] + g[(int[]){0, 4, 8, 3, 7, 6}[c]]) / 2;
        double scale = fem_von_mises(ordered);
        for (int64_t k = 0; k < nodes[element] * f->cells; k++) {
            int64_t i = connectivity[k];
            double factor = material[k / nodes[element]] + 1;
            assert_int_equal(material[k / nodes[element]], r.b.problem.material_of[r.b.space->tree[k / nodes[element]]]);
            for (int c = 0; c < 6; c++) {
                assert_true(fabs(stress[6 * i + c] - factor * ordered[c]) <= 1e-10 * scale);
                assert_true(fabs(strain[6 * i + c] - exact_strain[c]) <= 1e-10); /* the same on both sides, where the stress jumps */
            }
            check_characteristic_roots(ordered, principal + 3 * i, factor);
            check_characteristic_roots(exact_strain, principal_strain + 3 * i, 1);
            assert_true(fabs(von_mises[i] - factor * scale) <= 1e-10 * scale);
        }
        free(x);
        free(u);
        free(stress);
        free(von_mises);
        free(strain);
        free(principal);
        free(principal_strain);
        free(connectivity);
        free(material);
        free(f->text);
        end_run(&r);
    }
}

static void quadratic_fields_are_exact_at_hanging_nodes(void **state)
{
    (void)state;
    manufactured solution = manufactured_poisson_quadratic(2);
    body_options options = {.elements = {3, 2, 2}, .order = 1, .element = FEM_Q2, .uneven = 3, .solution = &solution};
    run r;
    start_run(&options, &r);
    fem_vtu vtu = everything(&r);
    assert_int_equal(write_whole(&vtu, r.path), YOKE_OK);
    read_vtu(r.path, &r.f);
    file *f = &r.f;
    double *x = array_of(f, "points", 24 * f->points), *value = array_of(f, "value", 8 * f->points);
    double *gradient = array_of(f, "gradient", 24 * f->points);
    assert_true(x && value && gradient);
    assert_true(f->points > r.b.space->num_nodes);
    assert_null(array_of(f, "displacement", 0));
    assert_null(array_of(f, "von_mises", 0));
    for (int64_t i = 0; i < f->points; i++) {
        double exact, exact_gradient[3];
        solution.value(&solution, x + 3 * i, &exact);
        solution.gradient(&solution, x + 3 * i, exact_gradient);
        assert_true(fabs(value[i] - exact) <= 1e-12 * (1 + fabs(exact)));
        for (int c = 0; c < 3; c++) assert_true(fabs(gradient[3 * i + c] - exact_gradient[c]) <= 1e-11 * (1 + fabs(exact_gradient[c])));
    }
    free(x);
    free(value);
    free(gradient);
    free(f->text);
    end_run(&r);
}

/* A linear temperature is exact at all points, hanging ones too; a material with a temperature of its own has that one on its side. */
static void the_temperature_is_the_cases_at_every_point_and_in_every_material(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(210e9, 0.3);
    const int nodes[3] = {8, 20, 27};
    const double slope[3] = {3, -2, 5}, reference = 20, value = 60, own = 95;
    for (int element = FEM_Q1; element <= FEM_Q2; element++) {
        body_options options = {.elements = {4, 2, 2},
                                .map = body_bend,
                                .order = 2,
                                .element = (fem_element)element,
                                .uneven = 3,
                                .materials = 2,
                                .solution = &solution};
        run r;
        start_run(&options, &r);
        r.b.problem.temperature = (fem_temperature){.given = true, .value = value - reference, .reference = reference};
        memcpy(r.b.problem.temperature.gradient, slope, sizeof slope);
        r.b.problem.materials[1].has_temperature = true;
        r.b.problem.materials[1].temperature = own;
        fem_vtu vtu = everything(&r);
        assert_int_equal(write_whole(&vtu, r.path), YOKE_OK);
        read_vtu(r.path, &r.f);
        file *f = &r.f;
        double *x = array_of(f, "points", 24 * f->points), *temperature = array_of(f, "temperature", 8 * f->points);
        int64_t *connectivity = array_of(f, "connectivity", 8 * nodes[element] * f->cells), seen[2] = {0};
        int32_t *material = array_of(f, "material", 4 * f->cells);
        assert_true(x && temperature && connectivity && material && f->points > r.stress->points.num_nodes);
        for (int64_t k = 0; k < nodes[element] * f->cells; k++) {
            int64_t i = connectivity[k];
            int m = material[k / nodes[element]];
            double exact = value + slope[0] * x[3 * i] + slope[1] * x[3 * i + 1] + slope[2] * x[3 * i + 2];
            assert_true(fabs(temperature[i] - (m == 1 ? own : exact)) <= 1e-12 * own);
            seen[m]++;
        }
        assert_true(seen[0] > 0 && seen[1] > 0);
        free(x);
        free(temperature);
        free(connectivity);
        free(material);
        free(f->text);
        end_run(&r);
    }
}

static void cell_fields_and_the_choice_of_fields(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    body_options options = {.elements = {2, 2, 2}, .order = 1, .element = FEM_Q1, .uneven = 2, .solution = &solution};
    run r;
    start_run(&options, &r);
    int64_t cells = r.b.space->num_elements;
    double *indicator = malloc(sizeof *indicator * (size_t)cells);
    int32_t *part = malloc(sizeof *part * (size_t)cells);
    assert_true(indicator && part);
    for (int64_t e = 0; e < cells; e++) indicator[e] = 0.5 + (double)e, part[e] = (int32_t)(e % 3);
    fem_vtu vtu = everything(&r);
    vtu.indicator = indicator;
    vtu.part = part;
    vtu.fields = 1 << FEM_FIELD_ERROR | 1 << FEM_FIELD_PART | 1 << FEM_FIELD_LEVEL;
    assert_int_equal(write_whole(&vtu, r.path), YOKE_OK);
    read_vtu(r.path, &r.f);
    double *error = array_of(&r.f, "error", 8 * cells);
    int32_t *parts = array_of(&r.f, "part", 4 * cells), *level = array_of(&r.f, "level", 4 * cells);
    assert_true(error && parts && level);
    assert_memory_equal(error, indicator, sizeof *error * (size_t)cells);
    assert_memory_equal(parts, part, sizeof *parts * (size_t)cells);
    for (int64_t e = 0; e < cells; e++) assert_int_equal(level[e], r.b.space->level[e]);
    const char *const absent[] = {"displacement", "stress", "von_mises", "material"};
    for (int i = 0; i < 4; i++) assert_null(array_of(&r.f, absent[i], 0));
    free(error);
    free(parts);
    free(level);
    free(indicator);
    free(part);
    free(r.f.text);
    end_run(&r);
}

static void a_file_that_cannot_be_written_leaves_the_old_one(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    body_options options = {.elements = {4, 4, 4}, .order = 1, .element = FEM_Q2, .solution = &solution};
    run r;
    size_t before_bytes, after_bytes;
    start_run(&options, &r);
    fem_vtu vtu = everything(&r);
    assert_int_equal(write_whole(&vtu, r.path), YOKE_OK);
    char *before = read_whole(r.path, &before_bytes);

    /* A file size limit stands for a full disk: the write fails in the middle. */
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = before_bytes / 2;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    yoke_status status = write_whole(&vtu, r.path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, YOKE_ERROR_SYSTEM);
    assert_non_null(strstr(yoke_last_error(r.b.context), r.path));
    char *after = read_whole(r.path, &after_bytes);
    assert_int_equal(before_bytes, after_bytes);
    assert_memory_equal(before, after, before_bytes);

    char nowhere[128];
    snprintf(nowhere, sizeof nowhere, "%s/nowhere/step-00.vtu", r.directory);
    assert_int_equal(write_whole(&vtu, nowhere), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(r.b.context), "nowhere"));
    assert_int_equal(fem_vtu_write_series(r.b.context, nowhere, 1), YOKE_ERROR_INPUT);
    free(before);
    free(after);
    end_run(&r);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    body_options options = {.elements = {2, 2, 2}, .order = 1, .element = FEM_Q2, .uneven = 1, .solution = &solution};
    run r;
    start_run(&options, &r);
    yoke_status status = YOKE_ERROR_MEMORY;
    int failures = 0;
    for (int64_t blocks = 0; status != YOKE_OK && blocks < 1000; blocks++) {
        fem_stress *stress = NULL;
        r.b.blocks_left = blocks;
        status = fem_stress_create(r.b.space, r.u, &stress);
        if (status == YOKE_OK) {
            fem_vtu vtu = everything(&r);
            vtu.stress = stress;
            status = write_whole(&vtu, r.path);
        }
        fem_stress_destroy(stress);
        failures += status == YOKE_ERROR_MEMORY;
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_int_equal(access(r.path, F_OK) == 0, status == YOKE_OK);
    }
    assert_int_equal(status, YOKE_OK);
    assert_true(failures > 10);
    r.b.blocks_left = INT64_MAX;
    end_run(&r);
}

static void files_have_the_number_of_their_step(void **state)
{
    char name[FEM_VTU_NAME];
    (void)state;
    fem_vtu_name(123, 1, name);
    assert_string_equal(name, "step-123.vtu");
    fem_vtu_name(0, 2, name);
    assert_string_equal(name, "step-00.pvtu");
    fem_vtu_piece_name(7, 1023, name);
    assert_string_equal(name, "step-07-1023.vtu");
}

static void the_series_names_each_step(void **state)
{
    (void)state;
    yoke_context *context;
    char directory[] = "/tmp/yoke-vtu-XXXXXX", path[64], step[128], name[FEM_VTU_NAME];
    size_t bytes;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/run.pvd", directory);
    assert_int_equal(fem_vtu_write_series(context, path, 1), YOKE_OK);
    assert_int_equal(fem_vtu_write_series(context, path, 3), YOKE_OK);
    char *text = read_whole(path, &bytes);
    assert_non_null(strstr(text, "<DataSet timestep=\"0\" part=\"0\" file=\"step-00.vtu\"/>"));
    assert_non_null(strstr(text, "<DataSet timestep=\"2\" part=\"0\" file=\"step-02.vtu\"/>"));
    assert_null(strstr(text, "step-03"));
    free(text);
    /* A step of several ranks is named where it is there. */
    fem_vtu_name(1, 4, name);
    assert_string_equal(name, "step-01.pvtu");
    snprintf(step, sizeof step, "%s/%s", directory, name);
    fclose(fopen(step, "w"));
    assert_int_equal(fem_vtu_write_series(context, path, 3), YOKE_OK);
    text = read_whole(path, &bytes);
    assert_non_null(strstr(text, "<DataSet timestep=\"0\" part=\"0\" file=\"step-00.vtu\"/>"));
    assert_non_null(strstr(text, "<DataSet timestep=\"1\" part=\"0\" file=\"step-01.pvtu\"/>"));
    assert_null(strstr(text, "step-01.vtu"));
    free(text);
    unlink(step);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cells_have_their_nodes_where_vtk_documents_them),
    cmocka_unit_test(point_fields_are_exact_at_every_point_and_jump_between_materials),
    cmocka_unit_test(quadratic_fields_are_exact_at_hanging_nodes),
    cmocka_unit_test(the_temperature_is_the_cases_at_every_point_and_in_every_material),
    cmocka_unit_test(cell_fields_and_the_choice_of_fields),
    cmocka_unit_test(a_file_that_cannot_be_written_leaves_the_old_one),
    cmocka_unit_test(memory_may_end_anywhere),
    cmocka_unit_test(files_have_the_number_of_their_step),
    cmocka_unit_test(the_series_names_each_step),
};

UNIT_MAIN(tests, body_start, body_end)
