/*
 * method.h - the fast multipole method for particles at fixed positions: created once, run for any charges.
 *
 * Far field: multipole expansions of the leaves (P2M) and of the cells above them (M2M), translations between well-separated cells whose
 * parents touch (M2L), local expansions down to the leaves (L2L) and their values at the particles (L2P).  Near field: sums over the
 * particles of leaves that touch (L. Greengard and V. Rokhlin, J. Comput. Phys. 73 (1987) 325).  In adaptive trees, multipole expansions of
 * smaller cells act on the particles of larger leaves (M2P), and these particles on the cells' local expansions (P2L): lists W and X of
 * tree/lists.h.
 */
#ifndef FMM_METHOD_METHOD_H
#define FMM_METHOD_METHOD_H

#include <stdbool.h>

#include "expansion/expansion.h"
#include "expansion/pages.h"
#include "near/stop.h"
#include "particles/field.h"
#include "tree/lists.h"

typedef struct fmm_method fmm_method;

/* A clock for the parts of runs, if they are not to be measured in seconds.  The value of `now` increases while they work. */
typedef struct fmm_clock {
    double (*now)(void *user);
    void *user;
} fmm_clock;

/* NULL: the seconds of yoke_clock_s. */
static inline double fmm_clock_now_s(const fmm_clock *clock) { return clock ? clock->now(clock->user) : yoke_clock_s(); }

typedef struct fmm_method_options {
    int depth; /* level of the leaves; below 2 there is no far field: all pairs are summed */
    /* Leaves along each side (fmm_box_scaled) of a uniform tree of depth fmm_depth_of_cells; `depth` is then not read.  0: none. */
    int64_t cells;
    int64_t capacity; /* of an adaptive tree: leaves have at most this many particles or are on level `depth`; 0: a uniform tree */
    /* In an adaptive tree, cells of W and X with at most this many particles are summed directly; negative: fmm_method_direct of the
     * order. */
    int64_t direct;
    const int *order;       /* one number, as for fmm_method_set_order; NULL: it is set later */
    int gradient;           /* nonzero: gradients too */
    const fmm_clock *clock; /* NULL: seconds; borrowed until the method is destroyed */
    const fmm_stop *stop;   /* ends runs; NULL: nothing does; borrowed until the method is destroyed */
    /* Memory that is requested before its use is added here; NULL: none is requested; borrowed until the method is destroyed. */
    fmm_new_memory *memory;
    /* A tree over the particles in a box with the length of fmm_box_scaled, whose levels are rebuilt; the method takes ownership, also on
     * an error.  NULL: the method builds its tree. */
    fmm_tree *tree;
} fmm_method_options;

/* Seconds of the parts of a run, or differences of the method's clock. */
typedef struct fmm_method_seconds {
    double tree; /* fmm_method_create: tree, lists and tables */
    double upward, between, downward, near;
} fmm_method_seconds;

/*
 * Creates a method for the positions of the particles, which are copied, and their softening.  Charges are not read.  An adaptive tree is
 * at most fmm_method_deepest deep.  Errors: ARGUMENT (a depth that a tree cannot have; an order outside 0 ... FMM_MAX_ORDER), INPUT (a
 * uniform tree that is deeper than fmm_method_deepest; as fmm_scale_check_softening), MEMORY.
 */
yoke_status fmm_method_create(const fmm_particles *particles, const fmm_method_options *options, fmm_method **method);
/* NULL is allowed. */
void fmm_method_destroy(fmm_method *method);

/*
 * The depth of the deepest tree whose leaves have edges that are not shorter than the softening.  The positions of far pairs are then at
 * least that far apart, where the potential is not softened.  The result is at least 1 (no far field), and FMM_MAX_DEPTH without softening.
 */
int fmm_method_deepest(const fmm_box *box, double softening);

/*
 * Sets the order of translations between the nearest far cells (fmm_m2l_order).  This may be called repeatedly.
 * Errors: ARGUMENT (an order outside 0 ... FMM_MAX_ORDER), MEMORY.  No order is set after an error.
 */
yoke_status fmm_method_set_order(fmm_method *method, int order);

/*
 * Bit l of `levels`: M2L of level l uses plane waves of a set (expansion/waves.h) until an order is set again.  Other levels use rotations.
 * Errors: ARGUMENT (no order is set, or waves do not have this order or this set), MEMORY; after an error all levels use rotations.
 */
yoke_status fmm_method_set_waves(fmm_method *method, uint64_t levels, int set);

/*
 * Requests the pages of all expansions and waves from the system, so that the next run does not wait for page faults.  It does nothing if
 * the options had no `memory`.  fmm_method_expand does this itself for its multipole expansions.
 */
void fmm_method_get_memory(fmm_method *method);

