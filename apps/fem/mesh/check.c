/* Checks for folded or flat elements, and for coincident vertices. */
#include "mesh/private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mesh/shape.h"

/* ---------------------------------------------------------------------------------------------- Jacobian */

enum { MAX_POINTS = 4 };

/* One-dimensional values and derivatives of n shape functions at the points of a tensor grid. */
typedef struct basis {
    int n, points;
    double value[MAX_POINTS][3], derivative[MAX_POINTS][3];
} basis;

static basis make_basis(int n, int points, const double *at)
{
    basis made = {.n = n, .points = points};
    for (int q = 0; q < points; q++) fem_shape_1d(n, at[q], made.value[q], made.derivative[q], NULL);
    return made;
}

/* out[b][q][a] = sum_i matrix[q][i] in[b][i][a]: one direction of a tensor product. */
static void contract(int before, int n, int after, int points, double (*matrix)[3], const double *in, double *out)
{
    for (int b = 0; b < before; b++)
        for (int q = 0; q < points; q++)
            for (int a = 0; a < after; a++) {
                double sum = 0;
                for (int i = 0; i < n; i++) sum += matrix[q][i] * in[(b * n + i) * after + a];
                out[(b * points + q) * after + a] = sum;
            }
}

/*
 * Smallest and largest determinant of the map's Jacobian over the grid's points, each divided by the lengths of the three columns (the
 * volume of the box with these edges), so that it does not depend on the element's size or slenderness; *worst: the determinant itself
 * where the quotient is smallest.
 */
typedef struct range {
    double least, most, worst;
} range;

static void add_point(const double *dx, const double *dy, const double *dz, range *seen)
{
    double det =
        dx[0] * (dy[1] * dz[2] - dy[2] * dz[1]) - dx[1] * (dy[0] * dz[2] - dy[2] * dz[0]) + dx[2] * (dy[0] * dz[1] - dy[1] * dz[0]);
    double squares = (dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2]) * (dy[0] * dy[0] + dy[1] * dy[1] + dy[2] * dy[2]) *
                     (dz[0] * dz[0] + dz[1] * dz[1] + dz[2] * dz[2]);
    double quotient = squares > 0 ? det / sqrt(squares) : 0;
    if (!(quotient >= seen->least)) {
        seen->least = quotient;
        seen->worst = det;
    }
    if (quotient > seen->most) seen->most = quotient;
}

static void scan_grid(const double *geometry, basis *grid, range *seen)
{
    enum { P = MAX_POINTS };
    double value_x[27 * P], slope_x[27 * P], vv[9 * P * P], vd[9 * P * P], dv[9 * P * P];
    double d0[3 * P * P * P], d1[3 * P * P * P], d2[3 * P * P * P];
    int n = grid->n, q = grid->points;
    contract(n * n, n, 3, q, grid->value, geometry, value_x);
    contract(n * n, n, 3, q, grid->derivative, geometry, slope_x);
    contract(n, n, 3 * q, q, grid->value, slope_x, dv);
    contract(n, n, 3 * q, q, grid->derivative, value_x, vd);
    contract(n, n, 3 * q, q, grid->value, value_x, vv);
    contract(1, n, 3 * q * q, q, grid->value, dv, d0);
    contract(1, n, 3 * q * q, q, grid->value, vd, d1);
    contract(1, n, 3 * q * q, q, grid->derivative, vv, d2);
    for (int p = 0; p < q * q * q; p++) add_point(d0 + 3 * p, d1 + 3 * p, d2 + 3 * p, seen);
}

/* Whether two corners differ only by rounding of their coordinates. */
static int in_one_place(const double *a, const double *b)
{
    static const double rounding = 1e-12;
    double apart = 0, largest = 0;
    for (int i = 0; i < 3; i++) {
        apart = fmax(apart, fabs(a[i] - b[i]));
        largest = fmax(largest, fmax(fabs(a[i]), fabs(b[i])));
    }
    return apart <= rounding * largest;
}

