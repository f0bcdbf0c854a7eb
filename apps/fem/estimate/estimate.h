/*
 * estimate.h - residual-based error estimate in the energy norm; docs/methods/estimator.md derives it and gives the sources.
 *
 * With p the polynomial degree and C the calibration constant of the element type, the square of element T's indicator is
 *
 *   C^2 ( h_T^2/p^2 |f + div sigma(u_h)|^2_T + 1/2 sum over inner faces h_F/p |[sigma n]|^2_F
 *         + sum over boundary faces h_F/p |t - sigma n|^2_F )
 *
 * with h_T the cube root of the volume and h_F = volume / area of the face; for an inner face h_F is the mean of both sides.  Norms are
 * weighted by compliances: a traction's normal part by 1/(2 mu + lambda), its tangential part by 1/mu (the inverse of the acoustic tensor
 * of the face normal; moduli are means of both sides), the volume residual by 1/sqrt(mu (2 mu + lambda)).  Poisson: all by 1/conductivity.
 * If only some components of a face are prescribed, only the free ones count.  Faces in no group are free of traction.
 */
#ifndef FEM_ESTIMATE_ESTIMATE_H
#define FEM_ESTIMATE_ESTIMATE_H

#include "space/boundary.h"

typedef struct fem_estimate_result {
    double estimate; /* root of the sum of the indicators' squares, sqrt(J) */
    /*
     * sqrt(a(u_h, u_h)), sqrt(J).  The strain energy is half its square.  With thermal strains a is the integral of
     * (eps - eps_T) : D (eps - eps_T).
     */
    double energy_norm;
    /*
     * estimate / energy_norm; 0 if both vanish, infinity if only the norm does.  With thermal strains the divisor is at least 1e-4 of the
     * norm that these strains would have if they were constrained, because a body that expands freely has no stress for comparison.
     */
    double relative;
} fem_estimate_result;

/*
 * Estimates the error of u [num_nodes][components] (m).  indicator [num_elements] gets one value per leaf, sqrt(J).  Collective over the
 * forest's ranks; the results are those of the whole body, and bitwise identical for any number of threads.
 * Errors: MEMORY, NUMERIC (an indicator is not finite: element).
 */
yoke_status fem_estimate(const fem_space *space, const fem_boundary *boundary, const double *u, double *indicator,
                         fem_estimate_result *result);

#endif
