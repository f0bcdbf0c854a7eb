/* Checks a problem on its coarse mesh: connection, loads on outer faces, consistent supports, memory. */
#include <stdlib.h>
#include <string.h>

#include "mesh/shape.h"
#include "space/problem/checks.h"
#include "space/problem/sets.h"

int fem_member_corners(int dimension, int local, int corners[4])
{
    int side[3], count = 0;
    fem_member_sides(dimension, local, side);
    for (int c = 0; c < 8; c++) {
        bool in = true;
        for (int a = 0; a < 3; a++) in = in && (side[a] < 0 || side[a] == (c >> a & 1));
        if (in) corners[count++] = c;
    }
    return count;
}

/* ------------------------------------------------------------------------------------------ connection */

/* A face of an element by its vertices, ascending. */
typedef struct face_key {
    int32_t vertex[4];
    int32_t element;
    int32_t face;
} face_key;

static int compare_faces(const void *left, const void *right)
{
    const face_key *a = left, *b = right;
    for (int i = 0; i < 4; i++)
        if (a->vertex[i] != b->vertex[i]) return a->vertex[i] < b->vertex[i] ? -1 : 1;
    return a->element < b->element ? -1 : a->element > b->element;
}

static face_key key_of_face(const fem_mesh *mesh, int64_t element, int face)
{
    face_key key = {.element = (int32_t)element, .face = face};
    int corners[4];
    fem_member_corners(2, face, corners);
    for (int i = 0; i < 4; i++) {
        int32_t vertex = mesh->corners[8 * element + corners[i]];
        int at = i;
        for (; at > 0 && key.vertex[at - 1] > vertex; at--) key.vertex[at] = key.vertex[at - 1];
        key.vertex[at] = vertex;
    }
    return key;
}

/* Lists all faces by their smallest vertex: those of vertex v begin at first[v]. */
static void sort_faces(const fem_mesh *mesh, int64_t *first, face_key *faces)
{
    for (int64_t i = 0; i < 6 * mesh->num_elements; i++) first[key_of_face(mesh, i / 6, (int)(i % 6)).vertex[0] + 2]++;
    for (int64_t v = 0; v < mesh->num_vertices; v++) first[v + 2] += first[v + 1];
    for (int64_t i = 0; i < 6 * mesh->num_elements; i++) {
        face_key key = key_of_face(mesh, i / 6, (int)(i % 6));
        faces[first[key.vertex[0] + 1]++] = key;
    }
    for (int64_t v = 0; v < mesh->num_vertices; v++)
        qsort(faces + first[v], (size_t)(first[v + 1] - first[v]), sizeof *faces, compare_faces);
}

