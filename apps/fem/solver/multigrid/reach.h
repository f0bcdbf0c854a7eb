/*
 * multigrid/reach.h - the nodes of a rank's blocks of strongly coupled nodes: couplings may join nodes of several ranks.
 *
 * A part is a set of nodes that couplings join.  A part with nodes of several ranks is solved by the rank that owns most of them, or the
 * lowest of several such ranks.  The others send it once what their elements add to the part's matrix (pieces), and in each solve the
 * values of its nodes.  So blocks do not depend on the ranks.  On one rank the reach has the nodes of the space, and there are no pieces.
 */
#ifndef FEM_SOLVER_MULTIGRID_REACH_H
#define FEM_SOLVER_MULTIGRID_REACH_H

#include "operator/subdomain/subdomain.h"
#include "space/boundary.h"
#include "space/exchange/lists.h"

/* The contribution of an element of another rank to a part. */
typedef struct multigrid_piece {
    int count, num_pairs;
    const int64_t *node;  /* [count] nodes of the reach */
    const uint8_t *pair;  /* [num_pairs][2] strongly coupled nodes, as indices in node */
    const double *packed; /* lower triangle of their matrix, row by row, `components` rows for each node */
} multigrid_piece;

/* Nodes for each of several ranks. */
typedef struct multigrid_route {
    int num_ranks;
    int *rank;      /* [num_ranks] ascending */
    int64_t *first; /* [num_ranks + 1] in node and values */
    int32_t *node;
    double *values; /* [nodes][components] being transferred */
} multigrid_route;

typedef struct multigrid_reach {
    yoke_context *context;  /* borrowed */
    const fem_space *space; /* borrowed, until the pieces are released */
    int components;
    int32_t num_local, num_nodes; /* nodes of the space; and including those that only other ranks have, which come after them */
    uint8_t *prescribed;          /* [num_nodes] as in fem_constraints */
    /* The following members are for several ranks. */
    int32_t *order;   /* [num_nodes] nodes by their numbers over all ranks; NULL on one */
    int *solver;      /* [num_local] the rank that solves the node's part, if it is another one, or -1; NULL on one */
    fem_lists pieces; /* as they were received */
    int64_t num_pieces;
    multigrid_piece *piece;
    multigrid_route up, from_below, down, from_above; /* to and from the ranks that solve a part: right-hand sides, then solutions */
    void *requests;                                   /* [2 x ranks] */
    double *all;                                      /* [num_nodes][components] */
    int64_t num_messages, num_bytes;                  /* that this rank has sent */
} multigrid_reach;

/* subdomain: computes the elements' matrices.  Collective.  Errors: MEMORY, those of visit_matrices. */
yoke_status multigrid_reach_create(const fem_space *space, const fem_constraints *constraints, fem_subdomain *subdomain,
                                   multigrid_reach **reach);
void multigrid_reach_destroy(multigrid_reach *reach); /* NULL allowed */
/* To be called after the blocks have been created. */
void multigrid_reach_release_pieces(multigrid_reach *reach);

/* all = the values [num_local][components] of this rank, and of other ranks whose parts this rank solves.  Collective. */
void multigrid_reach_collect(multigrid_reach *reach, const double *local);
/* local = the values in `all`, and the solutions of other ranks.  Collective. */
void multigrid_reach_spread(multigrid_reach *reach, double *local);

int64_t multigrid_reach_memory_bytes(const multigrid_reach *reach);

#endif
