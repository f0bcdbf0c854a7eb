/*
 * cube.h - the unit cube as a coarse mesh, for benchmarks and calibrations.
 */
#ifndef FEM_MESH_CUBE_H
#define FEM_MESH_CUBE_H

#include "mesh/mesh.h"

/* Shapes of the elements of a cube. */
typedef enum fem_cube_shape {
    FEM_CUBE_CURVED,   /* curved, by a smooth map of the whole cube: no two are alike, and none is affine */
    FEM_CUBE_AFFINE,   /* boxes */
    FEM_CUBE_DEFORMED, /* straight edges, inner vertices of the coarse mesh moved by up to a fifth of an element: the body is the cube */
    FEM_CUBE_SHAPES
} fem_cube_shape;

/*
 * trees[0] x trees[1] x trees[2] elements, x fastest; curved ones are of order 2.  face_group_of: as in fem_mesh_from_arrays, or NULL.
 * Errors: MEMORY; ARGUMENT (no elements).
 */
yoke_status fem_cube_mesh(yoke_context *context, const int trees[3], fem_cube_shape shape, fem_face_namer *face_group_of, fem_mesh **mesh);

#endif
