/*
 * multigrid/reach.h - the nodes that a rank's blocks of strongly coupled nodes are made of: couplings may join nodes of several ranks.
 *
 * What couplings join is a part.  One with nodes that several ranks have is solved by the rank that owns most of them, the lowest of several.  The others
 * send it once what their elements add to the part's matrix (pieces), and values of its nodes in each solve.  So blocks do not depend on the ranks.
 * On one rank there are the nodes of the space, and no pieces.
 */
#ifndef FEM_SOLVER_MULTIGRID_REACH_H
#define FEM_SOLVER_MULTIGRID_REACH_H

#include "operator/subdomain/subdomain.h"
#include "space/boundary.h"
#include "space/exchange/lists.h"

/* What an element of another rank has of a part. */
typedef struct multigrid_piece {
    int count, num_pairs;
    const int64_t *node;  /* [count] nodes of the reach */
    const uint8_t *pair;  /* [num_pairs][2] strongly coupled ones, as indices in node */
    const double *packed; /* lower triangle of their matrix, row by row, `components` rows for each node */
} multigrid_piece;

/* Nodes for each of several ranks. */
typedef struct multigrid_route {
    int num_ranks;
    int *rank;      /* [num_ranks] ascending */
    int64_t *first; /* [num_ranks + 1] in node and values */
    int32_t *node;
    double *values; /* [nodes][components] under way */
} multigrid_route;

typedef struct multigrid_reach {
    yoke_context *context;  /* borrowed */
    const fem_space *space; /* borrowed, until the pieces are released */
    int components;
    int32_t num_local, num_nodes; /* nodes of the space; with those that only other ranks have, behind them */
    uint8_t *prescribed;          /* [num_nodes] as in fem_constraints */
    /* The rest where there are several ranks. */
    int32_t *order;   /* [num_nodes] nodes by their numbers over all ranks; NULL on one */
    int *solver;      /* [num_local] the rank that solves the node's part, where that is not this one, or -1; NULL on one */
    fem_lists pieces; /* as they have arrived */
    int64_t num_pieces;
    multigrid_piece *piece;
    multigrid_route up, from_below, down, from_above; /* to and from who solves a part: right sides, then solutions */
    void *requests;                                   /* [2 x ranks] */
    double *all;                                      /* [num_nodes][components] */
    int64_t num_messages, num_bytes;                  /* that this rank has sent */
} multigrid_reach;

/* subdomain: makes the elements' matrices.  Collective.  Errors: MEMORY, those of visit_matrices. */
yoke_status multigrid_reach_create(const fem_space *space, const fem_constraints *constraints, fem_subdomain *subdomain,
                                   multigrid_reach **reach);
void multigrid_reach_destroy(multigrid_reach *reach); /* NULL allowed */
/* When the blocks are made. */
void multigrid_reach_release_pieces(multigrid_reach *reach);

/* all = the values [num_local][components] of this rank, and of others where this one solves their parts.  Collective. */
void multigrid_reach_collect(multigrid_reach *reach, const double *local);
/* local = the values in `all`, and what other ranks have solved.  Collective. */
void multigrid_reach_spread(multigrid_reach *reach, double *local);

int64_t multigrid_reach_memory_bytes(const multigrid_reach *reach);

#endif
