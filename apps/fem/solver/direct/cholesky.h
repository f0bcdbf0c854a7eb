/*
 * direct/cholesky.h - the Cholesky factor of a sparse symmetric positive definite matrix over nodes, by CHOLMOD.
 *
 * In this order: analyze (the order of elimination, and what the factor will cost), begin (the matrix, all zero), add (its blocks),
 * factorize, solve.  The order is nested dissection of the nodes (minimum degree where they are few), not of the unknowns: a node's
 * components have the same neighbours.  The matrix is stored in the order of elimination, so that CHOLMOD makes no copy of it.
 */
#ifndef FEM_SOLVER_DIRECT_CHOLESKY_H
#define FEM_SOLVER_DIRECT_CHOLESKY_H

#include "yoke/yoke.h"
#include <stdint.h>

typedef struct fem_cholesky fem_cholesky;

/* Which nodes have a block in the matrix, in CSR: both triangles, the diagonal too, each row's columns in any order without repetition. */
typedef struct fem_cholesky_graph {
    int32_t num_nodes;
    int components;            /* 1 or 3 */
    const int64_t *row_start;  /* [num_nodes + 1] */
    const int32_t *column;     /* [row_start[num_nodes]] */
    const uint8_t *prescribed; /* [num_nodes] bit i set: component i is no unknown */
} fem_cholesky_graph;

typedef struct fem_cholesky_cost {
    int64_t unknowns;
    double operations; /* floating-point ones of the factorisation, additions and multiplications apart */
    double entries;    /* of the factor */
    double bytes;      /* at most in memory at a time, matrix and factor together */
} fem_cholesky_cost;

/*
 * Only the analysis: nothing is kept of the graph's arrays but their contents.  No unknown is allowed.  Errors: MEMORY, NUMERIC (CHOLMOD).
 */
yoke_status fem_cholesky_analyze(yoke_context *context, const fem_cholesky_graph *graph, fem_cholesky **cholesky);
void fem_cholesky_destroy(fem_cholesky *cholesky); /* NULL allowed */

/* From the analysis: within some per cent; after fem_cholesky_begin what CHOLMOD will do exactly. */
fem_cholesky_cost fem_cholesky_get_cost(const fem_cholesky *cholesky);

/* The matrix, all zero; the same graph as before.  Errors: MEMORY, NUMERIC (CHOLMOD). */
yoke_status fem_cholesky_begin(fem_cholesky *cholesky, const fem_cholesky_graph *graph);
/*
 * Adds a block [components][components], row by row, rows of node `row`; of the two blocks across the diagonal either one may be given,
 * but only one.  A diagonal block's lower triangle counts.  Rows and columns of prescribed components are not read.
 */
void fem_cholesky_add(fem_cholesky *cholesky, int32_t row, int32_t column, const double *block);

/*
 * Factors what was added; gives the matrix back.  threads: of the BLAS, where that is OpenBLAS and the environment does not say; small
 * factors are made by one.
 * Errors: MEMORY; NUMERIC (not positive definite, or singular to working precision).
 */
yoke_status fem_cholesky_factorize(fem_cholesky *cholesky, int threads);

/* x = inverse times b, both [num_nodes][components]; prescribed ones are not read, and 0 in x; may be the same array.  Errors: MEMORY. */
yoke_status fem_cholesky_solve(fem_cholesky *cholesky, const double *b, double *x);
int64_t fem_cholesky_memory_bytes(const fem_cholesky *cholesky);

#endif
