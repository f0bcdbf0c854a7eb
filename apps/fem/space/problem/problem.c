/* Creates the boundary value problem from a case and its mesh: names become groups, engineering constants become Lame's moduli. */
#include "space/problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case/case.h"
#include "space/problem/checks.h"
#include "space/problem/rigid_part.h"

typedef struct resolver {
    const fem_case *input;
    const fem_mesh *mesh;
    fem_problem *problem;
} resolver;

static const char *const group_kinds[] = {"point", "edge", "face", "volume"};

app_place fem_condition_place(const fem_case_boundary *item, const char **key)
{
    enum { KEYS = 7 };
    const char *const keys[KEYS] = {"displacement", "traction", "pressure", "force", "value", "flux", "heat"};
    const app_place places[KEYS] = {item->displacement.place, item->traction.place, item->pressure.place, item->force.place,
                                    item->value.place,        item->flux.place,     item->heat.place};
    int i = 0;
    while (i < KEYS - 1 && !app_given(places[i])) i++;
    *key = keys[i];
    return places[i];
}

/* ------------------------------------------------------------------------------------------ groups */

/* Appends the names of the mesh's groups of one dimension, and suggests the most similar name. */
static yoke_status append_groups(const fem_mesh *mesh, yoke_context *context, int dimension, const char *word, char *text, size_t size)
{
    void *memory;
    yoke_status status = yoke_allocate(context, mesh->num_groups, sizeof(char *), &memory);
    if (status != YOKE_OK) return status;
    const char **names = memory;
    int count = 0;
    for (int g = 0; g < mesh->num_groups; g++)
        if (mesh->groups[g].dimension == dimension) names[count++] = mesh->groups[g].name;
    char items[32];
    snprintf(items, sizeof items, "%s groups", group_kinds[dimension]);
    app_append_names(text, size, items, word, names, count);
    yoke_release(context, memory);
    return YOKE_OK;
}

