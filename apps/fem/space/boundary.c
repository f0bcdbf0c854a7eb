#include "space/boundary.h"

#include <math.h>
#include <string.h>

#include "mesh/shape.h"
#include "space/problem/rigid_part.h"

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
    memset(members, 0, sizeof *members);
}

static yoke_status tree_members_create(const fem_problem *problem, tree_members *members)
{
    yoke_context *context = problem->context;
    const fem_mesh *mesh = problem->mesh;
    int64_t total = 0;
    memset(members, 0, sizeof *members);
    for (int c = 0; c < problem->num_conditions; c++) total += mesh->groups[problem->conditions[c].group].count;
    yoke_status status = yoke_allocate(context, mesh->num_elements + 2, sizeof(int64_t), &members->first);
    if (!status) status = yoke_allocate(context, total, sizeof(int32_t), &members->condition);
    if (!status) status = yoke_allocate(context, total, sizeof(int8_t), &members->local);
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

/*
 * Whether leaf e touches face, edge or corner `local` (dimension 2, 1, 0) of its tree with its own face, edge or corner of the same number.
 */
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

/* One pass over the leaves: counts members (boundary->element NULL) or stores them, next[condition] being the running position. */
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

static yoke_status find_areas(const fem_space *space, fem_boundary *boundary)
{
    const fem_problem *problem = space->problem;
    yoke_status status = yoke_allocate(space->context, problem->num_conditions, sizeof(double), &boundary->area);
    for (int c = 0; c < problem->num_conditions && !status; c++)
        if (problem->conditions[c].kind == FEM_FORCE)
            status = fem_members_area(space, boundary, boundary->first[c], boundary->first[c + 1], &boundary->area[c]);
    return status;
}

/* Adds the areas over the ranks.  status: that of this rank, which knows the areas of its own members. */
static yoke_status add_areas(const fem_space *space, yoke_status status, fem_boundary *boundary)
{
    status = app_ranks_agree(space->ranks, status);
    if (!status) app_ranks_sum(space->ranks, boundary->area, space->problem->num_conditions);
    return status;
}

yoke_status fem_boundary_create(const fem_space *space, fem_boundary **out)
{
    yoke_context *context = space->context;
    int conditions = space->problem->num_conditions;
    fem_boundary *boundary;
    tree_members members;
    int64_t *next = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *boundary, &boundary);
    if (status) return app_ranks_agree(space->ranks, status);
    boundary->context = context;
    status = app_ranks_agree(space->ranks, tree_members_create(space->problem, &members));
    if (status) {
        tree_members_destroy(context, &members);
        fem_boundary_destroy(boundary);
        return status;
    }
    status = yoke_allocate(context, conditions + 1, sizeof(int64_t), &boundary->first);
    if (!status) status = yoke_allocate(context, conditions + 1, sizeof(int64_t), &next);
    if (!status) {
        visit_leaves(space, &members, boundary, next);
        for (int c = 0; c < conditions; c++) boundary->first[c + 1] = boundary->first[c] + next[c];
        memcpy(next, boundary->first, sizeof(int64_t) * (size_t)(conditions + 1));
        status = yoke_allocate(context, boundary->first[conditions], sizeof(int32_t), &boundary->element);
    }
    if (!status) status = yoke_allocate(context, boundary->first[conditions], sizeof(int8_t), &boundary->local);
    if (!status) visit_leaves(space, &members, boundary, next);
    if (!status) status = find_areas(space, boundary);
    status = add_areas(space, status, boundary);
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
    yoke_release(boundary->context, boundary->area);
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

/* The nodes of a hanging slot belong to a larger face or edge in the same group, so all nodes of the member's slots are prescribed. */
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
        double rest[3] = {value[0], value[1], value[2]};
        fem_rigid_subtract(problem, space->tree[e], space->x + 3 * node, rest);
        for (int a = 0; a < n; a++) {
            if (!(condition->mask >> a & 1) || (constraints->prescribed[node] >> a & 1)) continue;
            constraints->prescribed[node] |= (uint8_t)(1u << a);
            constraints->value[node * n + a] = rest[a];
            constraints->owner[node * n + a] = (int16_t)c;
        }
    }
}

