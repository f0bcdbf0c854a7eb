#include "case_mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "space/problem/checks.h"

#define MAX_GROUPS 20

static void *get(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        fprintf(stderr, "the test machine is out of memory\n");
        exit(1);
    }
    return memory;
}

/* A group of all faces, edges, points or elements whose corners all lie in the box [low, high]; members from every side if `both`. */
static void add_group(fem_mesh *mesh, const char *name, int dimension, const double low[3], const double high[3])
{
    static const int locals[] = {8, 12, 6, 1};
    fem_group *group = &mesh->groups[mesh->num_groups++];
    *group = (fem_group){.name = get(strlen(name) + 1), .tag = mesh->num_groups, .dimension = dimension};
    strcpy(group->name, name);
    group->element = get(sizeof(int32_t) * 12 * (size_t)mesh->num_elements);
    group->local = get(12 * (size_t)mesh->num_elements);
    for (int64_t e = 0; e < mesh->num_elements; e++)
        for (int local = 0; local < locals[dimension]; local++) {
            int corners[8] = {0, 1, 2, 3, 4, 5, 6, 7}, in = 1;
            int count = dimension == 3 ? 8 : fem_member_corners(dimension, local, corners);
            for (int k = 0; k < count; k++)
                for (int a = 0; a < 3; a++) {
                    double x = mesh->vertices[3 * mesh->corners[8 * e + corners[k]] + a];
                    in = in && x > low[a] - 1e-9 && x < high[a] + 1e-9;
                }
            if (!in) continue;
            group->element[group->count] = (int32_t)e;
            group->local[group->count++] = (int8_t)local;
            if (dimension == 3 && mesh->volume[e] < 0) mesh->volume[e] = mesh->num_groups - 1;
        }
    if (dimension == 3) {
        free(group->local);
        group->local = NULL;
    }
}

static void add_sides(fem_mesh *mesh, double length)
{
    static const char *const names[] = {"left", "right", "front", "back", "bottom", "top"};
    for (int face = 0; face < 6; face++) {
        double low[3] = {0, 0, 0}, high[3] = {length, length, length};
        (face % 2 == 0 ? high : low)[face / 2] = face % 2 == 0 ? 0 : length;
        add_group(mesh, names[face], 2, low, high);
    }
}

static fem_mesh *create(yoke_context *context, const char *name, int64_t elements, int64_t vertices)
{
    fem_mesh *mesh = get(sizeof *mesh);
    size_t n = (size_t)elements, m = (size_t)vertices;
    *mesh = (fem_mesh){.context = context, .order = 1, .num_elements = elements, .num_vertices = vertices};
    mesh->path = get(strlen(name) + 1);
    strcpy(mesh->path, name);
    mesh->vertices = get(3 * m * sizeof(double));
    mesh->corners = get(8 * n * sizeof(int32_t));
    mesh->geometry = get(24 * n * sizeof(double));
    mesh->volume = get(n * sizeof(int32_t));
    mesh->element_tag = get(n * sizeof(int64_t));
    mesh->vertex_tag = get(m * sizeof(int64_t));
    mesh->groups = get(MAX_GROUPS * sizeof(fem_group));
    for (int64_t e = 0; e < elements; e++) {
        mesh->volume[e] = -1;
        mesh->element_tag[e] = 101 + e;
    }
    for (int64_t v = 0; v < vertices; v++) mesh->vertex_tag[v] = 1001 + v;
    return mesh;
}

/* The unit cube in 2 x 2 x 2 elements. */
static fem_mesh *create_cube(yoke_context *context, const char *name)
{
    fem_mesh *mesh = create(context, name, 8, 27);
    for (int v = 0; v < 27; v++)
        for (int a = 0; a < 3; a++) mesh->vertices[3 * v + a] = (a == 0 ? v % 3 : a == 1 ? v / 3 % 3 : v / 9) / 2.0;
    for (int i = 0; i < 64; i++) {
        int e = i / 8, c = i % 8;
        mesh->corners[i] = (e % 2 + c % 2) + 3 * (e / 2 % 2 + c / 2 % 2) + 9 * (e / 4 + c / 4);
    }
    return mesh;
}

