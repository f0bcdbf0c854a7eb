/*
 * multigrid.h - one V-cycle as preconditioner.
 *
 * Levels, from the finest: the space itself; its q1 space on the same leaves (if it is not q1 itself); q1 spaces on ever coarser forests,
 * each made by replacing all complete families of leaves by their parents ("global coarsening"); the last one, the coarse mesh or any
 * forest small enough, is handed to coarse.h.  Where elements are stretched (multigrid/couplings.h) coarse levels have the finest one's
 * element, since q1 locks in bending, and the first level whose Cholesky factor is cheap is the last one.  Smoother: Chebyshev polynomial
 * of the inverse node blocks, where elements are stretched of blocks of strongly coupled nodes (Adams, Brezina, Hu, Tuminaro, J. Comput.
 * Phys. 188 (2003) 593-610), the same before and after, so the cycle is symmetric.  All levels work in single precision.
 *
 * On several ranks levels are distributed as the finest one, as long as they have many elements and their cuts allow it (forest.h); where elements are stretched also only down to
 * what may be factored.  The last of these and all that are coarser are the work of rank 0, as on one rank.  Only a last level of q1 that is too large for it, as of a large coarse
 * mesh, is solved by algebraic multigrid on all ranks.
 *
 * On several devices a coarse element lies where its first descendant on the finest level does; levels too small to be worth sharing lie on
 * one device: the first openmp device that has elements, else the one with most of them.
 */
#ifndef FEM_SOLVER_MULTIGRID_H
#define FEM_SOLVER_MULTIGRID_H

#include "solver/cg/cg.h"
#include "solver/coarse/keeper.h"
#include "solver/multigrid/costs.h"

typedef struct fem_multigrid fem_multigrid;

/* Defaults of direct_dofs and shared_elements. */
enum { FEM_DIRECT_DOFS = 3000, FEM_SHARED_ELEMENTS = 4000 };

typedef struct fem_multigrid_options {
    int degree;          /* of the smoothing polynomial: operator applications before, and after; 0: the default */
    double range;        /* smooths eigenvalues above largest / range; 0: the default */
    int64_t direct_dofs; /* a forest with at most so many dofs of the coarse levels' element is the last level; 0: the default */
    /* as in fem_decomposition_options, for the finest level */
    fem_devices *devices;
    const int32_t *cut;
    fem_exchange exchange;
    int unmeasured;
    /* A level with fewer elements than so many for each device that works lies on one device; 0: the default, < 0: none does. */
    int64_t shared_elements;
    fem_coarse_keeper *keeper; /* borrowed: takes over the last level's solver, for a later multigrid; NULL: none */
    /*
     * A last level of q1 with more free unknowns is solved by algebraic multigrid, on all ranks, others where rank 0 gathers them.  0: as many as may be factored,
     * and on one rank as coarse.h decides.
     */
    int64_t algebraic_dofs;
    /* Of a multigrid that goes on from the last level of one on several ranks: levels before, and dofs of their finest one; 0: there is none. */
    int finer_levels;
    int64_t finest_dofs;
} fem_multigrid_options;

/*
 * The preconditioner for problems on `space`; borrowed objects must outlive it.  hooks: asked between levels.
 * Errors: those of fem_decomposition_create, NUMERIC (the coarse matrix or a block of the smoother is not positive definite, or no largest
 * eigenvalue is found), INTERRUPTED.
 */
/* Collective. */
yoke_status fem_multigrid_create(const fem_space *space, const fem_constraints *constraints, const fem_multigrid_options *options,
                                 const fem_hooks *hooks, fem_multigrid **multigrid);
void fem_multigrid_destroy(fem_multigrid *multigrid);

/* The cycle as a function for fem_cg, on vectors of any decomposition of the same space, devices and cut. */
fem_approximate_inverse fem_multigrid_inverse(fem_multigrid *multigrid);

/* Products on the finest level so far: smoother, residual and the estimate of the largest eigenvalue. */
int64_t fem_multigrid_fine_products(const fem_multigrid *multigrid);
/* On several ranks the distributed ones. */
int fem_multigrid_levels(const fem_multigrid *multigrid);
const char *fem_multigrid_coarse_name(const fem_multigrid *multigrid);
/* Adds what this rank has sent to others since the multigrid was created.  Not collective. */
void fem_multigrid_add_sent(const fem_multigrid *multigrid, int64_t *messages, int64_t *bytes);
/* Of this rank. */
int64_t fem_multigrid_memory_bytes(const fem_multigrid *multigrid);
/* What it costs, in the operations of costs.h; where elements are stretched by its levels as they are. */
fem_multigrid_work fem_multigrid_get_work(const fem_multigrid *multigrid);
/* The finest level's decomposition, for what its devices did. */
fem_decomposition *fem_multigrid_decomposition(fem_multigrid *multigrid);
/* The same of level `level` (0: the finest, at most fem_multigrid_levels - 1). */
fem_decomposition *fem_multigrid_level_decomposition(fem_multigrid *multigrid, int level);

#endif
