/*
 * accuracy.h - from the error that is requested to the order of the expansions.
 *
 * Errors are relative, in the 2-norm over all particles: |computed - exact| / |exact|.  Nothing is assumed of positions and charges: the error of each
 * level is measured at a sample of cells (tails.h), the potentials that it is relative to at a sample of particles (norms.h).
 */
#ifndef FMM_TUNE_ORDER_ACCURACY_H
#define FMM_TUNE_ORDER_ACCURACY_H

#include "method/method.h"
#include "near/sample.h"

typedef enum fmm_quantity { FMM_POTENTIALS, FMM_FORCES, FMM_ENERGY } fmm_quantity;

/* "potentials", ..., and NULL behind the last. */
extern const char *const fmm_quantity_names[4];

typedef struct fmm_request {
    double error; /* above 0 */
    fmm_quantity of;
    uint64_t waves; /* levels whose M2L is to be by plane waves (fmm_method_set_waves), if a set of them keeps the request; 0: none */
    int finer;      /* the set that is tried first is that of an order so much higher, or the last one */
    int guess;      /* an order that is likely to be near the one that is looked for, which saves time; 0: none is known */
    const fmm_reference *sums; /* NULL, or direct sums of the particles and their charges, which saves others */
} fmm_request;

typedef struct fmm_accuracy {
    int order;
    int set;                         /* of plane waves on the levels of the request, whose errors are in the predicted ones; 0: rotations */
    double potential, force, energy; /* predicted errors with that order                                 */
    double potential_uncertainty, force_uncertainty,
        energy_uncertainty; /* their standard errors, as parts of them                          */
    double potential_norm_uncertainty, force_norm_uncertainty,
        energy_norm_uncertainty;           /* the part of these that is due to what errors are relative to */
    double potential_rounding;             /* what double precision adds, with any order; it is in `potential` too */
    double single_potential, single_force; /* what a near field in single precision adds at most, estimated; NaN: not asked for */
} fmm_accuracy;

/*
 * The least order, 0 ... FMM_MAX_ORDER - 2, whose predicted error and twice its standard error are not above the request; 0 where all pairs are near.
 * The method's orders are others afterwards.  The same at each number of threads.
 * Errors: INPUT (the error cannot be reached: by which cause, and which one can be), those of fmm_method_sort_charges and fmm_method_expand.
 */
yoke_status fmm_choose_order(fmm_method *method, const double *charge, const fmm_request *request, fmm_accuracy *accuracy);

/*
 * Whether the near field may be in single precision by an error that is requested: what that adds is to be below a tenth of it.  The first by the request
 * alone, before there is a tree; the second by the estimate too.
 */
bool fmm_request_may_be_single(const fmm_request *request);
bool fmm_accuracy_is_single(const fmm_accuracy *accuracy, const fmm_request *request);

/* That of the requested quantity; with `times` standard errors. */
double fmm_accuracy_upper(const fmm_accuracy *accuracy, fmm_quantity of, double times);

/* The order that evenly distributed charges of random signs need for an error of their potentials, roughly: for what is chosen before. */
int fmm_order_guess(double error);

/* After a run: what is relative to a norm that a sample estimated becomes relative to that of all particles.  The sample has the same direct sums. */
void fmm_accuracy_correct(fmm_accuracy *accuracy, const fmm_sample *sample);

/*
 * What the error of the energy may be after a run, by the prediction and a sample.  That tells of it only where its mean is above its standard error by far:
 * parts of the error that have random signs cancel among all particles much better than among few.
 */
double fmm_energy_error(const fmm_accuracy *accuracy, const fmm_sample *sample);

/* The set of plane waves for a higher order, as much higher; 0: there is none. */
int fmm_accuracy_set(const fmm_accuracy *accuracy, int order);

/* After a run with a higher order: predictions fall as errors usually do, and count for nothing beside a sample (but that of the energy). */
void fmm_accuracy_raise(fmm_accuracy *accuracy, int order);

/*
 * After a run with an order: by how much it shall be higher (at most FMM_MAX_ORDER in all), because the error that direct sums found at a sample and the
 * predicted one, each by its weight, say that it is above the request; where they contradict each other, the sample alone; 0: it is as it should be, or
 * there is no sample.
 */
int fmm_order_missing(const fmm_request *request, const fmm_accuracy *accuracy, const fmm_sample *sample, int order);

#endif