static yoke_status check_finite(const fem_mesh *mesh, int64_t e, int positions)
{
    for (int i = 0; i < 3 * positions; i++)
        if (!isfinite(mesh->geometry[3 * positions * e + i]))
            return yoke_fail(mesh->context, YOKE_ERROR_INPUT, "mesh '%s': element %lld has a coordinate that is not finite", mesh->path,
                             (long long)mesh->element_tag[e]);
    const int32_t *corner = mesh->corners + 8 * e;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            if (corner[i] == corner[j])
                return yoke_fail(mesh->context, YOKE_ERROR_INPUT, "mesh '%s': element %lld is degenerate: it has the node %lld twice",
                                 mesh->path, (long long)mesh->element_tag[e], (long long)mesh->vertex_tag[corner[i]]);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            if (in_one_place(mesh->vertices + 3 * (int64_t)corner[i], mesh->vertices + 3 * (int64_t)corner[j]))
                return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                                 "mesh '%s': element %lld is degenerate: its nodes %lld and %lld lie in one place; give it a volume",
                                 mesh->path, (long long)mesh->element_tag[e], (long long)mesh->vertex_tag[corner[j]],
                                 (long long)mesh->vertex_tag[corner[i]]);
    return YOKE_OK;
}

static yoke_status bad_element(const fem_mesh *mesh, int64_t e, const range *seen, int64_t count)
{
    static const double flat = 1e-10;
    const char *what = "is tangled", *remedy = "move its nodes, or mesh more finely where the surface bends";
    if (seen->most < -flat) {
        what = "is inverted";
        remedy = count == mesh->num_elements ? "all elements are numbered left-handed: reverse their node order"
                                             : "reverse its node order (right-handed: bottom face counter-clockwise seen from the top)";
    } else if (seen->least > -flat) {
        what = "is degenerate";
        remedy = "give it a volume";
    }
    char others[48] = "";
    if (count > 1) snprintf(others, sizeof others, " (%lld elements are bad)", (long long)count);
    return yoke_fail(mesh->context, YOKE_ERROR_INPUT, "mesh '%s': element %lld %s: the determinant of its Jacobian reaches %g m3%s; %s",
                     mesh->path, (long long)mesh->element_tag[e], what, seen->worst, others, remedy);
}

yoke_status fem_mesh_check_elements(fem_mesh *mesh)
{
    /* First nodes and corners, then interior points.  A trilinear map may also become degenerate only inside the element or on an edge. */
    static const double nodes[3] = {0, 0.5, 1};
    static const double least_allowed = 1e-10;
    double point[MAX_POINTS], weight[MAX_POINTS];
    int n = mesh->order + 1, inner = mesh->order == 1 ? 2 : 4;
    fem_gauss(inner, point, weight);
    basis outside = make_basis(n, 3, nodes), inside = make_basis(n, inner, point);
    int64_t bad = 0, first = -1;
    mesh->worst_shape = INFINITY;
    range first_seen = {0};
    for (int64_t e = 0; e < mesh->num_elements; e++) {
        yoke_status status = check_finite(mesh, e, n * n * n);
        if (status) return status;
        range seen = {INFINITY, -INFINITY, 0};
        const double *geometry = mesh->geometry + (int64_t)3 * n * n * n * e;
        scan_grid(geometry, &outside, &seen);
        scan_grid(geometry, &inside, &seen);
        if (seen.least < mesh->worst_shape) {
            mesh->worst_shape = seen.least;
            mesh->worst_tag = mesh->element_tag[e];
        }
        if (seen.least > least_allowed) continue;
        if (bad++ == 0) {
            first = e;
            first_seen = seen;
        }
    }
    return bad > 0 ? bad_element(mesh, first, &first_seen, bad) : YOKE_OK;
}

/* -------------------------------------------------------------------------------------- coincident nodes */

/* A grid of cells, each much larger than the tolerance, in a hash table of lists. */
typedef struct cells {
    double origin[3], size, tolerance;
    int64_t buckets;
    int32_t *head; /* [buckets] first point, -1: none */
    int32_t *next; /* [count] */
} cells;

static int64_t bucket_of(const cells *grid, const int64_t cell[3])
{
    uint64_t hash =
        (uint64_t)cell[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)cell[1] * 0xc2b2ae3d27d4eb4fu ^ (uint64_t)cell[2] * 0x165667b19e3779f9u;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
    return (int64_t)(hash & (uint64_t)(grid->buckets - 1));
}

static int64_t cell_of(const cells *grid, double x, int axis) { return (int64_t)floor((x - grid->origin[axis]) / grid->size); }

