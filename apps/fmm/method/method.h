/*
 * method.h - the fast multipole method for particles at fixed places: made once, run for any charges.
 *
 * Far field: multipole expansions of the leaves (P2M) and of the cells above them (M2M), from each cell to those well separated from it whose parents
 * touch (M2L), and down again to the leaves (L2L) and their particles (L2P).  Near field: sums over the particles of leaves that touch
 * (L. Greengard and V. Rokhlin, J. Comput. Phys. 73 (1987) 325).  In adaptive trees multipole expansions of smaller cells act on the particles of
 * larger leaves (M2P) and those on the cells' local expansions (P2L): lists W and X of tree/lists.h.
 */
#ifndef FMM_METHOD_METHOD_H
#define FMM_METHOD_METHOD_H

#include <stdbool.h>

#include "expansion/expansion.h"
#include "expansion/pages.h"
#include "particles/field.h"
#include "tree/lists.h"

typedef struct fmm_method fmm_method;

/* What parts of runs are told in, where that is not seconds: what `now` shows goes up while they are at work. */
typedef struct fmm_clock {
    double (*now)(void *user);
    void *user;
} fmm_clock;

typedef struct fmm_method_options {
    int depth; /* of the leaves; below 2 there is no far field: all pairs are summed */
    int64_t
        cells; /* 0, or of a uniform tree of depth fmm_depth_of_cells: leaves along each side (fmm_box_around_cells); `depth` is not read then */
    int64_t capacity; /* 0, or of an adaptive tree: leaves have at most so many particles or are on level `depth` */
    int64_t
        direct; /* of an adaptive tree: cells of W and X with at most so many particles are summed directly; negative: fmm_method_direct of the highest order */
    const int *order;       /* as fmm_method_set_orders has them; NULL: they are set later */
    int gradient;           /* nonzero: gradients too */
    const fmm_clock *clock; /* NULL: the clock, so that all seconds are seconds; borrowed until the method is destroyed */
    fmm_new_memory *memory; /* what is got ahead of its use is added; NULL: nothing is; borrowed until the method is destroyed */
    fmm_tree *
        tree; /* NULL, or a tree over the particles in a box with the length of fmm_box_scaled, which is divided anew; taken over, also on an error */
} fmm_method_options;

/* Seconds of the parts of a run, or what the method's clock shows. */
typedef struct fmm_method_seconds {
    double tree; /* fmm_method_create: tree, lists and tables */
    double upward, between, downward, near;
} fmm_method_seconds;

/*
 * For the positions of the particles (their charges are not read), which are copied, and their softening.  An adaptive tree goes down to
 * fmm_method_deepest at most.  Errors: ARGUMENT (a depth that a tree cannot have; an order outside 0 ... FMM_MAX_ORDER), INPUT (a uniform tree that is
 * deeper than fmm_method_deepest; as fmm_scale_check_softening), MEMORY.
 */
yoke_status fmm_method_create(const fmm_particles *particles, const fmm_method_options *options, fmm_method **method);
/* NULL allowed. */
void fmm_method_destroy(fmm_method *method);

/*
 * The deepest tree whose leaves have edges that are not shorter than the softening: its far field is between places that are at least as far from each
 * other, where there is none.  1, without a far field, at least; FMM_MAX_DEPTH without softening.
 */
int fmm_method_deepest(const fmm_box *box, double softening);

/*
 * order [depth + 1]: of the translations between the nearest far cells of each level (fmm_m2l_order); those of levels 0 and 1 are not used.  May be called again.
 * Errors: ARGUMENT (an order outside 0 ... FMM_MAX_ORDER), MEMORY.
 */
yoke_status fmm_method_set_orders(fmm_method *method, const int *order);
/* The same order on all levels. */
yoke_status fmm_method_set_order(fmm_method *method, int order);

/*
 * Bit l of `levels`: M2L of level l is by plane waves of a set (expansion/waves.h), until orders are set again; of other levels by rotations.
 * Errors: ARGUMENT (orders that were not set, or that waves do not have, or the set), MEMORY; after one all levels are by rotations.
 */
yoke_status fmm_method_set_waves(fmm_method *method, uint64_t levels, int set);

/*
 * Gets the pages of all expansions and waves from the system, so that the next run does not wait for them; nothing where the options had no `memory`.  Multipole
 * expansions of fmm_method_expand are got by itself.
 */
