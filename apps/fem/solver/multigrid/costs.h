/* multigrid/costs.h - the costs of multigrid, and of a factor of the whole matrix, in operations of a Cholesky factorisation. */
#ifndef FEM_SOLVER_MULTIGRID_COSTS_H
#define FEM_SOLVER_MULTIGRID_COSTS_H

#include "solver/direct/cholesky.h"

/* The cost of a multigrid: of its set-up, and of each iteration with it. */
typedef struct fem_multigrid_work {
    double setup, iteration;
} fem_multigrid_work;

/* For ordinary bodies, whose levels' sizes follow from that of the finest one. */
fem_multigrid_work fem_multigrid_usual_work(double dofs);
double fem_multigrid_operations(fem_multigrid_work work, double iterations);

/* A level with blocks of strongly coupled nodes, with `smoothings` per iteration, each with `products` products and block solves. */
typedef struct fem_block_level {
    double dofs, entries, operations; /* entries of the blocks' factors; floating-point operations to compute them */
    double smoothings, products;
} fem_block_level;
fem_multigrid_work fem_block_level_work(const fem_block_level *level);
/* The cost of a multigrid that does not depend on its levels. */
fem_multigrid_work fem_multigrid_least_work(void);
/* A last level that is factored, with this number of solves per iteration. */
fem_multigrid_work fem_last_level_work(double dofs, const fem_cholesky_cost *cost, double solves);
/* A last level of q1 that algebraic multigrid solves, with this number of solves per iteration. */
fem_multigrid_work fem_algebraic_level_work(double dofs, double solves);

/* The factor including its elimination order and the matrix, and two substitutions. */
double fem_direct_operations(double dofs, const fem_cholesky_cost *cost);
/* The cost that depends only on the numbers of dofs and unknowns, not on the factor. */
double fem_direct_least_operations(double dofs);

#endif
