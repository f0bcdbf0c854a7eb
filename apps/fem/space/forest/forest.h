/*
 * forest.h - the p8est forest over the coarse mesh: one tree per hexahedron, leaves refined by marks, 2:1 balanced over faces, edges and
 * corners.  MPI must be initialised.  If the mesh has several ranks (common/ranks/ranks.h) each of them has a contiguous range of the
 * leaves in Morton order, and functions are collective.
 */
#ifndef FEM_SPACE_FOREST_FOREST_H
#define FEM_SPACE_FOREST_FOREST_H

#include <p8est.h>

#include "mesh/mesh.h"
#include "space/forest/skeleton.h"

typedef struct fem_forest {
    yoke_context *context;              /* borrowed */
    p8est_connectivity_t *connectivity; /* this and own_skeleton: NULL if the forest is a copy */
    p8est_t *p8est;
    fem_skeleton *own_skeleton;
    const fem_skeleton *skeleton;
    app_ranks *ranks; /* borrowed; NULL: this process has all leaves */
    /* Coarser forests of at most this number of leaves are for one rank (gathering.h): cuts need not be aligned for them. */
    int64_t most_gathered;
    int aligned; /* on several ranks: number of times that the forest can be coarsened with the same leaves as on one rank */
} fem_forest;

/* most_gathered is the first number for each rank, but at most the second: the work of a rank on a level must be worth the messages. */
enum { FEM_MOST_GATHERED_RANK = 1000, FEM_MOST_GATHERED = 20000 };

/* Deepest level of a leaf; a mark on such a leaf is ignored. */
#define FEM_MAX_LEVEL 16

/*
 * Creates the forest of the mesh's hexahedra (checked when it was read; the mesh must outlive it), each refined `level` times.  Errors:
 * MEMORY, INPUT (too many hexahedra).
 */
yoke_status fem_forest_create(const fem_mesh *mesh, int level, fem_forest **forest);
void fem_forest_destroy(fem_forest *forest);
/* Creates an independent copy (connectivity and skeleton are shared: the original must outlive it). */
yoke_status fem_forest_copy(const fem_forest *forest, fem_forest **copy);

/*
 * Refines each leaf e (Morton order; of this rank) with mark[e] != 0 once and restores the balance.  New leaves stay on the rank of the old
 * ones.
 */
yoke_status fem_forest_refine(fem_forest *forest, const uint8_t *mark);
/* Replaces each complete family of leaves by its parent once, as far as the balance allows. */
yoke_status fem_forest_coarsen(fem_forest *forest);
/*
 * Redistributes the leaves over the ranks: rank r gets about share[r] of all (shares are not negative; if their sum is 0, or share is NULL:
 * equal shares).  Cuts are moved down to the beginning of ancestors of leaves, `aligned` levels up: the number of levels by which the
 * multigrid coarsens distributed forests.  Does nothing on one rank.  Errors: MEMORY.
 */
yoke_status fem_forest_partition(fem_forest *forest, const double *share);

/* The rank of a leaf that touches a place of the skeleton, the same one on each rank.  The forest must have ranks.  Not collective. */
int fem_forest_rank_at(const fem_forest *forest, uint32_t entity, uint64_t place);

/* Gathers all leaves in a forest on rank 0; *whole is NULL on the other ranks.  forest must have ranks, and outlive it.  Errors: MEMORY. */
yoke_status fem_forest_gather(const fem_forest *forest, fem_forest **whole);

/* Number of leaves of this rank, and of all ranks. */
static inline int64_t fem_forest_leaves(const fem_forest *forest) { return forest->p8est->local_num_quadrants; }
static inline int64_t fem_forest_all_leaves(const fem_forest *forest) { return forest->p8est->global_num_quadrants; }

#endif
