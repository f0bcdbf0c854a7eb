/*
 * direct/direct.h - the matrix of a space, assembled and factored by CHOLMOD, as preconditioner: one or two iterations then remove rounding
 * errors.
 *
 * The analysis determines the cost, before anything large is done.  The matrix is assembled on the host, whatever devices work.
 *
 * On several ranks rank 0 gathers the space and does all of the work; all ranks know its cost.  Functions are collective, except those that
 * say otherwise.
 */
#ifndef FEM_SOLVER_DIRECT_DIRECT_H
#define FEM_SOLVER_DIRECT_DIRECT_H

#include "solver/cg/cg.h"
#include "solver/direct/cholesky.h"

typedef struct fem_direct fem_direct;

/* Finds the elimination order and with it the cost.  Borrowed objects must exist until it is factorized.  Errors: MEMORY, NUMERIC. */
yoke_status fem_direct_analyze(const fem_space *space, const fem_constraints *constraints, fem_direct **direct);
void fem_direct_destroy(fem_direct *direct); /* NULL allowed; not collective */

/* Not collective. */
fem_cholesky_cost fem_direct_cost(const fem_direct *direct);
/* memory_bytes; if that is 0, the memory that the system reports as available on this machine.  Not collective. */
double fem_direct_left_bytes(yoke_context *context, double memory_bytes);
/* Nonzero: the factor fits into memory_bytes; 0: into the memory that the system reports.  *left_bytes: the value that was used. */
int fem_direct_fits(const fem_direct *direct, double memory_bytes, double *left_bytes);

/*
 * Assembles and factors; memory_bytes: as above.  hooks: their functions are called before and after each of the two, on one rank.
 * Errors: MEMORY (also before anything is done, if it does not fit: the memory that it needs, and that is available), NUMERIC (not positive
 * definite), INTERRUPTED, INPUT (an element whose map folds).
 */
yoke_status fem_direct_factorize(fem_direct *direct, double memory_bytes, const fem_hooks *hooks);

/* The inverse as a function for fem_cg, on vectors of any decomposition of the same space. */
fem_approximate_inverse fem_direct_inverse(fem_direct *direct);

/* Adds the messages and bytes that this rank has sent to others.  Not collective. */
void fem_direct_add_sent(const fem_direct *direct, int64_t *messages, int64_t *bytes);
/* Memory of this rank; not collective. */
int64_t fem_direct_memory_bytes(const fem_direct *direct);

#endif
