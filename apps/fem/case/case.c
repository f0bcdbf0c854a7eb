/* Reads a case file and checks what can be checked without its mesh. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "case/case.h"
#include "case/element.h"

static const char *const problem_names[] = {"elasticity", "poisson"};

/* ------------------------------------------------------------------------------------------ checks */

static yoke_status fail_of_type(const fem_case *input, app_place place, const char *item, int index, const char *key, fem_problem_type type)
{
    return app_yaml_fail(input->yaml, place, "%s[%d].%s belongs to problem: %s; this case's problem is %s", item, index, key,
                         problem_names[type], problem_names[input->keys.problem.value]);
}

/* A key that this problem type requires (needed) or that only the other type has. */
typedef struct typed_number {
    const char *name;
    const app_number *number;
    fem_problem_type type;
    bool needed;
} typed_number;

static yoke_status fail_of_lack(const fem_case *input, int index, const char *key, const char *cause, app_place place)
{
    char where[1024];
    app_yaml_where(input->yaml, place, where, sizeof where);
    return app_yaml_fail(input->yaml, input->keys.materials.items[index].place, "materials[%d] lacks the key '%s', which %s needs (%s)",
                         index, key, cause, where);
}

/* Checks that an elastic material has the properties that gravity, rotation and temperature require. */
static yoke_status check_loaded_material(const fem_case *input, int index)
{
    const fem_case_keys *keys = &input->keys;
    const fem_case_material *material = &keys->materials.items[index];
    bool heavy = keys->gravity.value[0] != 0 || keys->gravity.value[1] != 0 || keys->gravity.value[2] != 0;
    if (heavy && !app_given(material->density.place)) return fail_of_lack(input, index, "density", "gravity", keys->gravity.place);
    if (app_given(keys->rotation.place) && !app_given(material->density.place))
        return fail_of_lack(input, index, "density", "rotation", keys->rotation.place);
    if (app_given(keys->temperature.place) && !app_given(material->thermal_expansion.place))
        return fail_of_lack(input, index, "thermal_expansion", "temperature", keys->temperature.place);
    if (app_given(material->temperature.place) && !app_given(keys->temperature.place))
        return app_yaml_fail(input->yaml, material->temperature.place,
                             "materials[%d].temperature needs the temperature without strain to compare with; add to the case: "
                             "temperature: {reference: 20}",
                             index);
    return YOKE_OK;
}

static yoke_status check_material(const fem_case *input, int index)
{
    const fem_case_material *material = &input->keys.materials.items[index];
    const typed_number numbers[] = {
        {"youngs_modulus", &material->youngs_modulus, FEM_ELASTICITY, true},
        {"poisson_ratio", &material->poisson_ratio, FEM_ELASTICITY, true},
        {"density", &material->density, FEM_ELASTICITY, false},
        {"thermal_expansion", &material->thermal_expansion, FEM_ELASTICITY, false},
        {"temperature", &material->temperature, FEM_ELASTICITY, false},
        {"conductivity", &material->conductivity, FEM_POISSON, true},
        {"source", &material->source, FEM_POISSON, false},
    };
    int64_t type = input->keys.problem.value;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bool given = app_given(numbers[i].number->place);
        if (given && numbers[i].type != type)
            return fail_of_type(input, numbers[i].number->place, "materials", index, numbers[i].name, numbers[i].type);
        if (!given && numbers[i].type == type && numbers[i].needed)
            return app_yaml_fail(input->yaml, material->place, "materials[%d] lacks the key '%s', which problem: %s needs", index,
                                 numbers[i].name, problem_names[type]);
    }
    return type == FEM_ELASTICITY ? check_loaded_material(input, index) : YOKE_OK;
}

/* Checks that exactly one of the keys is given. */
static yoke_status check_one_of(const fem_case *input, int index, app_place item, const char *const *names, const app_place *places,
                                int count)
{
    int first = -1;
    char text[256] = "";
    for (int i = 0; i < count; i++) {
        app_append(text, sizeof text, "%s%s", i > 0 ? ", " : "", names[i]);
        if (!app_given(places[i])) continue;
        if (first >= 0)
            return app_yaml_fail(input->yaml, places[i], "boundary[%d] has both '%s' and '%s'; write one item for each", index,
                                 names[first], names[i]);
        first = i;
    }
    if (first < 0) return app_yaml_fail(input->yaml, item, "boundary[%d] lacks a key: one of %s is needed", index, text);
    return YOKE_OK;
}

