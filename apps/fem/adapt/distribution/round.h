/*
 * round.h - describes a solve as a round of the library's run (yoke/run.h): the number of products, their levels, and the devices that may
 * share them.
 *
 * Phase 0 is the products with the operator of the mesh.  The other phases are those of the multigrid's coarser levels, except the last
 * one, which has no products.  Products within a phase are calls, elements are units.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_ROUND_H
#define FEM_ADAPT_DISTRIBUTION_ROUND_H

#include "solver/solve.h"

enum { FEM_STEPS_REMEMBERED = 8, FEM_MAX_PHASES = 1 + FEM_MAX_SOLVE_LEVELS };

/* Numbers of earlier solves from which the next one's products are predicted. */
typedef struct fem_forecast {
    fem_solver solver;
    int factored;  /* nonzero: the finest level's matrix is factored, by the direct solver or as the only level of the multigrid */
    int num_steps; /* with this solver, factored or not; the latest is the last; at most FEM_STEPS_REMEMBERED are kept */
    struct {
        double elements, iterations, products_per_iteration;
    } steps[FEM_STEPS_REMEMBERED];
    double setup_products, other_products; /* of the latest step: before the iteration, and outside its iterations */
    int num_levels;                        /* of the latest step, to compute unknowns from elements */
    struct {
        double elements, dofs;
    } levels[FEM_MAX_SOLVE_LEVELS];
} fem_forecast;

typedef struct fem_products {
    double iterations;
    double all_products; /* of the finest operator, including those of the set-up: l */
    int num_levels;      /* the finest is the first */
    struct {
        int64_t elements;
        double products; /* of the iteration */
    } levels[FEM_MAX_PHASES];
} fem_products;

/* Resets the forecast: no solve with this solver, factored or not, is known. */
void fem_forecast_start(fem_forecast *forecast, fem_solver solver, int factored);
/*
 * Nonzero: a solve on this space factors the finest level's matrix.  Iterations and products of such solves do not predict those of others.
 * If elements are stretched, the solve is assumed to be of the same kind as in the latest step.
 */
int fem_forecast_is_factored(const fem_forecast *forecast, const fem_space *space, fem_solver solver);
/* Adds a solve.  A solve with another solver, or one that is factored when the others were not, resets the forecast. */
void fem_forecast_learn(fem_forecast *forecast, const fem_solution *solution);
/*
 * Predicts the next solve, on `space`.  The coarser levels are found by coarsening its forest, as fem_multigrid_create does.  Before the
 * first step the prediction is a guess.  Errors: MEMORY.
 */
yoke_status fem_forecast_products(const fem_forecast *forecast, const fem_space *space, fem_products *products);

/* Kinds of work: the names under which times are stored. */
typedef struct fem_works {
    char fine[64], coarse[64]; /* "q2 elasticity matrixfree", "q1 elasticity multigrid" */
} fem_works;
/* element: that of the space; the coarser levels have it too if elements are stretched. */
void fem_works_name(const fem_space *space, fem_operator operator_kind, fem_works *works);
/*
 * Passes the kernels' texts to the run, and the variant of the compiled-in ones that this processor uses (yoke_run_work).  Errors: those of
 * yoke_run_work, SYSTEM.
 */
yoke_status fem_works_tell(const fem_works *works, yoke_context *context, yoke_run *run);

/* phases [products->num_levels] of cut 0.  Levels with fewer elements than `shared` belong to `device` alone; device -1: all are cut. */
void fem_round_phases(const fem_products *products, const fem_works *works, int64_t shared, int device, yoke_phase *phases);

/*
 * The device that has levels which are not shared, as fem_multigrid chooses it: the first openmp device with units, otherwise the one with
 * most; -1: none has units.
 */
int fem_round_keeper(const fem_devices *devices, const int64_t *units);

/*
 * Computes the times of a solve in the planned phases: seconds [num_levels][num_devices] of one product (NaN: none), calls [num_levels] (a
 * tiny number if a level did not exist).  Returns nonzero if the solve had other levels than planned, or another solver.
 */
int fem_round_report(const fem_products *products, const fem_solution *solution, fem_solver planned, double *seconds, double *calls);

#endif
