/* Nodal loads of a space from body forces, thermal strains, and tractions, pressures and total forces on faces. */
#include <math.h>
#include <string.h>

#include "mesh/shape.h"
#include "space/boundary.h"
#include "space/temperature.h"

enum { MAX_POINTS_1D = 4, SLOTS = 27 }; /* one more point than for the stiffness, because loads may be given functions */

typedef struct load_rule {
    int n;
    double point[MAX_POINTS_1D], weight[MAX_POINTS_1D];
} load_rule;

static load_rule rule_of(int points)
{
    load_rule rule = {.n = points};
    fem_gauss(rule.n, rule.point, rule.weight);
    return rule;
}

/* ------------------------------------------------------------------------------------------------ body forces */

void fem_add_centrifugal(const fem_rotation *rotation, double density, const double x[3], double force[3])
{
    if (rotation->square == 0) return;
    double from[3], along = 0;
    for (int a = 0; a < 3; a++) {
        from[a] = x[a] - rotation->through[a];
        along += rotation->axis[a] * from[a];
    }
    for (int a = 0; a < 3; a++) force[a] += rotation->square * density * (from[a] - along * rotation->axis[a]);
}

static void body_force(const fem_space *space, const load_rule *rule, int32_t e, double *local)
{
    const fem_problem *problem = space->problem;
    const fem_material *material = fem_space_material(space, e);
    int n = space->components;
    double x[SLOTS * 3], value[SLOTS], gradient[SLOTS * 3];
    fem_space_geometry(space, e, x);
    for (int q = 0; q < rule->n * rule->n * rule->n; q++) {
        int i = q % rule->n, j = q / rule->n % rule->n, k = q / (rule->n * rule->n);
        double r[3] = {rule->point[i], rule->point[j], rule->point[k]}, at[3] = {0, 0, 0}, force[3];
        fem_shape(space->slots_1d, r, value, gradient, NULL);
        double weight = rule->weight[i] * rule->weight[j] * rule->weight[k] * fem_map(space->slots, x, gradient, NULL, NULL);
        for (int s = 0; s < space->slots; s++)
            for (int a = 0; a < 3; a++) at[a] += value[s] * x[3 * s + a];
        memcpy(force, material->force, sizeof force);
        fem_add_centrifugal(&problem->rotation, material->density, at, force);
        if (problem->fields.force) problem->fields.force(at, force, problem->fields.user);
        for (int s = 0; s < space->slots; s++)
            for (int a = 0; a < n; a++) local[s * n + a] += weight * value[s] * force[a];
    }
}

