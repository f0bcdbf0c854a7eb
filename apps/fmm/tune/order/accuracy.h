/*
 * accuracy.h - chooses the order of the expansions for a requested error.
 *
 * Errors are relative, in the 2-norm over all particles: |computed - exact| / |exact|.  Nothing is assumed about positions and charges: the
 * error of each level is measured at a sample of cells (tails.h), and the norm of the potentials at a sample of particles (norms.h).
 */
#ifndef FMM_TUNE_ORDER_ACCURACY_H
#define FMM_TUNE_ORDER_ACCURACY_H

#include "method/method.h"
#include "near/sample.h"

typedef enum fmm_quantity { FMM_POTENTIALS, FMM_FORCES, FMM_ENERGY } fmm_quantity;

/* "potentials", ..., and NULL after the last. */
extern const char *const fmm_quantity_names[4];

typedef struct fmm_request {
    double error; /* above 0 */
    fmm_quantity of;
    uint64_t waves; /* levels whose M2L is to use plane waves (fmm_method_set_waves), if there is a set that keeps the request; 0: none */
    int finer;      /* the set that is tried first is that of an order this much higher, or the last one */
    int guess;      /* an order that is probably near the result, which saves time; 0: none is known */
    const fmm_reference *sums; /* NULL, or direct sums for the particles and their charges, so that no others are computed */
} fmm_request;

typedef struct fmm_accuracy {
    int order;
    int set;                         /* set of plane waves on the levels of the request; predicted errors include theirs; 0: rotations */
    double potential, force, energy; /* predicted errors with this order */
    /* Standard errors of the predictions, relative to them, ... */
    double potential_uncertainty, force_uncertainty, energy_uncertainty;
    /* ... and the part of the standard errors that is due to the norms. */
    double potential_norm_uncertainty, force_norm_uncertainty, energy_norm_uncertainty;
    double potential_rounding;             /* error by rounding in double precision, with any order; `potential` includes it */
    double single_potential, single_force; /* estimated maximum error by a near field in single precision; NaN: not needed */
} fmm_accuracy;

/*
 * Finds the least order, 0 ... FMM_MAX_ORDER - 2, whose predicted error plus two standard errors is not above the request; 0 if all pairs
 * are near.  The method's orders are changed.  The result is the same for any number of threads.
 * Errors: INPUT (the error cannot be reached; the message has the cause, and an error that can be reached), those of
 * fmm_method_sort_charges and fmm_method_expand.
 */
yoke_status fmm_choose_order(fmm_method *method, const double *charge, const fmm_request *request, fmm_accuracy *accuracy);

/*
 * Whether the requested error allows a near field in single precision, whose additional error must be below a tenth of the request.  The
 * first function uses the request alone, before there is a tree; the second also uses the estimate.
 */
bool fmm_request_may_be_single(const fmm_request *request);
bool fmm_accuracy_is_single(const fmm_accuracy *accuracy, const fmm_request *request);

/* The predicted error of the requested quantity, plus `times` standard errors. */
double fmm_accuracy_upper(const fmm_accuracy *accuracy, fmm_quantity of, double times);

/* Estimates roughly the order that evenly distributed charges of random signs need for an error of their potentials, for choices that are
 * made before. */
int fmm_order_guess(double error);

/* After a run: converts predictions relative to a norm that a sample estimated, so that they are relative to the norm of all particles.
 * The sample must have the same direct sums. */
void fmm_accuracy_correct(fmm_accuracy *accuracy, const fmm_sample *sample);

/*
 * An upper estimate of the error of the energy after a run, from the prediction and a sample.  The sample is significant only if its mean
 * is far above its standard error: parts of the error that have random signs cancel among all particles much better than among few.
 */
double fmm_energy_error(const fmm_accuracy *accuracy, const fmm_sample *sample);

/* The set of plane waves for a higher order, raised by the same amount; 0: there is none. */
int fmm_accuracy_set(const fmm_accuracy *accuracy, int order);

/* After a run with a higher order: reduces the predictions as errors usually fall.  They then have no weight beside a sample, except that
 * of the energy. */
void fmm_accuracy_raise(fmm_accuracy *accuracy, int order);

/*
 * After a run with an order: by how much the order must be raised (to at most FMM_MAX_ORDER), because the error is above the request by the
 * weighted mean of the error that direct sums found at a sample and the predicted one, or by the sample alone if the two contradict each
 * other.  0: the error is within the request, or there is no sample.
 */
int fmm_order_missing(const fmm_request *request, const fmm_accuracy *accuracy, const fmm_sample *sample, int order);

#endif
