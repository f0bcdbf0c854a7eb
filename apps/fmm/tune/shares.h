/*
 * shares.h - tree, share of each device and frequencies chosen together, for trees whose near field is shared among devices (method/shared.h).
 *
 * The trees of a choice are rounds of the run of these devices: each with all accelerators, with one of a few, and with none.
 */
#ifndef FMM_TUNE_SHARES_H
#define FMM_TUNE_SHARES_H

#include "tune/choose.h"

typedef struct fmm_shares_options {
    yoke_run *run;       /* of fmm_shared_open */
    const double *share; /* as it was given to it */
    int gradient;
    int rests;                   /* nonzero: the run has not planned by powers yet, and measures first what the devices draw at rest */
    double *measured_s;          /* what measuring takes is added to it */
    fmm_tune_progress *progress; /* NULL: none */
    void *user;                  /* of progress */
} fmm_shares_options;

/*
 * How a run of devices does the far field.  FMM_HOST_NONE: no host is active.  FMM_HOST_SIMULATED: virtual time passes for units of work: pairs, and
 * translations times (order + 1)^3.
 */
typedef enum fmm_host_kind { FMM_HOST_NONE, FMM_HOST_CORES, FMM_HOST_SIMULATED } fmm_host_kind;
/* Errors: those of yoke_run_devices. */
yoke_status fmm_shares_host(yoke_run *run, fmm_host_kind *kind);

/* Costs that are units of work of a simulated host, for counts of what a tree asks. */
void fmm_machine_count_work(fmm_machine *machine);

/*
 * As fmm_choose, among all trees of the choice, by a run of devices with a host.  machine: costs of that host, or those of fmm_machine_count_work.  Works that were
 * never measured on a device are measured first, on cubes full of particles, and saved where the run has a store.  What is predicted of each tree with
 * these devices takes the place of what is predicted of the cores alone.
 * Errors: those of yoke_run_plan, yoke_run_calibrate, fmm_shared_create and progress, MEMORY.
 */
yoke_status fmm_shares_choose(yoke_context *context, const fmm_shares_options *options, const fmm_machine *machine, int64_t particles,
                              fmm_choice *choice);

/*
 * Of a choice by fmm_shares_choose: whether a tree between two depths may be better than the chosen one, by what is estimated of it, although the particles
 * have to be sorted again for it, which takes sort_s.  *cells: along each side of it; 0: none is.  Errors: those of yoke_run_plan, MEMORY.
 */
yoke_status fmm_shares_between(yoke_context *context, const fmm_shares_options *options, const fmm_machine *machine, int64_t particles,
                               fmm_choice *choice, double sort_s, int64_t *cells);

#endif
