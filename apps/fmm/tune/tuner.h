/*
 * tuner.h - what a tuner holds, and its costs; private to this folder.
 */
#ifndef FMM_TUNE_TUNER_H
#define FMM_TUNE_TUNER_H

#include "tune/tune.h"

struct fmm_tuner {
    yoke_context *context;
    const fmm_particles *particles;
    const fmm_tune_options *options;
    const char *store;    /* that of the options; NULL as soon as it turns out not to be writable */
    fmm_counter *counter; /* NULL: costs are seconds */
    yoke_run *run;        /* of the cores; NULL: not needed yet */
    fmm_host_kind host;   /* of the devices that share the near field; NONE: the cores are all */
    fmm_machine machine;
    int looked; /* nonzero: `even` is of these particles */
    fmm_even even;
    fmm_analysis *analysis; /* NULL until it is asked */
    int num_capacities;     /* of adaptive trees of these particles; 0: not listed yet */
    int64_t capacity[FMM_MAX_CAPACITIES];
    int64_t cells;            /* of the tree between two depths that was counted last; 0: none */
    fmm_analysis *between;    /* of that tree; its counts are kept after the tree was taken */
    int takes_cells;          /* nonzero: it was chosen last */
    int measured_now, rested; /* rested: the devices were planned by powers */
    int warned;               /* nonzero: it was told that other programs disturbed measurements */
    double machine_s;         /* 0 after it was told */
    int64_t learned;          /* runs */
    int finer;                /* of waves */
    int single;               /* nonzero: near field in single precision */
};

/*
 * Costs of the host into t->machine, for trees of an order and with waves of a set `finer` above it, as far as they are not there: from the store, or measured; of
 * simulated devices what they count.  Errors: those of yoke_run_create, fmm_machine_get and fmm_machine_measure_missing.
 */
yoke_status fmm_tuner_get_costs(fmm_tuner *t, int order, int finer);
/* Keeps what runs taught of predictions.  Errors: those of fmm_machine_put_factors and yoke_run_save. */
yoke_status fmm_tuner_save_factors(fmm_tuner *t);

#endif
