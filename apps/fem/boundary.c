#include "boundary.h"

#include <math.h>
#include <string.h>

#include "shape.h"

/* ------------------------------------------------------------------------------------------ leaves of a condition */

/* Members of all conditions, sorted by tree: those of tree t are at first[t] .. first[t+1]. */
typedef struct tree_members {
    int64_t *first; /* [num trees + 1] */
    int32_t *condition;
    int8_t *local;
} tree_members;

static void tree_members_destroy(yoke_context *context, tree_members *members)
{
    yoke_release(context, members->first);
    yoke_release(context, members->condition);
    yoke_release(context, members->local);
}

static yoke_status tree_members_create(const fem_problem *problem, tree_members *members)
{
    yoke_context *context = problem->context;
    const fem_mesh *mesh = problem->mesh;
    int64_t total = 0;
    memset(members, 0, sizeof *members);
    for (int c = 0; c < problem->num_conditions; c++) total += mesh->groups[problem->conditions[c].group].count;
    yoke_status status = yoke_allocate(context, mesh->num_elements + 2, sizeof(int64_t), (void **)&members->first);
    if (!status) status = yoke_allocate(context, total, sizeof(int32_t), (void **)&members->condition);
    if (!status) status = yoke_allocate(context, total, sizeof(int8_t), (void **)&members->local);
    if (status) {
        tree_members_destroy(context, members);
        return status;
    }
    int64_t *next = members->first + 1; /* counts, then running positions; ends as first */
    for (int c = 0; c < problem->num_conditions; c++) {
        const fem_group *group = &mesh->groups[problem->conditions[c].group];
        for (int64_t i = 0; i < group->count; i++) next[group->element[i] + 1]++;
    }
    for (int64_t t = 0; t < mesh->num_elements; t++) next[t + 1] += next[t];
    for (int c = 0; c < problem->num_conditions; c++) {
        const fem_group *group = &mesh->groups[problem->conditions[c].group];
        for (int64_t i = 0; i < group->count; i++) {
            int64_t at = next[group->element[i]]++;
            members->condition[at] = c;
            members->local[at] = group->local[i];
        }
    }
    return YOKE_OK;
}

/* Whether leaf e touches face, edge or corner `local` (dimension 2, 1, 0) of its tree with the same face, edge or corner of its own. */
static int leaf_touches(const fem_space *space, int32_t e, int dimension, int local)
{
    int32_t size = P8EST_QUADRANT_LEN(space->level[e]);
    int side[3];
    fem_member_sides(dimension, local, side);
    for (int a = 0; a < 3; a++) {
        int32_t at = space->corner[3 * (int64_t)e + a];
        if (side[a] == 0 && at != 0) return 0;
        if (side[a] == 1 && at + size != P8EST_ROOT_LEN) return 0;
    }
    return 1;
}

/* One pass over the leaves: counts (boundary->element NULL) or fills, next[condition] being the running position. */
static void visit_leaves(const fem_space *space, const tree_members *members, fem_boundary *boundary, int64_t *next)
{
    const fem_problem *problem = space->problem;
    for (int32_t e = 0; e < space->num_elements; e++) {
        int32_t tree = space->tree[e];
        for (int64_t m = members->first[tree]; m < members->first[tree + 1]; m++) {
            int c = members->condition[m];
            if (!leaf_touches(space, e, problem->mesh->groups[problem->conditions[c].group].dimension, members->local[m])) continue;
            if (boundary->element) {
                boundary->element[next[c]] = e;
                boundary->local[next[c]] = members->local[m];
            }
            next[c]++;
        }
    }
}

yoke_status fem_boundary_create(const fem_space *space, fem_boundary **out)
{
    yoke_context *context = space->context;
    int conditions = space->problem->num_conditions;
    fem_boundary *boundary;
    tree_members members;
    int64_t *next = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *boundary, (void **)&boundary);
    if (status) return status;
    boundary->context = context;
    status = tree_members_create(space->problem, &members);
    if (status) {
        fem_boundary_destroy(boundary);
        return status;
    }
    status = yoke_allocate(context, conditions + 1, sizeof(int64_t), (void **)&boundary->first);
    if (!status) status = yoke_allocate(context, conditions + 1, sizeof(int64_t), (void **)&next);
    if (!status) {
        visit_leaves(space, &members, boundary, next);
        for (int c = 0; c < conditions; c++) boundary->first[c + 1] = boundary->first[c] + next[c];
        memcpy(next, boundary->first, sizeof(int64_t) * (size_t)(conditions + 1));
        status = yoke_allocate(context, boundary->first[conditions], sizeof(int32_t), (void **)&boundary->element);
    }
    if (!status) status = yoke_allocate(context, boundary->first[conditions], sizeof(int8_t), (void **)&boundary->local);
    if (!status) visit_leaves(space, &members, boundary, next);
    yoke_release(context, next);
    tree_members_destroy(context, &members);
    if (status) {
        fem_boundary_destroy(boundary);
        return status;
    }
    *out = boundary;
    return YOKE_OK;
}

