/* Warns of kinks where the mesh approximates a smooth surface: stresses appear singular there. */
#include <stdlib.h>
#include <string.h>

#include "mesh/shape.h"
#include "space/problem/checks.h"

#define KINK_DEGREES 0.2
#define EDGE_DEGREES 20.0 /* a jump above this is an edge of the body */

/* An edge of a face in a group: its vertices in ascending order, and whether the face's coordinate along it runs the other way. */
typedef struct side {
    int32_t vertex[2];
    int32_t element;
    int8_t face, edge, backward; /* edges of a face: s = 0, s = 1, t = 0, t = 1 */
} side;

static int compare_sides(const void *left, const void *right)
{
    const side *a = left, *b = right;
    for (int i = 0; i < 2; i++)
        if (a->vertex[i] != b->vertex[i]) return a->vertex[i] < b->vertex[i] ? -1 : 1;
    return a->element != b->element ? (a->element < b->element ? -1 : 1) : a->face - b->face;
}

static side side_of(const fem_mesh *mesh, int32_t element, int face, int edge)
{
    int corners[4]; /* at (s, t) = 00, 10, 01, 11 */
    fem_member_corners(2, face, corners);
    int from = edge == 0 ? 0 : edge == 1 ? 1 : edge == 2 ? 0 : 2;
    int to = edge == 0 ? 2 : edge == 1 ? 3 : edge == 2 ? 1 : 3;
    int32_t a = mesh->corners[8 * (int64_t)element + corners[from]], b = mesh->corners[8 * (int64_t)element + corners[to]];
    return (side){
        .vertex = {a < b ? a : b, a < b ? b : a}, .element = element, .face = (int8_t)face, .edge = (int8_t)edge, .backward = a > b};
}

/* Outer normal (not of unit length) of a side's face at position `along` (0 to 1, from the smaller vertex); x: the point there. */
static void normal_at(const fem_mesh *mesh, const side *at, double along, double normal[3], double x[3])
{
    int n = mesh->order + 1, slots = n * n * n;
    double u = at->backward ? 1 - along : along, r[3], gradient[27][3], value[27], tangent[2][3] = {{0}};
    fem_face_point(at->face, at->edge < 2 ? at->edge : u, at->edge < 2 ? u : at->edge - 2, r);
    fem_shape(n, r, value, gradient[0], NULL);
    int axis = at->face / 2, s = axis == 0 ? 1 : 0, t = axis == 2 ? 1 : 2;
    memset(x, 0, 3 * sizeof *x);
    for (int i = 0; i < slots; i++)
        for (int a = 0; a < 3; a++) {
            double position = mesh->geometry[((int64_t)at->element * slots + i) * 3 + a];
            x[a] += value[i] * position;
            tangent[0][a] += gradient[i][s] * position;
            tangent[1][a] += gradient[i][t] * position;
        }
    double sign = (at->face % 2 == 1) == (axis != 1) ? 1 : -1; /* s x t points along +axis for x and z, against it for y */
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        normal[a] = sign * (tangent[0][b] * tangent[1][c] - tangent[0][c] * tangent[1][b]);
    }
}

/* Angle between two vectors in degrees; 0 if one of them is zero. */
static double angle_between(const double a[3], const double b[3])
{
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    double across[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    return atan2(sqrt(across[0] * across[0] + across[1] * across[1] + across[2] * across[2]), dot) * (180 / 3.14159265358979323846);
}

/* Returns the largest jump of the normal along an edge shared by two faces, and its position. */
static double jump_at(const fem_mesh *mesh, const side *a, const side *b, double where[3])
{
    double largest = 0;
    for (int i = 0; i <= 2; i++) {
        double left[3], right[3], x[3];
        normal_at(mesh, a, i / 2.0, left, x);
        normal_at(mesh, b, i / 2.0, right, x);
        double angle = angle_between(left, right);
        if (angle > largest) {
            largest = angle;
            memcpy(where, x, sizeof x);
        }
    }
    return largest;
}

static bool same_edge(const side *a, const side *b) { return a->vertex[0] == b->vertex[0] && a->vertex[1] == b->vertex[1]; }

/* Examines the edges that exactly two faces of the group share. */
static void warn_of_group(const fem_problem *problem, const fem_group *group, const side *sides)
{
    const fem_mesh *mesh = problem->mesh;
    int64_t total = 4 * group->count, kinks = 0;
    double largest = 0, where[3] = {0};
    for (int64_t i = 0, end; i < total; i = end) {
        for (end = i + 1; end < total && same_edge(&sides[i], &sides[end]);) end++;
        if (end - i != 2) continue;
        double x[3] = {0}, jump = jump_at(mesh, &sides[i], &sides[i + 1], x);
        if (jump <= KINK_DEGREES || jump > EDGE_DEGREES) continue;
        kinks++;
        if (jump > largest) {
            largest = jump;
            memcpy(where, x, sizeof where);
        }
    }
    if (kinks > 0)
        yoke_log(problem->context, YOKE_LOG_WARNING,
                 "%.300s: face group %.60s: the surface has kinks of up to %.2g degrees at %lld edges between "
                 "coarse elements (largest at (%.4g, %.4g, %.4g)); stresses look singular there; mesh it with second-order elements, at "
                 "least 8 to a "
                 "quarter circle",
                 mesh->path, group->name, largest, (long long)kinks, where[0], where[1], where[2]);
}

yoke_status fem_warn_of_kinks(const fem_problem *problem)
{
    const fem_mesh *mesh = problem->mesh;
    for (int g = 0; g < mesh->num_groups; g++) {
        const fem_group *group = &mesh->groups[g];
        if (group->dimension != 2) continue;
        void *memory;
        yoke_status status = yoke_allocate(problem->context, 4 * group->count, sizeof(side), &memory);
        if (status != YOKE_OK) return status;
        side *sides = memory;
        for (int64_t i = 0; i < 4 * group->count; i++) sides[i] = side_of(mesh, group->element[i / 4], group->local[i / 4], (int)(i % 4));
        qsort(sides, (size_t)(4 * group->count), sizeof *sides, compare_sides);
        warn_of_group(problem, group, sides);
        yoke_release(problem->context, memory);
    }
    return YOKE_OK;
}
