#include "space/space.h"

#include <stdlib.h>
#include <string.h>

#include <p8est_lnodes.h>

#include "mesh/shape.h"
#include "space/private.h"

static void copy_leaves(fem_space *space)
{
    p8est_t *p8est = space->forest->p8est;
    int32_t e = 0;
    for (p4est_topidx_t t = p8est->first_local_tree; t <= p8est->last_local_tree; t++) {
        p8est_tree_t *tree = p8est_tree_array_index(p8est->trees, t);
        for (size_t i = 0; i < tree->quadrants.elem_count; i++, e++) {
            const p8est_quadrant_t *q = p8est_quadrant_array_index(&tree->quadrants, i);
            space->tree[e] = t;
            space->corner[3 * (int64_t)e + 0] = q->x;
            space->corner[3 * (int64_t)e + 1] = q->y;
            space->corner[3 * (int64_t)e + 2] = q->z;
            space->level[e] = q->level;
        }
    }
}

/*
 * Numbers nodes in the order in which the elements touch them: the corners of a finer space, or all nodes of a space that has only corners.
 * number [nodes of the finer space]: the new number, -1: none.
 */
static void number_corners(fem_space *space, const fem_space *from, int32_t *number)
{
    for (int32_t i = 0; i < from->num_nodes; i++) number[i] = -1;
    int32_t count = 0;
    for (int32_t e = 0; e < space->num_elements; e++) {
        int32_t *nodes = space->element_nodes + 8 * (int64_t)e;
        const int32_t *own = from->element_nodes + (int64_t)e * from->slots;
        for (int c = 0; c < 8; c++) {
            int32_t *n = &number[own[fem_corner_slot(from->slots_1d, c)]];
            if (*n < 0) *n = count++;
            nodes[c] = *n;
        }
    }
    space->num_nodes = count;
}

static void find_homes(fem_space *space)
{
    for (int32_t i = 0; i < space->num_nodes; i++) space->home_element[i] = -1;
    for (int32_t e = 0; e < space->num_elements; e++) {
        int8_t owner[27];
        const int32_t *nodes = space->element_nodes + (int64_t)e * space->slots;
        if (space->face_code[e]) space_hanging_slots(space, e, owner);
        for (int s = 0; s < space->slots; s++) {
            if (nodes[s] < 0 || (space->face_code[e] && owner[s] >= 0) || space->home_element[nodes[s]] >= 0) continue;
            space->home_element[nodes[s]] = e;
            space->home_slot[nodes[s]] = (int8_t)s;
        }
    }
}

void fem_slot_point(int slots_1d, int slot, double r[3])
{
    r[0] = (double)(slot % slots_1d) / (slots_1d - 1);
    r[1] = (double)(slot / slots_1d % slots_1d) / (slots_1d - 1);
    r[2] = (double)(slot / (slots_1d * slots_1d)) / (slots_1d - 1);
}

static void place_nodes(fem_space *space)
{
    const fem_mesh *mesh = space->problem->mesh;
    int n = mesh->order + 1, slots = n * n * n;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < space->num_nodes; i++) {
        double r[3], in_tree[3], value[27];
        int32_t e = space->home_element[i];
        if (e < 0) continue;
        fem_slot_point(space->slots_1d, space->home_slot[i], r);
        fem_space_tree_point(space, e, r, in_tree);
        fem_shape(n, in_tree, value, NULL, NULL);
        const double *geometry = mesh->geometry + (int64_t)space->tree[e] * slots * 3;
        double x[3] = {0, 0, 0};
        for (int s = 0; s < slots; s++)
            for (int a = 0; a < 3; a++) x[a] += value[s] * geometry[3 * s + a];
        for (int a = 0; a < 3; a++) space->x[3 * (int64_t)i + a] = x[a];
    }
}

static int compare_pairs(const void *a, const void *b)
{
    const int32_t *p = a, *q = b;
    if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
    return (p[1] > q[1]) - (p[1] < q[1]);
}

/* Each full face and each full edge with hanging halves has a fixed number of hanging nodes; each is counted once. */
static yoke_status count_hanging(fem_space *space)
{
    int64_t faces = 0, edges = 0, distinct = 0;
    for (int32_t e = 0; e < space->num_elements; e++) edges += space->face_code[e] ? 12 : 0;
    int32_t(*ends)[2] = NULL;
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate(space->context, edges, sizeof *ends, &ends));
    if (status) {
        yoke_release(space->context, ends);
        return status;
    }
    edges = 0;
    for (int32_t e = 0; e < space->num_elements; e++) {
        int hanging_face[6], hanging_edge[12];
        if (!p8est_lnodes_decode(space->face_code[e], hanging_face, hanging_edge)) continue;
        for (int f = 0; f < 6; f++) faces += hanging_face[f] >= 0;
        for (int k = 0; k < 12; k++) {
            if (hanging_edge[k] < 0 || hanging_edge[k] == 4) continue;
            int s[3];
            fem_edge_slots(space->slots_1d, k, s);
            int32_t a = space->element_nodes[(int64_t)e * space->slots + s[0]];
            int32_t b = space->element_nodes[(int64_t)e * space->slots + s[space->slots_1d - 1]];
            ends[edges][0] = a < b ? a : b;
            ends[edges++][1] = a < b ? b : a;
        }
    }
    qsort(ends, (size_t)edges, sizeof *ends, compare_pairs);
    for (int64_t i = 0; i < edges; i++)
        if (i == 0 || compare_pairs(ends[i], ends[distinct - 1])) memmove(ends[distinct++], ends[i], sizeof *ends);
    if (space->ranks) status = space_count_globally(space, (const int32_t(*)[2])ends, &distinct, &faces);
    yoke_release(space->context, ends);
    if (status) return status;
    int per_face = space->element == FEM_Q1 ? 1 : space->element == FEM_S2 ? 5 : 8, per_edge = space->element == FEM_Q1 ? 1 : 2;
    space->num_hanging = faces / 4 * per_face + distinct * per_edge;
    return YOKE_OK;
}

