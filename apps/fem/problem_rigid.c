/*
 * Whether a body can move rigidly: the null space of the rigid motions' Gram matrix at the prescribed components.
 *
 * A piece is a set of elements connected through faces; it has six motions (poisson: one, the constant).  A row of the system is a
 * prescribed component at a vertex, or the equal displacement of two pieces at a vertex that they share: a piece that hangs on another by
 * an edge is a hinge.  Motions that all rows leave at zero are free.
 */
#include <stdio.h>
#include <string.h>

#include "problem_checks.h"

#define MOST_PIECES 32
#define SMALL 1e-12 /* eigenvalue below which a motion is free; rows are scaled so that a support's eigenvalues are about 1 */

typedef struct rigid {
    const fem_case *the_case;
    const fem_problem *problem;
    const int32_t *piece;
    int pieces;
    int motions;             /* of a piece: translations x, y, z, rotations about x, y, z; or the constant */
    int size;                /* pieces x motions */
    double centre[3], scale; /* rotations are about the centre, lengths in units of the scale */
    double *gram;            /* [size][size] sum of the rows' products */
    double *part;            /* [size][size] the same of one condition */
    double *vectors;         /* [size][size] columns: eigenvectors */
} rigid;

/* ------------------------------------------------------------------------------------------ rows */

/* The body's bounding box gives centre and scale. */
static void measure_body(rigid *run)
{
    const fem_mesh *mesh = run->problem->mesh;
    run->scale = 0;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < mesh->num_vertices; v++) {
            low = fmin(low, mesh->vertices[3 * v + a]);
            high = fmax(high, mesh->vertices[3 * v + a]);
        }
        run->centre[a] = low / 2 + high / 2;
        run->scale = fmax(run->scale, high / 2 - low / 2);
    }
}

/* row [motions] of a piece: component `component` of each motion at a vertex, times sign. */
static void motion_row(const rigid *run, int32_t vertex, int component, double sign, double *row)
{
    if (run->motions == 1) {
        row[0] = sign;
        return;
    }
    double d[3];
    for (int a = 0; a < 3; a++) d[a] = (run->problem->mesh->vertices[3 * (int64_t)vertex + a] - run->centre[a]) / run->scale;
    const double rotations[3][3] = {{0, d[2], -d[1]}, {-d[2], 0, d[0]}, {d[1], -d[0], 0}}; /* (e_j x d)_i at [i][j] */
    for (int j = 0; j < 3; j++) {
        row[j] = j == component ? sign : 0;
        row[3 + j] = sign * rotations[component][j];
    }
}

/* Adds the product of a row that has entries for up to two pieces (the second may be -1). */
static void add_row(const rigid *run, double *gram, const double *row, int first, int second)
{
    const int piece[2] = {first, second};
    int m = run->motions;
    for (int i = 0; i < 2 * m; i++)
        for (int j = 0; j < 2 * m; j++)
            if (piece[i / m] >= 0 && piece[j / m] >= 0)
                gram[(piece[i / m] * m + i % m) * run->size + piece[j / m] * m + j % m] += row[i] * row[j];
}

/* Moves `part`, divided by the number of rows in it, to the whole: a large support shall not hide a small one. */
static void take_part(const rigid *run, int64_t rows)
{
    for (int i = 0; i < run->size * run->size; i++) {
        run->gram[i] += rows > 0 ? run->part[i] / (double)rows : 0;
        run->part[i] = 0;
    }
}

static void add_condition(const rigid *run, const fem_condition *condition)
{
    const fem_mesh *mesh = run->problem->mesh;
    const fem_group *group = &mesh->groups[condition->group];
    int64_t rows = 0;
    for (int64_t i = 0; i < group->count; i++) {
        int corners[4], count = fem_member_corners(group->dimension, group->local[i], corners);
        for (int k = 0; k < count * 3; k++) {
            double row[12] = {0};
            if ((condition->mask >> k % 3 & 1) == 0) continue;
            motion_row(run, mesh->corners[8 * (int64_t)group->element[i] + corners[k / 3]], k % 3, 1, row);
            add_row(run, run->part, row, run->piece[group->element[i]], -1);
            rows++;
        }
    }
    take_part(run, rows);
}

