/*
 * reference_problem.h - problems on bodies of few elements, for what plain computations say of estimate and stress.
 */
#ifndef TEST_REFERENCE_PROBLEM_H
#define TEST_REFERENCE_PROBLEM_H

#include <math.h>

#include "unit.h"

#include "estimate/estimate.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/reference_estimate.h"
#include "mesh/shape.h"

/* Sanitizers see the same code run by a quarter of the kinds of problems, in which each choice is made both ways. */
#ifdef YOKE_SANITIZED
enum { KIND_STEP = 5, PATTERN_ELEMENT = 1, PATTERN_ELEMENTS = 1 };
#else
enum { KIND_STEP = 1, PATTERN_ELEMENT = 0, PATTERN_ELEMENTS = 3 };
#endif

/* The calibration constants of docs/methods/estimator.md. */
static inline double constant(fem_element element) { return element == FEM_Q1 ? 0.33 : 0.38; }

static inline void given_force(const double x[3], double *f, void *user)
{
    const int *components = user;
    for (int c = 0; c < *components; c++) f[c] = cos(3 * x[c] - x[(c + 1) % 3]);
}

static inline void given_traction(const double x[3], const double normal[3], double *t, void *user)
{
    const int *components = user;
    for (int c = 0; c < *components; c++) t[c] = sin(2 * x[(c + 1) % 3]) + 0.4 * normal[c];
}

typedef struct kind {
    cube_map *map; /* NULL: a cube */
    int components, functions;
    double factor; /* between the moduli of neighbours; 0: one material */
} kind;

/* Faces of all kinds: prescribed (0), in part prescribed and loaded (2), under a pressure (3), two loads (1), traction (5), free (4). */
static inline void add_conditions(block *b)
{
    int scalar = b->problem.components == 1;
    block_add_condition(b, (fem_condition){.kind = FEM_DIRICHLET, .group = 0, .mask = scalar ? 1 : 7});
    block_add_condition(b, (fem_condition){.kind = FEM_DIRICHLET, .group = 2, .mask = scalar ? 0 : 1});
    block_add_condition(b, (fem_condition){.kind = FEM_DIRICHLET, .group = 2, .mask = scalar ? 0 : 4});
    block_add_condition(b, (fem_condition){.kind = FEM_DIRICHLET, .group = BLOCK_ORIGIN, .mask = scalar ? 1 : 7});
    block_add_condition(b, (fem_condition){.kind = FEM_TRACTION, .group = 2, .value = {0.3, -0.6, 0.2}});
    block_add_condition(b, (fem_condition){.kind = FEM_TRACTION, .group = 1, .value = {-0.5, 0.1, 0.7}});
    block_add_condition(b, (fem_condition){.kind = FEM_TRACTION, .group = 5, .value = {0.2, 0.9, -0.4}});
    block_add_condition(b, (fem_condition){.kind = FEM_FORCE, .group = 5, .value = {-0.3, 0.2, 0.5}});
    if (scalar) return;
    block_add_condition(b, (fem_condition){.kind = FEM_PRESSURE, .group = 1, .value = {0.6}});
    block_add_condition(b, (fem_condition){.kind = FEM_PRESSURE, .group = 3, .value = {-0.8}});
}

/* The face between the first two elements across x joins face 2: what is prescribed there is a support inside the body. */
static inline void add_inner_support(block *b)
{
    fem_group *group = &b->mesh.groups[2];
    group->element[group->count] = 0;
    group->local[group->count++] = 1; /* the first element lies along the axes */
}

static inline void create(const kind *k, const int count[3], int turn, block *b)
{
    static int components[4] = {0, 1, 2, 3};
    block_options options = {.map = k->map, .order = k->map ? 2 : 1, .turn = turn, .components = k->components};
    memcpy(options.elements, count, sizeof options.elements);
    block_create(&options, b);
    if (k->factor > 0) block_two_materials(b, k->factor);
    for (int m = 0; m < 2; m++)
        for (int c = 0; c < 3; c++) b->material[m].force[c] = (m + 1) * (0.7 - 0.5 * c);
    if (k->components == 3) {
        b->material[0].density = 0.4;
        b->material[1].density = 0.9;
        if (!k->functions) {
            b->problem.temperature = (fem_temperature){true, -0.7, {0.2, 0.5, -0.3}, 0.6, {0.48, 0.6, 0.64}, {2, 3, -1}, NULL, 0};
            for (int m = 0; m < 2; m++) b->material[m].expansion = 0.4 - 0.1 * m, b->material[m].thermal_strain = 0.2 * m;
        }
        b->problem.rotation = (fem_rotation){.axis = {0.48, 0.6, 0.64}, .through = {0.3, -0.2, 1}, .square = 1.7};
    }
    add_conditions(b);
    if (count[0] > 1) add_inner_support(b);
    if (k->functions)
        b->problem.fields = (fem_fields){.force = given_force, .traction = given_traction, .user = &components[k->components]};
}

static inline double *random_solution(const block *b, uint64_t *random)
{
    return block_random_array((int64_t)b->space->num_nodes * b->space->components, random);
}

static inline double *smooth_solution(const block *b)
{
    int components = b->space->components;
    double *u = block_zeros((int64_t)b->space->num_nodes * components, sizeof *u);
    for (int32_t i = 0; i < b->space->num_nodes; i++)
        for (int c = 0; c < components; c++) {
            const double *x = b->space->x + 3 * (int64_t)i;
            u[components * i + c] = sin(1.3 * x[c] + 0.7 * x[(c + 1) % 3]) + 0.2 * x[(c + 2) % 3] * x[c];
        }
    return u;
}

/* The kinds of problems: each of the four ways to choose bit by bit. */
static inline kind kind_number(int bits)
{
    return (kind){
        .map = bits & 1 ? body_bend : NULL, .components = bits & 2 ? 3 : 1, .functions = bits >> 2 & 1, .factor = bits & 8 ? 1e4 : 0};
}

#endif