/* An earlier point of the list within the tolerance, or -1. */
static int32_t find_in_cell(const cells *grid, const double *x, const int64_t cell[3], int32_t i)
{
    for (int32_t k = grid->head[bucket_of(grid, cell)]; k >= 0; k = grid->next[k]) {
        double square = 0;
        for (int axis = 0; axis < 3; axis++)
            square += (x[3 * (int64_t)k + axis] - x[3 * (int64_t)i + axis]) * (x[3 * (int64_t)k + axis] - x[3 * (int64_t)i + axis]);
        if (square <= grid->tolerance * grid->tolerance) return k;
    }
    return -1;
}

static int32_t find_coincident(const cells *grid, const double *x, int32_t i)
{
    int64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = cell_of(grid, x[3 * (int64_t)i + axis] - grid->tolerance, axis);
        high[axis] = cell_of(grid, x[3 * (int64_t)i + axis] + grid->tolerance, axis);
    }
    int64_t cell[3];
    for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++) {
                int32_t found = find_in_cell(grid, x, cell, i);
                if (found >= 0) return found;
            }
    return -1;
}

static void insert(cells *grid, const double *x, int32_t i)
{
    int64_t cell[3];
    for (int axis = 0; axis < 3; axis++) cell[axis] = cell_of(grid, x[3 * (int64_t)i + axis], axis);
    int64_t bucket = bucket_of(grid, cell);
    grid->next[i] = grid->head[bucket];
    grid->head[bucket] = i;
}

static yoke_status make_cells(yoke_context *context, int64_t count, const double *x, cells *grid)
{
    double diagonal = 0;
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < count; i++) {
            low = fmin(low, x[3 * i + axis]);
            high = fmax(high, x[3 * i + axis]);
        }
        grid->origin[axis] = low;
        diagonal = hypot(diagonal, high - low);
    }
    grid->tolerance = 1e-9 * diagonal;
    grid->size = 64 * grid->tolerance;
    grid->buckets = 1024;
    while (grid->buckets < 2 * count) grid->buckets *= 2;
    yoke_status status = yoke_allocate_untouched(context, grid->buckets, sizeof(int32_t), &grid->head);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof(int32_t), &grid->next);
    if (!status) memset(grid->head, 0xff, (size_t)grid->buckets * sizeof(int32_t));
    return status;
}

static yoke_status coincident(yoke_context *context, const char *path, int64_t pairs, int64_t one, int64_t other, const double at[3],
                              int64_t last_of_file)
{
    if (one > last_of_file || other > last_of_file)
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "mesh '%s': at (%g, %g, %g) and in %lld other places elements lie against each other without sharing a face: two "
                         "triangles on a quadrangle, small faces on a large one, or nodes that are not merged; mesh the volumes together",
                         path, at[0], at[1], at[2], (long long)pairs - 1);
    yoke_log(context, YOKE_LOG_WARNING,
             "mesh '%s': %lld nodes lie where another one lies, e.g. nodes %lld and %lld at (%g, %g, %g): bodies that touch there are not "
             "connected; where they are to be one, merge duplicate nodes (Gmsh: Coherence, and Coherence Mesh)",
             path, (long long)pairs, (long long)one, (long long)other, at[0], at[1], at[2]);
    return YOKE_OK;
}

static yoke_status search_cells(yoke_context *context, const char *path, int64_t count, const double *x, const int64_t *number,
                                int64_t last_of_file, cells *grid)
{
    int64_t pairs = 0;
    int32_t one = -1, other = -1;
    for (int32_t i = 0; i < count; i++) {
        int32_t found = find_coincident(grid, x, i);
        if (found < 0)
            insert(grid, x, i);
        else if (pairs++ == 0) {
            one = found;
            other = i;
        }
    }
    if (pairs == 0) return YOKE_OK;
    return coincident(context, path, pairs, number[one], number[other], x + 3 * (int64_t)other, last_of_file);
}

yoke_status fem_mesh_check_coincident(yoke_context *context, const char *path, int64_t count, const double *x, const int64_t *number,
                                      int64_t last_of_file)
{
    cells grid = {.head = NULL};
    yoke_status status = make_cells(context, count, x, &grid);
    if (!status && isfinite(grid.size) && grid.size > 0)
        status = search_cells(context, path, count, x, number, last_of_file, &grid);
    else if (!status)
        status = yoke_fail(context, YOKE_ERROR_INPUT,
                           "mesh '%s' has no extent, or one that overflows double precision: check its coordinates", path);
    yoke_release(context, grid.head);
    yoke_release(context, grid.next);
    return status;
}
