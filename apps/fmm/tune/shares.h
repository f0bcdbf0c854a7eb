/*
 * shares.h - chooses the tree, the share of each device and the frequencies together, for trees whose near field is shared among devices
 * (method/shared.h).
 *
 * For each tree of a choice the run of these devices has rounds with all accelerators, with one of them if there are only a few, and with
 * none.
 */
#ifndef FMM_TUNE_SHARES_H
#define FMM_TUNE_SHARES_H

#include "tune/choose.h"

typedef struct fmm_shares_options {
    yoke_run *run;       /* of fmm_shared_open */
    const double *share; /* as given to the run */
    int gradient;
    int rests;                   /* nonzero: the run has not planned by powers yet, and first measures the idle powers of the devices */
    double *measured_s;          /* the time of measurements is added here */
    fmm_tune_progress *progress; /* NULL: none */
    void *user;                  /* passed to progress */
} fmm_shares_options;

/*
 * Where a run of devices computes the far field.  FMM_HOST_NONE: no host is active.  FMM_HOST_SIMULATED: units of work take virtual time;
 * units are pairs, and translations times (order + 1)^3.
 */
typedef enum fmm_host_kind { FMM_HOST_NONE, FMM_HOST_CORES, FMM_HOST_SIMULATED } fmm_host_kind;
/* Finds the kind of host of a run.  Errors: those of yoke_run_devices. */
yoke_status fmm_shares_host(yoke_run *run, fmm_host_kind *kind);

/* Sets the costs to units of work of a simulated host, to count the work of a tree. */
void fmm_machine_count_work(fmm_machine *machine);

/*
 * As fmm_choose, among all trees of the choice, by a run of devices with a host.  machine: costs of that host, or those of
 * fmm_machine_count_work.  Works that were never measured on a device are measured first, on cubes full of particles, and saved if the run
 * has a store.  The predictions for each tree with these devices replace those for the cores alone.
 * Errors: those of yoke_run_plan, yoke_run_calibrate, fmm_shared_create and progress, MEMORY.
 */
yoke_status fmm_shares_choose(yoke_context *context, const fmm_shares_options *options, const fmm_machine *machine, int64_t particles,
                              fmm_choice *choice);

/*
 * After fmm_shares_choose: finds whether a tree between two depths is estimated to be better than the chosen one, although the particles
 * have to be sorted again for it, which takes sort_s.  *cells: its number of cells along each side; 0: there is none.  Errors: those of
 * yoke_run_plan, MEMORY.
 */
yoke_status fmm_shares_between(yoke_context *context, const fmm_shares_options *options, const fmm_machine *machine, int64_t particles,
                               fmm_choice *choice, double sort_s, int64_t *cells);

#endif