static yoke_status check_boundary(const fem_case *input, int index)
{
    const fem_case_boundary *item = &input->keys.boundary.items[index];
    const char *const groups[] = {"face", "edge", "point"};
    const app_place group_places[] = {item->face.place, item->edge.place, item->point.place};
    enum { ELASTIC = 4, KINDS = 7 };
    const char *const kinds[KINDS] = {"displacement", "traction", "pressure", "force", "value", "flux", "heat"};
    const app_place kind_places[KINDS] = {item->displacement.place, item->traction.place, item->pressure.place, item->force.place,
                                          item->value.place,        item->flux.place,     item->heat.place};
    bool poisson = input->keys.problem.value == FEM_POISSON;
    for (int i = 0; i < KINDS; i++)
        if (app_given(kind_places[i]) && (i >= ELASTIC) != poisson)
            return fail_of_type(input, kind_places[i], "boundary", index, kinds[i], i >= ELASTIC ? FEM_POISSON : FEM_ELASTICITY);
    yoke_status status = check_one_of(input, index, item->place, groups, group_places, 3);
    if (status == YOKE_OK)
        status = check_one_of(input, index, item->place, poisson ? kinds + ELASTIC : kinds, poisson ? kind_places + ELASTIC : kind_places,
                              poisson ? KINDS - ELASTIC : ELASTIC);
    if (status != YOKE_OK) return status;
    for (int i = 0; i < KINDS; i++) {
        bool load = i != 0 && i != ELASTIC;
        if (app_given(kind_places[i]) && load && !app_given(item->face.place))
            return app_yaml_fail(input->yaml, kind_places[i], "boundary[%d].%s acts on faces; name a face group instead of the %s group",
                                 index, kinds[i], app_given(item->edge.place) ? "edge" : "point");
    }
    if (app_given(item->displacement.place) && item->displacement.mask == 0)
        return app_yaml_fail(input->yaml, item->displacement.place,
                             "boundary[%d].displacement prescribes nothing: all three components are free", index);
    return YOKE_OK;
}

static yoke_status check_axis(const fem_case *input, const app_vector *axis, const char *key)
{
    if (axis->value[0] != 0 || axis->value[1] != 0 || axis->value[2] != 0) return YOKE_OK;
    return app_yaml_fail(input->yaml, axis->place, "%s is zero: it must have a direction, such as [0, 0, 1]", key);
}

static yoke_status check_rotation_and_temperature(const fem_case *input)
{
    const fem_case_rotation *rotation = &input->keys.rotation;
    const fem_case_temperature *temperature = &input->keys.temperature;
    bool turns = app_given(rotation->place);
    if (input->keys.problem.value == FEM_POISSON && (turns || app_given(temperature->place)))
        return app_yaml_fail(input->yaml, turns ? rotation->place : temperature->place,
                             "%s belongs to problem: elasticity; this case's problem is poisson", turns ? "rotation" : "temperature");
    yoke_status status = turns ? check_axis(input, &rotation->axis, "rotation.axis") : YOKE_OK;
    bool described = app_given(temperature->value.place) || app_given(temperature->gradient.place) || app_given(temperature->radial.place);
    if (!status && app_given(temperature->heat_case.place) && described)
        return app_yaml_fail(input->yaml, temperature->heat_case.place,
                             "temperature.case takes the place of temperature.value, gradient and radial; give either it or these");
    if (!status && app_given(temperature->radial.place)) status = check_axis(input, &temperature->radial.axis, "temperature.radial.axis");
    return status;
}

static yoke_status check_refinement(const fem_case *input)
{
    const fem_case_refine *refine = &input->keys.refine;
    for (int i = 0; i < refine->boxes.count; i++) {
        const fem_case_box *box = &refine->boxes.items[i];
        for (int a = 0; a < 3; a++)
            if (!(box->from.value[a] < box->to.value[a]))
                return app_yaml_fail(input->yaml, box->from.place,
                                     "refine.boxes[%d] is empty or inverted: from[%d] = %.9g must be less than to[%d] = %.9g", i, a,
                                     box->from.value[a], a, box->to.value[a]);
    }
    if (refine->tolerance.value > 0 && refine->steps.value == 0) {
        char where[1024];
        app_yaml_where(input->yaml, refine->tolerance.place, where, sizeof where);
        yoke_log(input->context, YOKE_LOG_WARNING, "%s: refine.tolerance has no effect because refine.steps is 0; give refine.steps",
                 where);
    }
    return YOKE_OK;
}

