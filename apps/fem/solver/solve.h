/*
 * solve.h - the discrete problem of one refinement step: set up, solved, with what follows from the solution.
 */
#ifndef FEM_SOLVER_SOLVE_H
#define FEM_SOLVER_SOLVE_H

#include "operator/decomposition/decomposition.h"
#include "solver/cg/cg.h"
#include "solver/coarse/keeper.h"
#include "solver/multigrid/costs.h"

typedef enum fem_solver { FEM_SOLVER_JACOBI, FEM_SOLVER_MULTIGRID, FEM_SOLVER_DIRECT } fem_solver;

typedef struct fem_solve_options {
    fem_solver solver;
    fem_operator operator_kind;
    double energy_error, relative_residual; /* as in fem_cg_options */
    int max_iterations;
    fem_devices *devices; /* borrowed; a device that fails is marked there and gets nothing any more */
    const int32_t *cut;   /* [devices->count + 1] as in fem_decomposition_options */
    fem_exchange exchange;
    int unmeasured; /* nonzero: as in fem_decomposition_options, for all decompositions of the solve; the shares' seconds are then NaN */
    int64_t shared_elements;   /* as in fem_multigrid_options */
    fem_coarse_keeper *keeper; /* likewise: a solver kept over several solves; or NULL */
    double memory_bytes;       /* that a direct solver may take; 0: what the system says is there */
    int rescue; /* nonzero: where multigrid is slow, fails or cannot be set up, a direct solver takes over that is cheaper, and fits */
    const struct fem_solve_round *round; /* who is told of it; or NULL */
} fem_solve_options;

/* What one device did for a solve. */
typedef struct fem_solve_share {
    int32_t elements;                                /* at the end: not as it was asked for where a device failed */
    double seconds_per_product, seconds_per_element; /* busy, mean over the finest level's products in both precisions; NaN: none */
    int64_t interface_bytes;                         /* to and from the device in one product in double precision */
    double setup_moved_s;                            /* that moving its elements' data to it took; NaN where nothing moves */
} fem_solve_share;

/*
 * What the products on one level of the multigrid took while a solve iterated.  The last level, which is solved directly, has no products.
 */
typedef struct fem_solve_level {
    int32_t elements;
    int64_t dofs, products;
    int32_t subdomain_elements[FEM_MAX_DEVICES];
    double seconds_per_product[FEM_MAX_DEVICES]; /* busy; NaN: none */
} fem_solve_level;

enum { FEM_MAX_SOLVE_LEVELS = 24 };

/* Longest reason, with its end. */
#define FEM_SOLUTION_REASON 256

typedef struct fem_solution {
    yoke_context *context;
    fem_solver solver;                          /* that ended the solve */
    double direct_operations;                   /* of the factor; 0: there was none */
    fem_multigrid_work multigrid_work;          /* 0: there was none */
    double slow_iterations;                     /* that multigrid was expected to need, when a direct solver took over; 0: none did */
    double compared_multigrid, compared_direct; /* operations of both from there on, as in multigrid/costs.h; NaN: multigrid failed */
    char reason[FEM_SOLUTION_REASON];           /* why it took over; "" */
    int setup_failed;                           /* nonzero: since multigrid could not even be set up */
    double *u;              /* [num_nodes][components] m; Poisson: the value; without the problem's rigid motions (rigid_part.h) */
    double *load;           /* [num_nodes][components] N */
    double *residual;       /* [num_nodes][components] A u - load without constraints: the supports' forces where u is prescribed */
    double strain_energy_j; /* u . A u / 2: with thermal strains not that of the stresses */
    int64_t iterations, operator_applications;
    double relative_residual, energy_error; /* as in fem_cg_result */
    int stopped_by_rounding;                /* likewise */
    int64_t setup_products;                 /* of operator_applications, those before the iteration: not in solve_s */
    /* What this rank sent to others in an iteration, on average: values at shared nodes and gathered ones.  Sums of numbers over all ranks are not counted. */
    double messages_per_iteration, sent_bytes_per_iteration;
    int num_levels; /* coarser than the space itself */
    fem_solve_level levels[FEM_MAX_SOLVE_LEVELS];
    int num_shares;
    fem_solve_share shares[FEM_MAX_DEVICES]; /* [num_shares] of options->devices */
    int restarts;                            /* because of devices that failed, or whose memory was too small */
    double setup_s, solve_s;                 /* of the last start; on the virtual clock where all devices are simulated */
    int64_t memory_bytes;                    /* of operator, preconditioner and vectors */
} fem_solution;

/* Who plans and measures the solve.  What these return ends it, if it is not YOKE_OK. */
typedef struct fem_solve_round {
    /* Before another start, after devices failed or were short of memory: cut [devices->count + 1] is what would be taken, and may be changed. */
    yoke_status (*restart)(void *user, int32_t *cut);
    yoke_status (*begin)(void *user);                             /* all is set up, and solve_s begins */
    yoke_status (*end)(void *user, const fem_solution *solution); /* it has ended; what the devices did is known */
    void *user;
} fem_solve_round;

/*
 * Solves on the space from the start value [num_nodes][components] (NULL: zero; values at prescribed dofs do not matter).  Where a device
 * fails, or cannot hold its elements, they go to the others in proportion to theirs, and the solve begins again.
 * Errors: those of fem_decomposition_create, fem_space_load, fem_multigrid_create, fem_direct_factorize and fem_cg; DEVICE: no device is
 * left, with all reasons; DEVICE_MEMORY: the elements do not fit those that are left.
 */
yoke_status fem_solve(const fem_space *space, const fem_boundary *boundary, const fem_constraints *constraints, const double *start,
                      const fem_solve_options *options, const fem_hooks *hooks, fem_solution **solution);
void fem_solution_destroy(fem_solution *solution);

#endif
