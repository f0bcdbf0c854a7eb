/*
 * singularity.h - determines whether the largest stress is a result, or grows with each refinement.
 *
 * The exact stress may be infinite at a re-entrant edge or corner, at the rim of a support, at a support of a point or edge, and where an
 * interface of materials meets the surface: sigma ~ r^-a (M.  L.  Williams, J.  Appl.  Mech. 19, 1952).  On elements of size h the largest
 * nodal stress is then ~ h^-a: each halving multiplies it by the same factor 2^a.  Where the stress is bounded the increments fall by at
 * least half with each halving.  This distinguishes the two cases.  The place alone does not, because the stress at such places is often
 * bounded.
 */
#ifndef FEM_OUTPUT_QUANTITIES_SINGULARITY_H
#define FEM_OUTPUT_QUANTITIES_SINGULARITY_H

#include "output/quantities/extremes.h"
#include "space/boundary.h"

/* A special feature of a place on the body's surface. */
typedef enum fem_feature {
    FEM_FEATURE_NONE,
    FEM_FEATURE_REENTRANT, /* a re-entrant edge or corner */
    FEM_FEATURE_POINT,     /* a constrained point or edge */
    FEM_FEATURE_RIM,       /* the edge of a support: only some faces there are constrained, or faces in different components */
    FEM_FEATURE_INTERFACE, /* two materials meet at the surface */
    FEM_FEATURES
} fem_feature;

/* "at a re-entrant edge or corner", ...; "" for none. */
const char *fem_feature_text(fem_feature feature);

/* The largest von Mises stress of a step. */
typedef struct fem_peak {
    double value, x[3];
    double size;           /* of the smallest element there: the longest distance of its corners from its first one */
    double relative_error; /* the step's estimate divided by the energy norm */
    fem_feature feature;
} fem_peak;

/* The faces of coarse elements that two of them share: bit f of shared [num_elements].  For fem_peak_find.  Errors: MEMORY. */
yoke_status fem_shared_faces(const fem_mesh *mesh, uint8_t **shared);

/*
 * Determines the peak at `extreme` (of a space of 3 components).  shared: fem_shared_faces.  Its feature is that of the place, or of the
 * nodes of the elements there, because the largest nodal stress is often next to an edge.  Collective: the elements are those of all ranks.
 * Errors: MEMORY.
 */
yoke_status fem_peak_find(const fem_space *space, const fem_boundary *boundary, const uint8_t *shared, const fem_extreme *extreme,
                          double relative_error, fem_peak *peak);

/*
 * Whether the peaks of the steps so far grow like those of a singularity.  The conditions are, over the last three to five sizes of the
 * elements at the peak: the factor per halving is at least 1.04 in either half of them; from one half to the other it does not fall to less
 * than its 0.6th power (for a bounded stress: to its half, or less); the place has a feature; and the estimated error falls.  *per_halving:
 * the later factor.
 */
int fem_peak_grows(const fem_peak *peaks, int count, double *per_halving);

#endif
