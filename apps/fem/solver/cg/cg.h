/*
 * cg/cg.h - the preconditioned conjugate gradient method on a decomposition.
 *
 * In each iteration the subdomains wait for each other's sums twice: for (r, z), and after the product for (p, q), (r, q) and (q, q)
 * together, from which the norm of the next residual follows.
 */
#ifndef FEM_SOLVER_CG_CG_H
#define FEM_SOLVER_CG_CG_H

#include "operator/decomposition/decomposition.h"

/* Functions that long work calls; each may be NULL. */
typedef struct fem_hooks {
    int (*interrupted)(void *user); /* nonzero: end with YOKE_ERROR_INTERRUPTED */
    /* energy_error: relative, the present estimate; infinity or NaN: not known so far */
    void (*progress)(int iteration, double relative_residual, double energy_error, void *user);
    void *user;
    void (*working)(const char *what, void *user); /* called before long work `what` that does not call `interrupted` */
    /*
     * Called before each iteration: x is the present iterate, from which a solve may start again; it must only be read.  interrupted: the
     * latest result of that function.
     */
    void (*reached)(int iteration, const fem_vector *x, int interrupted, void *user);
} fem_hooks;

/* z = M r, M symmetric positive definite on the free dofs; z is 0 at prescribed ones.  norm_r: approximation of |r|. */
typedef struct fem_approximate_inverse {
    yoke_status (*apply)(void *state, const fem_vector *r, double norm_r, fem_vector *z);
    void *state;
} fem_approximate_inverse;

/* Stopping criteria; if both are requested, both must hold. */
typedef struct fem_cg_options {
    double energy_error; /* until |x* - x|_A <= energy_error |u|_A by the estimate of error.h; 0 or NaN: not requested */
    /* Until |b - A x| <= relative_residual |b|, 2-norms over free dofs; 0: only if energy_error is not requested; NaN: not requested. */
    double relative_residual;
    const fem_vector *lifting; /* u = x + g with prescribed values g, b = load - A g: this is A g at all dofs; NULL: g is zero */
    double lifting_energy;     /* (g, A g) */
    int max_iterations;
    int stagnation; /* number of iterations without a smaller residual or a move of x after which it has stagnated */
    /*
     * Nonzero: M leaves smooth errors nearly unchanged, so the estimate of the first iterations may miss them; the residual then counts
     * too.
     */
    int rough;
    int from_zero; /* nonzero: x is zero on entry */
    /*
     * Called before each iteration; nonzero: end here, because the method is too slow.  reached: the relative residual if that is
     * requested, otherwise the energy error (infinity: not known so far).  NULL: never.
     */
    int (*give_up)(int iteration, double reached, void *user);
    void *user;
} fem_cg_options;

typedef struct fem_cg_result {
    int iterations;
    double relative_residual; /* of the true residual, recomputed at the end; of the recurrence's residual if it was given up */
    double energy_error;      /* estimate of |x* - x|_A / |u|_A; NaN: not known */
    int stopped_by_rounding;  /* nonzero: the requested accuracy is below rounding, but the energy error is at most FEM_ROUNDED_ERROR */
    int given_up;             /* nonzero: options->give_up ended it; x is the latest iterate, ax is not written */
} fem_cg_result;

/* Largest energy error with which a solution that cannot be improved because of rounding is accepted. */
#define FEM_ROUNDED_ERROR 1e-3

/*
 * Solves A x = b at the free dofs from the start value in x, which is 0 at prescribed dofs.  On return ax = A x at all dofs.  At the end
 * the residual of the recurrence is compared with the true one.  If rounding made them differ, the iteration continues from the true one,
 * as long as this improves the result.
 * Errors: NUMERIC (not a number, direction of negative energy, stagnation, too many iterations: the text states what was reached, and
 * *result is written), INTERRUPTED, MEMORY, and those of fem_decomposition_status.
 */
yoke_status fem_cg(fem_decomposition *decomposition, const fem_approximate_inverse *m, const fem_vector *b, fem_vector *x, fem_vector *ax,
                   const fem_cg_options *options, const fem_hooks *hooks, fem_cg_result *result);

#endif
