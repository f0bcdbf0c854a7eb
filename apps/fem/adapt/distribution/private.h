/*
 * private.h - the data of a distribution; distribution.c decides, record.c fills the step's record.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_PRIVATE_H
#define FEM_ADAPT_DISTRIBUTION_PRIVATE_H

#include "adapt/distribution/distribution.h"
#include "adapt/distribution/nodes.h"
#include "common/ranks/joint.h"

enum { FEM_MAX_WEIGHED = 32 };

struct fem_distribution {
    yoke_context *context;
    fem_distribution_options options;
    int plans, simulated; /* nonzero: plans need powers; all devices are simulated */
    yoke_run *run;
    fem_devices *devices; /* the run's */
    fem_works works;      /* fine "": not named so far */
    fem_forecast forecast;
    fem_products products;             /* of the present step, as predicted */
    int empty;                         /* nonzero: the rank has no elements; a round of one is planned, but no device gets it */
    int predicted;                     /* nonzero: products are predicted from earlier solves; zero: they are a guess */
    fem_solver solver;                 /* of the present step, as planned */
    double tried, tried_coarse;        /* number of elements that devices tried alone, and of those of coarser levels */
    uint64_t fine_known, coarse_known; /* bit i: device i's times are known */
    /* rounds that are compared: all devices, then each alone */
    yoke_phase shared[FEM_MAX_PHASES], whole[FEM_MAX_PHASES];
    int64_t elements;
    int64_t limits[1 + FEM_MAX_DEVICES][FEM_MAX_DEVICES];
    yoke_round rounds[1 + FEM_MAX_DEVICES];
    const yoke_assignment *assignment; /* of the present step */
    int steps;                         /* number of solved steps */
    int begun;                         /* nonzero: the solve is in its iteration */
    fem_solve_round hooks;
    double seconds[FEM_MAX_PHASES * FEM_MAX_DEVICES], calls[FEM_MAX_PHASES], moved_s[FEM_MAX_DEVICES];
    int64_t units[FEM_MAX_DEVICES], moved[FEM_MAX_DEVICES];
    int32_t cut[FEM_MAX_DEVICES + 1];
    int other; /* nonzero: the solve was not the planned one */
    int known_failed[FEM_MAX_DEVICES];
    /* memory that the record borrows */
    int num_parts, num_failures;
    fem_part_record parts[FEM_MAX_DEVICES];
    fem_failure_record failures[FEM_MAX_DEVICES];
    const char *names[FEM_MAX_DEVICES];
    fem_weighed_record weighed[FEM_MAX_WEIGHED];
    char *decision;
    /* members for several ranks */
    int first_part;             /* the number of this rank's first part */
    void *messages;             /* buffer in which the parts were received */
    fem_part_record *all_parts; /* of all ranks */
    void *failure_messages;     /* buffer for devices that failed */
    fem_failure_record *all_failures;
    int64_t *rank_counts;           /* one allocation for these three, [ranks] each */
    int64_t *now, *rank_parts;      /* elements before they move; elements that each rank is to have, and then has */
    double *share;                  /* [ranks] of the next mesh; one allocation for these three, [ranks] each */
    double *rank_s, *predicted_s;   /* seconds of a product of the latest step */
    fem_partition_record partition; /* of the present mesh */
    fem_nodes_errors errors;
    int differed;             /* nonzero: the parts of the present mesh are not equal */
    double latest_products;   /* of the solve */
    double move_s;            /* seconds to move an element; NaN: not known */
    int counts;               /* nonzero: no other rank counts the energy of this rank's meters, or this rank is the first on its machine */
    int any_store, any_plans; /* nonzero: some rank has a store; units and frequencies are planned for all ranks together */
    app_joint *joint;         /* NULL: nothing is planned together, and no model file is requested */
    app_joint_choice choice;  /* of the present mesh; known 0: there is none */
    double choice_s, choice_j; /* predicted cost with choice.calls and the elements that ranks have */
    int given;                 /* nonzero: this rank's units and frequencies are those of the choice */
    int64_t given_units[FEM_MAX_DEVICES];
    double given_hz[FEM_MAX_DEVICES];
    double begin_s;         /* time at which the solve began, on the clock of the devices */
    double all_j;           /* of this rank's meters in all solves; NaN: not known for one of them */
    void *profile_messages; /* buffer in which the rows of all ranks were received */
    yoke_run_profile *profile_rows;
    const char **profile_names;
    int *profile_ranks;
};

/* Writes the reason for the distribution of elements to distribution->decision, after a plan.  Errors: MEMORY. */
yoke_status fem_distribution_explain(fem_distribution *distribution);
/* Number of devices that have elements by the latest plan. */
int fem_distribution_working(const fem_distribution *distribution);
/* Allocates memory for the data of all ranks.  Errors: MEMORY. */
yoke_status fem_distribution_start_ranks(fem_distribution *distribution);
/*
 * Turns this rank's record of a step into that of all ranks.  as_planned: nonzero: the solve was the predicted one.  Does nothing on one
 * rank.  Collective.  Errors: MEMORY.
 */
yoke_status fem_distribution_report_ranks(fem_distribution *distribution, int as_planned, fem_step_record *record);
/* Determines whether ranks plan together, and prepares it.  Collective.  Errors: MEMORY. */
yoke_status fem_distribution_start_joint(fem_distribution *distribution);
/*
 * Computes distribution->share by a plan of all ranks; *found 0: some input of it is not known.  Collective.  Errors: INPUT (the power
 * cap), those of app_joint_plan.
 */
yoke_status fem_distribution_joint_shares(fem_distribution *distribution, int64_t elements, int *found);
/*
 * If ranks plan together: determines the units of this rank's devices, and the cost of all.  Writes the model file if it is requested.
 * Collective.  Errors: those of app_joint_plan.
 */
yoke_status fem_distribution_take_choice(fem_distribution *distribution, int64_t local);
/*
 * texts [*count]: measurements in options.saved for this rank's devices, borrowed from it, those of the rank of the same number first.
 * Release *texts with yoke_release.  Errors: MEMORY.
 */
yoke_status fem_distribution_find_known(const fem_distribution *distribution, const char ***texts, int64_t *count);
/* At a solve's end: on simulated machines time advances until the slowest rank has ended.  Collective. */
yoke_status fem_distribution_wait(fem_distribution *distribution);

#endif
