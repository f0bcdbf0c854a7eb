/*
 * solve.h - the discrete problem of one refinement step: set-up, solution, and the quantities derived from it.
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
    fem_devices *devices; /* borrowed; a device that fails is marked there and gets no more work */
    const int32_t *cut;   /* [devices->count + 1] as in fem_decomposition_options */
    fem_exchange exchange;
    int unmeasured; /* nonzero: as in fem_decomposition_options, for all decompositions of the solve; the shares' seconds are then NaN */
    int64_t shared_elements;   /* as in fem_multigrid_options */
    fem_coarse_keeper *keeper; /* as in fem_multigrid_options: a solver kept over several solves; NULL: none */
    double memory_bytes;       /* that a direct solver may use; 0: the memory that the system reports as available */
    int rescue; /* nonzero: if multigrid is slow, fails or cannot be set up, a direct solver takes over if it is cheaper, and fits */
    const struct fem_solve_round *round; /* functions that plan and measure the solve; NULL: none */
} fem_solve_options;

/* Work of one device for a solve. */
typedef struct fem_solve_share {
    int32_t elements;                                /* at the end: differs from the request if a device failed */
    double seconds_per_product, seconds_per_element; /* of work, mean over the finest level's products in both precisions; NaN: none */
    int64_t interface_bytes;                         /* to and from the device in one product in double precision */
    double setup_moved_s;                            /* time to move its elements' data to it; NaN if nothing is moved */
} fem_solve_share;

/* Products on one level of the multigrid during the iteration of a solve.  The last level, which is solved directly, has no products. */
typedef struct fem_solve_level {
    int32_t elements;
    int64_t dofs, products;
    int32_t subdomain_elements[FEM_MAX_DEVICES];
    double seconds_per_product[FEM_MAX_DEVICES]; /* of work; NaN: none */
} fem_solve_level;

enum { FEM_MAX_SOLVE_LEVELS = 24 };

/* Longest reason, with its end. */
#define FEM_SOLUTION_REASON 256

typedef struct fem_solution {
    yoke_context *context;
    fem_solver solver;                          /* the one that ended the solve */
    double direct_operations;                   /* of the factor; 0: there was none */
    fem_multigrid_work multigrid_work;          /* 0: there was none */
    double slow_iterations;                     /* that multigrid was expected to need, when a direct solver took over; 0: none did */
    double compared_multigrid, compared_direct; /* remaining operations of both, as in multigrid/costs.h; NaN: multigrid failed */
    char reason[FEM_SOLUTION_REASON];           /* why the direct solver took over; "" */
    int setup_failed;                           /* nonzero: it took over because multigrid could not be set up */
    double *u;              /* [num_nodes][components] m; Poisson: the value; without the problem's rigid motions (rigid_part.h) */
    double *load;           /* [num_nodes][components] N */
    double *residual;       /* [num_nodes][components] A u - load without constraints: the supports' forces where u is prescribed */
    double strain_energy_j; /* u . A u / 2: with thermal strains this is not the energy of the stresses */
    int64_t iterations, operator_applications;
    double relative_residual, energy_error; /* as in fem_cg_result */
    int stopped_by_rounding;                /* likewise */
    int64_t setup_products;                 /* part of operator_applications before the iteration: not in solve_s */
    /*
     * Messages and bytes that this rank sends to others in an iteration, on average: values at shared nodes and gathered ones.  Sums of
     * numbers over all ranks are not counted.
     */
    double messages_per_iteration, sent_bytes_per_iteration;
    int num_levels; /* coarser than the space itself */
    fem_solve_level levels[FEM_MAX_SOLVE_LEVELS];
    int num_shares;
    fem_solve_share shares[FEM_MAX_DEVICES]; /* [num_shares] of options->devices */
    int restarts;                            /* because of devices that failed, or whose memory was too small */
    double setup_s, solve_s;                 /* of the last start; on the virtual clock if all devices are simulated */
    int64_t memory_bytes;                    /* of operator, preconditioner and vectors */
} fem_solution;

/* Functions that plan and measure the solve.  A status other than YOKE_OK ends the solve. */
typedef struct fem_solve_round {
    /*
     * Called before another start, after devices failed or were short of memory: cut [devices->count + 1] is the proposed cut, and may be
     * changed.
     */
    yoke_status (*restart)(void *user, int32_t *cut);
    yoke_status (*begin)(void *user);                             /* set-up is complete, and solve_s begins */
    yoke_status (*end)(void *user, const fem_solution *solution); /* the solve has ended; the work of the devices is known */
    void *user;
} fem_solve_round;

/*
 * Solves on the space from the start value [num_nodes][components] (NULL: zero; values at prescribed dofs are ignored).  If a device fails,
 * or its elements do not fit, they go to the others in proportion to theirs, and the solve begins again.
 * Errors: those of fem_decomposition_create, fem_space_load, fem_multigrid_create, fem_direct_factorize and fem_cg; DEVICE: no device is
 * left, with all reasons; DEVICE_MEMORY: the elements do not fit into the remaining ones.
 */
yoke_status fem_solve(const fem_space *space, const fem_boundary *boundary, const fem_constraints *constraints, const double *start,
                      const fem_solve_options *options, const fem_hooks *hooks, fem_solution **solution);
void fem_solution_destroy(fem_solution *solution);

#endif
