/*
 * cg/cg.h - the preconditioned conjugate gradient method on a decomposition.
 *
 * In each iteration the subdomains wait for each other's sums twice: for (r, z), and after the product for (p, q), (r, q) and (q, q) together,
 * from which the next residual's norm follows.
 */
#ifndef FEM_SOLVER_CG_CG_H
#define FEM_SOLVER_CG_CG_H

#include "operator/decomposition/decomposition.h"

/* Questions that long work asks its caller; each may be NULL. */
typedef struct fem_hooks {
    int (*interrupted)(void *user); /* nonzero: end with YOKE_ERROR_INTERRUPTED */
    /* energy_error: relative, as it is estimated so far; infinity or NaN: not known yet */
    void (*progress)(int iteration, double relative_residual, double energy_error, void *user);
    void *user;
    void (*working)(const char *what, void *user); /* on something long that does not ask: what, before it begins */
    /* before each iteration: x is what was reached, from which a solve may start again; to be read only.  interrupted: what that said just now */
    void (*reached)(int iteration, const fem_vector *x, int interrupted, void *user);
} fem_hooks;

/* z = M r, M symmetric positive definite on the free dofs; z is 0 at prescribed ones.  norm_r: |r|, about. */
typedef struct fem_approximate_inverse {
    yoke_status (*apply)(void *state, const fem_vector *r, double norm_r, fem_vector *z);
    void *state;
} fem_approximate_inverse;

/* When it ends; where both are asked for, both hold. */
typedef struct fem_cg_options {
    double energy_error; /* until |x* - x|_A <= energy_error |u|_A by the estimate of error.h; 0 or NaN: not asked for */
    double
        relative_residual; /* until |b - A x| <= relative_residual |b|, 2-norms over free dofs; 0: only with energy_error not asked for; NaN: not asked for */
    const fem_vector *lifting; /* u = x + g with prescribed values g, b = load - A g: this is A g at all dofs; NULL: g is zero */
    double lifting_energy;     /* (g, A g) */
    int max_iterations;
    int stagnation; /* it has stagnated when neither the residual has fallen nor x moved for so many iterations */
    int rough; /* nonzero: M leaves smooth errors nearly as they are, so that first iterations may not see them: the residual counts too */
    int from_zero; /* nonzero: x is zero on entry */
    /*
     * Asked before each iteration: nonzero to end here, as the method is too slow.  reached: the relative residual where that is asked for,
     * else the energy error (infinity: not known yet).  NULL: never
     */
    int (*give_up)(int iteration, double reached, void *user);
    void *user;
} fem_cg_options;

typedef struct fem_cg_result {
    int iterations;
    double relative_residual; /* of the true residual, computed anew at the end; of the carried one where it was given up */
    double energy_error;      /* estimate of |x* - x|_A / |u|_A; NaN: not known */
    int stopped_by_rounding;  /* nonzero: what was asked for lies below rounding, but the energy error is at most FEM_ROUNDED_ERROR */
    int given_up;             /* nonzero: options->give_up said so; x is what was reached, ax is not written */
} fem_cg_result;

/* An energy error with which a solution that rounding does not let become better is still one. */
#define FEM_ROUNDED_ERROR 1e-3

/*
 * Solves A x = b at the free dofs from the start value in x, which is 0 at prescribed dofs.  On return ax = A x at all dofs.  The residual
 * that the recurrence carries is checked against the true one at the end; if rounding made them part, the iteration goes on from the true
 * one, as long as that brings anything. Errors: NUMERIC (not a number, direction of negative energy, stagnation, too many iterations: the
 * text says what was reached, and *result is written), INTERRUPTED, MEMORY, and those of fem_decomposition_status.
 */
yoke_status fem_cg(fem_decomposition *decomposition, const fem_approximate_inverse *m, const fem_vector *b, fem_vector *x, fem_vector *ax,
                   const fem_cg_options *options, const fem_hooks *hooks, fem_cg_result *result);

#endif
