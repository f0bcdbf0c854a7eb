/*
 * private.h - what a distribution holds; distribution.c decides, record.c tells.
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
    int plans, simulated; /* nonzero: powers are needed; all devices are simulated */
    yoke_run *run;
    fem_devices *devices; /* the run's */
    fem_works works;      /* fine "": not named yet */
    fem_forecast forecast;
    fem_products products;             /* of the present step, as predicted */
    int empty;                         /* nonzero: the rank has no elements; a round of one is planned, and nobody gets it */
    int predicted;                     /* nonzero: by solves before; else a guess */
    fem_solver solver;                 /* of the present step, as planned */
    double tried, tried_coarse;        /* elements that devices tried alone, and of coarser levels */
    uint64_t fine_known, coarse_known; /* bit i: device i's times are known */
    /* rounds that are weighed: all devices, then each alone */
    yoke_phase shared[FEM_MAX_PHASES], whole[FEM_MAX_PHASES];
    int64_t elements;
    int64_t limits[1 + FEM_MAX_DEVICES][FEM_MAX_DEVICES];
    yoke_round rounds[1 + FEM_MAX_DEVICES];
    const yoke_assignment *assignment; /* of the present step */
    int steps;                         /* that were solved */
    int begun;                         /* nonzero: the solve's iteration runs */
    fem_solve_round hooks;
    double seconds[FEM_MAX_PHASES * FEM_MAX_DEVICES], calls[FEM_MAX_PHASES], moved_s[FEM_MAX_DEVICES];
    int64_t units[FEM_MAX_DEVICES], moved[FEM_MAX_DEVICES];
    int32_t cut[FEM_MAX_DEVICES + 1];
    int other; /* nonzero: the solve was not what was planned */
    int known_failed[FEM_MAX_DEVICES];
    /* what the record borrows */
    int num_parts, num_failures;
    fem_part_record parts[FEM_MAX_DEVICES];
    fem_failure_record failures[FEM_MAX_DEVICES];
    const char *names[FEM_MAX_DEVICES];
    fem_weighed_record weighed[FEM_MAX_WEIGHED];
    char *decision;
    /* of several ranks */
    int first_part;             /* the number of this rank's first part */
    void *messages;             /* that the parts came in */
    fem_part_record *all_parts; /* of all ranks */
    void *failure_messages;     /* likewise of devices that failed */
    fem_failure_record *all_failures;
    int64_t *rank_counts;           /* all memory of: [ranks] each */
    int64_t *now, *rank_parts;      /* elements before they move; that each is to have, then has */
    double *share;                  /* [ranks] of the next mesh; all memory of: [ranks] each */
    double *rank_s, *predicted_s;   /* of a product of the latest step */
    fem_partition_record partition; /* of the present mesh */
    fem_nodes_errors errors;
    int differed;              /* nonzero: the parts of the present mesh are not equal ones */
    double latest_products;    /* of the solve */
    double move_s;             /* that moving an element takes; NaN: not known */
    int counts;                /* nonzero: the energy of this rank's meters is of no other rank's, or it is the first on its machine */
    int any_store, any_plans;  /* nonzero: some rank has a store; units and frequencies are planned for all ranks together */
    app_joint *joint;          /* NULL: nothing is planned together, and no model file is wanted */
    app_joint_choice choice;   /* of the present mesh; known 0: there is none */
    double choice_s, choice_j; /* that it costs with choice.calls, with the elements that ranks have */
    int given;                 /* nonzero: this rank's units and frequencies are the choice's */
    int64_t given_units[FEM_MAX_DEVICES];
    double given_hz[FEM_MAX_DEVICES];
    double begin_s;         /* when the solve began, on the clock of the devices */
    double all_j;           /* of this rank's meters in all solves; NaN: not known of one */
    void *profile_messages; /* that the rows of all ranks came in */
    yoke_run_profile *profile_rows;
    const char **profile_names;
    int *profile_ranks;
};

/* Why the elements lie as they do, in distribution->decision.  After a plan.  Errors: MEMORY. */
yoke_status fem_distribution_explain(fem_distribution *distribution);
/* How many devices have elements by the latest plan. */
int fem_distribution_working(const fem_distribution *distribution);
/* Memory for what is of all ranks.  Errors: MEMORY. */
yoke_status fem_distribution_start_ranks(fem_distribution *distribution);
/* Makes this rank's record of a step that of all ranks.  as_planned: nonzero: the solve was that which was predicted.  Nothing on one rank.  Collective.  Errors: MEMORY. */
yoke_status fem_distribution_report_ranks(fem_distribution *distribution, int as_planned, fem_step_record *record);
/* Whether ranks plan together, and what is needed for that.  Collective.  Errors: MEMORY. */
yoke_status fem_distribution_start_joint(fem_distribution *distribution);
/* distribution->share by a plan of all ranks; *found 0: something is not known.  Collective.  Errors: INPUT (the power cap), those of app_joint_plan. */
yoke_status fem_distribution_joint_shares(fem_distribution *distribution, int64_t elements, int *found);
/* Where ranks plan together: what this rank's devices get of its elements, and what all cost.  Writes the model file that is wanted.  Collective.  Errors: those of app_joint_plan. */
yoke_status fem_distribution_take_choice(fem_distribution *distribution, int64_t local);
/* texts [*count] of options.saved for this rank's devices, borrowed from it, those of the rank of the same number first; *texts is given back with yoke_release.  Errors: MEMORY. */
yoke_status fem_distribution_find_known(const fem_distribution *distribution, const char ***texts, int64_t *count);
/* At a solve's end: on simulated machines time goes on until the slowest rank has ended.  Collective. */
yoke_status fem_distribution_wait(fem_distribution *distribution);

#endif
