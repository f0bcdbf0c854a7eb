/* cases.h - the kinds of problems for which plans are timed. */
#ifndef BENCH_PLAN_CASES_H
#define BENCH_PLAN_CASES_H

#include "plan/random.h"

enum { PLAN_OBJECTIVES = 4 };

typedef struct plan_case {
    const char *name;
    plan_shape shape;
    int second_levels;   /* of the second device; 0: same as the others */
    double max_slowdown; /* 0: none */
    int pareto;
    double goal_s; /* NaN: none */
} plan_case;

typedef struct plan_figures {
    double median_s, p99_s, max_s;
    double feasible, optimal; /* fractions: of all problems; of the feasible ones */
    double gap;               /* the largest gap of plans not proved optimal; 0: all are proved; NaN: a plan without a bound */
    double nodes, max_nodes;  /* median and largest */
} plan_figures;

extern const plan_case plan_cases[];
extern const int num_plan_cases;

/*
 * Plans `problems` random problems one after the other, and measures the time of each.  Errors: MEMORY, those of yoke_plan_create,
 * INTERRUPTED.
 */
yoke_status plan_case_run(yoke_context *context, const plan_case *timed, yoke_objective objective, int64_t problems, uint64_t seed,
                          plan_figures *figures);

#endif
