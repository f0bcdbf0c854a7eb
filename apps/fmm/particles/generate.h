/*
 * generate.h - the distributions of particles in the unit cube that ship with yoke fmm: those of Lang's dissertation (2014), section 3.3.1,
 * or models of them, and distributions of other kinds.  The numbers are the same on every machine, except for the last bits of sin, cos and
 * pow for shells, xenon and spiral.  docs/reference/particles.md defines the distributions.
 */
#ifndef FMM_PARTICLES_GENERATE_H
#define FMM_PARTICLES_GENERATE_H

#include "particles/particles.h"

typedef enum fmm_distribution {
    FMM_GRID,     /* the centres of n^3 equal cubes, n^3 the least cube >= count; the first `count` of them, x fastest */
    FMM_SHELLS,   /* 8 spheres around the centre, of radius 0.0624, 2 x 0.0624, ...; the particles of each are evenly spaced on a spiral */
    FMM_XENON,    /* dense at the centre, thin outside: half of the particles in 0.025 % of the volume */
    FMM_UNIFORM,  /* at random positions in the unit cube */
    FMM_CLUSTERS, /* two Plummer spheres: a fifth of the particles is in the sphere that is 20 times smaller */
    FMM_LINE,     /* at random positions on a straight line, oblique to the axes */
    FMM_PLANE,    /* at random positions in a parallelogram, oblique to the axes */
    FMM_SPIRAL,   /* around the two arms of a flat spiral, each of two turns */
    FMM_OUTLIER,  /* all but one in a cube with edge 2^-12, and the last one far from it */
    FMM_DISTRIBUTIONS
} fmm_distribution;

/* "grid", ..., and NULL after the last. */
extern const char *const fmm_distribution_names[FMM_DISTRIBUTIONS + 1];

typedef enum fmm_charges {
    FMM_ALTERNATING, /* +1 and -1: on the grid neighbours differ; in other distributions the signs alternate with the particles' numbers */
    FMM_RANDOM,      /* +1 or -1, each with probability 1/2 */
    FMM_EQUAL        /* +1 */
} fmm_charges;

/* The default number of particles: 113 000 for xenon, else 262 144. */
int64_t fmm_distribution_count(fmm_distribution distribution);

/* Creates the particles.  seed: that of the positions; random charges use the next seed.  Errors: ARGUMENT (count as in
 * fmm_particles_create), MEMORY. */
yoke_status fmm_particles_generate(yoke_context *context, fmm_distribution distribution, int64_t count, fmm_charges charges, uint64_t seed,
                                   fmm_particles **particles);

#endif
