/*
 * multigrid.h - one V-cycle as preconditioner.
 *
 * Levels, from the finest: the space itself; its q1 space on the same leaves (if it is not q1 itself); q1 spaces on coarser and coarser
 * forests, each made by replacing all complete families of leaves by their parents ("global coarsening").  coarse.h solves the last one,
 * which is the coarse mesh or the first forest that is small enough.  If elements are stretched (multigrid/couplings.h) coarse levels have
 * the finest one's element, because q1 locks in bending, and the first level whose Cholesky factor is cheap is the last one.  The smoother
 * is a Chebyshev polynomial of the inverse node blocks, or of blocks of strongly coupled nodes if elements are stretched (Adams, Brezina,
 * Hu, Tuminaro, J. Comput. Phys. 188 (2003) 593-610).  It is the same before and after, so the cycle is symmetric.  All levels work in
 * single precision.
 *
 * On several ranks levels are distributed like the finest one, as long as they have many elements and their cuts allow it (forest.h).  If
 * elements are stretched they are distributed only down to a level that may be factored.  The last of these levels and all coarser ones are
 * computed by rank 0, as on one rank.  Only a last level of q1 that is too large for rank 0, for instance on a large coarse mesh, is solved
 * by algebraic multigrid on all ranks.
 *
 * With several devices a coarse element is on the device that has its first descendant on the finest level.  Levels that are too small to
 * be shared are on one device: the first openmp device that has elements, otherwise the one with most of them.
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
    int64_t direct_dofs; /* a forest with at most this number of dofs of the coarse levels' element is the last level; 0: the default */
    /* as in fem_decomposition_options, for the finest level */
    fem_devices *devices;
    const int32_t *cut;
    fem_exchange exchange;
    int unmeasured;
    /* A level with fewer elements than this number per working device is on one device; 0: the default, < 0: all levels are shared. */
    int64_t shared_elements;
    fem_coarse_keeper *keeper; /* borrowed: keeps the last level's solver for a later multigrid; NULL: none */
    /*
     * A last level of q1 with more free unknowns is solved by algebraic multigrid on all ranks; rank 0 gathers other last levels.  0: the
     * number that may be factored; on one rank coarse.h decides.
     */
    int64_t algebraic_dofs;
    /* For a multigrid that continues from the last level of one on several ranks: levels before, and dofs of their finest one; 0: none. */
    int finer_levels;
    int64_t finest_dofs;
} fem_multigrid_options;

/*
 * Creates the preconditioner for problems on `space`; borrowed objects must outlive it.  hooks: called between levels.  Collective.
 * Errors: those of fem_decomposition_create, NUMERIC (the coarse matrix or a block of the smoother is not positive definite, or no largest
 * eigenvalue is found), INTERRUPTED.
 */
yoke_status fem_multigrid_create(const fem_space *space, const fem_constraints *constraints, const fem_multigrid_options *options,
                                 const fem_hooks *hooks, fem_multigrid **multigrid);
void fem_multigrid_destroy(fem_multigrid *multigrid);

/* The cycle as a function for fem_cg, on vectors of any decomposition of the same space, devices and cut. */
fem_approximate_inverse fem_multigrid_inverse(fem_multigrid *multigrid);

/* Products on the finest level so far: smoother, residual and the estimate of the largest eigenvalue. */
int64_t fem_multigrid_fine_products(const fem_multigrid *multigrid);
/* Number of levels; on several ranks of the distributed ones. */
int fem_multigrid_levels(const fem_multigrid *multigrid);
const char *fem_multigrid_coarse_name(const fem_multigrid *multigrid);
/* Adds the messages and bytes that this rank has sent to others since the multigrid was created.  Not collective. */
void fem_multigrid_add_sent(const fem_multigrid *multigrid, int64_t *messages, int64_t *bytes);
/* Of this rank. */
int64_t fem_multigrid_memory_bytes(const fem_multigrid *multigrid);
/* Its cost, in the operations of costs.h; if elements are stretched it is computed from the actual levels. */
fem_multigrid_work fem_multigrid_get_work(const fem_multigrid *multigrid);
/* The finest level's decomposition, for the work of its devices. */
fem_decomposition *fem_multigrid_decomposition(fem_multigrid *multigrid);
/* The same of level `level` (0: the finest, at most fem_multigrid_levels - 1). */
fem_decomposition *fem_multigrid_level_decomposition(fem_multigrid *multigrid, int level);

#endif