static int has_body_force(const fem_space *space)
{
    const fem_problem *problem = space->problem;
    if (problem->fields.force || problem->rotation.square > 0) return 1;
    for (int m = 0; m < problem->num_materials; m++)
        for (int a = 0; a < space->components; a++)
            if (problem->materials[m].force[a] != 0) return 1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ thermal strains */

/* Integrates D eps_T : eps(v) at the points used for the stiffness, so that purely thermal strains give no stress there. */
static void thermal_load(const fem_space *space, const load_rule *rule, int32_t e, const double *temperature, double *local)
{
    const fem_material *material = fem_space_material(space, e);
    double x[SLOTS * 3], t[SLOTS], value[SLOTS], gradient[SLOTS * 3];
    fem_space_geometry(space, e, x);
    fem_space_expand(space, e, 1, temperature, t);
    for (int q = 0; q < rule->n * rule->n * rule->n; q++) {
        int i = q % rule->n, j = q / rule->n % rule->n, k = q / (rule->n * rule->n);
        double r[3] = {rule->point[i], rule->point[j], rule->point[k]}, inverse[3][3] = {{0}}, at = 0;
        fem_shape(space->slots_1d, r, value, gradient, NULL);
        double weight = rule->weight[i] * rule->weight[j] * rule->weight[k] * fem_map(space->slots, x, gradient, NULL, inverse);
        for (int s = 0; s < space->slots; s++) at += value[s] * t[s];
        double pressure = weight * fem_thermal_modulus(material) * fem_thermal_strain(material, at);
        for (int s = 0; s < space->slots; s++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) local[3 * s + a] += pressure * gradient[3 * s + b] * inverse[b][a];
    }
}

/* ---------------------------------------------------------------------------------------------- all elements */

/*
 * temperature: at the nodes, or NULL.  Elements are computed in parallel, a block at a time, and added in their order, so the result is
 * bitwise the same for any number of threads.
 */
static yoke_status add_element_loads(const fem_space *space, const double *temperature, double *load)
{
    enum { BLOCK = 4096 };
    const load_rule rule = rule_of(space->slots_1d + 1), stiffness = rule_of(space->slots_1d);
    const int forces = has_body_force(space);
    if (!forces && !temperature) return YOKE_OK;
    int width = space->slots * space->components;
    double *local;
    yoke_status status = yoke_allocate(space->context, (int64_t)BLOCK * width, sizeof(double), &local);
    if (status) return status;
    for (int32_t begin = 0; begin < space->num_elements; begin += BLOCK) {
        int32_t count = space->num_elements - begin < BLOCK ? space->num_elements - begin : BLOCK;
        memset(local, 0, sizeof(double) * (size_t)(count * width));
#pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < count; i++) {
            double *own = local + (int64_t)i * width;
            if (forces) body_force(space, &rule, begin + i, own);
            if (temperature) thermal_load(space, &stiffness, begin + i, temperature, own);
        }
        for (int32_t i = 0; i < count; i++) fem_space_fold(space, begin + i, space->components, local + (int64_t)i * width, load);
    }
    yoke_release(space->context, local);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------------ faces */

void fem_condition_traction(const fem_problem *problem, const fem_boundary *boundary, int c, const double x[3], const double normal[3],
                            double traction[3])
{
    const fem_condition *condition = &problem->conditions[c];
    double scale = condition->kind == FEM_FORCE ? 1 / boundary->area[c] : 1;
    for (int a = 0; a < 3; a++)
        traction[a] = condition->kind == FEM_PRESSURE ? -condition->value[0] * normal[a] : scale * condition->value[a];
    if (problem->fields.traction && condition->kind == FEM_TRACTION) problem->fields.traction(x, normal, traction, problem->fields.user);
}

static yoke_status fail_folded(const fem_space *space, int32_t e, double determinant)
{
    const fem_mesh *mesh = space->problem->mesh;
    return yoke_fail(space->context, YOKE_ERROR_INPUT,
                     "%s: element %lld folds at its loaded face where it is refined (level %d): Jacobian determinant %g; "
                     "make the mesh finer or its element less curved there",
                     mesh->path, (long long)mesh->element_tag[space->tree[e]], space->level[e], determinant);
}

/* One point of a face's rule. */
typedef struct surface_point {
    double x[3], normal[3], weight; /* weight: including the area element */
    double value[SLOTS];            /* shape functions */
} surface_point;

static yoke_status find_point(const fem_space *space, const load_rule *rule, int32_t e, int face, const double *positions, int q,
                              surface_point *point)
{
    double r[3], gradient[SLOTS * 3], inverse[3][3], area = 0;
    int axis = face / 2;
    fem_face_point(face, rule->point[q % rule->n], rule->point[q / rule->n], r);
    fem_shape(space->slots_1d, r, point->value, gradient, NULL);
    double determinant = fem_map(space->slots, positions, gradient, NULL, inverse);
    if (!(determinant > 0) || !isfinite(determinant)) return fail_folded(space, e, determinant);
    for (int a = 0; a < 3; a++) { /* Nanson's formula */
        point->normal[a] = (face % 2 ? 1 : -1) * determinant * inverse[axis][a];
        area += point->normal[a] * point->normal[a];
        point->x[a] = 0;
    }
    area = sqrt(area);
    for (int a = 0; a < 3; a++) point->normal[a] /= area;
    for (int s = 0; s < space->slots; s++)
        for (int a = 0; a < 3; a++) point->x[a] += point->value[s] * positions[3 * s + a];
    point->weight = rule->weight[q % rule->n] * rule->weight[q / rule->n] * area;
    return YOKE_OK;
}

yoke_status fem_members_area(const fem_space *space, const fem_boundary *boundary, int64_t first, int64_t end, double *area)
{
    load_rule rule = rule_of(space->slots_1d + 1);
    double sum = 0;
    for (int64_t i = first; i < end; i++) {
        double positions[SLOTS * 3];
        fem_space_geometry(space, boundary->element[i], positions);
        for (int q = 0; q < rule.n * rule.n; q++) {
            surface_point point;
            yoke_status status = find_point(space, &rule, boundary->element[i], boundary->local[i], positions, q, &point);
            if (status) return status;
            sum += point.weight;
        }
    }
    *area = sum;
    return YOKE_OK;
}

static yoke_status surface_force(const fem_space *space, const fem_boundary *boundary, const load_rule *rule, int c, int64_t member,
                                 double *local)
{
    int32_t e = boundary->element[member];
    int n = space->components;
    double positions[SLOTS * 3];
    fem_space_geometry(space, e, positions);
    for (int q = 0; q < rule->n * rule->n; q++) {
        double traction[3];
        surface_point point;
        yoke_status status = find_point(space, rule, e, boundary->local[member], positions, q, &point);
        if (status) return status;
        fem_condition_traction(space->problem, boundary, c, point.x, point.normal, traction);
        for (int s = 0; s < space->slots; s++)
            for (int a = 0; a < n; a++) local[s * n + a] += point.weight * point.value[s] * traction[a];
    }
    return YOKE_OK;
}

static yoke_status add_surface_loads(const fem_space *space, const fem_boundary *boundary, double *load)
{
    const fem_problem *problem = space->problem;
    load_rule rule = rule_of(space->slots_1d + 1);
    for (int c = 0; c < problem->num_conditions; c++) {
        if (problem->conditions[c].kind == FEM_DIRICHLET) continue;
        for (int64_t i = boundary->first[c]; i < boundary->first[c + 1]; i++) {
            double local[SLOTS * 3] = {0};
            yoke_status status = surface_force(space, boundary, &rule, c, i, local);
            if (status) return status;
            fem_space_fold(space, boundary->element[i], space->components, local, load);
        }
    }
    return YOKE_OK;
}

yoke_status fem_space_load(const fem_space *space, const fem_boundary *boundary, double *load)
{
    double *temperature;
    yoke_status status = fem_temperature_nodal(space, &temperature);
    if (!status) status = add_element_loads(space, temperature, load);
    yoke_release(space->context, temperature);
    if (!status) status = add_surface_loads(space, boundary, load);
    status = app_ranks_agree(space->ranks, status);
    return status ? status : fem_halo_sum(space->halo, space->components, load);
}