static yoke_status allocate_leaves(fem_space *space)
{
    yoke_context *c = space->context;
    int64_t elements = space->num_elements;
    yoke_status status = yoke_allocate_untouched(c, elements * space->slots, sizeof(int32_t), &space->element_nodes);
    if (!status) status = yoke_allocate_untouched(c, elements, sizeof(int16_t), &space->face_code);
    if (!status) status = yoke_allocate_untouched(c, elements, sizeof(int32_t), &space->tree);
    if (!status) status = yoke_allocate_untouched(c, 3 * elements, sizeof(int32_t), &space->corner);
    if (!status) status = yoke_allocate_untouched(c, elements, sizeof(int8_t), &space->level);
    return status;
}

/* Called after the nodes have been numbered. */
static yoke_status allocate_homes(fem_space *space)
{
    yoke_context *c = space->context;
    yoke_status status = yoke_allocate_untouched(c, space->num_nodes, sizeof(int32_t), &space->home_element);
    if (!status) status = yoke_allocate_untouched(c, space->num_nodes, sizeof(int8_t), &space->home_slot);
    if (!status) status = yoke_allocate_untouched(c, 3 * (int64_t)space->num_nodes, sizeof(double), &space->x);
    return status;
}

static yoke_status build(fem_space *space)
{
    yoke_status status = app_ranks_agree(space->ranks, allocate_leaves(space));
    if (status) return status;
    copy_leaves(space);
    status = space_number(space);
    if (!status) status = allocate_homes(space);
    if (!status) find_homes(space);
    status = space_number_globally(space, status);
    if (status) return status;
    place_nodes(space);
    status = space_complete_positions(space);
    return status ? status : count_hanging(space);
}

static yoke_status allocate_space(const fem_problem *problem, const fem_forest *forest, fem_element element, fem_space **out)
{
    fem_space *space = NULL;
    yoke_status status = app_ranks_agree(forest->ranks, yoke_allocate(problem->context, 1, sizeof *space, &space));
    if (status) {
        yoke_release(problem->context, space);
        return status;
    }
    space->context = problem->context;
    space->problem = problem;
    space->forest = forest;
    space->element = element;
    space->components = problem->components;
    space->slots_1d = element == FEM_Q1 ? 2 : 3;
    space->slots = element == FEM_Q1 ? 8 : 27;
    space->num_elements = forest->p8est->local_num_quadrants;
    space->ranks = forest->ranks;
    *out = space;
    return YOKE_OK;
}

yoke_status fem_space_create(const fem_problem *problem, const fem_forest *forest, fem_element element, fem_space **out)
{
    fem_space *space;
    yoke_status status = allocate_space(problem, forest, element, &space);
    if (status) return status;
    status = build(space);
    if (status) {
        fem_space_destroy(space);
        return status;
    }
    *out = space;
    return YOKE_OK;
}

/* Creates the nodes at the corners of the finer space, at positions that the finer space has computed. */
static yoke_status build_corners(fem_space *space, const fem_space *from)
{
    int32_t *number = NULL;
    size_t elements = (size_t)space->num_elements;
    yoke_status status = allocate_leaves(space);
    if (!status) status = yoke_allocate_untouched(space->context, from->num_nodes, sizeof(int32_t), &number);
    status = app_ranks_agree(space->ranks, status);
    if (status) {
        yoke_release(space->context, number);
        return status;
    }
    memcpy(space->face_code, from->face_code, elements * sizeof *space->face_code);
    memcpy(space->tree, from->tree, elements * sizeof *space->tree);
    memcpy(space->corner, from->corner, 3 * elements * sizeof *space->corner);
    memcpy(space->level, from->level, elements * sizeof *space->level);
    number_corners(space, from, number);
    status = allocate_homes(space);
    if (!status && from->halo) status = fem_halo_restrict(from->halo, number, &space->halo);
    for (int32_t i = 0; i < from->num_nodes && !status; i++) {
        int32_t node = number[i], slot = from->home_slot[i], n = from->slots_1d;
        if (node < 0) continue;
        memcpy(space->x + 3 * (int64_t)node, from->x + 3 * (int64_t)i, 3 * sizeof *space->x);
        space->home_element[node] = from->home_element[i];
        if (space->home_element[node] < 0) continue;
        space->home_slot[node] = (int8_t)((slot % n + 2 * (slot / n % n) + 4 * (slot / (n * n))) / (n - 1));
    }
    yoke_release(space->context, number);
    status = space_number_globally(space, status);
    return status ? status : count_hanging(space);
}

yoke_status fem_space_create_corners(const fem_space *from, fem_space **out)
{
    fem_space *space;
    yoke_status status = allocate_space(from->problem, from->forest, FEM_Q1, &space);
    if (status) return status;
    status = build_corners(space, from);
    if (status) {
        fem_space_destroy(space);
        return status;
    }
    *out = space;
    return YOKE_OK;
}

void fem_space_destroy(fem_space *space)
{
    if (!space) return;
    yoke_context *c = space->context;
    void *arrays[] = {space->element_nodes, space->face_code, space->x,     space->home_element, space->home_slot,
                      space->tree,          space->corner,    space->level, space->global_node,  space->counts};
    fem_halo_destroy(space->halo);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(c, arrays[i]);
    yoke_release(c, space);
}
