/*
 * stress.h - nodal stress: recovered from the elements and averaged within each material, never across materials.
 *
 * The stress is computed at the 2 x 2 x 2 Gauss points of each element, where that of q1, s2 and q2 elements is more accurate than
 * elsewhere (J.  Barlow, Int.  J.  Numer.  Meth.  Eng. 10, 1976), extrapolated to the element's slots tri-linearly, and averaged over the
 * elements of one material that have a slot at the node, each with the same weight.  (Weights by volume gave up to 15 % more error, in the
 * mean of squares, on smooth solutions over graded meshes.)  A slot of a small element that coincides with a node of its larger neighbour
 * is included.
 *
 * Averaged values belong to points: pairs of an independent node and a material.  Values at hanging and serendipity slots are interpolated
 * from the points as displacements are from the nodes.
 *
 * On several ranks each rank has the points of its own elements, averaged over those of all ranks.
 */
#ifndef FEM_OUTPUT_QUANTITIES_STRESS_H
#define FEM_OUTPUT_QUANTITIES_STRESS_H

#include "space/space.h"

#define FEM_MAX_TENSOR 6

typedef struct fem_stress {
    yoke_context *context;   /* borrowed */
    fem_space points;        /* the space with points in the place of its nodes: num_nodes and element_nodes are the points'; x is NULL.
                              fem_space_expand and fem_space_row work with it; it must not be destroyed                               */
    int tensor;              /* numbers per point: 6, sigma in Pa as xx, yy, zz, yz, xz, xy; Poisson: 3, the gradient                  */
    int32_t *node;           /* [points.num_nodes] the node of each point */
    int16_t *material;       /* [points.num_nodes] index into problem->materials */
    double *value;           /* [points.num_nodes][tensor] */
    double max_von_mises_pa; /* over all points of all ranks; Poisson: NaN */
} fem_stress;

/*
 * Recovers the stress of the solution u [num_nodes][components] (m).  The space must outlive the result.  Collective; the bits are the same
 * for any number of threads.  Errors: MEMORY, NUMERIC (a stress that is not a finite number).
 */
yoke_status fem_stress_create(const fem_space *space, const double *u, fem_stress **stress);
void fem_stress_destroy(fem_stress *stress);

/* local [slots][tensor] = the averaged stress at all slots of element e, of the element's material. */
static inline void fem_stress_expand(const fem_stress *stress, int32_t e, double *local)
{
    fem_space_expand(&stress->points, e, stress->tensor, stress->value, local);
}

/* Equivalent tensile stress sqrt(3/2 s:s), s the deviator of sigma (xx, yy, zz, yz, xz, xy). */
double fem_von_mises(const double sigma[6]);

/*
 * The nodes, or points, of a space that coincide with the slots of its elements: node [num_elements][slots], -1 if there is none.  A slot
 * on a hanging face or edge coincides with a node if the larger neighbour has one at the same place.
 */
void fem_coincident_nodes(const fem_space *space, int32_t *node);

#endif
