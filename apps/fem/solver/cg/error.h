/*
 * cg/error.h - estimates the error of conjugate gradients in the energy norm, from their own coefficients.
 *
 * Iteration j moves the solution by d_j = alpha_j (r_j, z_j), a square of a length (Hestenes and Stiefel 1952), orthogonally to the
 * remaining error:
 *   |x - x_j|_A^2 = d_j + d_{j+1} + ...
 * The sum of the known d is a lower bound; Strakos and Tichy (2002) show that it holds in finite precision.  The unknown part is estimated
 * from the worst ratio S of |x - x_j|_A^2 to d_j over the iterations before (Meurant, Papez and Tichy 2021, "Accurate error estimation in
 * CG", Numerical Algorithms 88, who choose the delay by it): after iteration k the square of the error is about (S - 1) d_k.  If
 * convergence is slow S may become available too late.  Then the bound of Meurant and Tichy (2019, Numerical Algorithms 82),
 *   |x - x_k|_A^2 <= phi_k (r_k, z_k) / lambda,  phi_0 = 1, phi_{k+1} = phi_k / (phi_k + beta_{k+1}),
 * is used too.  lambda, the smallest eigenvalue of the preconditioned matrix, is approximated by the smallest Ritz value.
 */
#ifndef FEM_SOLVER_CG_ERROR_H
#define FEM_SOLVER_CG_ERROR_H

#include "yoke/yoke.h"

typedef struct fem_cg_error {
    yoke_context *context; /* borrowed */
    int capacity, count;   /* iterations of this start that are stored */
    double *decrease;      /* [capacity] d */
    double *alpha, *beta;  /* [capacity] of the Lanczos matrix; beta[0] is not read */
    double total;          /* sum of all d of this start */
    double rho, phi;       /* of the last iteration */
    double smallest;       /* Ritz value, over all starts; infinity: none is known */
} fem_cg_error;

/* Errors: MEMORY. */
yoke_status fem_cg_error_create(yoke_context *context, int max_iterations, fem_cg_error *error);
void fem_cg_error_destroy(fem_cg_error *error);

/* Begins anew, from another residual. */
void fem_cg_error_start(fem_cg_error *error);
/* Adds an iteration, with this step and rho = (r, z) before it. */
void fem_cg_error_add(fem_cg_error *error, double alpha, double rho);

/* The worst ratio S; infinity after fewer than two iterations. */
double fem_cg_error_ratio(const fem_cg_error *error);
/* The square of the error after the last iteration, as S predicts it; infinity if S is. */
double fem_cg_error_expected(const fem_cg_error *error, double ratio);
/* Recomputes the smallest Ritz value; costs about as much as 20 sums over the iterations. */
void fem_cg_error_look(fem_cg_error *error);
/* The bound on the same square, by the Ritz value of the latest fem_cg_error_look; infinity without one. */
double fem_cg_error_bound(const fem_cg_error *error);

#endif
