/*
 * distribution.h - which device works on how many elements, from step to step of the refinement: a run of the library (yoke/run.h) with a round for each
 * solve.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_DISTRIBUTION_H
#define FEM_ADAPT_DISTRIBUTION_DISTRIBUTION_H

#include <jansson.h>

#include "adapt/distribution/round.h"
#include "output/record.h"

typedef struct fem_distribution_options {
    /* Names separated by commas.  NULL or "auto": of a simulated machine all devices; else all cores and every GPU, by the first interface that has it. */
    const char *devices;
    const char *store;    /* a file with what earlier runs measured: read at the start, written after each step; or NULL */
    const char *declared; /* powers of the machine, as in yoke_meter_options; or NULL */
    const char *
        model; /* a model file to write what each step's plan is made of, the latest, on several ranks of all; or NULL.  On all ranks, or none */
    int simulated; /* nonzero: each rank has a simulated machine of its own; else ranks of a machine share its meters */
    yoke_run_use use;
    yoke_balance_policy policy;
    double gpu_share; /* of the elements, fixed; NaN: the policy decides */
    fem_exchange exchange;
    yoke_objective objective;
    double max_slowdown, power_cap_w, deadline_s; /* NaN: none */
    int keep_frequencies;                         /* nonzero: they stay as they are; else they are chosen where energy counts */
    const fem_case *input;                        /* for the powers that it declares; borrowed */
    fem_operator operator_kind;
    app_ranks *ranks; /* borrowed; NULL: one.  Each has devices of its own */
    int64_t rounds;   /* refinement steps that may come */
    int profile;      /* nonzero: the energy of each kernel is found */
    const json_t
        *saved; /* of fem_distribution_save: what an earlier run of the case had learned, the same on all ranks; borrowed; NULL: nothing */
} fem_distribution_options;

typedef struct fem_distribution fem_distribution;

/* Nonzero: shares follow from plans that need powers. */
int fem_distribution_plans(const fem_distribution_options *options);

/*
 * Opens devices, meters, frequencies and store.  A simulated machine is read before (yoke_machine_read).  What store and earlier runs say is used for the same work on devices of the same description only.  The options' texts are
 * borrowed.
 * Errors: INPUT (device list, share without a GPU or without a CPU, store file; the objective needs powers, and nothing tells them),
 * UNAVAILABLE (no such device: why, remedy), DEVICE, MEMORY.
 */
yoke_status fem_distribution_create(yoke_context *context, const fem_distribution_options *options, fem_distribution **distribution);
void fem_distribution_destroy(fem_distribution *distribution);

int fem_distribution_has_gpu(const fem_distribution *distribution);

/*
 * Decides the cut for a mesh and writes what fem_solve needs to know of it into *options (devices, cut, exchange, round), of which it reads the solver.
 * Sets the frequencies.  Before the first steps, and where meshes have grown by much, devices make some products alone, where powers count.
 * Errors: those of yoke_run_calibrate and yoke_run_plan; INPUT (a power cap that cannot be kept; no powers), DEVICE (none is left).
 */
yoke_status fem_distribution_plan(fem_distribution *distribution, const fem_space *space, const fem_constraints *constraints,
                                  fem_solve_options *options);

/*
 * After the solve: writes what there is to say into the step's record (parts, share, case, predictions, energy, decision; borrowed from the distribution
 * until the next plan).  On several ranks it is that of all of them, and this is collective.  Errors: MEMORY, SYSTEM, INPUT (the store cannot be written).
 */
yoke_status fem_distribution_report(fem_distribution *distribution, const fem_solution *solution, fem_step_record *record);

/*
 * Nonzero on all ranks: before the run's first mesh is distributed fem_distribution_learn may tell how.  Zero on one rank, and once it was called.
 */
int fem_distribution_may_know(const fem_distribution *distribution);
/* Names the work, takes what the store has of it, and tries the devices on this mesh, as fem_distribution_plan does.  Errors: those of yoke_run_calibrate, MEMORY. */
yoke_status fem_distribution_learn(fem_distribution *distribution, const fem_space *space, const fem_constraints *constraints);

/* What solves so far tell of the next one's products: for checkpoints, which save and set it. */
fem_forecast *fem_distribution_forecast(fem_distribution *distribution);

/*
 * *saved: what was learned of the devices of all ranks, and of the ranks beside each other, on the first rank; NULL on others.  Given up with json_decref.
 * Collective.  Errors: MEMORY.
 */
yoke_status fem_distribution_save(fem_distribution *distribution, json_t **saved);
/* Takes over what options->saved has of the ranks beside each other, if it is of so many.  Zero: it is damaged. */
int fem_distribution_restore(fem_distribution *distribution);

/* Nonzero: there are meters; *why_not: why the latest solve has no energy, or "".  After a plan. */
int fem_distribution_metered(const fem_distribution *distribution, const char **why_not);

/* Energy of each kernel so far on all ranks, borrowed; 0 rows without the option.  Collective.  Errors: those of yoke_run_profile_get, MEMORY. */
yoke_status fem_distribution_profile(fem_distribution *distribution, fem_profile *profile);

/*
 * How many elements each rank is to get of the next mesh, of which this rank has `local` now: *shares [ranks], borrowed until the next call, or NULL: equal shares
 * (nodes.h).  By what the runs of all ranks know of their devices; for objectives that need powers by one plan for all of them (joint.h).  The same on all ranks, and
 * collective.  Errors: MEMORY, NUMERIC, INPUT (a power cap that cannot be kept), those of app_joint_plan.
 */
yoke_status fem_distribution_shares(fem_distribution *distribution, int64_t local, const double **shares);
/* The mesh has been distributed so, and this rank has `local` of its elements; moving them took so many seconds.  Collective. */
void fem_distribution_moved(fem_distribution *distribution, int64_t local, double seconds);

/* part [elements]: the number of the part (as in the record) that works on each element. */
void fem_distribution_parts(const fem_distribution *distribution, int64_t elements, int32_t *part);

#endif
