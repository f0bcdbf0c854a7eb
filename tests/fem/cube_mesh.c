#include "cube_mesh.h"

#include <math.h>

#include "unit.h"

#include "mesh/shape.h"
#include "space/space.h"

static const char *const names[CUBE_GROUPS] = {"-x", "+x", "-y", "+y", "-z", "+z", "cut"};

typedef struct grid {
    const cube_options *options;
    int num_vertices, num_elements;
    double *vertices, *geometry;
    int32_t *corners;
} grid;

static void place(const grid *g, const double in[3], double out[3])
{
    if (g->options->map)
        g->options->map(in, out);
    else
        memcpy(out, in, 3 * sizeof *in);
}

static void add_element(grid *g, int i, int j, int k, const int32_t *vertex_of)
{
    const int *n = g->options->elements;
    int per_axis = g->options->order + 1, slots = per_axis * per_axis * per_axis, e = g->num_elements++;
    for (int c = 0; c < 8; c++)
        g->corners[8 * e + c] = vertex_of[i + (c & 1) + (n[0] + 1) * (j + (c >> 1 & 1) + (n[1] + 1) * (k + (c >> 2)))];
    for (int s = 0; s < slots; s++) {
        double r[3];
        fem_slot_point(per_axis, s, r);
        place(g, (double[3]){(i + r[0]) / n[0], (j + r[1]) / n[1], (k + r[2]) / n[2]}, g->geometry + 3 * (slots * e + s));
    }
}

static int kept(const grid *g, int i, int j, int k)
{
    const int *n = g->options->elements;
    if (i < 0 || j < 0 || k < 0 || i >= n[0] || j >= n[1] || k >= n[2]) return 0;
    return !g->options->keep || g->options->keep((double[3]){(i + 0.5) / n[0], (j + 0.5) / n[1], (k + 0.5) / n[2]});
}

static void grid_create(grid *g)
{
    const int *n = g->options->elements;
    size_t all_vertices = (size_t)((n[0] + 1) * (n[1] + 1) * (n[2] + 1)), all_elements = (size_t)(n[0] * n[1] * n[2]);
    g->vertices = malloc(all_vertices * 3 * sizeof(double));
    g->geometry = malloc(all_elements * 81 * sizeof(double));
    g->corners = malloc(all_elements * 8 * sizeof(int32_t));
    int32_t *vertex_of = malloc(all_vertices * sizeof *vertex_of);
    assert_true(g->vertices && g->geometry && g->corners && vertex_of);
    for (int k = 0, v = 0; k <= n[2]; k++)
        for (int j = 0; j <= n[1]; j++)
            for (int i = 0; i <= n[0]; i++, v++) {
                int used = 0;
                for (int c = 0; c < 8; c++) used |= kept(g, i - (c & 1), j - (c >> 1 & 1), k - (c >> 2));
                vertex_of[v] = used ? g->num_vertices : -1;
                if (used) place(g, (double[3]){(double)i / n[0], (double)j / n[1], (double)k / n[2]}, g->vertices + 3 * g->num_vertices++);
            }
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++)
                if (kept(g, i, j, k)) add_element(g, i, j, k, vertex_of);
    free(vertex_of);
}

static void grid_destroy(grid *g)
{
    free(g->vertices);
    free(g->geometry);
    free(g->corners);
}

/* The group of the boundary face whose centre lies nearest; the caller may define a curved face's centre a little differently. */
static const char *name_face(const double centre[3], void *user)
{
    const grid *g = user;
    const int *n = g->options->elements;
    double nearest = INFINITY;
    int group = -1;
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++)
                for (int f = 0; f < 6 && kept(g, i, j, k); f++) {
                    int at[3] = {i, j, k};
                    at[f / 2] += f % 2 ? 1 : -1;
                    if (kept(g, at[0], at[1], at[2])) continue;
                    double r[3], x[3], distance = 0;
                    fem_face_point(f, 0.5, 0.5, r);
                    place(g, (double[3]){(i + r[0]) / n[0], (j + r[1]) / n[1], (k + r[2]) / n[2]}, x);
                    for (int a = 0; a < 3; a++) distance += (x[a] - centre[a]) * (x[a] - centre[a]);
                    if (distance >= nearest) continue;
                    nearest = distance;
                    group = at[f / 2] < 0 || at[f / 2] >= n[f / 2] ? f : CUBE_CUT;
                }
    return names[group];
}

void cube_mesh_create(yoke_context *context, const cube_options *options, fem_mesh **mesh)
{
    grid g = {.options = options};
    grid_create(&g);
    yoke_status status = fem_mesh_from_arrays(context, g.num_vertices, g.vertices, g.num_elements, g.corners, options->order, g.geometry,
                                              name_face, &g, mesh);
    if (status) fail_msg("%s", yoke_last_error(context));
    grid_destroy(&g);
}

int cube_group(const fem_mesh *mesh, int number) { return fem_mesh_find_group(mesh, 2, names[number]); }
