/* multigrid_parts.h - the levels of the multigrid, shared by set-up and cycle. */
#ifndef FEM_SOLVER_MULTIGRID_PARTS_H
#define FEM_SOLVER_MULTIGRID_PARTS_H

#include "solver/coarse.h"
#include "solver/direct.h"
#include "solver/multigrid.h"
#include "solver/multigrid_blocks.h"

typedef struct multigrid_level {
    fem_forest *forest; /* NULL where the next finer level's is used */
    const fem_space *space;
    const fem_constraints *constraints;
    fem_space *own_space; /* NULL on the finest level, which borrows */
    fem_constraints *own_constraints;
    int32_t cut[FEM_MAX_DEVICES + 1]; /* as in fem_decomposition_options */
    fem_decomposition *decomposition;
    fem_vector *b, *x, *d, *t;
    fem_interpolation *to_finer;            /* from this level to the next finer one, until the decomposition is made; NULL on the finest */
    double eigenvalue_low, eigenvalue_high; /* range that the smoother works on */
    multigrid_blocks *blocks;               /* of strongly coupled nodes; NULL: the smoother has the node blocks of the decomposition */
    double *host;                           /* [dofs] beside blocks: the multigrid's, one for all levels */
} multigrid_level;

enum { MULTIGRID_MAX_LEVELS = FEM_MAX_LEVEL + 2 };

struct fem_multigrid {
    yoke_context *context;
    fem_multigrid_options options;
    const fem_hooks *hooks;
    int num_levels;
    multigrid_level level[MULTIGRID_MAX_LEVELS]; /* 0 is the finest */
    int stretched;                               /* some elements are: blocks, and coarse spaces like the finest */
    int64_t factor_dofs;                         /* there: a level with at most so many may be the last one */
    fem_direct *direct;                          /* the last level's solver; NULL: coarse is */
    int direct_kept;                             /* nonzero: it is options.keeper's, and factored */
    fem_coarse *coarse;                          /* options.keeper's, where there is one */
    double *coarse_b, *coarse_x;                 /* [dofs of the last level] beside coarse */
    double *host;                                /* [dofs of the finest level] where it is stretched */
};

/*
 * Cuts a level: each element goes to the device that has its first descendant on the next finer level, whose cut is known; or, where the
 * level is small, all go to one device.  Errors: INTERNAL (the levels do not match).
 */
yoke_status multigrid_cut(fem_multigrid *multigrid, int level);

/*
 * The last level's solver: the one that is kept, where it fits; or the matrix is assembled and handed to coarse.h.  Errors: MEMORY,
 * NUMERIC.
 */
yoke_status multigrid_create_coarse(fem_multigrid *multigrid);

/* z = B r, B the inverse node blocks or blocks of strongly coupled nodes. */
void multigrid_precondition(multigrid_level *level, const fem_vector *r, fem_vector *z);
/* x += p(B A) B (b - A x); from_zero: x counts as zero on entry, whatever it holds.  Writes d and t. */
void multigrid_smooth(multigrid_level *level, int degree, int from_zero);

/*
 * Largest eigenvalue of B A, B as in multigrid_precondition, by most_steps (at most 15) of the Lanczos method that conjugate
 * gradients carry along.  Uses the level's vectors.  Errors: MEMORY, NUMERIC (none is found), those of fem_decomposition_status.
 */
yoke_status multigrid_largest_eigenvalue(multigrid_level *level, int most_steps, double *eigenvalue);

#endif