yoke_status fem_connect_elements(const fem_mesh *mesh, uint8_t *shared, int32_t *piece, int32_t *num_pieces)
{
    void *first, *memory;
    yoke_status status = yoke_allocate(mesh->context, mesh->num_vertices + 2, sizeof(int64_t), &first);
    if (status != YOKE_OK) return status;
    status = yoke_allocate(mesh->context, 6 * mesh->num_elements, sizeof(face_key), &memory);
    if (status != YOKE_OK) {
        yoke_release(mesh->context, first);
        return status;
    }
    face_key *faces = memory;
    sort_faces(mesh, first, faces);
    memset(shared, 0, (size_t)mesh->num_elements);
    fem_sets_start(mesh->num_elements, piece);
    for (int64_t i = 1; i < 6 * mesh->num_elements; i++) {
        face_key *a = &faces[i - 1], *b = &faces[i];
        if (memcmp(a->vertex, b->vertex, sizeof a->vertex) != 0) continue;
        shared[a->element] |= (uint8_t)(1u << a->face);
        shared[b->element] |= (uint8_t)(1u << b->face);
        fem_sets_merge(piece, a->element, b->element);
    }
    *num_pieces = fem_sets_number(mesh->num_elements, piece);
    yoke_release(mesh->context, memory);
    yoke_release(mesh->context, first);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------ loads and supports */

yoke_status fem_check_loads(const fem_case *input, const fem_problem *problem, const uint8_t *shared)
{
    const fem_mesh *mesh = problem->mesh;
    for (int c = 0; c < problem->num_conditions; c++) {
        const fem_condition *condition = &problem->conditions[c];
        const fem_group *group = &mesh->groups[condition->group];
        for (int64_t i = 0; i < group->count && condition->kind != FEM_DIRICHLET; i++) {
            if ((shared[group->element[i]] >> group->local[i] & 1) == 0) continue;
            const char *key;
            char quoted[APP_QUOTED];
            app_place place = fem_condition_place(&input->keys.boundary.items[c], &key);
            return app_yaml_fail(input->yaml, place,
                                 "boundary[%d].%s: face group %s is interior: a face of element %lld in it lies between two "
                                 "elements; %s acts on outer faces",
                                 c, key, app_quote(group->name, quoted), (long long)mesh->element_tag[group->element[i]], key);
        }
    }
    return YOKE_OK;
}

static yoke_status fail_of_conflict(const fem_case *input, const fem_problem *problem, int first, int second, int component, int32_t vertex)
{
    const char *first_key, *second_key;
    app_place first_place = fem_condition_place(&input->keys.boundary.items[first], &first_key);
    app_place second_place = fem_condition_place(&input->keys.boundary.items[second], &second_key);
    const double *x = problem->mesh->vertices + 3 * (int64_t)vertex;
    char where[1024];
    app_yaml_where(input->yaml, first_place, where, sizeof where);
    const char *const names[] = {"x component ", "y component ", "z component "};
    return app_yaml_fail(
        input->yaml, second_place,
        "boundary[%d].%s conflicts with boundary[%d].%s (%s): %sprescribed as %.9g and as %.9g at node %lld, (%.6g, %.6g, %.6g); "
        "make them equal or write free in one",
        second, second_key, first, first_key, where, problem->components == 3 ? names[component] : "",
        problem->conditions[second].value[component], problem->conditions[first].value[component],
        (long long)problem->mesh->vertex_tag[vertex], x[0], x[1], x[2]);
}

/* Two conditions meet in whole faces, edges or vertices of the coarse mesh, so checking its vertices is sufficient. */
yoke_status fem_check_conflicts(const fem_case *input, const fem_problem *problem)
{
    const fem_mesh *mesh = problem->mesh;
    void *memory;
    yoke_status status = yoke_allocate(problem->context, mesh->num_vertices * 3, sizeof(int32_t), &memory);
    if (status != YOKE_OK) return status;
    int32_t *owner = memory; /* the first condition that prescribes the component, plus 1 */
    for (int c = 0; c < problem->num_conditions && status == YOKE_OK; c++) {
        const fem_condition *condition = &problem->conditions[c];
        const fem_group *group = &mesh->groups[condition->group];
        for (int64_t i = 0; i < group->count && condition->kind == FEM_DIRICHLET && status == YOKE_OK; i++) {
            int corners[4], count = fem_member_corners(group->dimension, group->local[i], corners);
            for (int k = 0; k < 3 * count && status == YOKE_OK; k++) {
                int32_t vertex = mesh->corners[8 * (int64_t)group->element[i] + corners[k / 3]];
                int component = k % 3;
                int32_t *slot = &owner[3 * (int64_t)vertex + component];
                if ((condition->mask >> component & 1) == 0) continue;
                if (*slot == 0)
                    *slot = c + 1;
                else if (problem->conditions[*slot - 1].value[component] != condition->value[component])
                    status = fail_of_conflict(input, problem, *slot - 1, c, component, vertex);
            }
        }
    }
    yoke_release(problem->context, memory);
    return status;
}

/* ------------------------------------------------------------------------------------------ memory */

/* The fraction of an element's bounding box that lies in a box. */
static double overlap(const fem_mesh *mesh, int64_t element, const fem_case_box *box)
{
    double fraction = 1;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int c = 0; c < 8; c++) {
            double x = mesh->vertices[3 * (int64_t)mesh->corners[8 * element + c] + a];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        double length = fmin(high, box->to.value[a]) - fmax(low, box->from.value[a]);
        fraction *= high > low ? fmax(0, length) / (high - low) : 0;
    }
    return fraction;
}

/*
 * Estimates the number of elements before the first solve, without those added by balancing.  If several boxes overlap an element, the box
 * that gives most elements is used.
 */
static double estimate_elements(const fem_case_refine *refine, const fem_mesh *mesh)
{
    double uniform = pow(8, (double)refine->initial.value), total = uniform * (double)mesh->num_elements;
    for (int64_t e = 0; e < mesh->num_elements && refine->boxes.count > 0; e++) {
        double most = uniform;
        for (int i = 0; i < refine->boxes.count; i++) {
            const fem_case_box *box = &refine->boxes.items[i];
            if (box->level.value > refine->initial.value)
                most = fmax(most, uniform + overlap(mesh, e, box) * (pow(8, (double)box->level.value) - uniform));
        }
        total += most - uniform;
    }
    return total;
}

yoke_status fem_check_memory(const fem_case *input, const fem_mesh *mesh)
{
    const fem_case_refine *refine = &input->keys.refine;
    yoke_topology topology;
    yoke_status status = yoke_topology_get(input->context, &topology);
    if (status != YOKE_OK) return status;
    double elements = estimate_elements(refine, mesh), bytes = fem_case_memory_bytes(input, elements);
    bool too_many = elements > 2147483647.0 || (topology.memory_bytes > 0 && bytes > (double)topology.memory_bytes);
    if (!too_many) return YOKE_OK;
    app_place place = app_given(refine->initial.place) ? refine->initial.place
                      : refine->boxes.count > 0        ? refine->boxes.place
                                                       : input->keys.mesh.place;
    return app_yaml_fail(input->yaml, place,
                         "refine.initial = %lld and %d boxes make about %.3g elements of the mesh's %lld; they need about %.3g "
                         "GB of memory, and this machine has %.3g GB; refine less, or use element: q1",
                         (long long)refine->initial.value, refine->boxes.count, elements, (long long)mesh->num_elements, bytes / 1e9,
                         (double)topology.memory_bytes / 1e9);
}
