/*
 * coarse/private.h - algebraic multigrid, a part of coarse.c.  Private to this sub-room.
 */
#ifndef FEM_SOLVER_COARSE_PRIVATE_H
#define FEM_SOLVER_COARSE_PRIVATE_H

#include "solver/coarse/coarse.h"

static inline int fem_coarse_is_free(const fem_coarse_matrix *matrix, int64_t node, int component)
{
    return !(matrix->prescribed[node] >> component & 1);
}

/* ------------------------------------------------------------------------------------ algebraic multigrid (coarse/amg.c) */

typedef struct fem_amg fem_amg;

/*
 * Creates BoomerAMG's levels of the matrix.  All unknowns are numbered node by node; prescribed ones are rows of the identity that are not
 * coupled to others.  Collective on several ranks.  Errors: MEMORY, INPUT, NUMERIC, UNAVAILABLE.
 */
yoke_status fem_amg_create(yoke_context *context, const fem_coarse_matrix *matrix, fem_amg **amg);
void fem_amg_destroy(fem_amg *amg);

/*
 * x from b, both [rows]; if number [rows] is negative, b is not read and x becomes 0.  They may be the same array.  On several ranks it is
 * collective, and all ranks know of an error.  Errors: NUMERIC.
 */
yoke_status fem_amg_solve(fem_amg *amg, const int32_t *number, const double *b, double *x);

/* Estimated from the number of the matrix's entries, because hypre does not report it. */
int64_t fem_amg_memory_bytes(const fem_amg *amg);

#endif
