/*
 * probe.h - the solution at given points of the undeformed body.
 */
#ifndef FEM_OUTPUT_QUANTITIES_PROBE_H
#define FEM_OUTPUT_QUANTITIES_PROBE_H

#include "output/quantities/stress.h"

/* Finds points in the leaves of a space. */
typedef struct fem_locator fem_locator;

/* The position at which a point was found. */
typedef struct fem_location {
    int32_t element;
    double r[3];       /* reference coordinates in [0,1]^3 */
    double x[3];       /* the point of the body, m: the requested one, or the nearest to it */
    double distance_m; /* from the requested point; 0 for a point inside */
} fem_location;

/* The space must outlive the locator.  Errors: MEMORY. */
yoke_status fem_locator_create(const fem_space *space, fem_locator **locator);
void fem_locator_destroy(fem_locator *locator);

/*
 * Finds the point of the body that is nearest to x (finite).  A point on the boundary between elements belongs to the first of them in
 * Morton order, within 1e-9 of the element's size.  Safe to call from several threads.  On several ranks it searches this rank's elements;
 * element -1 if the rank has none.
 */
void fem_locator_find(const fem_locator *locator, const double x[3], fem_location *location);

typedef struct fem_probe {
    const char *name; /* borrowed */
    double x[3];      /* m */
} fem_probe;

/* A probe's values; all NaN before there is a solution. */
typedef struct fem_probe_value {
    double value[3];               /* displacement, m; Poisson: value[0] */
    double tensor[FEM_MAX_TENSOR]; /* averaged stress, Pa, of the element's material; Poisson: the gradient */
    double von_mises_pa;           /* of that tensor; Poisson: NaN */
    double principal_pa[3];        /* its principal stresses, descending; Poisson: NaN */
} fem_probe_value;

/*
 * Refuses probes outside the body, before anything is solved.  A probe is outside if its distance from the body is more than 1e-3 of the
 * nearest element's size (a point on a curved surface is never exactly on the elements).  The body is the mesh's own geometry, even if
 * `space` is q1 on a curved mesh.  Collective.
 * Errors: INPUT (names the probe, the nearest point and its distance), MEMORY.
 */
yoke_status fem_probes_check(const fem_space *space, int count, const fem_probe *probes);

/*
 * values [count] at the probes, or at the points of the body nearest to them.  u [num_nodes][components] and its stress.  Collective; all
 * ranks get all values.  Errors: MEMORY.
 */
yoke_status fem_probes_evaluate(const fem_space *space, const double *u, const fem_stress *stress, int count, const fem_probe *probes,
                                fem_probe_value *values);

#endif