void fem_boundary_destroy(fem_boundary *boundary)
{
    if (!boundary) return;
    yoke_release(boundary->context, boundary->first);
    yoke_release(boundary->context, boundary->element);
    yoke_release(boundary->context, boundary->local);
    yoke_release(boundary->context, boundary);
}

/* ------------------------------------------------------------------------------------------------ constraints */

static int member_slots(int slots_1d, int dimension, int local, int slots[9])
{
    if (dimension == 2) {
        fem_face_slots(slots_1d, local, slots);
        return slots_1d * slots_1d;
    }
    if (dimension == 1) {
        fem_edge_slots(slots_1d, local, slots);
        return slots_1d;
    }
    slots[0] = fem_corner_slot(slots_1d, local);
    return 1;
}

/* A hanging slot names nodes of a larger face or edge in the same group, so all nodes that the member's slots name are prescribed. */
static void constrain_member(const fem_space *space, int c, int32_t e, int local, fem_constraints *constraints)
{
    const fem_problem *problem = space->problem;
    const fem_condition *condition = &problem->conditions[c];
    int slots[9], n = space->components;
    int count = member_slots(space->slots_1d, problem->mesh->groups[condition->group].dimension, local, slots);
    for (int i = 0; i < count; i++) {
        int64_t node = space->element_nodes[(int64_t)e * space->slots + slots[i]];
        if (node < 0) continue;
        double value[3] = {condition->value[0], condition->value[1], condition->value[2]};
        if (problem->fields.dirichlet) problem->fields.dirichlet(space->x + 3 * node, value, problem->fields.user);
        for (int a = 0; a < n; a++) {
            if (!(condition->mask >> a & 1) || (constraints->prescribed[node] >> a & 1)) continue;
            constraints->prescribed[node] |= (uint8_t)(1u << a);
            constraints->value[node * n + a] = value[a];
            constraints->owner[node * n + a] = (int16_t)c;
        }
    }
}

yoke_status fem_constraints_create(const fem_space *space, const fem_boundary *boundary, fem_constraints **out)
{
    yoke_context *context = space->context;
    const fem_problem *problem = space->problem;
    int64_t dofs = (int64_t)space->num_nodes * space->components;
    fem_constraints *constraints;
    yoke_status status = yoke_allocate(context, 1, sizeof *constraints, (void **)&constraints);
    if (status) return status;
    constraints->context = context;
    status = yoke_allocate(context, space->num_nodes, sizeof(uint8_t), (void **)&constraints->prescribed);
    if (!status) status = yoke_allocate(context, dofs, sizeof(double), (void **)&constraints->value);
    if (!status) status = yoke_allocate(context, dofs, sizeof(int16_t), (void **)&constraints->owner);
    if (status) {
        fem_constraints_destroy(constraints);
        return status;
    }
    for (int64_t i = 0; i < dofs; i++) constraints->owner[i] = -1;
    for (int c = 0; c < problem->num_conditions; c++) {
        if (problem->conditions[c].kind != FEM_DIRICHLET) continue;
        for (int64_t i = boundary->first[c]; i < boundary->first[c + 1]; i++)
            constrain_member(space, c, boundary->element[i], boundary->local[i], constraints);
    }
    *out = constraints;
    return YOKE_OK;
}

void fem_constraints_destroy(fem_constraints *constraints)
{
    if (!constraints) return;
    yoke_release(constraints->context, constraints->prescribed);
    yoke_release(constraints->context, constraints->value);
    yoke_release(constraints->context, constraints->owner);
    yoke_release(constraints->context, constraints);
}

/* ------------------------------------------------------------------------------------------------------ loads */

enum { MAX_POINTS_1D = 4 }; /* one more than the stiffness uses: loads may be given functions */

typedef struct load_rule {
    int n;
    double point[MAX_POINTS_1D], weight[MAX_POINTS_1D];
} load_rule;

