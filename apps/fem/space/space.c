#include "space/space.h"

#include <stdlib.h>
#include <string.h>

#include <p8est_lnodes.h>

#include "mesh/shape.h"
#include "space/private.h"

/* ------------------------------------------------------------------------------------------- interpolation */

/* Values of the n shape functions of a whole edge at the nodes of its half `half`: weight [n][n]. */
static void half_edge_weights(int n, int half, double weight[3][3])
{
    for (int i = 0; i < n; i++) fem_shape_1d(n, 0.5 * (half + (double)i / (n - 1)), weight[i], NULL, NULL);
}

/* The hanging faces of an element and the edges that hang by themselves. */
typedef struct hanging_parts {
    int faces, edges;
    int face[3], face_child[3]; /* face and the corner of the full face that it touches */
    int edge[3], edge_half[3];
} hanging_parts;

static void decode_hanging(int16_t face_code, hanging_parts *parts)
{
    int hanging_face[6], hanging_edge[12];
    parts->faces = parts->edges = 0;
    if (!p8est_lnodes_decode(face_code, hanging_face, hanging_edge)) return;
    for (int f = 0; f < 6; f++) {
        if (hanging_face[f] >= 0) {
            parts->face[parts->faces] = f;
            parts->face_child[parts->faces++] = hanging_face[f];
        }
    }
    for (int e = 0; e < 12; e++) { /* an edge of a hanging face (2, 3, 4) is interpolated with the face */
        if (hanging_edge[e] == 0 || hanging_edge[e] == 1) {
            parts->edge[parts->edges] = e;
            parts->edge_half[parts->edges++] = hanging_edge[e];
        }
    }
}

/* The face centre and the volume centre of a serendipity element as sums over corner and edge-middle values (shape functions at 1/2). */
static const double face_corner_weight = -0.25, face_edge_weight = 0.5, volume_corner_weight = -0.25, volume_edge_weight = 0.25;

static void fill_face_centre(int face, int n, double *local)
{
    int s[9];
    fem_face_slots(3, face, s);
    for (int c = 0; c < n; c++) {
        double corners = local[s[0] * n + c] + local[s[2] * n + c] + local[s[6] * n + c] + local[s[8] * n + c];
        double edges = local[s[1] * n + c] + local[s[3] * n + c] + local[s[5] * n + c] + local[s[7] * n + c];
        local[s[4] * n + c] = face_corner_weight * corners + face_edge_weight * edges;
    }
}

static void fold_face_centre(int face, int n, double *local)
{
    int s[9];
    fem_face_slots(3, face, s);
    for (int c = 0; c < n; c++) {
        double centre = local[s[4] * n + c];
        local[s[4] * n + c] = 0;
        for (int i = 0; i < 9; i++)
            if (i != 4) local[s[i] * n + c] += (i % 2 ? face_edge_weight : face_corner_weight) * centre;
    }
}

static void fill_serendipity(int n, double *local)
{
    for (int f = 0; f < 6; f++) fill_face_centre(f, n, local);
    for (int c = 0; c < n; c++) {
        double sum = 0;
        for (int s = 0; s < 27; s++) {
            int m = fem_slot_middles(s);
            if (m < 2) sum += (m ? volume_edge_weight : volume_corner_weight) * local[s * n + c];
        }
        local[13 * n + c] = sum;
    }
}

static void fold_serendipity(int n, double *local)
{
    for (int c = 0; c < n; c++) {
        double centre = local[13 * n + c];
        local[13 * n + c] = 0;
        for (int s = 0; s < 27; s++) {
            int m = fem_slot_middles(s);
            if (m < 2) local[s * n + c] += (m ? volume_edge_weight : volume_corner_weight) * centre;
        }
    }
    for (int f = 0; f < 6; f++) fold_face_centre(f, n, local);
}

/* Entities (faces, edges) overlap in shared slots, so all are computed from the gathered values and written afterwards. */
static void expand_hanging(const fem_space *space, const hanging_parts *parts, int n, double *local)
{
    int m = space->slots_1d;
    double gathered[27 * 6];
    if (space->element == FEM_S2)
        for (int h = 0; h < parts->faces; h++) fill_face_centre(parts->face[h], n, local);
    memcpy(gathered, local, sizeof(double) * (size_t)(space->slots * n));
    for (int h = 0; h < parts->faces; h++) {
        int s[9];
        double ws[3][3], wt[3][3];
        fem_face_slots(m, parts->face[h], s);
        half_edge_weights(m, parts->face_child[h] & 1, ws);
        half_edge_weights(m, parts->face_child[h] >> 1, wt);
        for (int to = 0; to < m * m; to++) {
            for (int c = 0; c < n; c++) {
                double sum = 0;
                for (int from = 0; from < m * m; from++) sum += ws[to % m][from % m] * wt[to / m][from / m] * gathered[s[from] * n + c];
                local[s[to] * n + c] = sum;
            }
        }
    }
    for (int h = 0; h < parts->edges; h++) {
        int s[3];
        double w[3][3];
        fem_edge_slots(m, parts->edge[h], s);
        half_edge_weights(m, parts->edge_half[h], w);
        for (int to = 0; to < m; to++) {
            for (int c = 0; c < n; c++) {
                double sum = 0;
                for (int from = 0; from < m; from++) sum += w[to][from] * gathered[s[from] * n + c];
                local[s[to] * n + c] = sum;
            }
        }
    }
}

