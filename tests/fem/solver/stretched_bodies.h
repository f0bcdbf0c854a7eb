/*
 * stretched_bodies.h - bodies of stretched elements: plates, needles and layers.
 */
#ifndef TEST_STRETCHED_BODIES_H
#define TEST_STRETCHED_BODIES_H

#include <math.h>

#include "fem/fixtures/block.h"
#include "unit.h"

/* Elements by 6 x 6 x 1: ten, and fifty, times as wide as thick. */
static inline void plate_10(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i < 2 ? 0.5 : 1.0 / 120) * in[i];
}

static inline void plate_50(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i < 2 ? 0.5 : 1.0 / 600) * in[i];
}

/* Elements of a cube by 3 x 3 x 3: ten, and a hundred, times as long as wide. */
static inline void needles_10(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i ? 1 : 10) * in[i];
}

static inline void needles_100(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i ? 1 : 100) * in[i];
}

/* Elements of 2 x 21 x 21: a hundred times as long as wide, in a cross-section of 43 nodes of second order. */
static inline void wide_needles_100(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i ? 1 : 200.0 / 21) * in[i];
}

/* Layers by four elements that get thinner towards one side: a hundred times in all. */
static inline void layers(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = i < 2 ? in[i] : (pow(100, in[i] * 4.0 / 3) - 1) / (pow(100, 4.0 / 3) - 1);
}

/* Elements by 6 x 6 x 1: ten times as wide as thick, with curved edges in the plane. */
static inline void curved_plate(const double in[3], double out[3])
{
    out[0] = in[0] + 0.08 * sin(6 * in[1]) * sin(3 * in[0]);
    out[1] = in[1] + 0.08 * sin(5 * in[0]);
    out[2] = in[2] / 60;
}

typedef struct stretched_shape {
    cube_map *map;
    int elements[3];
    int components, clamped, loaded; /* groups */
    int order;                       /* of the geometry */
    double nu;
} stretched_shape;

static const stretched_shape thin = {plate_10, {6, 6, 1}, 3, 1, 5, 1, 0.3}, thinner = {plate_50, {6, 6, 1}, 3, 1, 5, 1, 0.3},
                             needles = {needles_10, {3, 3, 3}, 3, 0, 1, 1, 0.3}, sharp_needles = {needles_100, {3, 3, 3}, 3, 0, 1, 1, 0.3},
                             wide_needles = {wide_needles_100, {2, 21, 21}, 3, 0, 1, 1, 0.3}, graded = {layers, {4, 4, 4}, 3, 0, 1, 1, 0.3},
                             curved = {curved_plate, {6, 6, 1}, 3, 0, 5, 2, 0.49};

static inline void create_in(const stretched_shape *of, const yoke_options *memory, block *b)
{
    block_options options = {.elements = {of->elements[0], of->elements[1], of->elements[2]},
                             .map = of->map,
                             .order = of->order,
                             .turn = 5,
                             .components = of->components,
                             .memory = memory};
    block_create(&options, b);
    const double nu = of->nu; /* E = 1 */
    if (of->components == 3) b->material[0].lambda = nu / ((1 + nu) * (1 - 2 * nu)), b->material[0].mu = 0.5 / (1 + nu);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, of->clamped, 7, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_TRACTION, of->loaded, 0, {0.3, -1, 2}});
}

static inline void create(const stretched_shape *of, fem_element element, int refinements, double then, block *b)
{
    uint64_t random = 3;
    create_in(of, NULL, b);
    for (int i = 0; i < refinements; i++) block_refine(b, 1, &random);
    if (then > 0) block_refine(b, then, &random);
    block_discretise(b, element);
    assert_true(!(then > 0) || b->space->num_hanging > 0);
}

static inline int64_t dofs_of(const block *b) { return (int64_t)b->space->num_nodes * b->space->components; }

#endif