static fem_mesh *create_hinge(yoke_context *context)
{
    static const double at[14][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 2}, {2, 2}};
    static const int32_t corners[16] = {0, 1, 2, 3, 7, 8, 9, 10, 3, 4, 5, 6, 10, 11, 12, 13};
    fem_mesh *mesh = create(context, "hinge", 2, 14);
    for (int v = 0; v < 14; v++) {
        mesh->vertices[3 * v] = at[v % 7][0];
        mesh->vertices[3 * v + 1] = at[v % 7][1];
        mesh->vertices[3 * v + 2] = v / 7;
    }
    memcpy(mesh->corners, corners, sizeof corners);
    return mesh;
}

static void add_all_groups(fem_mesh *mesh, const char *name)
{
    const double zero[3] = {0, 0, 0}, one[3] = {2, 2, 2}, left[3] = {0.5, 1, 1}, right[3] = {0.5, 0, 0};
    const double on_x[3] = {1, 0, 0}, on_y[3] = {0, 1, 0}, on_z[3] = {0, 0, 1}, nowhere[3] = {-1, -1, -1};
    if (strcmp(name, "materials") == 0) {
        add_group(mesh, "steel", 3, zero, left);
        add_group(mesh, "aluminium", 3, right, one);
    } else if (strcmp(name, "loose") == 0) {
        add_group(mesh, "steel", 3, zero, left);
    } else {
        add_group(mesh, "steel", 3, zero, one);
        add_group(mesh, "half", 3, zero, left);
    }
    add_sides(mesh, strcmp(name, "hinge") == 0 ? 2 : 1);
    add_group(mesh, "middle", 2, right, left);
    add_group(mesh, "17", 2, on_z, one);
    add_group(mesh, "nothing", 2, nowhere, nowhere);
    add_group(mesh, "upright", 1, zero, on_z);
    add_group(mesh, "origin", 0, zero, zero);
    add_group(mesh, "on-x", 0, on_x, on_x);
    add_group(mesh, "on-y", 0, on_y, on_y);
}

/* Raises the ridge x = 1/2 of the top so that its two sides meet at that angle. */
static void raise_ridge(fem_mesh *mesh, double degrees)
{
    for (int v = 0; v < 27; v++)
        if (mesh->vertices[3 * v] == 0.5 && mesh->vertices[3 * v + 2] == 1)
            mesh->vertices[3 * v + 2] += 0.5 * tan(degrees / 2 * 3.14159265358979323846 / 180);
}

fem_mesh *case_mesh_create(yoke_context *context, const char *name)
{
    static const char *const cubes[] = {"cube", "materials", "loose", "kinked", "steep"};
    fem_mesh *mesh = NULL;
    for (int i = 0; i < 5; i++)
        if (strcmp(name, cubes[i]) == 0) mesh = create_cube(context, name);
    if (strcmp(name, "hinge") == 0) mesh = create_hinge(context);
    if (mesh == NULL) return NULL;
    add_all_groups(mesh, name);
    if (strcmp(name, "kinked") == 0 || strcmp(name, "steep") == 0) raise_ridge(mesh, name[0] == 'k' ? 3 : 40);
    for (int64_t i = 0; i < 8 * mesh->num_elements; i++)
        memcpy(mesh->geometry + 3 * i, mesh->vertices + 3 * mesh->corners[i], 3 * sizeof(double));
    return mesh;
}

void case_mesh_destroy(fem_mesh *mesh)
{
    for (int g = 0; g < mesh->num_groups; g++) {
        free(mesh->groups[g].name);
        free(mesh->groups[g].element);
        free(mesh->groups[g].local);
    }
    free(mesh->groups);
    free(mesh->path);
    free(mesh->vertices);
    free(mesh->corners);
    free(mesh->geometry);
    free(mesh->volume);
    free(mesh->element_tag);
    free(mesh->vertex_tag);
    free(mesh);
}
