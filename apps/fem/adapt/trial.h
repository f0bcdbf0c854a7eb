/*
 * trial.h - products by one device alone, for its speed and its power.
 */
#ifndef FEM_ADAPT_TRIAL_H
#define FEM_ADAPT_TRIAL_H

#include "operator/decomposition.h"

typedef struct fem_trial_options {
    fem_devices *devices;
    int device;       /* its number there; nobody else works */
    int32_t elements; /* the first so many of the space, at least 1 */
    fem_operator operator_kind;
    yoke_meters *meter;   /* NULL: no energies */
    int64_t num_energies; /* open meters */
    double min_s;         /* on the device's clock: products are repeated so long */
    int64_t least, most;  /* ... and at least and at most so many times */
} fem_trial_options;

typedef struct fem_trial {
    double moved_s;             /* moving the elements' data to the device took so long; NaN: nothing moves */
    double seconds_per_product; /* busy */
    double busy_s, seconds;     /* of all products; of the interval in which they were made */
    yoke_energy total;          /* of that interval */
} fem_trial;

/*
 * energies [num_energies]: of each open meter; may be NULL.
 * Errors: those of fem_decomposition_create and of the meters; after DEVICE the device is marked as failed.
 */
yoke_status fem_trial_run(const fem_space *space, const fem_constraints *constraints, const fem_trial_options *options, fem_trial *trial,
                          yoke_energy *energies);

#endif