/*
 * Allows later runs to sum the near field in single precision, for pairs that are not close; not with softening, nor if a charge is below
 * 2^-60 of the largest.  fmm_near_rounding estimates the errors.  fmm_method_is_single: whether the near field of the last run was in
 * single precision.
 */
void fmm_method_set_single(fmm_method *method, bool single);
bool fmm_method_is_single(const fmm_method *method);

/*
 * Estimates the largest errors by single precision in potentials and forces (charge times gradient), for the charges that were sorted or
 * run last: root mean squares over all particles, estimated from `samples` of them, in units of fmm_scale_positions and fmm_scale_charges.
 */
void fmm_near_rounding(const fmm_method *method, int samples, double *potential, double *force);

/* Read access to all multipole expansions.  All data belong to the method, and are valid until it is changed. */
typedef struct fmm_expanded {
    const fmm_tree *tree;
    const fmm_particles *particles; /* in the tree's order, in units of fmm_scale_positions and fmm_scale_charges */
    const fmm_operators *operators; /* for the expansions' order */
    int order;
    int64_t stride;           /* doubles from one cell's expansion to the next */
    double *const *multipole; /* [level][cell * stride], about the cells' centres, in units of their edges; NULL on levels 0 and 1 */
    const fmm_w_list *w;
} fmm_expanded;

/* Sorts charges in the tree's order.  *expanded has no expansions yet: its order is -1.  Errors: those of fmm_scale_charges. */
yoke_status fmm_method_sort_charges(fmm_method *method, const double *charge, fmm_expanded *expanded);
/*
 * Computes the multipole expansions of the charges that were sorted last, with an order, which becomes that of the method.  The next
 * run of the same charges reuses them if no higher order is set before.  Errors: those of fmm_method_set_order, INTERRUPTED.
 */
yoke_status fmm_method_expand(fmm_method *method, int order, fmm_expanded *expanded);
/* The seconds that the next run saves because of kept expansions: the part of the time for expanding that its lower order would have
 * taken.  0: no expansions are kept. */
double fmm_method_saved_s(const fmm_method *method);

/*
 * Computes the field of charges [number of particles] at all particles, in the order in which they were given.  The field's arrays are
 * overwritten; it must have gradients if and only if the method has.  Without softening, particles at the same position do not act on each other.  Results
 * have the same bits for any number of threads.  seconds: NULL is allowed.
 * Errors: INTERRUPTED (fmm_method_options.stop), ARGUMENT (a field of other particles or with other arrays, no order was set), those of fmm_scale_charges and
 * fmm_scale_field, MEMORY.
 */
yoke_status fmm_method_run(fmm_method *method, const double *charge, fmm_field *field, fmm_method_seconds *seconds);
/*
 * Computes only the near field, to measure it.  *seconds is the near part of fmm_method_seconds.  The field is not valid: its far field is
 * 0, or that of the previous run.  Errors: those of fmm_method_run.
 */
yoke_status fmm_method_run_near(fmm_method *method, const double *charge, fmm_field *field, double *seconds);

/*
 * After a run of the same charges (also by shared.h): computes the far field again, with the order that was set since, and adds the
 * near-field sums of that run.  The field is, bit for bit, that of a run with this order.  seconds->near: time to add both.
 * Errors: ARGUMENT (also: there was no run, or other charges were sorted since), those of fmm_scale_field, MEMORY.
 */
yoke_status fmm_method_run_far(fmm_method *method, const double *charge, fmm_field *field, fmm_method_seconds *seconds);

/*
 * Numbers of ordered pairs.  near: of particles whose leaves are near each other.  far: of cells in the far field of the last run.  w: of a
 * cell and a particle (M2P; there are as many P2L).
 */
typedef struct fmm_method_pairs {
    int64_t near, far, w;
} fmm_method_pairs;
fmm_method_pairs fmm_method_count(const fmm_method *method);

/*
 * Estimates the number of batches of M2L by rotations on a level with `cells` cells, `pairs` ordered pairs and `directions` directions of
 * these.  A batch has a direction and the opposite one, which count once (at most FMM_FAR_DIRECTIONS, lists.h), and up to 128 successive
 * cells.  If there are few pairs, some batches are empty by chance.
 */
double fmm_method_batches(double cells, double pairs, int directions);

/* The number of particles up to which a cell of W and X takes no more time by direct sums than by expansions of this order. */
int64_t fmm_method_direct(int order, int gradient);

/* As fmm_tree_may_coincide: whether particles may be at the same position. */
bool fmm_method_may_coincide(const fmm_method *method);

/* The tree, over the particles in units of fmm_scale_positions. */
const fmm_tree *fmm_method_tree(const fmm_method *method);

#endif
