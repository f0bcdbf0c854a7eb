/*
 * bench_model.h - what products are measured on: a cube of bent hexahedra, or the mesh of a case, with about so many elements.
 */
#ifndef FEM_BENCH_MODEL_H
#define FEM_BENCH_MODEL_H

#include "boundary.h"
#include "case.h"

typedef struct fem_bench_model {
    yoke_context *context;
    fem_mesh *mesh;       /* NULL where the case's is borrowed */
    fem_problem *problem; /* a copy without conditions and fields: nothing is prescribed */
    fem_forest *forest;
    fem_space *space;
    fem_boundary *boundary;
    fem_constraints *constraints;
} fem_bench_model;

/*
 * The unit cube, bent so that no two elements are alike, in trees[0] x trees[1] x trees[2] hexahedra of order 2 that are refined `level` times:
 * as few trees as come within 2 % of the number of elements asked for; 3 components: nu = 0.3.
 * Errors: ARGUMENT (no elements, more than 2^31 - 1), MEMORY.
 */
yoke_status fem_bench_cube(yoke_context *context, int64_t elements, fem_element element, int components, fem_bench_model **model);
void fem_bench_cube_size(int64_t elements, int trees[3], int *level);

/*
 * The mesh and materials of a problem, refined uniformly as long as there are not more elements than asked for, then once more from the
 * first element on (Morton order) until there are, so that nodes hang where the two meet.
 * Errors: INPUT (the mesh alone has more elements), MEMORY.
 */
yoke_status fem_bench_refined(const fem_problem *problem, int64_t elements, fem_bench_model **model);

void fem_bench_model_destroy(fem_bench_model *model); /* NULL allowed */

#endif
