/*
 * Finds out whether a body can move rigidly, from the null space of the rigid motions at the prescribed components.
 *
 * Bodies have no node in common.  A piece of a body is a set of elements connected through faces.  It has six motions (Poisson: one, the
 * constant).  A row of the system is a prescribed component at a vertex, or the equal displacement of two pieces at a shared vertex: two
 * pieces that share only an edge form a hinge.  Motions for which all rows vanish are free.  They are found from the singular values of the
 * rows, not of their squares, so that a plate constrained at an edge of a millionth of its side counts as constrained.
 */
#include <stdio.h>
#include <string.h>

#include "space/problem/checks.h"
#include "space/problem/rigid_part.h"
#include "space/problem/small_svd.h"

#define MAX_PIECES 32
#define MAX_NAMED 4 /* bodies in one message */
#define NOISE 1e-6  /* a lever below this fraction of the shortest edge is a rounding error of the coordinates */
#define MIN_SINGULAR 1e-13

typedef struct rigid {
    const fem_case *input;
    const fem_problem *problem;
    const int32_t *piece;
    int32_t body, num_pieces;
    int32_t *local;             /* [num_pieces] number of a piece in the body, -1: in another body */
    int pieces;                 /* of the body */
    int motions;                /* of a piece: translations x, y, z, rotations about x, y, z; or the constant */
    int size;                   /* pieces x motions */
    double low[3], high[3];     /* the body's box */
    double centre[3], scale;    /* rotations are about the centre, lengths in units of the scale */
    double small;               /* singular value below which a motion is free */
    double *rows;               /* [size][size] upper triangle of the rows' QR decomposition */
    double *vectors, *singular; /* [size][size] columns, [size] */
} rigid;

/* ------------------------------------------------------------------------------------------ rows */

static bool is_ours(const rigid *run, int64_t element) { return run->problem->body_of[element] == run->body; }

