/*
 * multigrid/costs.h - what multigrid costs, and a factor of the whole matrix instead, in operations of a Cholesky factorisation.
 */
#ifndef FEM_SOLVER_MULTIGRID_COSTS_H
#define FEM_SOLVER_MULTIGRID_COSTS_H

#include "solver/direct/cholesky.h"

/* A multigrid: its set-up, and each iteration with it. */
typedef struct fem_multigrid_work {
    double setup, iteration;
} fem_multigrid_work;

/* On ordinary bodies, whose levels' sizes follow from the finest one's. */
fem_multigrid_work fem_multigrid_usual_work(double dofs);
double fem_multigrid_operations(fem_multigrid_work work, double iterations);

/* A level with blocks of strongly coupled nodes, smoothed so many times in an iteration, each time by `products` products and block solves. */
typedef struct fem_block_level {
    double dofs, entries, operations; /* entries of the blocks' factors; floating-point operations that these took */
    double smoothings, products;
} fem_block_level;
fem_multigrid_work fem_block_level_work(const fem_block_level *level);
/* What goes with a multigrid as a whole, whatever its levels. */
fem_multigrid_work fem_multigrid_least_work(void);
/* A last level that is factored, and solved so many times in an iteration. */
fem_multigrid_work fem_last_level_work(double dofs, const fem_cholesky_cost *cost, double solves);
/* A last level of q1 that algebraic multigrid solves, so many times in an iteration. */
fem_multigrid_work fem_algebraic_level_work(double dofs, double solves);

/* The factor with its order and the matrix, and two substitutions. */
double fem_direct_operations(double dofs, const fem_cholesky_cost *cost);
/* What goes with each dof and unknown alone, whatever the factor. */
double fem_direct_least_operations(double dofs);

#endif
