/*
 * coarse_parts.h - what coarse.c is made of: the direct solver, the multigrid cycle, and the set-up of its levels.  Private to coarse*.c.
 */
#ifndef FEM_COARSE_PARTS_H
#define FEM_COARSE_PARTS_H

#include "cholesky.h"
#include "coarse.h"
#include "sparse.h"

/* The arguments of fem_coarse_create, checked, with the number of unknowns that are free. */
typedef struct fem_coarse_matrix {
    int32_t num_nodes;
    int components;
    const int64_t *row_start;
    const int32_t *column;
    const double *value;
    const double *x;
    const uint8_t *prescribed;
    int64_t num_free;
} fem_coarse_matrix;

static inline int fem_coarse_is_free(const fem_coarse_matrix *matrix, int64_t node, int component)
{
    return !(matrix->prescribed[node] >> component & 1);
}

/* ------------------------------------------------------------------------------------------- direct solver (coarse_cholmod.c) */

/*
 * Factor of a scalar symmetric matrix in CSR, rows x rows; of each pair of entries across the diagonal the one with column >= row is
 * read.  shift is added to each diagonal entry, relative to the largest.  *cholesky is NULL if the factor would take more operations than
 * `operations` (INFINITY: no limit).
 * Errors: MEMORY; NUMERIC (not positive definite, or singular to working precision).
 */
yoke_status fem_cholesky_create(yoke_context *context, int64_t rows, const int64_t *row_start, const int64_t *column, const double *value,
                                double shift, double operations, fem_cholesky **cholesky);

/* --------------------------------------------------------------------------------------- multigrid levels (coarse_hierarchy.c) */

#define FEM_COARSE_MAX_LEVELS 25

typedef struct fem_coarse_level {
    fem_sparse *matrix;                /* NULL on the last level: there is the factor */
    fem_sparse *prolong, *restriction; /* from and to the next level; restriction is the transpose of prolong */
    int32_t size;                      /* unknowns */
    double *inverse_diagonal;          /* [size] */
    double largest;                    /* bound of the eigenvalues of inverse_diagonal x matrix */
    double *x, *b, *residual, *step;   /* [size] work vectors */
} fem_coarse_level;

typedef struct fem_hierarchy {
    yoke_context *context; /* borrowed */
    int num_levels;
    double scale;  /* the levels hold scale x the matrix */
    double *x, *b; /* [size of level 0] */
    fem_coarse_level level[FEM_COARSE_MAX_LEVELS];
    fem_cholesky *coarsest;
} fem_hierarchy;

/*
 * Levels of the matrix by BoomerAMG: all unknowns are numbered node by node, prescribed ones are rows of the identity that nothing
 * else touches.  Errors: MEMORY, INPUT, NUMERIC, UNAVAILABLE.
 */
yoke_status fem_hierarchy_create(yoke_context *context, const fem_coarse_matrix *matrix, fem_hierarchy **hierarchy);
void fem_hierarchy_destroy(fem_hierarchy *hierarchy);
int64_t fem_hierarchy_memory_bytes(const fem_hierarchy *hierarchy);

/* ---------------------------------------------------------------------------------------------- V-cycle (coarse_cycle.c) */

/* Work vectors, inverse diagonals and eigenvalue bounds of all levels but the last.  Errors: MEMORY, NUMERIC. */
yoke_status fem_hierarchy_prepare(fem_hierarchy *hierarchy);

/* Two V-cycles: x of level 0 from b of level 0, which is overwritten.  Errors: those of the factor on the last level. */
yoke_status fem_hierarchy_solve(fem_hierarchy *hierarchy);

#endif
