/*
 * joint.h - one plan for the devices of all ranks: each rank writes the knowledge of its run as a model file
 * (docs/reference/model-file.md), and rank 0 combines these files and plans.  It is for objectives with energy and for power caps, which
 * no rank can keep alone: the power of all devices at rest counts as long as the slowest of them works.
 */
#ifndef APP_JOINT_H
#define APP_JOINT_H

#include "common/ranks/ranks.h"

/* The decision for the devices of all ranks.  It is the same on all ranks. */
typedef struct app_joint_choice {
    int known;        /* zero: some rank's times or powers are not known, or there are more than YOKE_PLAN_MAX_DEVICES devices */
    int feasible;     /* zero: a limit cannot be met */
    char binding[16]; /* the limit that cannot be met: "power-cap", "deadline", ...; "" */
    double nearest;   /* the nearest value of that limit that can be met (s, W); NaN */
    double calls;     /* of the round that was planned */
    int count;        /* number of all devices */
    int64_t units[YOKE_PLAN_MAX_DEVICES];
    double frequency_hz[YOKE_PLAN_MAX_DEVICES];                     /* NaN: not changed */
    int rank[YOKE_PLAN_MAX_DEVICES], device[YOKE_PLAN_MAX_DEVICES]; /* the device's rank; its number in the run of that rank */
} app_joint_choice;

typedef struct app_joint app_joint;

typedef struct app_joint_question {
    yoke_run *run;    /* of this rank */
    const char *work; /* as in a phase */
    int64_t units;    /* of all ranks */
    double calls;
    const int64_t *max_units; /* [devices of the run] 0: may have none */
    int counts_base;          /* zero: another rank counts the power of this machine in addition to its devices */
    yoke_plan_options options;
    const char *model; /* file to which rank 0 writes the problem; NULL: none */
} app_joint_question;

/* Errors: MEMORY. */
yoke_status app_joint_create(yoke_context *context, app_ranks *ranks, app_joint **joint);
void app_joint_destroy(app_joint *joint);

/*
 * Plans, or with plan 0 only writes the model file.  A limit that cannot be met is no error; for a deadline the choice is the fastest
 * one.  Collective, and all agree on errors: MEMORY, SYSTEM (no temporary file can be made), INPUT (the model file cannot be written),
 * those of yoke_run_write_model and yoke_plan_create.
 */
yoke_status app_joint_plan(app_joint *joint, const app_joint_question *question, int plan, app_joint_choice *choice);

/*
 * Divides the rank's units in the proportion of the choice: units [devices of the rank's run].  Returns zero if the choice gives the rank
 * nothing, but it has some.
 */
int app_joint_split(const app_joint_choice *choice, int rank, int64_t all, int num_devices, int64_t *units);

/*
 * The cost of the choice if rank r has has[r] units: has [ranks].  Collective.  NaN: not known.  Errors: MEMORY.
 */
yoke_status app_joint_predict(app_joint *joint, const app_joint_choice *choice, const int64_t *has, double *time_s, double *energy_j);

/*
 * On rank 0: the latest plan, and the names of all devices ("0 openmp"), borrowed until the next plan; NULL on other ranks, or if nothing
 * was planned.
 */
const yoke_plan *app_joint_latest(const app_joint *joint, const char *const **names);

#endif
