/* Values at the slots of an element.  Slots that hang, and slots that a serendipity element lacks, are computed from others. */
#include <string.h>

#include <p8est_lnodes.h>

#include "mesh/shape.h"
#include "space/private.h"

/* Values of the n shape functions of a whole edge at the nodes of one of its halves: weight [n][n]. */
static void half_edge_weights(int n, int half, double weight[3][3])
{
    for (int i = 0; i < n; i++) fem_shape_1d(n, 0.5 * (half + (double)i / (n - 1)), weight[i], NULL, NULL);
}

/* The hanging faces of an element, and its hanging edges that do not belong to a hanging face. */
typedef struct hanging_parts {
    int faces, edges;
    int face[3], face_child[3]; /* face, and the corner of the full face that the element touches */
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

/* A hanging face or edge, its slots, and the weights of the interpolation. */
typedef struct hanging_entity {
    int count, slot[9];
    double weight[9][9]; /* [count][count] of slot `to` from slot `from` */
} hanging_entity;

/* Describes entity h: the faces come first, then the edges. */
static void find_hanging(int m, const hanging_parts *parts, int h, hanging_entity *entity)
{
    double ws[3][3], wt[3][3];
    if (h >= parts->faces) {
        const int edge = h - parts->faces;
        entity->count = m;
        fem_edge_slots(m, parts->edge[edge], entity->slot);
        half_edge_weights(m, parts->edge_half[edge], ws);
        for (int to = 0; to < m; to++) memcpy(entity->weight[to], ws[to], sizeof ws[to]);
        return;
    }
    entity->count = m * m;
    fem_face_slots(m, parts->face[h], entity->slot);
    half_edge_weights(m, parts->face_child[h] & 1, ws);
    half_edge_weights(m, parts->face_child[h] >> 1, wt);
    for (int to = 0; to < m * m; to++)
        for (int from = 0; from < m * m; from++) entity->weight[to][from] = ws[to % m][from % m] * wt[to / m][from / m];
}

/* Faces and edges share slots, so all results are computed from the gathered values and written to `local`. */
static void expand_hanging(const fem_space *space, const hanging_parts *parts, int n, double *local)
{
    double gathered[27 * 6];
    if (space->element == FEM_S2)
        for (int h = 0; h < parts->faces; h++) fill_face_centre(parts->face[h], n, local);
    memcpy(gathered, local, sizeof(double) * (size_t)(space->slots * n));
    for (int h = 0; h < parts->faces + parts->edges; h++) {
        hanging_entity entity;
        find_hanging(space->slots_1d, parts, h, &entity);
        for (int to = 0; to < entity.count; to++) {
            for (int c = 0; c < n; c++) {
                double sum = 0;
                for (int from = 0; from < entity.count; from++) sum += entity.weight[to][from] * gathered[entity.slot[from] * n + c];
                local[entity.slot[to] * n + c] = sum;
            }
        }
    }
}

/* For each slot, the number of the entity (as in find_hanging) that interpolates it; -1: none. */
static void find_owners(int m, const hanging_parts *parts, int8_t owner[27])
{
    memset(owner, -1, 27);
    int s[9];
    for (int h = parts->edges - 1; h >= 0; h--) {
        fem_edge_slots(m, parts->edge[h], s);
        for (int i = 0; i < m; i++) owner[s[i]] = (int8_t)(parts->faces + h);
    }
    for (int h = parts->faces - 1; h >= 0; h--) {
        fem_face_slots(m, parts->face[h], s);
        for (int i = 0; i < m * m; i++) owner[s[i]] = (int8_t)h;
    }
}

void space_hanging_slots(const fem_space *space, int32_t e, int8_t owner[27])
{
    hanging_parts parts;
    decode_hanging(space->face_code[e], &parts);
    find_owners(space->slots_1d, &parts, owner);
}

static void fold_hanging(const fem_space *space, const hanging_parts *parts, int n, double *local)
{
    double values[27 * 6];
    int8_t owner[27];
    memcpy(values, local, sizeof(double) * (size_t)(space->slots * n));
    find_owners(space->slots_1d, parts, owner);
    for (int slot = 0; slot < space->slots; slot++)
        if (owner[slot] >= 0) memset(local + (ptrdiff_t)slot * n, 0, sizeof(double) * (size_t)n);
    for (int h = 0; h < parts->faces + parts->edges; h++) {
        hanging_entity entity;
        find_hanging(space->slots_1d, parts, h, &entity);
        for (int to = 0; to < entity.count; to++) {
            if (owner[entity.slot[to]] != h) continue;
            for (int from = 0; from < entity.count; from++)
                for (int c = 0; c < n; c++) local[entity.slot[from] * n + c] += entity.weight[to][from] * values[entity.slot[to] * n + c];
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
