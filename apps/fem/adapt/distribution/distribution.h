/*
 * distribution.h - distributes elements over devices, from step to step of the refinement: a run of the library (yoke/run.h) with a round
 * for each solve.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_DISTRIBUTION_H
#define FEM_ADAPT_DISTRIBUTION_DISTRIBUTION_H

#include <jansson.h>

#include "adapt/distribution/round.h"
#include "output/record.h"

typedef struct fem_distribution_options {
    /*
     * Names separated by commas.  NULL or "auto": all devices of a simulated machine; otherwise all cores and every GPU, by the first
     * interface that offers it.
     */
    const char *devices;
    const char *store;    /* a file with measurements of earlier runs: read at the start, written after each step; NULL: none */
    const char *declared; /* powers of the machine, as in yoke_meter_options; NULL: none */
    /*
     * A model file, to which the inputs of each step's plan are written; the latest plan stays, and on several ranks that of all ranks.
     * NULL: none.  It is given on all ranks, or on none.
     */
    const char *model;
    int simulated; /* nonzero: each rank has its own simulated machine; zero: ranks of a machine share its meters */
    yoke_run_use use;
    yoke_balance_policy policy;
    double gpu_share; /* fixed share of the elements; NaN: the policy decides */
    fem_exchange exchange;
    yoke_objective objective;
    double max_slowdown, power_cap_w, deadline_s; /* NaN: none */
    int keep_frequencies;                         /* nonzero: frequencies are not changed; zero: they are chosen if energy counts */
    const fem_case *input;                        /* for the powers that it declares; borrowed */
    fem_operator operator_kind;
    app_ranks *ranks; /* borrowed; NULL: one rank.  Each rank has its own devices */
    int64_t rounds;   /* largest number of refinement steps that follow */
    int profile;      /* nonzero: the energy of each kernel is determined */
    /* Result of fem_distribution_save in an earlier run of the case, the same on all ranks; borrowed; NULL: none. */
    const json_t *saved;
} fem_distribution_options;

typedef struct fem_distribution fem_distribution;

/* Nonzero: shares are computed by plans that need powers. */
int fem_distribution_plans(const fem_distribution_options *options);

/*
 * Opens devices, meters, frequencies and store.  A simulated machine is read before (yoke_machine_read).  Measurements of the store and of
 * earlier runs are used only for the same work on devices of the same description.  The options' texts are borrowed.
 * Errors: INPUT (device list, share without a GPU or without a CPU, store file; the objective needs powers, and there is no source of
 * them), UNAVAILABLE (no such device: reason, remedy), DEVICE, MEMORY.
 */
yoke_status fem_distribution_create(yoke_context *context, const fem_distribution_options *options, fem_distribution **distribution);
void fem_distribution_destroy(fem_distribution *distribution);

int fem_distribution_has_gpu(const fem_distribution *distribution);

/*
 * Decides on the cut for a mesh and writes it to *options for fem_solve (devices, cut, exchange, round).  It reads the solver from
 * *options.  Sets the frequencies.  If powers count, devices compute some products alone before the first steps, and when meshes have grown
 * by much.
 * Errors: those of yoke_run_calibrate and yoke_run_plan; INPUT (a power cap that cannot be kept; no powers), DEVICE (no device is left).
 */
yoke_status fem_distribution_plan(fem_distribution *distribution, const fem_space *space, const fem_constraints *constraints,
                                  fem_solve_options *options);

/*
 * After the solve: writes parts, share, case, predictions, energy and decision into the step's record, borrowed from the distribution until
 * the next plan.  On several ranks they are those of all ranks, and the call is collective.  Errors: MEMORY, SYSTEM, INPUT (the store
 * cannot be written).
 */
yoke_status fem_distribution_report(fem_distribution *distribution, const fem_solution *solution, fem_step_record *record);

/*
 * Nonzero on all ranks: fem_distribution_learn may find information for the distribution of the run's first mesh.  Zero on one rank, and
 * after fem_distribution_learn was called.
 */
int fem_distribution_may_know(const fem_distribution *distribution);
/*
 * Names the work, reads its measurements from the store, and tries the devices on this mesh, as fem_distribution_plan does.  Errors: those
 * of yoke_run_calibrate, MEMORY.
 */
yoke_status fem_distribution_learn(fem_distribution *distribution, const fem_space *space, const fem_constraints *constraints);

/* The forecast of the next solve's products from the solves so far: for checkpoints, which save and set it. */
fem_forecast *fem_distribution_forecast(fem_distribution *distribution);

/*
 * *saved: measurements of the devices of all ranks, and of the ranks relative to each other, on the first rank; NULL on others.  Release it
 * with json_decref.
 * Collective.  Errors: MEMORY.
 */
yoke_status fem_distribution_save(fem_distribution *distribution, json_t **saved);
/*
 * Restores the measurements of the ranks relative to each other from options->saved, if it is for the same number of ranks.  Zero: it is
 * damaged.
 */
int fem_distribution_restore(fem_distribution *distribution);

/* Nonzero: there are meters; *why_not: reason why the latest solve has no energy, or "".  Call it after a plan. */
int fem_distribution_metered(const fem_distribution *distribution, const char **why_not);

/* Energy of each kernel so far on all ranks, borrowed; 0 rows without the option.  Collective.  Errors: of yoke_run_profile_get, MEMORY. */
yoke_status fem_distribution_profile(fem_distribution *distribution, fem_profile *profile);

/*
 * Computes how many elements of the next mesh each rank gets; this rank has `local` of them at present.  *shares [ranks]: borrowed until
 * the next call; NULL: equal shares (nodes.h).  The shares follow from the models of the devices of all ranks; for objectives that need
 * powers, from one plan for all ranks (joint.h).  They are the same on all ranks.  Collective.
 * Errors: MEMORY, NUMERIC, INPUT (a power cap that cannot be kept), those of app_joint_plan.
 */
yoke_status fem_distribution_shares(fem_distribution *distribution, int64_t local, const double **shares);
/*
 * Reports that the mesh has been distributed by these shares, that this rank has `local` of its elements, and how many seconds it took to
 * move them.  Collective.
 */
void fem_distribution_moved(fem_distribution *distribution, int64_t local, double seconds);

/* part [elements]: the number of the part that works on each element, as in the record. */
void fem_distribution_parts(const fem_distribution *distribution, int64_t elements, int32_t *part);

#endif
