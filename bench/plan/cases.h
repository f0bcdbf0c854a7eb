/*
 * cases.h - the kinds of problems whose plans are timed.
 */
#ifndef BENCH_PLAN_CASES_H
#define BENCH_PLAN_CASES_H

#include "plan/random.h"

enum { PLAN_OBJECTIVES = 4 };

typedef struct plan_case {
    const char *name;
    plan_shape shape;
    int second_levels;   /* of the second device; 0: as of the others */
    double max_slowdown; /* 0: none */
    int pareto;
    double goal_s; /* NaN: none */
} plan_case;

typedef struct plan_figures {
    double median_s, p99_s, max_s;
    double feasible, optimal; /* parts: of all problems; of those that are feasible */
    double gap;               /* the largest where it is not optimal; 0: all are; NaN: of one no bound is known */
    double nodes, max_nodes;  /* median and largest */
} plan_figures;

extern const plan_case plan_cases[];
extern const int num_plan_cases;

/* Plans `problems` random problems, one after the other, and times each.  Errors: MEMORY, those of yoke_plan_create, INTERRUPTED. */
yoke_status plan_case_run(yoke_context *context, const plan_case *timed, yoke_objective objective, int64_t problems, uint64_t seed,
                          plan_figures *figures);

#endif
