#include "mesh/cube.h"

#include <string.h>

/* Moves the cube's points by a smooth map, so that no two elements are alike and none is affine. */
static void bend(const double in[3], double out[3])
{
    out[0] = in[0] + 0.08 * in[1] * (1 - in[1]) * in[2];
    out[1] = in[1] + 0.06 * in[2] * (1 - in[2]) * (1 + in[0]);
    out[2] = in[2] + 0.07 * in[0] * (1 - in[0]) * (1 - in[1]);
}

/* Moves each inner vertex in a different direction, by at most a fifth of an element along each axis. */
static void deform(const int trees[3], const int at[3], double x[3])
{
    for (int a = 0; a < 3; a++)
        if (at[a] == 0 || at[a] == trees[a]) return;
    for (int a = 0; a < 3; a++) x[a] += 0.2 / trees[a] * ((at[0] * 7 + at[1] * 13 + at[2] * 29 + a * 11) % 17 / 8.0 - 1);
}

typedef struct cube_arrays {
    double *vertices, *geometry; /* geometry NULL: straight elements */
    int32_t *corners;
} cube_arrays;

static void fill_vertices(const int trees[3], fem_cube_shape shape, double *vertices)
{
    int64_t v = 0;
    for (int k = 0; k <= trees[2]; k++)
        for (int j = 0; j <= trees[1]; j++)
            for (int i = 0; i <= trees[0]; i++, v++) {
                const int at[3] = {i, j, k};
                double in[3] = {(double)i / trees[0], (double)j / trees[1], (double)k / trees[2]};
                if (shape == FEM_CUBE_DEFORMED) deform(trees, at, in);
                if (shape == FEM_CUBE_CURVED)
                    bend(in, vertices + 3 * v);
                else
                    memcpy(vertices + 3 * v, in, sizeof in);
            }
}

static void fill_elements(const int trees[3], cube_arrays *arrays)
{
    int64_t e = 0;
    for (int k = 0; k < trees[2]; k++)
        for (int j = 0; j < trees[1]; j++)
            for (int i = 0; i < trees[0]; i++, e++) {
                for (int c = 0; c < 8; c++)
                    arrays->corners[8 * e + c] = i + (c & 1) + (trees[0] + 1) * (j + (c >> 1 & 1) + (trees[1] + 1) * (k + (c >> 2)));
                for (int s = 0; arrays->geometry && s < 27; s++) {
                    const double in[3] = {(i + s % 3 / 2.0) / trees[0], (j + s / 3 % 3 / 2.0) / trees[1], (k + s / 9 / 2.0) / trees[2]};
                    bend(in, arrays->geometry + 3 * (27 * e + s));
                }
            }
}

yoke_status fem_cube_mesh(yoke_context *context, const int trees[3], fem_cube_shape shape, fem_face_namer *face_group_of, fem_mesh **mesh)
{
    const int curved = shape == FEM_CUBE_CURVED;
    int64_t elements = (int64_t)trees[0] * trees[1] * trees[2];
    int64_t vertices = (int64_t)(trees[0] + 1) * (trees[1] + 1) * (trees[2] + 1);
    cube_arrays arrays = {0};
    yoke_status status = yoke_allocate(context, vertices, 3 * sizeof(double), &arrays.vertices);
    if (!status && curved) status = yoke_allocate(context, elements, 27 * 3 * sizeof(double), &arrays.geometry);
    if (!status) status = yoke_allocate(context, elements, 8 * sizeof(int32_t), &arrays.corners);
    if (!status) {
        fill_vertices(trees, shape, arrays.vertices);
        fill_elements(trees, &arrays);
        status = fem_mesh_from_arrays(context, vertices, arrays.vertices, elements, arrays.corners, curved ? 2 : 1, arrays.geometry,
                                      face_group_of, NULL, mesh);
    }
    yoke_release(context, arrays.vertices);
    yoke_release(context, arrays.geometry);
    yoke_release(context, arrays.corners);
    return status;
}
