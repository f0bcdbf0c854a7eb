/*
 * forest.h - the p8est forest over the coarse mesh: one tree per hexahedron, leaves refined by mark, 2:1 balanced over faces, edges and
 * corners.  MPI must be initialised; the forest lives on MPI_COMM_WORLD.
 */
#ifndef FEM_SPACE_FOREST_H
#define FEM_SPACE_FOREST_H

#include <p8est.h>

#include "mesh/mesh.h"
#include "space/skeleton.h"

typedef struct fem_forest {
    yoke_context *context;              /* borrowed */
    p8est_connectivity_t *connectivity; /* this and own_skeleton: NULL where the forest is a copy */
    p8est_t *p8est;
    fem_skeleton *own_skeleton;
    const fem_skeleton *skeleton;
} fem_forest;

/* Deepest level of a leaf; a mark on such a leaf is ignored. */
#define FEM_MAX_LEVEL 16

/* Forest of the mesh's hexahedra (checked when it was read; the mesh must outlive it), each refined `level` times.  Errors: MEMORY, INPUT (too many hexahedra). */
yoke_status fem_forest_create(const fem_mesh *mesh, int level, fem_forest **forest);
void fem_forest_destroy(fem_forest *forest);
/* An independent copy (connectivity and skeleton are shared: the original must outlive it). */
yoke_status fem_forest_copy(const fem_forest *forest, fem_forest **copy);

/* Refines once each leaf e (Morton order) with mark[e] != 0 and restores the balance. */
yoke_status fem_forest_refine(fem_forest *forest, const uint8_t *mark);
/* Replaces once each complete family of leaves by its parent, as far as the balance allows. */
yoke_status fem_forest_coarsen(fem_forest *forest);

static inline int64_t fem_forest_leaves(const fem_forest *forest) { return forest->p8est->local_num_quadrants; }

#endif
