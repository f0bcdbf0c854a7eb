/*
 * watch.h - what solvers cost, in operations of a Cholesky factorisation, and how many iterations are still to come.
 */
#ifndef FEM_SOLVER_WATCH_H
#define FEM_SOLVER_WATCH_H

#include "solver/cholesky.h"

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

/* The best that was reached at an iteration. */
typedef struct fem_watch_mark {
    int iteration;
    double reached;
} fem_watch_mark;

/* How the residual of an iteration fell so far, or its error. */
typedef struct fem_solver_watch {
    double asked; /* what ends it: relative residual, or energy error */
    double best;
    fem_watch_mark mark[2]; /* the older one is where the latest half of the iterations began, or up to a quarter earlier */
} fem_solver_watch;

void fem_solver_watch_start(fem_solver_watch *watch, double asked);
/*
 * To be called before each iteration with what was reached (not finite: not known yet); returns how many are still to come if its exponent
 * goes on falling as it has over the latest half of the iterations, or up to three quarters: on hard bodies the fall becomes slower.  That is no
 * more than FEM_WATCH_PATIENCE times as many as there were; 0: too early to say, or not to be asked at this iteration.
 */
double fem_solver_watch_left(fem_solver_watch *watch, int iteration, double reached);

enum { FEM_WATCH_FIRST = 10, FEM_WATCH_PATIENCE = 20 };

#endif
