/*
 * prediction.h - what a solve will take, in time and energy: how many products on which level, how long each, and what is drawn meanwhile.
 *
 *   T = a sum over levels of products x longest part + b x all products,
 *   E = c ((base + idle) T + sum over levels of products x (sum over devices of dynamic power x time + hosting power x wait for accelerators))
 *
 * The time of a part of the space itself is the balancer's; on the multigrid's coarser levels it is that times a factor for each device,
 * learned apart for levels that all devices share and for those that one has alone.  a (vectors and preconditioner beside the products), b
 * (what a product costs in waiting, whatever its size) and c are learned from the steps before; so is how iterations grow.
 */
#ifndef FEM_ADAPT_PREDICTION_H
#define FEM_ADAPT_PREDICTION_H

#include "adapt/powers.h"
#include "solver/solve.h"

/* Products of a solve that are in solve_s. */
typedef struct fem_work {
    double iterations, products; /* with the finest operator */
    double all_products;         /* the same with those of the set-up: l */
    int64_t elements;
    int num_levels; /* coarser, without the last one, which has no products */
    struct {
        int64_t elements;
        double products;
    } levels[FEM_MOST_SOLVE_LEVELS];
} fem_work;

/* A choice of units and clock levels, and what it costs.  Energies are NaN where powers are not known. */
typedef struct fem_cost {
    double product_s, product_j; /* of one product with the finest operator, by all devices */
    double time_s, energy_j;     /* of the solve */
    double copy_s;               /* of the elements' data before it */
} fem_cost;

enum { FEM_STEPS_REMEMBERED = 8, FEM_MOST_ALONE = 16 };

/* Seconds per product of a device that works alone, without partners to exchange values with, by ascending elements. */
typedef struct fem_alone_curve {
    int count;
    double elements[FEM_MOST_ALONE], seconds[FEM_MOST_ALONE];
} fem_alone_curve;

typedef struct fem_prediction {
    const fem_devices *devices;
    const yoke_balancer *balancer; /* its seconds are those at the highest clock levels, with the others at work */
    const fem_powers *powers;
    fem_solver solver;
    int num_steps; /* with this solver, that were learned from, the latest last; at most FEM_STEPS_REMEMBERED are kept */
    struct {
        uint64_t working; /* bit i: device i had elements */
        double elements, iterations, products_per_iteration;
        double model_s, all_products, time_s; /* for a and b */
        double model_j, energy_j;             /* for c */
    } steps[FEM_STEPS_REMEMBERED];
    double setup_products, other_products; /* of the latest step: before the iteration, and beside its iterations */
    int num_levels;                        /* of the latest step, for unknowns by elements */
    struct {
        double elements, dofs;
    } levels[FEM_MOST_SOLVE_LEVELS];
    double shared_factor[FEM_MOST_DEVICES], alone_factor[FEM_MOST_DEVICES]; /* of coarser levels; NaN: not seen */
    double contention[FEM_MOST_DEVICES];                                    /* seconds together with others over seconds alone, >= 1 */
    fem_alone_curve alone[FEM_MOST_DEVICES];
    struct
    { /* moving data to the device: the fewest and the most elements seen, and their seconds; fewest 0: nothing moves, or nothing was seen */
        double fewest, fewest_s, most, max_s;
    } copies[FEM_MOST_DEVICES];
} fem_prediction;

void fem_prediction_start(fem_prediction *prediction, const fem_devices *devices, const yoke_balancer *balancer, const fem_powers *powers);

/* Forgets what steps with another solver taught: how many products there are on which levels, and what they took beside each other. */
void fem_prediction_change(fem_prediction *prediction, fem_solver solver);

/*
 * The work of the next solve, on `space`; num_steps must be at least 1.  The coarser levels are found by coarsening the space's forest.
 * Errors: MEMORY.
 */
yoke_status fem_prediction_work(const fem_prediction *prediction, const fem_space *space, fem_work *work);
/* The work that a solve was. */
void fem_prediction_actual(const fem_solution *solution, fem_work *work);

/* units [devices], levels [devices] (NULL: the highest). */
yoke_status fem_prediction_cost(const fem_prediction *prediction, const fem_work *work, const int64_t *units, const int *levels,
                                fem_cost *cost);

/* Seconds [devices] of a product with the finest operator at the highest clock levels; NaN where nothing is known, 0 for 0 units. */
yoke_status fem_prediction_seconds(const fem_prediction *prediction, const int64_t *units, double *seconds);
/* A device took so long alone, at its highest clock level. */
void fem_prediction_alone(fem_prediction *prediction, int device, double elements, double seconds);

/* Moving the data of so many elements to a device took so long. */
void fem_prediction_copy(fem_prediction *prediction, int device, double elements, double seconds);
/* It takes *start_s + *per_unit_s x elements. */
void fem_prediction_copy_law(const fem_prediction *prediction, int device, double *start_s, double *per_unit_s);

/* Seconds of a coarser level's products that one device has alone, all in all, if `units` are shared so; 0 where there is none. */
yoke_status fem_prediction_alone_s(const fem_prediction *prediction, const fem_work *work, const int64_t *units, double *seconds);
/* Products of the space itself that cost as much as all products of levels that are shared like it. */
double fem_prediction_repetitions(const fem_prediction *prediction, const fem_work *work, const int64_t *units);

/* What is drawn whatever works: the base power and all idle powers at these clock levels (NULL: the highest). */
double fem_prediction_standing_w(const fem_prediction *prediction, const int *levels);

/* T = a x seconds of products + b x products on all levels, as learned so far of these devices. */
void fem_prediction_overhead(const fem_prediction *prediction, const int64_t *units, double *a, double *b);

/* Learns from a solve with these clock levels (NULL: the highest); one with another solver changes it. */
yoke_status fem_prediction_learn(fem_prediction *prediction, const fem_solution *solution, const int *levels);

#endif
