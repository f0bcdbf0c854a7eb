/*
 * coarse.h - the coarsest problem of the multigrid preconditioner: a symmetric positive definite matrix of trilinear elements.
 *
 * There are two methods.  CHOLMOD solves the problem (supernodal Cholesky factor, best for small and for slender meshes).  AMG applies a
 * fixed number of V-cycles of hypre's BoomerAMG, combined by a fixed polynomial.  This is a fixed linear symmetric positive definite
 * operator B that approximates the inverse, so it can be part of a preconditioner of conjugate gradients.
 */
#ifndef FEM_SOLVER_COARSE_H
#define FEM_SOLVER_COARSE_H

#include <stdint.h>

#include "common/ranks/ranks.h"

typedef struct fem_coarse fem_coarse;

typedef enum fem_coarse_method {
    FEM_COARSE_AUTO, /* by the cost of the factor, as below */
    FEM_COARSE_CHOLMOD,
    FEM_COARSE_AMG
} fem_coarse_method;

/*
 * AUTO selects CHOLMOD up to the first number of free unknowns.  Up to the second number it selects CHOLMOD if its factor takes at most
 * this number of operations per unknown, which the analysis determines (compact bodies: up to about 30 000 unknowns; slender ones: all).
 * Otherwise it selects AMG.
 */
#define FEM_COARSE_DIRECT_LIMIT 15000
#define FEM_COARSE_ANALYSED_LIMIT 300000
#define FEM_COARSE_OPERATIONS 6e5

/*
 * The matrix in block CSR by nodes, both triangles, each row's columns in any order without repetition.  On several ranks each has the rows
 * of its nodes, which are first_node .. first_node + num_nodes - 1 of all_nodes; a rank may have none.  Arrays have one entry for each of
 * these nodes, but columns are numbers over all ranks, and values of their prescribed components must be zero.
 */
typedef struct fem_coarse_matrix {
    int32_t num_nodes;
    int components;           /* 1 (Poisson) or 3 (elasticity) */
    const int64_t *row_start; /* [num_nodes + 1], starts at 0 */
    const int32_t *column;    /* [row_start[num_nodes]] nodes */
    /* [row_start[num_nodes]][components][components]: value[e][i][j] couples component i of the row's node to j of the column's node. */
    const double *value;
    const double *x; /* [num_nodes][3] positions, m: AMG computes the rigid body rotations from them; may be NULL if components is 1 */
    /* [num_nodes] bit i set: component i is a Dirichlet value; its row and column must be finite, but are not used otherwise. */
    const uint8_t *prescribed;
    app_ranks *ranks; /* NULL: one, and the next two are not read */
    int64_t first_node, all_nodes;
} fem_coarse_matrix;

/*
 * The matrix's arrays are not kept: the caller may release them immediately.  It is allowed that no unknown is free.  On several ranks the
 * method is AMG, whose coarsening does not depend on the ranks; the smoother uses the earlier values of other ranks.  In this case the
 * function is collective, and so are solve and destroy.
 *
 * AMG calls MPI through hypre.  The caller must have initialised MPI (on one rank only MPI_COMM_SELF is used), and creates, solves and
 * destroys from the thread that did so and before MPI is finalised.  hypre's few global bytes stay until the process ends, and its error
 * flags are cleared.  As Debian builds hypre, without OpenMP, it runs on one thread: any number of threads gives the same bits.
 *
 * Errors, for all ranks alike: ARGUMENT (components, counts, indices out of range, non-finite values); NUMERIC (not positive definite: the
 * text names the node, or what CHOLMOD found); MEMORY; INPUT (more entries than hypre can number); UNAVAILABLE (MPI not initialised).
 */
yoke_status fem_coarse_create(yoke_context *context, fem_coarse_method method, const fem_coarse_matrix *matrix, fem_coarse **coarse);
void fem_coarse_destroy(fem_coarse *coarse);

/*
 * x = (approximate) inverse times b, both [num_nodes][components]; prescribed components of b are not read, and those of x are set to 0.  b
 * and x may be the same array.  Errors: MEMORY, NUMERIC (CHOLMOD or BoomerAMG failed).
 */
yoke_status fem_coarse_solve(fem_coarse *coarse, const double *b, double *x);

/* Nonzero: AMG solves it. */
int fem_coarse_is_algebraic(const fem_coarse *coarse);
/* "cholmod", "boomeramg" or "none" (nothing is free).  Never NULL. */
const char *fem_coarse_name(const fem_coarse *coarse);

/* Bytes of the factor or of the levels; for the levels it is an estimate, because hypre does not report them. */
int64_t fem_coarse_memory_bytes(const fem_coarse *coarse);

#endif
