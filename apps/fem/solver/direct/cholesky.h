/*
 * direct/cholesky.h - the Cholesky factor of a sparse symmetric positive definite matrix over nodes, by CHOLMOD.
 *
 * The order of calls is: analyze (the elimination order, and the cost of the factor), begin (the matrix, all zero), add (its blocks),
 * factorize, solve.  The order is nested dissection of the nodes (minimum degree if there are few), not of the unknowns: a node's
 * components have the same neighbours.  The matrix is stored in the elimination order, so that CHOLMOD makes no copy of it.
 */
#ifndef FEM_SOLVER_DIRECT_CHOLESKY_H
#define FEM_SOLVER_DIRECT_CHOLESKY_H

#include "yoke/yoke.h"
#include <stdint.h>

typedef struct fem_cholesky fem_cholesky;

/*
 * The blocks of the matrix between nodes, in CSR: both triangles, including the diagonal, each row's columns in any order without
 * repetition.
 */
typedef struct fem_cholesky_graph {
    int32_t num_nodes;
    int components;            /* 1 or 3 */
    const int64_t *row_start;  /* [num_nodes + 1] */
    const int32_t *column;     /* [row_start[num_nodes]] */
    const uint8_t *prescribed; /* [num_nodes] bit i set: component i is not an unknown */
} fem_cholesky_graph;

typedef struct fem_cholesky_cost {
    int64_t unknowns;
    double operations; /* floating-point operations of the factorisation; additions and multiplications count separately */
    double entries;    /* of the factor */
    double bytes;      /* largest memory at any time, matrix and factor together */
} fem_cholesky_cost;

/* Does only the analysis: the graph's arrays are copied.  There may be no unknowns.  Errors: MEMORY, NUMERIC (CHOLMOD). */
yoke_status fem_cholesky_analyze(yoke_context *context, const fem_cholesky_graph *graph, fem_cholesky **cholesky);
void fem_cholesky_destroy(fem_cholesky *cholesky); /* NULL allowed */

/* From the analysis: within some per cent; after fem_cholesky_begin exactly the cost of CHOLMOD. */
fem_cholesky_cost fem_cholesky_get_cost(const fem_cholesky *cholesky);

/* Creates the matrix, all zero, with the same graph as before.  Errors: MEMORY, NUMERIC (CHOLMOD). */
yoke_status fem_cholesky_begin(fem_cholesky *cholesky, const fem_cholesky_graph *graph);
/*
 * Adds a block [components][components], row by row, rows of node `row`.  Of the two blocks across the diagonal either one may be given,
 * but only one.  A diagonal block's lower triangle is used.  Rows and columns of prescribed components are not read.
 */
void fem_cholesky_add(fem_cholesky *cholesky, int32_t row, int32_t column, const double *block);

/*
 * Factors the matrix and releases it.  threads: of the BLAS, if that is OpenBLAS and the environment does not set them; small factors are
 * computed by one.
 * Errors: MEMORY; NUMERIC (not positive definite, or singular to working precision).
 */
yoke_status fem_cholesky_factorize(fem_cholesky *cholesky, int threads);

/*
 * x = inverse times b, both [num_nodes][components]; prescribed components are not read, and 0 in x.  They may be the same array.  Errors:
 * MEMORY.
 */
yoke_status fem_cholesky_solve(fem_cholesky *cholesky, const double *b, double *x);
int64_t fem_cholesky_memory_bytes(const fem_cholesky *cholesky);

#endif
