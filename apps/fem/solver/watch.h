/*
 * watch.h - how many iterations are still to come.
 */
#ifndef FEM_SOLVER_WATCH_H
#define FEM_SOLVER_WATCH_H

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