/* Fields of the other problem type are an error if they are given; if no field is given, all fields of this type are chosen. */
static yoke_status check_fields(fem_case *input)
{
    const int64_t elastic = FEM_FIELDS_ELASTICITY, scalar = FEM_FIELDS_POISSON;
    const int64_t common = 1 << FEM_FIELD_ERROR | 1 << FEM_FIELD_PART | 1 << FEM_FIELD_LEVEL | 1 << FEM_FIELD_MATERIAL;
    app_integer *fields = &input->keys.output.fields;
    bool poisson = input->keys.problem.value == FEM_POISSON;
    if (!app_given(fields->place)) fields->value = common | (poisson ? scalar : elastic);
    if ((fields->value & (poisson ? elastic : scalar)) != 0)
        return app_yaml_fail(
            input->yaml, fields->place, "output.fields: %s",
            poisson ? "displacement, stress, von_mises, principal_stress, strain, principal_strain and temperature belong to problem: "
                      "elasticity; problem: poisson has value and gradient"
                    : "value and gradient belong to problem: poisson; problem: elasticity has displacement, stress, von_mises, "
                      "principal_stress, strain, principal_strain and temperature");
    if (!app_given(input->keys.temperature.place)) {
        if (app_given(fields->place) && (fields->value & 1 << FEM_FIELD_TEMPERATURE) != 0)
            return app_yaml_fail(input->yaml, fields->place, "output.fields: temperature, but the case has no key 'temperature'");
        fields->value &= ~(int64_t)(1 << FEM_FIELD_TEMPERATURE);
    }
    return YOKE_OK;
}

static yoke_status check(fem_case *input)
{
    fem_case_keys *keys = &input->keys;
    yoke_status status = YOKE_OK;
    if (app_given(keys->solver.relative_residual.place) && !app_given(keys->solver.energy_error.place))
        keys->solver.energy_error.value = NAN;
    const app_vector *gravity = &keys->gravity;
    if (keys->problem.value == FEM_POISSON && app_given(gravity->place))
        return app_yaml_fail(input->yaml, gravity->place, "gravity belongs to problem: elasticity; this case's problem is poisson");
    for (int i = 0; i < keys->materials.count && status == YOKE_OK; i++) status = check_material(input, i);
    for (int i = 0; i < keys->boundary.count && status == YOKE_OK; i++) status = check_boundary(input, i);
    if (status == YOKE_OK) status = check_rotation_and_temperature(input);
    if (status == YOKE_OK) status = check_refinement(input);
    if (status == YOKE_OK) status = check_fields(input);
    return status;
}

/* ------------------------------------------------------------------------------------------ reading */

/* Resolves the path of a file named in the case, which is relative to the case file's directory. */
static yoke_status resolve_path(fem_case *input, const char *name, const char **path)
{
    const char *slash = strrchr(input->path, '/');
    size_t directory = name[0] == '/' || slash == NULL ? 0 : (size_t)(slash - input->path) + 1;
    void *memory;
    yoke_status status = app_yaml_allocate(input->yaml, (int64_t)(directory + strlen(name)) + 1, 1, &memory);
    if (status != YOKE_OK) return status;
    memcpy(memory, input->path, directory);
    strcpy((char *)memory + directory, name);
    *path = memory;
    return YOKE_OK;
}

/* Returns the checksum of a file, or 0 if it cannot be read; the error is reported when it is read later. */
static uint32_t checksum_of_file(const char *path)
{
    unsigned char bytes[4096];
    uint32_t checksum = 0;
    struct stat is;
    FILE *file = stat(path, &is) == 0 && S_ISREG(is.st_mode) ? fopen(path, "rb") : NULL;
    if (!file) return 0;
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, file)) > 0;) checksum = (uint32_t)crc32_z(checksum, bytes, count);
    fclose(file);
    return checksum;
}

static yoke_status resolve_paths(fem_case *input)
{
    const app_text *heat = &input->keys.temperature.heat_case;
    yoke_status status = resolve_path(input, input->keys.mesh.value, &input->mesh_path);
    if (status == YOKE_OK && app_given(heat->place)) status = resolve_path(input, heat->value, &input->heat_path);
    if (status == YOKE_OK && input->heat_path) input->heat_checksum = checksum_of_file(input->heat_path);
    return status;
}

/* If the case gives no directory for results: out/ and the case file's name without its extension. */
static yoke_status resolve_output(fem_case *input)
{
    app_text *directory = &input->keys.output.directory;
    if (app_given(directory->place)) return YOKE_OK;
    const char *slash = strrchr(input->path, '/'), *name = slash ? slash + 1 : input->path, *dot = strrchr(name, '.');
    bool known = dot && dot > name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    int length = (int)(known ? (size_t)(dot - name) : strlen(name));
    void *memory;
    if (strncmp("..", name, (size_t)length) == 0 && length <= 2) name = "case", length = 4; /* not usable as the name of a directory */
    yoke_status status = app_yaml_allocate(input->yaml, length + 5, 1, &memory);
    if (status != YOKE_OK) return status;
    snprintf(memory, (size_t)length + 5, "out/%.*s", length, name);
    directory->value = memory;
    return YOKE_OK;
}

