/*
 * cube_mesh.h - meshes of mapped hexahedra for tests: the unit cube, or a part of it, cut along its axes.
 */
#ifndef TEST_CUBE_MESH_H
#define TEST_CUBE_MESH_H

#include "mesh/mesh.h"

/* The place of a point of the unit cube; body_bend and body_distort of body.h are such maps. */
typedef void cube_map(const double in[3], double out[3]);

typedef struct cube_options {
    int elements[3];                     /* of the whole cube in each direction */
    int order;                           /* of the geometry: 1, 2 */
    cube_map *map;                       /* NULL: the unit cube itself */
    int (*keep)(const double centre[3]); /* which elements there are, by their centre in the unit cube; NULL: all */
} cube_options;

/* Groups of faces: "-x" "+x" "-y" "+y" "-z" "+z" of the cube, and those that `keep` lays bare, "cut". */
enum { CUBE_CUT = 6, CUBE_GROUPS = 7 };

/* Failures end the test. */
void cube_mesh_create(yoke_context *context, const cube_options *options, fem_mesh **mesh);

/* The number in the mesh of one of these groups, or -1. */
int cube_group(const fem_mesh *mesh, int number);

#endif
