/*
 * forest.h - the p8est forest over the coarse mesh: one tree per hexahedron, leaves refined by mark, 2:1 balanced over faces, edges and
 * corners.  MPI must be initialised.  Where the mesh has several ranks (common/ranks/ranks.h) each of them has a run of the leaves in Morton order, and functions
 * are collective.
 */
#ifndef FEM_SPACE_FOREST_FOREST_H
#define FEM_SPACE_FOREST_FOREST_H

#include <p8est.h>

#include "mesh/mesh.h"
#include "space/forest/skeleton.h"

typedef struct fem_forest {
    yoke_context *context;              /* borrowed */
    p8est_connectivity_t *connectivity; /* this and own_skeleton: NULL where the forest is a copy */
    p8est_t *p8est;
    fem_skeleton *own_skeleton;
    const fem_skeleton *skeleton;
    app_ranks *ranks;      /* borrowed; NULL: this process has all leaves */
    int64_t most_gathered; /* coarser forests of at most so many leaves are for one rank (gather.h): no cut need be kept for them */
    int aligned;           /* so many times the forest can be coarsened, on several ranks, with the leaves that one rank would get */
} fem_forest;

/* most_gathered is so much for each rank, but at most so much: what a rank has of a level is to be worth the messages. */
enum { FEM_MOST_GATHERED_RANK = 1000, FEM_MOST_GATHERED = 20000 };

/* Deepest level of a leaf; a mark on such a leaf is ignored. */
#define FEM_MAX_LEVEL 16

/* Forest of the mesh's hexahedra (checked when it was read; the mesh must outlive it), each refined `level` times.  Errors: MEMORY, INPUT (too many hexahedra). */
yoke_status fem_forest_create(const fem_mesh *mesh, int level, fem_forest **forest);
void fem_forest_destroy(fem_forest *forest);
/* An independent copy (connectivity and skeleton are shared: the original must outlive it). */
yoke_status fem_forest_copy(const fem_forest *forest, fem_forest **copy);

/* Refines once each leaf e (Morton order; of this rank) with mark[e] != 0 and restores the balance.  New leaves stay on the rank of the old ones. */
yoke_status fem_forest_refine(fem_forest *forest, const uint8_t *mark);
/* Replaces once each complete family of leaves by its parent, as far as the balance allows. */
yoke_status fem_forest_coarsen(fem_forest *forest);
/*
 * Distributes the leaves over the ranks anew: rank r gets about share[r] of all (they are not negative; where their sum is 0, or NULL: equal shares).  Cuts are moved down to where ancestors of
 * leaves begin, `aligned` levels up: as many as the multigrid coarsens distributed forests.  Nothing on one rank.  Errors: MEMORY.
 */
yoke_status fem_forest_partition(fem_forest *forest, const double *share);

/* The rank of a leaf that touches a place of the skeleton, on each rank the same one.  The forest must have ranks.  Not collective. */
int fem_forest_rank_at(const fem_forest *forest, uint32_t entity, uint64_t place);

/*
 * All leaves as a forest of rank 0 alone; *whole is NULL on the other ranks.  forest must have ranks, and outlive it.  Errors: MEMORY.
 */
yoke_status fem_forest_gather(const fem_forest *forest, fem_forest **whole);

/* Of this rank, and of all of them. */
static inline int64_t fem_forest_leaves(const fem_forest *forest) { return forest->p8est->local_num_quadrants; }
static inline int64_t fem_forest_all_leaves(const fem_forest *forest) { return forest->p8est->global_num_quadrants; }

#endif