/* Pieces move together at the vertices that they share: each piece with the first one seen there. */
static yoke_status add_joints(const rigid *run)
{
    const fem_mesh *mesh = run->problem->mesh;
    void *memory;
    yoke_status status = yoke_allocate(run->problem->context, mesh->num_vertices, sizeof(int32_t), &memory);
    if (status != YOKE_OK) return status;
    int32_t *seen = memory; /* piece + 1 */
    int64_t rows = 0;
    for (int64_t i = 0; i < 8 * mesh->num_elements; i++) {
        int32_t vertex = mesh->corners[i], piece = run->piece[i / 8];
        if (seen[vertex] == 0) seen[vertex] = piece + 1;
        if (seen[vertex] == piece + 1) continue;
        for (int component = 0; component < run->problem->components; component++) {
            double row[12] = {0};
            motion_row(run, vertex, component, 1, row);
            motion_row(run, vertex, component, -1, row + run->motions);
            add_row(run, run->part, row, seen[vertex] - 1, piece);
            rows++;
        }
    }
    take_part(run, rows);
    yoke_release(run->problem->context, memory);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------ eigenvectors */

/* One rotation of Jacobi's method that makes a[p][q] zero. */
static void rotate(double *a, double *v, int n, int p, int q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        double kp = a[k * n + p], kq = a[k * n + q];
        a[k * n + p] = c * kp - s * kq;
        a[k * n + q] = s * kp + c * kq;
    }
    for (int k = 0; k < n; k++) {
        double pk = a[p * n + k], qk = a[q * n + k], vp = v[k * n + p], vq = v[k * n + q];
        a[p * n + k] = c * pk - s * qk;
        a[q * n + k] = s * pk + c * qk;
        v[k * n + p] = c * vp - s * vq;
        v[k * n + q] = s * vp + c * vq;
    }
}

/* Cyclic Jacobi (Golub and Van Loan, Matrix Computations, 8.5): symmetric a becomes diagonal, v its eigenvectors in columns. */
static void diagonalise(double *a, double *v, int n)
{
    for (int i = 0; i < n * n; i++) v[i] = i / n == i % n ? 1 : 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, diagonal = 0;
        for (int i = 0; i < n * n; i++) *(i / n == i % n ? &diagonal : &off) += a[i] * a[i];
        if (off <= 1e-28 * diagonal) return;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (a[p * n + q] != 0) rotate(a, v, n, p, q);
    }
}

/* ------------------------------------------------------------------------------------------ names of the motions */

/*
 * Brings the rows [count][6], (rotation, translation), into reduced echelon form; returns the rank.  Rows without a rotation are then pure
 * translations, and the basis is along the axes where the motions are.
 */
static int reduce(double rows[][6], int count)
{
    int rank = 0;
    for (int column = 0; column < 6 && rank < count; column++) {
        int best = rank;
        for (int i = rank; i < count; i++)
            if (fabs(rows[i][column]) > fabs(rows[best][column])) best = i;
        if (fabs(rows[best][column]) < 1e-6) continue;
        for (int j = 0; j < 6; j++) {
            double swapped = rows[best][j];
            rows[best][j] = rows[rank][j];
            rows[rank][j] = swapped;
        }
        for (int j = 5; j >= column; j--) rows[rank][j] /= rows[rank][column];
        for (int i = 0; i < count; i++)
            for (int j = 5; j >= column && i != rank; j--) rows[i][j] -= rows[i][column] * rows[rank][j];
        rank++;
    }
    return rank;
}

static double snap(double value, double unit) { return fabs(value) < 1e-6 * unit ? 0 : value; }

/* "x", "y", "z", or a unit vector. */
static void name_direction(const double v[3], char *text, size_t size)
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int a = 0; a < 3; a++)
        if (fabs(v[a]) > (1 - 1e-9) * length) {
            app_append(text, size, "%c", "xyz"[a]);
            return;
        }
    app_append(text, size, "(%.4g, %.4g, %.4g)", snap(v[0] / length, 1), snap(v[1] / length, 1), snap(v[2] / length, 1));
}