static void body_force(const fem_space *space, const load_rule *rule, int32_t e, double *local)
{
    const fem_problem *problem = space->problem;
    int n = space->components;
    double x[27 * 3], value[27], gradient[27 * 3];
    fem_space_geometry(space, e, x);
    for (int q = 0; q < rule->n * rule->n * rule->n; q++) {
        int i = q % rule->n, j = q / rule->n % rule->n, k = q / (rule->n * rule->n);
        double r[3] = {rule->point[i], rule->point[j], rule->point[k]}, force[3];
        fem_shape(space->slots_1d, r, value, gradient, NULL);
        double weight = rule->weight[i] * rule->weight[j] * rule->weight[k] * fem_map(space->slots, x, gradient, NULL, NULL);
        memcpy(force, fem_space_material(space, e)->force, sizeof force);
        if (problem->fields.force) {
            double at[3] = {0, 0, 0};
            for (int s = 0; s < space->slots; s++)
                for (int a = 0; a < 3; a++) at[a] += value[s] * x[3 * s + a];
            problem->fields.force(at, force, problem->fields.user);
        }
        for (int s = 0; s < space->slots; s++)
            for (int a = 0; a < n; a++) local[s * n + a] += weight * value[s] * force[a];
    }
}

void fem_condition_traction(const fem_problem *problem, const fem_condition *condition, const double x[3], const double normal[3],
                            double traction[3])
{
    for (int a = 0; a < 3; a++) traction[a] = condition->kind == FEM_PRESSURE ? -condition->value[0] * normal[a] : condition->value[a];
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

static yoke_status surface_force(const fem_space *space, const load_rule *rule, const fem_condition *condition, int32_t e, int face,
                                 double *local)
{
    int n = space->components, axis = face / 2;
    double positions[27 * 3], value[27], gradient[27 * 3];
    fem_space_geometry(space, e, positions);
    for (int q = 0; q < rule->n * rule->n; q++) {
        double r[3], inverse[3][3], normal[3], at[3] = {0, 0, 0}, traction[3], area = 0;
        fem_face_point(face, rule->point[q % rule->n], rule->point[q / rule->n], r);
        fem_shape(space->slots_1d, r, value, gradient, NULL);
        double determinant = fem_map(space->slots, positions, gradient, NULL, inverse);
        if (!(determinant > 0) || !isfinite(determinant)) return fail_folded(space, e, determinant);
        for (int a = 0; a < 3; a++) { /* Nanson's formula */
            normal[a] = (face % 2 ? 1 : -1) * determinant * inverse[axis][a];
            area += normal[a] * normal[a];
        }
        area = sqrt(area);
        for (int a = 0; a < 3; a++) normal[a] /= area;
        for (int s = 0; s < space->slots; s++)
            for (int a = 0; a < 3; a++) at[a] += value[s] * positions[3 * s + a];
        fem_condition_traction(space->problem, condition, at, normal, traction);
        double weight = rule->weight[q % rule->n] * rule->weight[q / rule->n] * area;
        for (int s = 0; s < space->slots; s++)
            for (int a = 0; a < n; a++) local[s * n + a] += weight * value[s] * traction[a];
    }
    return YOKE_OK;
}

static int has_body_force(const fem_space *space)
{
    if (space->problem->fields.force) return 1;
    for (int m = 0; m < space->problem->num_materials; m++)
        for (int a = 0; a < space->components; a++)
            if (space->problem->materials[m].force[a] != 0) return 1;
    return 0;
}

/* Element vectors are made in parallel, a block at a time, and added in the elements' order, so that the sum is always the same. */
static yoke_status add_body_forces(const fem_space *space, const load_rule *rule, double *load)
{
    enum { BLOCK = 1024 };
    double *local;
    int width = space->slots * space->components;
    if (!has_body_force(space)) return YOKE_OK;
    yoke_status status = yoke_allocate(space->context, (int64_t)BLOCK * width, sizeof(double), (void **)&local);
    if (status) return status;
    for (int32_t begin = 0; begin < space->num_elements; begin += BLOCK) {
        int32_t count = space->num_elements - begin < BLOCK ? space->num_elements - begin : BLOCK;
        memset(local, 0, sizeof(double) * (size_t)(count * width));
#pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < count; i++) body_force(space, rule, begin + i, local + (int64_t)i * width);
        for (int32_t i = 0; i < count; i++) fem_space_fold(space, begin + i, space->components, local + (int64_t)i * width, load);
    }
    yoke_release(space->context, local);
    return YOKE_OK;
}

yoke_status fem_space_load(const fem_space *space, const fem_boundary *boundary, double *load)
{
    const fem_problem *problem = space->problem;
    load_rule rule = {.n = space->slots_1d + 1};
    fem_gauss(rule.n, rule.point, rule.weight);
    yoke_status status = add_body_forces(space, &rule, load);
    if (status) return status;
    for (int c = 0; c < problem->num_conditions; c++) {
        if (problem->conditions[c].kind == FEM_DIRICHLET) continue;
        for (int64_t i = boundary->first[c]; i < boundary->first[c + 1]; i++) {
            double local[27 * 3] = {0};
            status = surface_force(space, &rule, &problem->conditions[c], boundary->element[i], boundary->local[i], local);
            if (status) return status;
            fem_space_fold(space, boundary->element[i], space->components, local, load);
        }
    }
    return YOKE_OK;
}
