/*
 * workload.h - the meshes for measuring products and solves: a cube of hexahedra, or the mesh of a case, with approximately a given number
 * of elements.
 */
#ifndef BENCH_FEM_WORKLOAD_H
#define BENCH_FEM_WORKLOAD_H

#include "case/case.h"
#include "mesh/cube.h"
#include "space/boundary.h"

typedef struct fem_bench_model {
    yoke_context *context;
    fem_mesh *mesh;       /* NULL if the case's mesh is borrowed */
    fem_problem *problem; /* for a case, a copy without conditions and fields, so that nothing is prescribed */
    fem_forest *forest;
    fem_space *space;
    fem_boundary *boundary;
    fem_constraints *constraints;
    double discretise_s; /* time for space, boundary and constraints */
} fem_bench_model;

typedef struct fem_bench_mesh {
    fem_cube_shape shape;
    int hanging; /* nonzero: refined twice towards a corner, which gives hanging nodes, to about the same number of elements */
} fem_bench_mesh;

enum { FEM_BENCH_MESHES = 2 * FEM_CUBE_SHAPES };
/* Names of the shapes, then the same names with "-hanging"; mesh i is {i % FEM_CUBE_SHAPES, i / FEM_CUBE_SHAPES}. */
extern const char *const fem_bench_mesh_name[FEM_BENCH_MESHES];

typedef struct fem_bench_cube_options {
    int64_t elements;
    fem_bench_mesh mesh;
    fem_element element;
    int components;
    int loaded; /* nonzero: clamped at x = 0, traction (0, 0, -1e-3) at x = 1; not for curved cubes, whose faces are moved */
} fem_bench_cube_options;

/* Finds the smallest number of trees that, refined `level` times, gives the requested number of elements within 2 %. */
void fem_bench_cube_size(int64_t elements, int trees[3], int *level);

/*
 * The unit cube, divided into hexahedra of order 2; 3 components: nu = 0.3.  A deformed cube has at least 4 trees along each axis.
 * Errors: ARGUMENT (no elements, more than 2^31 - 1; curved and loaded), MEMORY.
 */
yoke_status fem_bench_cube_of(yoke_context *context, const fem_bench_cube_options *options, fem_bench_model **model);

/*
 * The mesh and materials of a problem, refined uniformly while there are not more elements than requested, then partially, beginning with
 * the first element in Morton order, until the number is reached.  There are hanging nodes where the two parts meet.
 * Errors: INPUT (the mesh alone has more elements), MEMORY.
 */
yoke_status fem_bench_refined(const fem_problem *problem, int64_t elements, fem_bench_model **model);

void fem_bench_model_destroy(fem_bench_model *model); /* NULL allowed */

#endif