static void name_motion(const rigid *run, const double row[6], char *text, size_t size)
{
    const double *w = row, *t = row + 3;
    double ww = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    if (ww < 1e-12) {
        app_append(text, size, "translation along ");
        name_direction(t, text, size);
        return;
    }
    const double across[3] = {w[1] * t[2] - w[2] * t[1], w[2] * t[0] - w[0] * t[2], w[0] * t[1] - w[1] * t[0]};
    double x[3], advance = run->scale * (w[0] * t[0] + w[1] * t[1] + w[2] * t[2]) / ww;
    for (int a = 0; a < 3; a++) x[a] = snap(run->centre[a] + run->scale * across[a] / ww, run->scale);
    app_append(text, size, "rotation about an axis along ");
    name_direction(w, text, size);
    app_append(text, size, " through (%.4g, %.4g, %.4g)", x[0], x[1], x[2]);
    if (fabs(advance) > 1e-6 * run->scale) app_append(text, size, " with an advance of %.4g m per radian", advance);
}

static int name_piece(const rigid *run, const double *eigenvalues, int piece, char *text, size_t size)
{
    double rows[6 * MOST_PIECES][6];
    int count = 0;
    for (int k = 0; k < run->size; k++) {
        if (eigenvalues[k] > SMALL) continue;
        for (int j = 0; j < 6; j++) rows[count][j] = run->vectors[(6 * piece + (j + 3) % 6) * run->size + k];
        count++;
    }
    int rank = reduce(rows, count);
    for (int i = 0; i < rank; i++) {
        app_append(text, size, "%s", i > 0 ? ", " : "");
        name_motion(run, rows[i], text, size);
    }
    return rank;
}

/* ------------------------------------------------------------------------------------------ verdict */

static yoke_status fail_of_piece(const rigid *run, int piece, const char *motions)
{
    const fem_mesh *mesh = run->problem->mesh;
    int64_t members = 0, first = -1;
    for (int64_t e = 0; e < mesh->num_elements; e++)
        if (run->piece[e] == piece) {
            first = first < 0 ? e : first;
            members++;
        }
    app_place place = run->the_case->keys.boundary.place;
    if (run->pieces == 1)
        return app_yaml_fail(run->the_case->yaml, place,
                             "rigid: the body can move freely: %s; prescribe more displacement components in boundary", motions);
    return app_yaml_fail(run->the_case->yaml, place,
                         "rigid: a piece of the body (element %lld and %lld more), which shares no whole face "
                         "with the rest, can move freely: %s; prescribe more displacement components in boundary, or connect the mesh",
                         (long long)mesh->element_tag[first], (long long)members - 1, motions);
}

static yoke_status judge(const rigid *run)
{
    double eigenvalues[6 * MOST_PIECES];
    for (int k = 0; k < run->size; k++) eigenvalues[k] = run->gram[k * run->size + k];
    for (int k = 0; k < run->size && run->motions == 1; k++)
        if (eigenvalues[k] <= SMALL)
            return app_yaml_fail(
                run->the_case->yaml, run->the_case->keys.boundary.place,
                "no boundary item prescribes a value, so that the solution is free by a constant; give one item a 'value'");
    for (int piece = 0; piece < run->pieces && run->motions == 6; piece++) {
        char text[1024] = "";
        if (name_piece(run, eigenvalues, piece, text, sizeof text) > 0) return fail_of_piece(run, piece, text);
    }
    return YOKE_OK;
}

yoke_status fem_check_rigid(const fem_case *the_case, const fem_problem *problem, const int32_t *piece, int32_t num_pieces)
{
    int motions = problem->components == 3 ? 6 : 1, size = (int)num_pieces * motions;
    rigid run = {.the_case = the_case, .problem = problem, .piece = piece, .pieces = (int)num_pieces, .motions = motions, .size = size};
    if (num_pieces > MOST_PIECES)
        return app_yaml_fail(the_case->yaml, the_case->keys.mesh.place,
                             "%.300s: the body consists of %d pieces that share no whole face; at most %d "
                             "are understood; connect the mesh",
                             problem->mesh->path, (int)num_pieces, MOST_PIECES);
    void *memory;
    yoke_status status = yoke_allocate(problem->context, 3 * (int64_t)size * size, sizeof(double), &memory);
    if (status != YOKE_OK) return status;
    run.gram = memory;
    run.part = run.gram + size * size;
    run.vectors = run.part + size * size;
    measure_body(&run);
    for (int c = 0; c < problem->num_conditions; c++)
        if (problem->conditions[c].kind == FEM_DIRICHLET) add_condition(&run, &problem->conditions[c]);
    if (num_pieces > 1) status = add_joints(&run);
    if (status == YOKE_OK) {
        diagonalise(run.gram, run.vectors, size);
        status = judge(&run);
    }
    yoke_release(problem->context, memory);
    return status;
}