static yoke_status resolve_units(fem_case *input)
{
    const app_text *units = &input->keys.units;
    char why[512];
    if (!app_given(units->place) || fem_units_read(units->value, &input->units, why, sizeof why) == 0) return YOKE_OK;
    return app_yaml_fail(input->yaml, units->place, "units: %s", why);
}

/* Takes ownership of the tree, even if it fails. */
static yoke_status create(yoke_context *context, app_yaml *yaml, fem_case **input)
{
    void *memory;
    yoke_status status = yoke_allocate(context, 1, sizeof(fem_case), &memory);
    if (status != YOKE_OK) {
        app_yaml_destroy(yaml);
        return status;
    }
    fem_case *made = memory;
    made->context = context;
    made->yaml = yaml;
    made->path = app_yaml_path(yaml);
    status = app_schema_read(yaml, fem_case_schema, &made->keys);
    if (status == YOKE_OK) status = resolve_paths(made);
    if (status == YOKE_OK) status = resolve_output(made);
    if (status == YOKE_OK) status = resolve_units(made);
    if (status == YOKE_OK) status = check(made);
    if (status != YOKE_OK) {
        fem_case_destroy(made);
        return status;
    }
    *input = made;
    return YOKE_OK;
}

yoke_status fem_case_read(yoke_context *context, const char *path, const char *const *overrides, int num_overrides, fem_case **input)
{
    app_yaml *yaml;
    yoke_status status = app_yaml_read(context, path, overrides, num_overrides, &yaml);
    return status == YOKE_OK ? create(context, yaml, input) : status;
}

yoke_status fem_case_parse(yoke_context *context, const char *path, const char *text, size_t bytes, const char *const *overrides,
                           int num_overrides, fem_case **input)
{
    app_yaml *yaml;
    yoke_status status = app_yaml_parse(context, path, text, bytes, overrides, num_overrides, &yaml);
    return status == YOKE_OK ? create(context, yaml, input) : status;
}

void fem_case_destroy(fem_case *input)
{
    if (input == NULL) return;
    yoke_context *context = input->context;
    app_yaml_destroy(input->yaml);
    yoke_release(context, input);
}

/* ------------------------------------------------------------------------------------------ output and memory */

/*
 * Creates and removes a file if the directory exists, otherwise a directory in its existing parent.  Permissions alone are not sufficient
 * to know.
 */
static int try_directory(const char *directory, bool exists)
{
    char probe[PATH_MAX];
    if (snprintf(probe, sizeof probe, "%s/.yoke-XXXXXX", directory) >= (int)sizeof probe) return ENAMETOOLONG;
    if (!exists) {
        if (mkdtemp(probe) == NULL) return errno;
        return rmdir(probe) == 0 ? 0 : errno;
    }
    int file = mkstemp(probe);
    if (file < 0) return errno;
    close(file);
    return unlink(probe) == 0 ? 0 : errno;
}

yoke_status fem_case_check_output(const fem_case *input)
{
    const app_text *directory = &input->keys.output.directory;
    char part[PATH_MAX];
    struct stat about;
    if (strlen(directory->value) >= sizeof part)
        return app_yaml_fail(input->yaml, directory->place, "output.directory is longer than %d bytes", PATH_MAX);
    strcpy(part, directory->value);
    bool exists = true;
    while (stat(part, &about) != 0) { /* up to a directory that exists */
        int error = errno;
        char *slash = strrchr(part, '/');
        if (error != ENOENT || strcmp(part, ".") == 0)
            return app_yaml_fail(input->yaml, directory->place, "output.directory %s cannot be used: %s", directory->value,
                                 strerror(error));
        exists = false;
        if (slash == NULL)
            strcpy(part, ".");
        else
            slash[slash == part] = '\0';
    }
    if (!S_ISDIR(about.st_mode))
        return app_yaml_fail(input->yaml, directory->place, "output.directory %s cannot be used: %s is not a directory", directory->value,
                             part);
    int error = try_directory(part, exists);
    if (error != 0)
        return app_yaml_fail(input->yaml, directory->place, "output.directory %s is not writable: %s: %s", directory->value, part,
                             strerror(error));
    return YOKE_OK;
}

double fem_case_memory_bytes(const fem_case *input, double elements)
{
    static const double nodes_per_element[] = {[FEM_Q1] = 1, [FEM_S2] = 4, [FEM_Q2] = 8};
    static const double element_nodes[] = {[FEM_Q1] = 8, [FEM_S2] = 20, [FEM_Q2] = 27};
    const fem_case_keys *keys = &input->keys;
    double components = keys->problem.value == FEM_POISSON ? 1 : 3;
    double bytes = nodes_per_element[keys->element.value] * components * 800;
    double rows = element_nodes[keys->element.value] * components;
    if (keys->solver.operator.value == FEM_OPERATOR_STORED) bytes += rows * (rows + 1) / 2 * sizeof(double);
    return elements * bytes;
}