void fmm_method_get_memory(fmm_method *method);

/*
 * The near field of later runs may be summed in single precision where pairs are not close; not with softening, nor where a charge is below 2^-60 of the largest.
 * (fmm_near_rounding tells its errors.)  fmm_method_is_single: whether that of the last run was.
 */
void fmm_method_set_single(fmm_method *method, bool single);
bool fmm_method_is_single(const fmm_method *method);

/*
 * What single precision may do to potentials and forces (charge times gradient) of the charges that were sorted or run last: root mean squares over all particles of
 * what it is estimated to do at most, by so many of them, in units of fmm_scale_positions and fmm_scale_charges.
 */
void fmm_near_rounding(const fmm_method *method, int samples, double *potential, double *force);

/* All multipole expansions, to look at.  All is the method's, and holds until it is changed. */
typedef struct fmm_expanded {
    const fmm_tree *tree;
    const fmm_particles *particles; /* in the tree's order, in units of fmm_scale_positions and fmm_scale_charges */
    const fmm_operators *operators; /* of the expansions' order */
    int order;
    int64_t stride;           /* doubles from one cell's expansion to the next */
    double *const *multipole; /* [level][cell * stride], about the cells' centres, in units of their edges; NULL on levels 0 and 1 */
    const fmm_w_list *w;
} fmm_expanded;

/* The charges' particles in the tree's order, and no expansions yet: order -1.  Errors: those of fmm_scale_charges. */
yoke_status fmm_method_sort_charges(fmm_method *method, const double *charge, fmm_expanded *expanded);
/*
 * The multipole expansions of charges that were sorted last, with one order, which becomes that of all levels.  The next run of the same charges takes them
 * as they are, if no higher orders are set before.  Errors: of fmm_method_set_orders.
 */
yoke_status fmm_method_expand(fmm_method *method, int order, fmm_expanded *expanded);
/* The seconds that this run saves: of what expanding took as much as orders below the expansions' would have taken.  0: no expansions are kept. */
double fmm_method_saved_s(const fmm_method *method);

/*
 * The field of charges [count of particles] at all particles, in the order in which they were given; the field's arrays are overwritten.  It has
 * gradients if and only if the method has.  Particles at one place do not act on each other.  The same bits come out for any number of threads.
 * seconds: NULL allowed.  Errors: ARGUMENT (a field of other particles or with other arrays, orders that were not set), those of fmm_scale_charges and fmm_scale_field, MEMORY.
 */
yoke_status fmm_method_run(fmm_method *method, const double *charge, fmm_field *field, fmm_method_seconds *seconds);
/*
 * The part of a run that is the near field, to measure it: *seconds is what fmm_method_run tells of it.  The field is of no use: its far field is 0, or of the run
 * before.  Errors: those of fmm_method_run.
 */
yoke_status fmm_method_run_near(fmm_method *method, const double *charge, fmm_field *field, double *seconds);

/*
 * After a run of the same charges (also by shared.h): the far field again, with the orders that were set since, and the near field's sums of that run.
 * The field is, bit for bit, that of a run with these orders.  seconds->near: of adding both.  Errors: ARGUMENT (also: there was no run, or other charges
 * were sorted since), those of fmm_scale_field, MEMORY.
 */
yoke_status fmm_method_run_far(fmm_method *method, const double *charge, fmm_field *field, fmm_method_seconds *seconds);

/*
 * Ordered pairs of the near field: of particles whose leaves are near each other; and of the far field: of cells (of the last run), and of a cell and a
 * particle (w: M2P; there are as many P2L).
 */
typedef struct fmm_method_pairs {
    int64_t near, far, w;
} fmm_method_pairs;
fmm_method_pairs fmm_method_count(const fmm_method *method);

/*
 * About how many batches M2L by rotations has on a level with so many cells, ordered pairs, and directions of these: each is of a direction and of the opposite one,
 * which count once (at most FMM_FAR_DIRECTIONS, lists.h), and of up to 128 cells that follow each other.  Where there are few pairs, some batches have none, by chance.
 */
double fmm_method_batches(double cells, double pairs, int directions);

/* The number of particles below which a cell of W and X takes less time by direct sums than by expansions of an order. */
int64_t fmm_method_direct(int order, int gradient);

/* The tree, over the particles in units of fmm_scale_positions. */
const fmm_tree *fmm_method_tree(const fmm_method *method);

#endif
