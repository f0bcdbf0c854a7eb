/*
 * skeleton.h - the vertices, edges and faces that the hexahedra of a mesh share, and names of places on them that are the same for all
 * hexahedra that share them.
 */
#ifndef FEM_SPACE_FOREST_SKELETON_H
#define FEM_SPACE_FOREST_SKELETON_H

#include <p8est.h>

#include "mesh/mesh.h"

/* The lowest tree that has an entity, and the number of the entity among its faces, edges and corners, in this order. */
typedef struct fem_skeleton_use {
    int32_t tree, part;
} fem_skeleton_use;

/* An entity is a tree, a face, an edge or a vertex, numbered in this order. */
typedef struct fem_skeleton {
    yoke_context *context;  /* borrowed */
    const int32_t *corners; /* borrowed from the mesh: [num_trees][8] */
    uint32_t first_vertex;  /* of the entities */
    uint32_t *face;         /* [num_trees][6] entity */
    uint32_t *edge;         /* [num_trees][12] */
    uint32_t first_face;    /* of the entities: the number of trees */
    fem_skeleton_use *use;  /* of the entities from first_face on; NULL if the mesh has one rank */
} fem_skeleton;

/* Errors: MEMORY. */
yoke_status fem_skeleton_create(const fem_mesh *mesh, fem_skeleton **skeleton);
void fem_skeleton_destroy(fem_skeleton *skeleton);

/* Coordinates of places in their tree are 0 to this length: those of p8est divided by FEM_PLACE_UNIT, half a leaf of the deepest level. */
enum { FEM_PLACE_LENGTH = 1 << 17, FEM_PLACE_UNIT = P8EST_ROOT_LEN / FEM_PLACE_LENGTH };

/* The entity that has the point `at` of a tree in its interior, and the name of the place on it. */
uint32_t fem_skeleton_place(const fem_skeleton *skeleton, int32_t tree, const int32_t at[3], uint64_t *place);
/* The reverse: the point `at` of the lowest tree that has the place, which is returned.  The mesh must have several ranks. */
int32_t fem_skeleton_point(const fem_skeleton *skeleton, uint32_t entity, uint64_t place, int32_t at[3]);

#endif