static double shortest_edge(const fem_mesh *mesh, int64_t element)
{
    double least = INFINITY;
    for (int corner = 0; corner < 8; corner++)
        for (int axis = 0; axis < 3; axis++) {
            const double *a = mesh->vertices + 3 * (int64_t)mesh->corners[8 * element + corner];
            const double *b = mesh->vertices + 3 * (int64_t)mesh->corners[8 * element + (corner ^ 1 << axis)];
            if (corner >> axis & 1) least = fmin(least, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
        }
    return least;
}

/*
 * Computes centre and scale from the body's bounding box, and the shortest significant lever from its shortest edge; numbers the body's
 * pieces.
 */
static void measure_body(rigid *run)
{
    const fem_mesh *mesh = run->problem->mesh;
    double edge = INFINITY;
    run->pieces = 0;
    run->scale = 0;
    for (int32_t i = 0; i < run->num_pieces; i++) run->local[i] = -1;
    for (int a = 0; a < 3; a++) {
        run->low[a] = INFINITY;
        run->high[a] = -INFINITY;
    }
    for (int64_t e = 0; e < mesh->num_elements; e++) {
        if (!is_ours(run, e)) continue;
        if (run->local[run->piece[e]] < 0) run->local[run->piece[e]] = run->pieces++;
        edge = fmin(edge, shortest_edge(mesh, e));
        for (int k = 0; k < 24; k++) {
            double x = mesh->vertices[3 * (int64_t)mesh->corners[8 * e + k / 3] + k % 3];
            run->low[k % 3] = fmin(run->low[k % 3], x);
            run->high[k % 3] = fmax(run->high[k % 3], x);
        }
    }
    for (int a = 0; a < 3; a++) {
        run->centre[a] = run->low[a] / 2 + run->high[a] / 2;
        run->scale = fmax(run->scale, run->high[a] / 2 - run->low[a] / 2);
    }
    run->small = fmax(MIN_SINGULAR, NOISE * fmin(1, edge / run->scale));
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
    fem_rigid_row(d, component, row);
    for (int j = 0; j < 6; j++) row[j] *= sign;
}

/* Adds a row: equal displacement of two pieces at a vertex or, if other < 0, zero displacement of the first. */
static void add_row(const rigid *run, int32_t vertex, int component, int first, int other)
{
    double row[6 * MAX_PIECES] = {0};
    motion_row(run, vertex, component, 1, row + first * run->motions);
    if (other >= 0) motion_row(run, vertex, component, -1, row + other * run->motions);
    fem_qr_add(run->rows, run->size, row);
}

static void add_condition(const rigid *run, const fem_condition *condition)
{
    const fem_mesh *mesh = run->problem->mesh;
    const fem_group *group = &mesh->groups[condition->group];
    for (int64_t i = 0; i < group->count; i++) {
        int corners[4], count = fem_member_corners(group->dimension, group->local[i], corners);
        for (int k = 0; k < count * 3 && is_ours(run, group->element[i]); k++)
            if ((condition->mask >> k % 3 & 1) != 0)
                add_row(run, mesh->corners[8 * (int64_t)group->element[i] + corners[k / 3]], k % 3,
                        run->local[run->piece[group->element[i]]], -1);
    }
}

/* Pieces have equal displacements at shared vertices: each piece is coupled with the first one found at the vertex. */
static yoke_status add_joints(const rigid *run)
{
    const fem_mesh *mesh = run->problem->mesh;
    int32_t *seen; /* piece of the body + 1 */
    yoke_status status = yoke_allocate(run->problem->context, mesh->num_vertices, sizeof *seen, &seen);
    if (status != YOKE_OK) return status;
    for (int64_t i = 0; i < 8 * mesh->num_elements; i++) {
        if (!is_ours(run, i / 8)) continue;
        int32_t vertex = mesh->corners[i], piece = run->local[run->piece[i / 8]];
        if (seen[vertex] == 0) seen[vertex] = piece + 1;
        for (int component = 0; component < run->problem->components && seen[vertex] != piece + 1; component++)
            add_row(run, vertex, component, seen[vertex] - 1, piece);
    }
    yoke_release(run->problem->context, seen);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------ names of the motions */

/*
 * Brings the rows [count][6] of (rotation, translation) into reduced row echelon form.  Returns the rank.  Rows without a rotation are then
 * pure translations, and the basis vectors are parallel to the axes where possible.
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

static int name_piece(const rigid *run, int piece, char *text, size_t size)
{
    double rows[6 * MAX_PIECES][6];
    int count = 0;
    for (int k = 0; k < run->size; k++) {
        if (run->singular[k] > run->small) continue;
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

typedef struct verdict {
    int32_t free_bodies;
    char text[2048]; /* about the first of them */
} verdict;

/*
 * Writes "the body" if there is only one, otherwise "body 2 of 3 (volume 'plate', element 17 and 99 more, from (0, 0, 0) to (1, 1, 0.1))".
 */
static void name_body(const rigid *run, char *text, size_t size)
{
    const fem_mesh *mesh = run->problem->mesh;
    int64_t members = 0, first = -1;
    char quoted[APP_QUOTED];
    if (run->problem->num_bodies == 1) {
        app_append(text, size, "the body");
        return;
    }
    for (int64_t e = 0; e < mesh->num_elements; e++)
        if (is_ours(run, e)) {
            first = first < 0 ? e : first;
            members++;
        }
    app_append(text, size, "body %d of %d (volume %s, element %lld and %lld more, from (%.4g, %.4g, %.4g) to (%.4g, %.4g, %.4g))",
               (int)run->body + 1, (int)run->problem->num_bodies, app_quote(mesh->groups[mesh->volume[first]].name, quoted),
               (long long)mesh->element_tag[first], (long long)members - 1, run->low[0], run->low[1], run->low[2], run->high[0],
               run->high[1], run->high[2]);
}

/* Writes "a piece of the body (element 102 and 0 more), which shares no whole face with the rest, ". */
static void name_one_piece(const rigid *run, int piece, char *text, size_t size)
{
    const fem_mesh *mesh = run->problem->mesh;
    int64_t members = 0, first = -1;
    for (int64_t e = 0; e < mesh->num_elements; e++)
        if (is_ours(run, e) && run->local[run->piece[e]] == piece) {
            first = first < 0 ? e : first;
            members++;
        }
    app_append(text, size, "a piece of the body (element %lld and %lld more), which shares no whole face with the rest,",
               (long long)mesh->element_tag[first], (long long)members - 1);
}

static void judge(const rigid *run, verdict *found)
{
    for (int piece = 0; piece < run->pieces; piece++) {
        char motions[1024] = "";
        int free_ones = 0;
        for (int k = 0; k < run->size && run->motions == 1; k++) free_ones += run->singular[k] <= run->small;
        if (run->motions == 6) free_ones = name_piece(run, piece, motions, sizeof motions);
        if (!free_ones) continue;
        if (++found->free_bodies > MAX_NAMED) return;
        app_append(found->text, sizeof found->text, "%s", found->free_bodies > 1 ? "; " : "");
        if (run->pieces > 1)
            name_one_piece(run, piece, found->text, sizeof found->text);
        else
            name_body(run, found->text, sizeof found->text);
        if (run->motions == 6) app_append(found->text, sizeof found->text, " can move freely: %s", motions);
        return;
    }
}

static yoke_status fail_of_bodies(const rigid *run, verdict *found)
{
    app_place place = run->input->keys.boundary.place;
    if (found->free_bodies > MAX_NAMED)
        app_append(found->text, sizeof found->text, "; and %d bodies more", (int)found->free_bodies - MAX_NAMED);
    if (run->motions == 6)
        return app_yaml_fail(run->input->yaml, place, "rigid: %s; prescribe more displacement components in boundary%s", found->text,
                             run->problem->num_bodies > 1 || run->pieces > 1 ? ", or connect the mesh (merge duplicate nodes)" : "");
    if (run->problem->num_bodies == 1)
        return app_yaml_fail(run->input->yaml, place,
                             "no boundary item prescribes a value, so that the solution is free by a constant; give one item a 'value'");
    return app_yaml_fail(
        run->input->yaml, place,
        "no boundary item prescribes a value for %s, so that the solution is free by a constant there; give one item on it "
        "a 'value', or connect the mesh (merge duplicate nodes)",
        found->text);
}

static yoke_status check_body(rigid *run, verdict *found)
{
    const fem_problem *problem = run->problem;
    measure_body(run);
    if (run->pieces > MAX_PIECES)
        return app_yaml_fail(run->input->yaml, run->input->keys.mesh.place,
                             "%.300s: the body consists of %d pieces that share no whole face; at most %d "
                             "are understood; connect the mesh",
                             problem->mesh->path, run->pieces, MAX_PIECES);
    void *memory;
    run->size = run->pieces * run->motions;
    yoke_status status = yoke_allocate(problem->context, (2 * (int64_t)run->size + 1) * run->size, sizeof(double), &memory);
    if (status != YOKE_OK) return status;
    run->rows = memory;
    run->vectors = run->rows + run->size * run->size;
    run->singular = run->vectors + run->size * run->size;
    for (int c = 0; c < problem->num_conditions; c++)
        if (problem->conditions[c].kind == FEM_DIRICHLET) add_condition(run, &problem->conditions[c]);
    if (run->pieces > 1) status = add_joints(run);
    if (status == YOKE_OK) {
        fem_small_svd(run->rows, run->size, run->vectors, run->singular);
        judge(run, found);
    }
    yoke_release(problem->context, memory);
    return status;
}

yoke_status fem_check_rigid(const fem_case *input, const fem_problem *problem, const int32_t *piece, int32_t num_pieces)
{
    rigid run = {.input = input, .problem = problem, .piece = piece, .num_pieces = num_pieces, .motions = problem->components == 3 ? 6 : 1};
    verdict found = {0};
    yoke_status status = yoke_allocate(problem->context, num_pieces, sizeof *run.local, &run.local);
    for (run.body = 0; run.body < problem->num_bodies && status == YOKE_OK; run.body++) status = check_body(&run, &found);
    if (status == YOKE_OK && found.free_bodies > 0) status = fail_of_bodies(&run, &found);
    yoke_release(problem->context, run.local);
    return status;
}
