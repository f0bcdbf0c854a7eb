/*
 * round.h - what a solve is as a round of the library's run (yoke/run.h): how many products there will be, on which levels, who may share them.
 *
 * Phase 0 are the products with the operator of the mesh, the others those of the multigrid's coarser levels but the last one, which has none.  Products
 * within a phase are calls, elements are units.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_ROUND_H
#define FEM_ADAPT_DISTRIBUTION_ROUND_H

#include "solver/solve.h"

enum { FEM_STEPS_REMEMBERED = 8, FEM_MAX_PHASES = 1 + FEM_MAX_SOLVE_LEVELS };

/* What solves so far tell of the next one's products. */
typedef struct fem_forecast {
    fem_solver solver;
    int factored;  /* nonzero: the finest level's matrix is factored, by the direct solver or as the only level of the multigrid */
    int num_steps; /* with this solver, and factored or not, the latest last; at most FEM_STEPS_REMEMBERED are kept */
    struct {
        double elements, iterations, products_per_iteration;
    } steps[FEM_STEPS_REMEMBERED];
    double setup_products, other_products; /* of the latest step: before the iteration, and beside its iterations */
    int num_levels;                        /* of the latest step, for unknowns by elements */
    struct {
        double elements, dofs;
    } levels[FEM_MAX_SOLVE_LEVELS];
} fem_forecast;

typedef struct fem_products {
    double iterations;
    double all_products; /* of the finest operator, with those of the set-up: l */
    int num_levels;      /* the finest is the first */
    struct {
        int64_t elements;
        double products; /* of the iteration */
    } levels[FEM_MAX_PHASES];
} fem_products;

/* Nothing is known yet of solves with this solver that are factored or not. */
void fem_forecast_start(fem_forecast *forecast, fem_solver solver, int factored);
/*
 * Nonzero: a solve on this space factors the finest level's matrix.  Iterations and products of such solves tell nothing of others.  Where elements are
 * stretched it is taken to go on as in the latest step.
 */
int fem_forecast_is_factored(const fem_forecast *forecast, const fem_space *space, fem_solver solver);
/* Takes what a solve was; one with another solver, or factored where others were not, starts anew. */
void fem_forecast_learn(fem_forecast *forecast, const fem_solution *solution);
/* The next solve, on `space`; the coarser levels are found by coarsening its forest, as fem_multigrid_create does.  Before the first step it is a guess.  Errors: MEMORY. */
yoke_status fem_forecast_products(const fem_forecast *forecast, const fem_space *space, fem_products *products);

/* Kinds of work: the names under which times are learned. */
typedef struct fem_works {
    char fine[64], coarse[64]; /* "q2 elasticity matrixfree", "q1 elasticity multigrid" */
} fem_works;
/* element: of the space; the coarser levels have it too where elements are stretched. */
void fem_works_name(const fem_space *space, fem_operator operator_kind, fem_works *works);
/* Tells the run the kernels' texts, and what of the compiled-in ones this processor takes (yoke_run_work).  Errors: those of yoke_run_work, SYSTEM. */
yoke_status fem_works_tell(const fem_works *works, yoke_context *context, yoke_run *run);

/*
 * phases [products->num_levels] of cut 0.  Levels with fewer elements than `shared` are those of `device` alone; device -1: all are cut.
 */
void fem_round_phases(const fem_products *products, const fem_works *works, int64_t shared, int device, yoke_phase *phases);

/* The device that has levels which are not shared, as fem_multigrid chooses it: the first openmp device with units, else that with most; -1: none has units. */
int fem_round_keeper(const fem_devices *devices, const int64_t *units);

/*
 * What a solve took, in the planned phases: seconds [num_levels][num_devices] of one product (NaN: none), calls [num_levels] (a tiny number where a level
 * was not there).  Returns nonzero where the solve had other levels than planned, or another solver.
 */
int fem_round_report(const fem_products *products, const fem_solution *solution, fem_solver planned, double *seconds, double *calls);

#endif
