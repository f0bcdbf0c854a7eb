/*
 * case_mesh.h - small meshes, by name, for tests of case files: made by hand, so that they can have what no sane mesh file has.
 *
 * cube       the unit cube in 2 x 2 x 2 elements.  Volumes: steel (all), half (x < 1/2).  Faces: left right front back bottom top (-x +x -y
 * +y -z +z),            middle (x = 1/2, inside), 17 (without a name: the top).  Edge: upright (x = y = 0).  Points: origin, on-x (1,0,0),
 * on-y (0,1,0).            Also an empty face group: nothing.
 * materials  the cube with the volumes steel (x < 1/2) and aluminium (x > 1/2)
 * loose      the cube with the volume steel for x < 1/2 only
 * hinge      two cubes of one element each that share an edge, x = y = 1; left is x = 0, right is x = 2
 * kinked     the cube whose top is a roof of 3 degrees' jump; steep: of 40 degrees
 */
#ifndef TEST_CASE_MESH_H
#define TEST_CASE_MESH_H

#include "mesh/mesh.h"

/* NULL for an unknown name.  The tags of elements are 101, 102, ..., those of vertices 1001, 1002, ... */
fem_mesh *case_mesh_create(yoke_context *context, const char *name);
void case_mesh_destroy(fem_mesh *mesh);

#endif
