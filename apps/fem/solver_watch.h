/*
 * solver_watch.h - what solvers cost, in operations of a Cholesky factorisation, and how many iterations are still to come.
 */
#ifndef FEM_SOLVER_WATCH_H
#define FEM_SOLVER_WATCH_H

#include "cholesky.h"

/* Multigrid: its set-up and so many iterations. */
double fem_multigrid_operations(double dofs, double iterations);
/* So many iterations alone. */
double fem_iteration_operations(double dofs, double iterations);
/* The factor with its order and the matrix, and two substitutions. */
double fem_direct_operations(double dofs, const fem_cholesky_cost *cost);
/* What goes with each dof and unknown alone, whatever the factor. */
double fem_direct_least_operations(double dofs);

/* How the residual of an iteration fell so far, or its error. */
typedef struct fem_solver_watch {
    double asked; /* what ends it: relative residual, or energy error */
    double first, best;
} fem_solver_watch;

void fem_solver_watch_start(fem_solver_watch *watch, double asked);
/*
 * To be called before each iteration with what was reached (not finite: not known yet); returns how many are still to come if the residual's exponent goes on falling as it has since the
 * beginning, but no more than FEM_WATCH_PATIENCE times as many as there were; 0: too early to say, or not to be asked at this iteration.
 */
double fem_solver_watch_left(fem_solver_watch *watch, int iteration, double reached);

enum { FEM_WATCH_FIRST = 10, FEM_WATCH_PATIENCE = 20 };

#endif
