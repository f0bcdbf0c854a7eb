#include "body.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

#include "shape.h"

void body_bend(const double in[3], double out[3])
{
    out[0] = in[0] + 0.10 * in[1] * in[1] + 0.05 * sin(3 * in[2]);
    out[1] = in[1] + 0.08 * in[0] * in[2] - 0.05 * cos(3 * in[0]);
    out[2] = 1.2 * in[2] + 0.07 * in[0] * in[0];
}

void body_distort(const double in[3], double out[3])
{
    double bubble = 128 * in[0] * (0.5 - in[0]) * (1 - in[0]) * in[1] * (1 - in[1]) * in[2] * (1 - in[2]);
    out[0] = in[0] + 0.10 * bubble;
    out[1] = in[1] - 0.07 * bubble;
    out[2] = in[2] + 0.05 * bubble;
}

static void *allocate_limited(size_t bytes, void *user)
{
    body *b = user;
    return b->blocks_left-- > 0 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
}

static void release_limited(void *memory, void *user)
{
    (void)user;
    free(memory);
}

static void identity(const double in[3], double out[3]) { memcpy(out, in, 3 * sizeof *in); }

static const char *name_face(const double centre[3], void *user)
{
    static const char *const names[6] = {"-x", "+x", "-y", "+y", "-z", "+z"};
    (void)user;
    for (int face = 0; face < 6; face++)
        if (fabs(centre[face / 2] - face % 2) < 1e-9) return names[face];
    return NULL;
}

static void create_mesh(const body_options *options, body *b)
{
    body_map *map = options->map ? options->map : identity;
    const int *n = options->elements;
    int per_axis = options->order + 1, slots = per_axis * per_axis * per_axis, e = 0;
    int num_vertices = (n[0] + 1) * (n[1] + 1) * (n[2] + 1), num_elements = n[0] * n[1] * n[2];
    double *vertices = malloc(sizeof(double) * 3 * (size_t)num_vertices),
           *geometry = malloc(sizeof(double) * 3 * (size_t)(slots * num_elements));
    int32_t *corners = malloc(sizeof(int32_t) * 8 * (size_t)num_elements);
    assert_true(vertices && geometry && corners);
    for (int v = 0; v < num_vertices; v++) {
        int index[3] = {v % (n[0] + 1), v / (n[0] + 1) % (n[1] + 1), v / (n[0] + 1) / (n[1] + 1)};
        double in[3] = {(double)index[0] / n[0], (double)index[1] / n[1], (double)index[2] / n[2]};
        map(in, vertices + 3 * v);
    }
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++, e++) {
                for (int c = 0; c < 8; c++)
                    corners[8 * e + c] = i + (c & 1) + (n[0] + 1) * (j + (c >> 1 & 1) + (n[1] + 1) * (k + (c >> 2)));
                for (int s = 0; s < slots; s++) {
                    double r[3];
                    fem_slot_point(per_axis, s, r);
                    double in[3] = {(i + r[0]) / n[0], (j + r[1]) / n[1], (k + r[2]) / n[2]};
                    map(in, geometry + 3 * (slots * e + s));
                }
            }
    assert_int_equal(fem_mesh_from_arrays(b->context, num_vertices, vertices, num_elements, corners, options->order, geometry, name_face,
                                          NULL, &b->mesh),
                     YOKE_OK);
    free(vertices);
    free(geometry);
    free(corners);
}

static void create_problem(const body_options *options, body *b)
{
    static const char *const names[6] = {"-x", "+x", "-y", "+y", "-z", "+z"};
    const manufactured *solution = options->solution;
    fem_problem *p = &b->problem;
    *p = (fem_problem){.context = b->context, .mesh = b->mesh, .components = solution->components, .element = options->element};
    p->num_materials = options->materials == 2 ? 2 : 1;
    p->materials = calloc(2, sizeof *p->materials);
    p->material_of = calloc((size_t)b->mesh->num_elements, sizeof *p->material_of);
    p->conditions = calloc(8, sizeof *p->conditions);
    assert_true(p->materials && p->material_of && p->conditions);
    for (int m = 0; m < 2; m++)
        p->materials[m] = (fem_material){.lambda = (m + 1) * solution->lambda, .mu = (m + 1) * solution->mu, .density = NAN};
    for (int e = 0; e < b->mesh->num_elements; e++)
        p->material_of[e] = options->materials == 2 && e % options->elements[0] >= options->elements[0] / 2;
    p->num_conditions = options->num_conditions;
    for (int i = 0; i < options->num_conditions; i++) {
        p->conditions[i] = options->conditions[i];
        p->conditions[i].group = fem_mesh_find_group(b->mesh, 2, names[options->conditions[i].group]);
        assert_true(p->conditions[i].group >= 0);
    }
}

void body_create(const body_options *options, body *b)
{
    memset(b, 0, sizeof *b);
    b->blocks_left = INT64_MAX;
    const yoke_options limited = {.allocate = allocate_limited, .release = release_limited, .memory_user = b};
    assert_int_equal(yoke_context_create(&limited, &b->context), YOKE_OK);
    create_mesh(options, b);
    create_problem(options, b);
    assert_int_equal(fem_forest_create(b->mesh, options->level, &b->forest), YOKE_OK);
    for (int i = 0; i < options->uneven; i++) {
        int64_t leaves = fem_forest_leaves(b->forest);
        uint8_t *mark = calloc((size_t)leaves, 1);
        assert_non_null(mark);
        for (int64_t e = 0; e < leaves; e += 5) mark[e] = 1;
        assert_int_equal(fem_forest_refine(b->forest, mark), YOKE_OK);
        free(mark);
    }
    assert_int_equal(fem_space_create(&b->problem, b->forest, options->element, &b->space), YOKE_OK);
    if (options->uneven > 0) assert_true(b->space->num_hanging > 0);
}

void body_destroy(body *b)
{
    fem_space_destroy(b->space);
    fem_forest_destroy(b->forest);
    free(b->problem.materials);
    free(b->problem.material_of);
    free(b->problem.conditions);
    fem_mesh_destroy(b->mesh);
    yoke_context_destroy(b->context);
}

double *body_values(const body *b, const manufactured *solution)
{
    double *u = malloc(sizeof(double) * (size_t)(b->space->num_nodes * b->space->components));
    assert_non_null(u);
    for (int32_t i = 0; i < b->space->num_nodes; i++)
        solution->value(solution, b->space->x + 3 * (int64_t)i, u + (int64_t)b->space->components * i);
    return u;
}

int body_start(void **state)
{
    (void)state;
    if (sc_MPI_Init(NULL, NULL) != sc_MPI_SUCCESS) return -1;
    sc_init(sc_MPI_COMM_WORLD, 0, 0, NULL, SC_LP_SILENT);
    p4est_init(NULL, SC_LP_SILENT);
    return 0;
}

int body_end(void **state)
{
    (void)state;
    sc_finalize();
    return sc_MPI_Finalize() == sc_MPI_SUCCESS ? 0 : -1;
}