/* Slots of the hanging faces and edges, each with one entity that interpolates it: entity [slots] = -1 (none), face h, or 3 + edge h. */
static void hanging_slots(int m, const hanging_parts *parts, int8_t entity[27])
{
    memset(entity, -1, 27);
    int s[9];
    for (int h = parts->edges - 1; h >= 0; h--) {
        fem_edge_slots(m, parts->edge[h], s);
        for (int i = 0; i < m; i++) entity[s[i]] = (int8_t)(3 + h);
    }
    for (int h = parts->faces - 1; h >= 0; h--) {
        fem_face_slots(m, parts->face[h], s);
        for (int i = 0; i < m * m; i++) entity[s[i]] = (int8_t)h;
    }
}

static void fold_hanging(const fem_space *space, const hanging_parts *parts, int n, double *local)
{
    int m = space->slots_1d;
    double values[27 * 6];
    int8_t entity[27];
    memcpy(values, local, sizeof(double) * (size_t)(space->slots * n));
    hanging_slots(m, parts, entity);
    for (int slot = 0; slot < space->slots; slot++)
        if (entity[slot] >= 0) memset(local + (ptrdiff_t)slot * n, 0, sizeof(double) * (size_t)n);
    for (int h = 0; h < parts->faces; h++) {
        int s[9];
        double ws[3][3], wt[3][3];
        fem_face_slots(m, parts->face[h], s);
        half_edge_weights(m, parts->face_child[h] & 1, ws);
        half_edge_weights(m, parts->face_child[h] >> 1, wt);
        for (int to = 0; to < m * m; to++) {
            if (entity[s[to]] != h) continue;
            for (int from = 0; from < m * m; from++)
                for (int c = 0; c < n; c++) local[s[from] * n + c] += ws[to % m][from % m] * wt[to / m][from / m] * values[s[to] * n + c];
        }
    }
    for (int h = 0; h < parts->edges; h++) {
        int s[3];
        double w[3][3];
        fem_edge_slots(m, parts->edge[h], s);
        half_edge_weights(m, parts->edge_half[h], w);
        for (int to = 0; to < m; to++) {
            if (entity[s[to]] != 3 + h) continue;
            for (int from = 0; from < m; from++)
                for (int c = 0; c < n; c++) local[s[from] * n + c] += w[to][from] * values[s[to] * n + c];
        }
    }
    if (space->element == FEM_S2)
        for (int h = 0; h < parts->faces; h++) fold_face_centre(parts->face[h], n, local);
}

void fem_space_expand(const fem_space *space, int32_t e, int n, const double *nodal, double *local)
{
    const int32_t *nodes = space->element_nodes + (int64_t)e * space->slots;
    for (int s = 0; s < space->slots; s++)
        for (int c = 0; c < n; c++) local[s * n + c] = nodes[s] < 0 ? 0 : nodal[(int64_t)nodes[s] * n + c];
    if (space->face_code[e]) {
        hanging_parts parts;
        decode_hanging(space->face_code[e], &parts);
        expand_hanging(space, &parts, n, local);
    }
    if (space->element == FEM_S2) fill_serendipity(n, local);
}

void fem_space_fold_local(const fem_space *space, int32_t e, int n, double *local)
{
    if (space->element == FEM_S2) fold_serendipity(n, local);
    if (space->face_code[e]) {
        hanging_parts parts;
        decode_hanging(space->face_code[e], &parts);
        fold_hanging(space, &parts, n, local);
    }
}

void fem_space_fold(const fem_space *space, int32_t e, int n, double *local, double *nodal)
{
    fem_space_fold_local(space, e, n, local);
    const int32_t *nodes = space->element_nodes + (int64_t)e * space->slots;
    for (int s = 0; s < space->slots; s++)
        if (nodes[s] >= 0)
            for (int c = 0; c < n; c++) nodal[(int64_t)nodes[s] * n + c] += local[s * n + c];
}

int fem_space_row(const fem_space *space, int32_t e, int slot, int32_t node[FEM_MAX_ROW], double weight[FEM_MAX_ROW])
{
    const int32_t *nodes = space->element_nodes + (int64_t)e * space->slots;
    if (!space->face_code[e] && nodes[slot] >= 0) {
        node[0] = nodes[slot];
        weight[0] = 1;
        return 1;
    }
    /* The row of the interpolation is the transpose applied to the slot's unit vector. */
    double local[27] = {0};
    local[slot] = 1;
    fem_space_fold_local(space, e, 1, local);
    int count = 0;
    for (int s = 0; s < space->slots; s++) {
        if (nodes[s] >= 0 && local[s] != 0) {
            node[count] = nodes[s];
            weight[count++] = local[s];
        }
    }
    return count;
}

/* ------------------------------------------------------------------------------------------- construction */

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
 * Numbers the nodes in the order in which the elements touch them: the corners of a finer space, or all nodes of one that has corners only.
 * number [nodes of the finer space] becomes the new number, -1: none.
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
        int8_t entity[27];
        const int32_t *nodes = space->element_nodes + (int64_t)e * space->slots;
        if (space->face_code[e]) {
            hanging_parts parts;
            decode_hanging(space->face_code[e], &parts);
            hanging_slots(space->slots_1d, &parts, entity);
        }
        for (int s = 0; s < space->slots; s++) {
            if (nodes[s] < 0 || (space->face_code[e] && entity[s] >= 0) || space->home_element[nodes[s]] >= 0) continue;
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

/* Each full face with hanging halves and each full edge with hanging halves has a fixed number of hanging nodes; count those once. */
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

/* Once the nodes have been numbered. */
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

/* Corner nodes of the finer space, in places that it has found already. */
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
