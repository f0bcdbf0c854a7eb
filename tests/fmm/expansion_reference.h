/*
 * expansion_reference.h - the operators of expansion.h as plain sums over all degrees and orders, in long double; and random places and charges.
 */
#ifndef TEST_FMM_EXPANSION_REFERENCE_H
#define TEST_FMM_EXPANSION_REFERENCE_H

#include "expansion/expansion.h"

/* Harmonics of a point up to a degree, by Legendre polynomials and angles; written like an expansion of that order. */
void reference_regular(int degree, const double point[3], double *harmonics);
void reference_irregular(int degree, const double point[3], double *harmonics);

/*
 * Translations as double sums over degrees and orders, O(p^4).  They add nothing: `to` is written.  vector in the scale of the target, ratio = scale
 * of the source / scale of the target: M2M by old - new centre, M2L by centre of the source - of the target, L2L by new - old centre.
 */
void reference_m2m(int order, const double vector[3], double ratio, const double *from, double *to);
void reference_m2l(int order, const double vector[3], double ratio, const double *from, double *to);
void reference_l2l(int order, const double vector[3], double ratio, const double *from, double *to);

/* Potential and gradient of charges at a point. */
void reference_direct(const fmm_sources *sources, const double point[3], double *potential, double gradient[3]);

/* Evenly in 0 .. 1; the state is any number. */
double reference_random(uint64_t *state);

/*
 * Largest difference of two expansions by the largest coefficient, with each coefficient as large as it can become: at the distance `radius` in units of
 * the scale; of a multipole expansion (local 0) from there, of a local one up to there.
 */
double reference_difference(int order, int local, double radius, const double *a, const double *b);

#endif
