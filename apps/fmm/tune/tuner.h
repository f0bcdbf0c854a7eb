/*
 * tuner.h - the data of a tuner, and its costs; private to this folder.
 */
#ifndef FMM_TUNE_TUNER_H
#define FMM_TUNE_TUNER_H

#include "tune/tune.h"

struct fmm_tuner {
    yoke_context *context;
    const fmm_particles *particles;
    const fmm_tune_options *options;
    const char *store;    /* that of the options; NULL once it is found not to be writable */
    fmm_counter *counter; /* NULL: costs are seconds */
    yoke_run *run;        /* of the cores; NULL: not needed yet */
    fmm_host_kind host;   /* host of the devices that share the near field; NONE: only the cores are used */
    fmm_machine machine;
    int looked; /* nonzero: `even` belongs to these particles */
    fmm_even even;
    fmm_analysis *analysis; /* NULL until it is needed */
    int thin;               /* nonzero: adaptive trees are not counted, because the particles are on surfaces or curves */
    int num_capacities;     /* number of capacities of adaptive trees of these particles; 0: not listed yet */
    int64_t capacity[FMM_MAX_CAPACITIES];
    int64_t cells;            /* cells along each side of the tree between two depths that was counted last; 0: none */
    fmm_analysis *between;    /* counts of that tree; they are kept after the tree was taken */
    int takes_cells;          /* nonzero: that tree was chosen last */
    int measured_now, rested; /* rested: the devices were planned by powers */
    int warned;               /* nonzero: the warning that other programs disturbed measurements was given */
    double machine_s;         /* 0 after it was reported */
    int64_t learned;          /* number of runs that were learned from */
    int finer;                /* as for fmm_tuner_set_waves */
    int single;               /* nonzero: near field in single precision */
};

/*
 * Adds missing costs of the host to t->machine, for trees of an order and with waves of a set `finer` above it.  They are read from the
 * store or measured; for simulated devices they are units of work.  Errors: those of yoke_run_create, fmm_machine_get and
 * fmm_machine_measure_missing.
 */
yoke_status fmm_tuner_get_costs(fmm_tuner *t, int order, int finer);
/* Saves the corrections that were learned from runs.  Errors: those of fmm_machine_put_factors and yoke_run_save. */
yoke_status fmm_tuner_save_factors(fmm_tuner *t);

#endif
