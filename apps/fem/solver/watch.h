/*
 * watch.h - estimates the number of remaining iterations.
 */
#ifndef FEM_SOLVER_WATCH_H
#define FEM_SOLVER_WATCH_H

/* The best value that was reached at an iteration. */
typedef struct fem_watch_mark {
    int iteration;
    double reached;
} fem_watch_mark;

/* The history of the residual of an iteration, or of its error. */
typedef struct fem_solver_watch {
    double asked; /* value that ends the iteration: relative residual, or energy error */
    double best;
    fem_watch_mark mark[2]; /* the older one is where the latest half of the iterations began, or up to a quarter earlier */
} fem_solver_watch;

void fem_solver_watch_start(fem_solver_watch *watch, double asked);
/*
 * To be called before each iteration with the value that was reached (not finite: not known so far).  Returns the number of remaining
 * iterations if the exponent of the value continues to fall as it has over the latest half of the iterations, or up to three quarters: on
 * difficult bodies the fall becomes slower.  The number is at most FEM_WATCH_PATIENCE times the number of iterations so far; 0: it is too
 * early for an estimate, or none is needed at this iteration.
 */
double fem_solver_watch_left(fem_solver_watch *watch, int iteration, double reached);

enum { FEM_WATCH_FIRST = 10, FEM_WATCH_PATIENCE = 20 };

#endif