static yoke_status find_group(const resolver *run, const char *list, int index, const char *key, const app_text *name, int dimension,
                              int *group)
{
    *group = fem_mesh_find_group(run->mesh, dimension, name->value);
    char text[1024], quoted[APP_QUOTED];
    if (*group < 0) {
        snprintf(text, sizeof text, "%s[%d].%s: %s is no %s group of %.300s", list, index, key, app_quote(name->value, quoted),
                 group_kinds[dimension], run->mesh->path);
        yoke_status status = append_groups(run->mesh, run->input->context, dimension, name->value, text, sizeof text);
        return status == YOKE_OK ? app_yaml_fail(run->input->yaml, name->place, "%s", text) : status;
    }
    if (run->mesh->groups[*group].count == 0)
        return app_yaml_fail(run->input->yaml, name->place, "%s[%d].%s: %s has no elements in %.300s", list, index, key,
                             app_quote(name->value, quoted), run->mesh->path);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------ materials */

static void convert_material(const fem_case *input, const fem_case_material *from, fem_material *material)
{
    if (input->keys.problem.value == FEM_POISSON) {
        material->mu = from->conductivity.value;
        material->density = NAN;
        material->force[0] = app_given(from->source.place) ? from->source.value : 0;
        return;
    }
    double e = from->youngs_modulus.value, nu = from->poisson_ratio.value;
    material->lambda = e * nu / ((1 + nu) * (1 - 2 * nu));
    material->mu = e / (2 * (1 + nu));
    material->density = from->density.value;
    const fem_case_temperature *temperature = &input->keys.temperature;
    if (app_given(temperature->place)) {
        bool own = app_given(from->temperature.place);
        material->has_temperature = own;
        material->temperature = own ? from->temperature.value : 0;
        material->expansion = own ? 0 : from->thermal_expansion.value;
        material->thermal_strain = own ? from->thermal_expansion.value * (from->temperature.value - temperature->reference.value) : 0;
    }
    for (int i = 0; i < 3; i++) {
        double gravity = input->keys.gravity.value[i];
        material->force[i] = gravity == 0 ? 0 : material->density * gravity;
    }
}

static bool same_material(const fem_material *a, const fem_material *b)
{
    bool same_density = a->density == b->density || (isnan(a->density) && isnan(b->density));
    bool same_expansion = a->expansion == b->expansion && a->thermal_strain == b->thermal_strain &&
                          a->has_temperature == b->has_temperature && a->temperature == b->temperature;
    return a->lambda == b->lambda && a->mu == b->mu && same_density && same_expansion && memcmp(a->force, b->force, sizeof a->force) == 0;
}

/* Moduli near the limits of their ranges may yield Lame's moduli outside the range of a double. */
static yoke_status check_moduli(const resolver *run, int m)
{
    const fem_case_material *item = &run->input->keys.materials.items[m];
    const fem_material *material = &run->problem->materials[m];
    bool finite = isfinite(material->lambda) && isfinite(material->mu) && material->mu > 0 && isfinite(material->force[0]) &&
                  isfinite(material->force[1]) && isfinite(material->force[2]) && isfinite(material->thermal_strain);
    if (!finite)
        return app_yaml_fail(run->input->yaml, item->place,
                             "materials[%d]: the moduli or forces that follow from these values are not finite "
                             "positive numbers; check the units, which must be consistent (docs/reference/case-file.md)",
                             m);
    const double ratio = item->poisson_ratio.value;
    const bool q1 = run->problem->element == FEM_Q1;
    if (run->problem->components == 3 && ratio > (q1 ? 0.45 : 0) && (q1 || ratio >= FEM_NEARLY_INCOMPRESSIBLE)) {
        char where[1024];
        app_yaml_where(run->input->yaml, item->poisson_ratio.place, where, sizeof where);
        yoke_log(
            run->input->context, YOKE_LOG_WARNING, "%s: materials[%d].poisson_ratio is %.9g: %s", where, m, ratio,
            q1 ? "q1 elements lock (are far too stiff) above 0.45; use element: q2"
               : "from 0.49 on elements lock (are too stiff) on coarse and curved meshes; refine (refine.steps), and see what the error "
                 "estimate says");
    }
    return YOKE_OK;
}

static yoke_status fail_of_bare_element(const resolver *run, int64_t element)
{
    const fem_mesh *mesh = run->mesh;
    app_place place = run->input->keys.materials.place;
    char quoted[APP_QUOTED];
    if (mesh->volume[element] < 0)
        return app_yaml_fail(run->input->yaml, place,
                             "element %lld of %.300s is in no volume group, so that it has no material; put it into one",
                             (long long)mesh->element_tag[element], mesh->path);
    const fem_group *group = &mesh->groups[mesh->volume[element]];
    return app_yaml_fail(run->input->yaml, place,
                         "volume %s of %.300s (%lld elements) has no material; add an item {volume: %s, ...} to materials",
                         app_quote(group->name, quoted), mesh->path, (long long)group->count, group->name);
}

static yoke_status resolve_materials(resolver *run)
{
    fem_problem *problem = run->problem;
    const fem_mesh *mesh = run->mesh;
    for (int64_t e = 0; e < mesh->num_elements; e++) problem->material_of[e] = -1;
    for (int m = 0; m < problem->num_materials; m++) {
        const fem_case_material *item = &run->input->keys.materials.items[m];
        fem_material *material = &problem->materials[m];
        convert_material(run->input, item, material);
        yoke_status status = find_group(run, "materials", m, "volume", &item->volume, 3, &material->group);
        if (status == YOKE_OK) status = check_moduli(run, m);
        if (status != YOKE_OK) return status;
        const fem_group *group = &mesh->groups[material->group];
        for (int64_t i = 0; i < group->count; i++) {
            int16_t *slot = &problem->material_of[group->element[i]];
            if (*slot >= 0 && !same_material(&problem->materials[*slot], material)) {
                char where[1024];
                app_yaml_where(run->input->yaml, run->input->keys.materials.items[*slot].place, where, sizeof where);
                return app_yaml_fail(run->input->yaml, item->place,
                                     "materials[%d] gives element %lld another material than materials[%d] (%s); "
                                     "an element has one material",
                                     m, (long long)mesh->element_tag[group->element[i]], (int)*slot, where);
            }
            if (*slot < 0) *slot = (int16_t)m;
        }
    }
    for (int64_t e = 0; e < mesh->num_elements; e++)
        if (problem->material_of[e] < 0) return fail_of_bare_element(run, e);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------ conditions */

static void convert_condition(const fem_case_boundary *item, fem_condition *condition)
{
    enum { SCALARS = 4 };
    const app_number *scalars[SCALARS] = {&item->pressure, &item->value, &item->flux, &item->heat};
    const fem_condition_kind kinds[SCALARS] = {FEM_PRESSURE, FEM_DIRICHLET, FEM_TRACTION, FEM_FORCE};
    const app_vector *vector = app_given(item->displacement.place) ? &item->displacement
                               : app_given(item->force.place)      ? &item->force
                                                                   : &item->traction;
    for (int i = 0; i < SCALARS; i++)
        if (app_given(scalars[i]->place)) {
            condition->kind = kinds[i];
            condition->mask = kinds[i] == FEM_DIRICHLET ? 1 : 0;
            condition->value[0] = scalars[i]->value;
            return;
        }
    condition->kind = vector == &item->displacement ? FEM_DIRICHLET : vector == &item->force ? FEM_FORCE : FEM_TRACTION;
    condition->mask = condition->kind == FEM_DIRICHLET ? vector->mask : 0;
    for (int i = 0; i < 3; i++) condition->value[i] = (vector->mask >> i & 1) != 0 ? vector->value[i] : 0;
}

static yoke_status resolve_conditions(resolver *run)
{
    yoke_status status = YOKE_OK;
    for (int c = 0; c < run->problem->num_conditions && status == YOKE_OK; c++) {
        const fem_case_boundary *item = &run->input->keys.boundary.items[c];
        const app_text *names[] = {&item->point, &item->edge, &item->face};
        int dimension = app_given(item->face.place) ? 2 : app_given(item->edge.place) ? 1 : 0;
        fem_condition *condition = &run->problem->conditions[c];
        convert_condition(item, condition);
        status = find_group(run, "boundary", c, group_kinds[dimension], names[dimension], dimension, &condition->group);
    }
    return status;
}

static void unit_vector(const double from[3], double out[3])
{
    double largest = fmax(fmax(fabs(from[0]), fabs(from[1])), fabs(from[2])), square = 0;
    for (int a = 0; a < 3; a++) square += from[a] / largest * (from[a] / largest);
    for (int a = 0; a < 3; a++) out[a] = from[a] / largest / sqrt(square);
}

static void resolve_temperature(const resolver *run)
{
    const fem_case_temperature *from = &run->input->keys.temperature;
    fem_temperature *temperature = &run->problem->temperature;
    temperature->given = app_given(from->place);
    if (!temperature->given) return;
    temperature->reference = from->reference.value;
    temperature->value = app_given(from->value.place) ? from->value.value - from->reference.value : 0;
    if (app_given(from->heat_case.place)) temperature->value = -from->reference.value;
    memcpy(temperature->gradient, from->gradient.value, sizeof temperature->gradient);
    if (!app_given(from->radial.place)) return;
    temperature->radial = from->radial.gradient.value;
    unit_vector(from->radial.axis.value, temperature->axis);
    memcpy(temperature->through, from->radial.through.value, sizeof temperature->through);
}

static yoke_status resolve_rotation(const resolver *run)
{
    const fem_case_rotation *from = &run->input->keys.rotation;
    fem_rotation *rotation = &run->problem->rotation;
    if (!app_given(from->place)) return YOKE_OK;
    unit_vector(from->axis.value, rotation->axis);
    memcpy(rotation->through, from->through.value, sizeof rotation->through);
    rotation->square = from->speed.value * from->speed.value;
    bool finite = isfinite(rotation->square) && (rotation->square > 0 || from->speed.value == 0);
    for (int m = 0; m < run->problem->num_materials; m++)
        finite = finite && isfinite(rotation->square * run->problem->materials[m].density);
    if (finite) return YOKE_OK;
    return app_yaml_fail(run->input->yaml, from->speed.place,
                         "rotation.speed: the centrifugal force that follows from %.9g rad/s overflows double precision",
                         from->speed.value);
}

/* ---------------------------------------------------------------------------------------------- whole */

static yoke_status check_connected(const fem_case *input, fem_problem *problem)
{
    yoke_context *context = input->context;
    void *shared = NULL, *piece = NULL;
    int32_t num_pieces = 0;
    yoke_status status = yoke_allocate(context, problem->mesh->num_elements, sizeof(uint8_t), &shared);
    if (status == YOKE_OK) status = yoke_allocate(context, problem->mesh->num_elements, sizeof(int32_t), &piece);
    if (status == YOKE_OK) status = fem_connect_elements(problem->mesh, shared, piece, &num_pieces);
    if (status == YOKE_OK) status = fem_check_loads(input, problem, shared);
    if (status == YOKE_OK) status = fem_check_conflicts(input, problem);
    if (status == YOKE_OK) status = fem_find_bodies(problem->mesh, problem->body_of, &problem->num_bodies);
    if (status == YOKE_OK) status = fem_check_rigid(input, problem, piece, num_pieces);
    if (status == YOKE_OK) status = fem_fit_rigid_parts(problem);
    yoke_release(context, piece);
    yoke_release(context, shared);
    return status;
}

static yoke_status fill(resolver *run)
{
    const fem_case *input = run->input;
    fem_problem *problem = run->problem;
    void *materials, *material_of, *conditions;
    problem->context = input->context;
    problem->mesh = run->mesh;
    problem->components = input->keys.problem.value == FEM_POISSON ? 1 : 3;
    problem->element = (fem_element)input->keys.element.value;
    yoke_status status = yoke_allocate(problem->context, input->keys.materials.count, sizeof(fem_material), &materials);
    if (status != YOKE_OK) return status;
    problem->materials = materials;
    problem->num_materials = input->keys.materials.count;
    status = yoke_allocate(problem->context, run->mesh->num_elements, sizeof(int16_t), &material_of);
    if (status != YOKE_OK) return status;
    problem->material_of = material_of;
    status = yoke_allocate(problem->context, run->mesh->num_elements, sizeof(int32_t), &problem->body_of);
    if (status != YOKE_OK) return status;
    status = yoke_allocate(problem->context, input->keys.boundary.count, sizeof(fem_condition), &conditions);
    if (status != YOKE_OK) return status;
    problem->conditions = conditions;
    problem->num_conditions = input->keys.boundary.count;
    status = resolve_materials(run);
    if (status == YOKE_OK) status = resolve_conditions(run);
    if (status == YOKE_OK) status = resolve_rotation(run);
    if (status == YOKE_OK) resolve_temperature(run);
    if (status == YOKE_OK) status = check_connected(input, problem);
    if (status == YOKE_OK) status = fem_check_memory(input, run->mesh);
    if (status == YOKE_OK) status = fem_warn_of_kinks(problem);
    return status;
}

yoke_status fem_case_read_mesh(const fem_case *input, app_ranks *ranks, fem_mesh_reader *reader, fem_mesh **mesh)
{
    const double scale = input->keys.mesh_scale.value;
    const fem_mesh_options options = {.ranks = ranks, .scale = isnan(scale) ? 0 : scale, .reader = reader};
    return fem_mesh_read(input->context, input->mesh_path, &options, mesh);
}

yoke_status fem_problem_create(const fem_case *input, const fem_mesh *mesh, fem_problem **problem)
{
    void *memory;
    yoke_status status = yoke_allocate(input->context, 1, sizeof(fem_problem), &memory);
    if (status != YOKE_OK) return status;
    resolver run = {.input = input, .mesh = mesh, .problem = memory};
    run.problem->context = input->context;
    status = fill(&run);
    if (status != YOKE_OK) {
        fem_problem_destroy(run.problem);
        return status;
    }
    *problem = run.problem;
    return YOKE_OK;
}

yoke_status fem_problem_of_one_material(const fem_mesh *mesh, fem_element element, int components, fem_problem **out)
{
    const double young = 1, poisson = 0.3;
    yoke_context *context = mesh->context;
    fem_problem *problem = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *problem, &problem);
    if (status != YOKE_OK) return status;
    *problem = (fem_problem){.context = context, .mesh = mesh, .components = components, .element = element, .num_materials = 1};
    status = yoke_allocate(context, 1, sizeof *problem->materials, &problem->materials);
    if (status == YOKE_OK) status = yoke_allocate(context, mesh->num_elements, sizeof *problem->material_of, &problem->material_of);
    if (status != YOKE_OK) {
        fem_problem_destroy(problem);
        return status;
    }
    problem->materials[0] = (fem_material){.mu = 1, .density = NAN};
    if (components == 3) {
        problem->materials[0].lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
        problem->materials[0].mu = young / (2 * (1 + poisson));
    }
    *out = problem;
    return YOKE_OK;
}

void fem_problem_destroy(fem_problem *problem)
{
    if (problem == NULL) return;
    yoke_context *context = problem->context;
    yoke_release(context, problem->materials);
    yoke_release(context, problem->material_of);
    yoke_release(context, problem->conditions);
    yoke_release(context, problem->body_of);
    yoke_release(context, problem->rigid);
    yoke_release(context, problem);
}