/* Writes, for each component of a shared node, the condition that prescribes it on this rank (NaN if none) and the value. */
static void put_prescribed(const fem_space *space, const fem_constraints *constraints, double *sent)
{
    const int n = space->components;
    for (int32_t s = 0; s < space->halo->num_shared; s++) {
        const int64_t first = (int64_t)space->halo->shared[s] * n;
        for (int a = 0; a < n; a++) {
            const int condition = constraints->owner[first + a];
            sent[(2 * (int64_t)s) * n + a] = condition < 0 ? (double)NAN : condition;
            sent[(2 * (int64_t)s + 1) * n + a] = constraints->value[first + a];
        }
    }
}

/* The first condition of the case applies, as among the members on one rank. */
static void take_prescribed(const fem_space *space, const double *received, fem_constraints *constraints)
{
    const fem_halo *halo = space->halo;
    const int n = space->components;
    for (int64_t i = 0; i < halo->first[halo->num_neighbours]; i++) {
        const int64_t node = halo->shared[halo->item[i]];
        for (int a = 0; a < n; a++) {
            const double condition = received[2 * i * n + a];
            const int own = constraints->owner[node * n + a];
            if (isnan(condition) || (own >= 0 && own <= condition)) continue;
            constraints->prescribed[node] |= (uint8_t)(1u << a);
            constraints->owner[node * n + a] = (int16_t)condition;
            constraints->value[node * n + a] = received[(2 * i + 1) * n + a];
        }
    }
}

/*
 * All members of a condition that touch a node may be on other ranks: a face that this rank's elements touch only in an edge, or an edge
 * that one element represents.
 */
static yoke_status constrain_shared(const fem_space *space, fem_constraints *constraints)
{
    const int n = space->components;
    double *sent = NULL;
    int32_t *place = NULL;
    fem_halo_messages *messages = NULL;
    if (!space->halo) return YOKE_OK;
    yoke_status status = yoke_allocate(space->context, 2 * (int64_t)n * space->halo->num_shared, sizeof *sent, &sent);
    if (!status) status = yoke_allocate(space->context, space->halo->num_shared, sizeof *place, &place);
    if (!status) status = fem_halo_messages_create(space->halo, 2 * n * (int)sizeof *sent, &messages);
    status = app_ranks_agree(space->ranks, status);
    if (!status) {
        for (int32_t s = 0; s < space->halo->num_shared; s++) place[s] = s;
        put_prescribed(space, constraints, sent);
        fem_halo_begin(messages, sizeof *sent, 2 * n, sent, place);
        fem_halo_wait(messages);
        take_prescribed(space, messages->received, constraints);
    }
    fem_halo_messages_destroy(messages);
    yoke_release(space->context, sent);
    yoke_release(space->context, place);
    return status;
}

yoke_status fem_constraints_create(const fem_space *space, const fem_boundary *boundary, fem_constraints **out)
{
    yoke_context *context = space->context;
    const fem_problem *problem = space->problem;
    int64_t dofs = (int64_t)space->num_nodes * space->components;
    fem_constraints *constraints;
    yoke_status status = yoke_allocate(context, 1, sizeof *constraints, &constraints);
    if (status) return app_ranks_agree(space->ranks, status);
    constraints->context = context;
    status = yoke_allocate(context, space->num_nodes, sizeof(uint8_t), &constraints->prescribed);
    if (!status) status = yoke_allocate(context, dofs, sizeof(double), &constraints->value);
    if (!status) status = yoke_allocate(context, dofs, sizeof(int16_t), &constraints->owner);
    status = app_ranks_agree(space->ranks, status);
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
    status = constrain_shared(space, constraints);
    if (status)
        fem_constraints_destroy(constraints);
    else
        *out = constraints;
    return status;
}

void fem_constraints_destroy(fem_constraints *constraints)
{
    if (!constraints) return;
    yoke_release(constraints->context, constraints->prescribed);
    yoke_release(constraints->context, constraints->value);
    yoke_release(constraints->context, constraints->owner);
    yoke_release(constraints->context, constraints);
}
