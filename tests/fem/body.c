#include "body.h"

#include <math.h>

#include "unit.h"

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

static void create_problem(const body_options *options, body *b)
{
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
        p->conditions[i].group = cube_group(b->mesh, options->conditions[i].group);
        assert_true(p->conditions[i].group >= 0);
    }
}

void body_create(const body_options *options, body *b)
{
    memset(b, 0, sizeof *b);
    b->blocks_left = INT64_MAX;
    const yoke_options limited = {.allocate = allocate_limited, .release = release_limited, .memory_user = b};
    assert_int_equal(yoke_context_create(&limited, &b->context), YOKE_OK);
    const int *n = options->elements;
    cube_mesh_create(b->context, &(cube_options){{n[0], n[1], n[2]}, options->order, options->map, NULL}, &b->mesh);
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
    sc_init(sc_MPI_COMM_NULL, 0, 0, NULL, SC_LP_SILENT);
    p4est_init(NULL, SC_LP_SILENT);
    return 0;
}

int body_end(void **state)
{
    (void)state;
    sc_finalize();
    return sc_MPI_Finalize() == sc_MPI_SUCCESS ? 0 : -1;
}
