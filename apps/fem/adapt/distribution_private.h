/*
 * distribution_private.h - what a distribution holds; distribution.c decides, distribution_record.c tells.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_PRIVATE_H
#define FEM_ADAPT_DISTRIBUTION_PRIVATE_H

#include "adapt/distribution.h"
#include "adapt/nodes.h"

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
    int first_part;                 /* the number of this rank's first part */
    void *messages;                 /* that the parts came in */
    fem_part_record *all_parts;     /* of all ranks */
    int64_t *rank_counts;           /* all memory of: [ranks] each */
    int64_t *now, *rank_parts;      /* elements before they move; that each is to have, then has */
    double *share;                  /* [ranks] of the next mesh; all memory of: [ranks] each */
    double *rank_s, *predicted_s;   /* of a product of the latest step */
    fem_partition_record partition; /* of the present mesh */
    fem_nodes_errors errors;
    int differed;           /* nonzero: the parts of the present mesh are not equal ones */
    double latest_products; /* of the solve */
    double move_s;          /* that moving an element takes; NaN: not known */
};

/* "time", "energy", "edp", "ed2p". */
const char *fem_objective_text(yoke_objective objective);
/* Why the elements lie as they do, in distribution->decision.  After a plan.  Errors: MEMORY. */
yoke_status fem_distribution_explain(fem_distribution *distribution);
/* How many devices have elements by the latest plan. */
int fem_distribution_working(const fem_distribution *distribution);
/* Memory for what is of all ranks.  Errors: MEMORY. */
yoke_status fem_distribution_start_ranks(fem_distribution *distribution);
/* Makes this rank's record of a step that of all ranks.  Nothing on one rank.  Collective.  Errors: MEMORY. */
yoke_status fem_distribution_report_ranks(fem_distribution *distribution, fem_step_record *record);

#endif
