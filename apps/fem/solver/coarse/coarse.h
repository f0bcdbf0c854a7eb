/*
 * coarse.h - the coarsest problem of the multigrid preconditioner: a symmetric positive definite matrix of trilinear elements.
 *
 * Two methods.  CHOLMOD solves it (supernodal Cholesky factor, best for small and for slender meshes).  AMG applies a fixed number of
 * V-cycles of hypre's BoomerAMG, combined by a fixed polynomial: a fixed linear symmetric positive definite operator B that
 * approximates the inverse, so that it may stand inside a preconditioner of conjugate gradients.
 */
#ifndef FEM_SOLVER_COARSE_H
#define FEM_SOLVER_COARSE_H

#include <stdint.h>

#include "common/ranks/ranks.h"

typedef struct fem_coarse fem_coarse;

typedef enum fem_coarse_method {
    FEM_COARSE_AUTO, /* by what the factor costs, as below */
    FEM_COARSE_CHOLMOD,
    FEM_COARSE_AMG
} fem_coarse_method;

/*
 * AUTO is CHOLMOD up to so many unknowns that are free; up to the second number where its factor takes at most so many operations for each
 * of them, which the analysis tells (compact bodies: up to some 30 000 unknowns; slender ones: all); else AMG.
 */
#define FEM_COARSE_DIRECT_LIMIT 15000
#define FEM_COARSE_ANALYSED_LIMIT 300000
#define FEM_COARSE_OPERATIONS 6e5

/*
 * The matrix in block CSR by nodes, both triangles, each row's columns in any order without repetition.  On several ranks each has the rows of its nodes, which are
 * first_node .. first_node + num_nodes - 1 of all_nodes; no rank need have any.  Arrays have one entry for each of these nodes, but columns are numbers over all
 * ranks, and values of their prescribed components must be zero.
 */
typedef struct fem_coarse_matrix {
    int32_t num_nodes;
    int components;           /* 1 (Poisson) or 3 (elasticity) */
    const int64_t *row_start; /* [num_nodes + 1], starts at 0 */
    const int32_t *column;    /* [row_start[num_nodes]] nodes */
    const double *
        value; /* [row_start[num_nodes]][components][components]: value[e][i][j] couples component i of the row's node to j of the column's node */
    const double *x; /* [num_nodes][3] positions, m: AMG makes the rigid body rotations from them; may be NULL when components is 1 */
    const uint8_t *
        prescribed; /* [num_nodes] bit i set: component i is a Dirichlet value; its row and column are not read as anything but finite numbers */
    app_ranks *ranks; /* NULL: one, and the next two are not read */
    int64_t first_node, all_nodes;
} fem_coarse_matrix;

/*
 * Nothing is kept of the matrix's arrays: the caller may release them at once.  No unknown need be free.  On several ranks the method is AMG, whose coarsening does
 * not depend on the ranks; the smoother takes what other ranks have as it was before.  There this is collective, and so are solve and destroy.
 *
 * AMG calls MPI through hypre: the caller has initialised MPI (on one rank only MPI_COMM_SELF is used), and creates, solves and destroys from the
 * thread that did so and before MPI is finalised; hypre's few global bytes stay until the process ends, and its error flags are cleared.
 * With hypre as Debian builds it, without OpenMP, it runs on one thread: any number of them gives the same bits.
 *
 * Errors, for all ranks alike: ARGUMENT (components, counts, indices out of range, non-finite values); NUMERIC (not positive definite: the
 * text names the node, or what CHOLMOD found); MEMORY; INPUT (more entries than hypre can number); UNAVAILABLE (MPI not initialised).
 */
yoke_status fem_coarse_create(yoke_context *context, fem_coarse_method method, const fem_coarse_matrix *matrix, fem_coarse **coarse);
void fem_coarse_destroy(fem_coarse *coarse);

/*
 * x = (approximate) inverse times b, both [num_nodes][components]; prescribed components of b are not read, those of x are set to 0.
 * b and x may be the same array.  Errors: MEMORY, NUMERIC (CHOLMOD or BoomerAMG failed).
 */
yoke_status fem_coarse_solve(fem_coarse *coarse, const double *b, double *x);

/* Whether AMG solves it. */
int fem_coarse_is_algebraic(const fem_coarse *coarse);
/* "cholmod", "boomeramg" or "none" (nothing is free).  Never NULL. */
const char *fem_coarse_name(const fem_coarse *coarse);

/* Bytes that the factor or the levels hold; of the levels an estimate, since hypre does not tell. */
int64_t fem_coarse_memory_bytes(const fem_coarse *coarse);

#endif
