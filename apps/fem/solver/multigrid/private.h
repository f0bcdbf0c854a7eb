/* multigrid/private.h - the levels of the multigrid, shared by set-up and cycle. */
#ifndef FEM_SOLVER_MULTIGRID_PRIVATE_H
#define FEM_SOLVER_MULTIGRID_PRIVATE_H

#include "solver/coarse/coarse.h"
#include "solver/direct/direct.h"
#include "solver/multigrid/blocks.h"
#include "solver/multigrid/multigrid.h"

typedef struct multigrid_level {
    fem_forest *forest; /* NULL if that of the next finer level is used */
    const fem_space *space;
    const fem_constraints *constraints;
    fem_space *own_space; /* NULL on the finest level, which borrows */
    fem_constraints *own_constraints;
    int32_t cut[FEM_MAX_DEVICES + 1]; /* as in fem_decomposition_options */
    fem_decomposition *decomposition;
    fem_vector *b, *x, *d, *t;
    fem_interpolation *to_finer; /* from this level to the next finer one, until the decomposition is created; NULL on the finest */
    double eigenvalue_low, eigenvalue_high; /* range of the smoother */
    double weight;                          /* of the correction by coarser levels: at most 1 */
    multigrid_blocks *blocks;               /* of strongly coupled nodes; NULL: the smoother has the node blocks of the decomposition */
    double block_size[2];                   /* multigrid_blocks_size of all ranks */
    double *host;                           /* [dofs] used together with blocks: the multigrid's, one for all levels */
} multigrid_level;

/* On several ranks: the part of the work that rank 0 does for all. */
typedef struct multigrid_gathered multigrid_gathered;

enum { MULTIGRID_MAX_LEVELS = FEM_MAX_LEVEL + 2 };

struct fem_multigrid {
    yoke_context *context;
    fem_multigrid_options options; /* with defaults filled in */
    int64_t asked_direct_dofs;     /* value of the caller's options */
    const fem_hooks *hooks;
    int num_levels;
    multigrid_level level[MULTIGRID_MAX_LEVELS]; /* 0 is the finest */
    int stretched;                               /* nonzero: some elements are stretched: blocks, and coarse spaces like the finest */
    int64_t factor_dofs;                         /* in that case a level with at most this number may be the last one */
    fem_direct *direct;                          /* the last level's solver; NULL: it is coarse */
    int direct_kept;                             /* nonzero: options.keeper owns it, and it is factored */
    fem_coarse *coarse;                          /* owned by options.keeper or ranks_keeper, if there is one */
    double *coarse_b, *coarse_x;                 /* [dofs of the last level] for coarse; on several ranks coarse_x has owned ones */
    fem_runs *coarse_vectors;                    /* on several ranks: to a solver created for other ranges of nodes; NULL: not needed */
    double *coarse_moved;                        /* for coarse_vectors: values of the solver's nodes */
    fem_halo_messages *coarse_messages;          /* for coarse on several ranks: sends its results to all ranks that have the nodes */
    multigrid_gathered *gathered;                /* instead of all these, on several ranks */
    fem_coarse_keeper *ranks_keeper;             /* on several ranks: the caller's; options.keeper is then NULL */
    int64_t host_dofs;                           /* largest number of dofs of a level if elements are stretched; otherwise 0 */
    double *host;                                /* [host_dofs] */
};

/*
 * Divides a level: each element goes to the device that has its first descendant on the next finer level, whose cut is known; or, if the
 * level is small, all go to one device.  Errors: INTERNAL (the levels do not match).
 */
yoke_status multigrid_cut(fem_multigrid *multigrid, int level);

/* Whether the last level is to be solved by algebraic multigrid, by options.algebraic_dofs.  Collective. */
int multigrid_is_algebraic(const fem_multigrid *multigrid);

/*
 * Creates the last level's solver: the kept one, if it is that of the level; otherwise the matrix is assembled and passed to coarse.h.
 * Errors: MEMORY, NUMERIC.
 */
yoke_status multigrid_create_coarse(fem_multigrid *multigrid);

/* The last level's matrix in block rows by nodes, while elements are added. */
typedef struct multigrid_assembly {
    const fem_space *space;
    const int32_t *row; /* [num_nodes] row of each node; NULL: its own number */
    int64_t *row_start;
    int32_t *column; /* nodes by their numbers over all ranks, in any order */
    double *value;
} multigrid_assembly;
yoke_status multigrid_add_elements(const multigrid_level *last, multigrid_assembly *assembly);

/* On several ranks: creates the last level's solver, algebraic multigrid, on all of them.  Collective.  Errors: as of fem_coarse_create. */
yoke_status multigrid_create_coarse_on_ranks(fem_multigrid *multigrid);
/* x of the level = its result for b.  Collective; all ranks know of an error. */
yoke_status multigrid_solve_on_ranks(fem_multigrid *multigrid, multigrid_level *level);

/*
 * On several ranks: gathers the last level on rank 0, with a multigrid there.  Collective.  Errors: those of fem_multigrid_create and
 * fem_gathering_create.
 */
yoke_status multigrid_gather(fem_multigrid *multigrid);
void multigrid_gathered_destroy(multigrid_gathered *gathered); /* NULL allowed */
/* x of the level = that multigrid's cycle for b.  Collective. */
yoke_status multigrid_solve_gathered(multigrid_gathered *gathered, multigrid_level *level);
/* multigrid_gathered_whole: NULL on ranks other than 0.  multigrid_gathered_work: its cost, known to all. */
fem_multigrid *multigrid_gathered_whole(const multigrid_gathered *gathered);
void multigrid_gathered_add_sent(const multigrid_gathered *gathered, int64_t *messages, int64_t *bytes);
fem_multigrid_work multigrid_gathered_work(const multigrid_gathered *gathered);
/* values [dofs of the finest level] = the cycle for `values`.  Errors: those of the last level's solver and of the subdomains. */
yoke_status multigrid_apply_whole(fem_multigrid *multigrid, double *values);

/* z = B r, B the inverse node blocks or blocks of strongly coupled nodes. */
void multigrid_precondition(multigrid_level *level, const fem_vector *r, fem_vector *z);
/* x += p(B A) B (b - A x); from_zero: x counts as zero on entry, whatever it holds.  Writes d and t. */
void multigrid_smooth(multigrid_level *level, int degree, int from_zero);

/* z = B r, B symmetric and positive definite on the level. */
typedef yoke_status multigrid_operation(void *state, const fem_vector *r, fem_vector *z);

/*
 * Finds the largest eigenvalue of B A by most_steps (at most 15) steps of the Lanczos method that is part of conjugate gradients.  Writes
 * work.
 * Errors: MEMORY, NUMERIC (none is found), those of B and of fem_decomposition_status.
 */
yoke_status multigrid_largest_eigenvalue(multigrid_level *level, multigrid_operation *b, void *state, fem_vector *const work[4],
                                         int most_steps, double *eigenvalue);
/* The same with B as in multigrid_precondition.  Uses the level's vectors. */
yoke_status multigrid_smoother_eigenvalue(multigrid_level *level, int most_steps, double *eigenvalue);

/* Number of corrections by level l in a cycle of the next finer one. */
int multigrid_corrections(const fem_multigrid *multigrid, int l);
/* The cycle as the function of a fem_approximate_inverse. */
yoke_status multigrid_apply(void *multigrid, const fem_vector *r, double norm_r, fem_vector *z);
/*
 * Finds the weights of levels that are corrected twice, from the coarsest; everything else has been created.
 * Errors: those of multigrid_largest_eigenvalue.
 */
yoke_status multigrid_weigh(fem_multigrid *multigrid);

#endif
