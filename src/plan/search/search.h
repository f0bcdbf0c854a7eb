/*
 * search.h - declarations that the searches share.
 */
#ifndef YOKE_PLAN_SEARCH_H
#define YOKE_PLAN_SEARCH_H

#include <math.h>

#include "plan/plan.h"

/* A request in the work's own order. */
typedef struct search_limits {
    yoke_objective objective;
    double deadline_s, power_cap_w; /* with a margin for rounding; INFINITY: none */
    double least_s;                 /* for a round: no choice takes less */
    int64_t most[PLAN_MAX_DEVICES]; /* units of the first cut */
    const int *allowed;             /* for a round: devices (of the problem) that may have units of any cut; NULL: all */
    int first_level[PLAN_MAX_DEVICES], last_level[PLAN_MAX_DEVICES];
} search_limits;

/* The best choice so far. */
typedef struct search_best {
    plan_result result;
    double value; /* of the objective; INFINITY: none yet */
    int open;     /* nonzero: the search ended before it found a choice, or proved that there is none */
    int late;     /* if the power cap binds: nonzero: the deadline is not met even without the cap */
    double slack; /* relative: choices that are better by less are not searched; 0: PLAN_ROUNDING */
} search_best;

/* The value that a bound must reach so that no better choice can be found. */
static inline double search_enough(const search_best *best)
{
    double slack = best->slack > 0 ? best->slack : PLAN_ROUNDING;
    return best->result.feasible ? best->value - slack * fabs(best->value) : INFINITY;
}

/*
 * One search (search.c) in a work whose hosts' overheads are all equal; *best is empty at first.  If there is no choice its binding and
 * nearest have the reason.
 * Errors: MEMORY.
 */
yoke_status search_request(plan_work *work, const plan_request *request, search_best *best);

/* The same if overheads differ by the hosts' levels (overhead.c). */
yoke_status search_overheads(plan_work *work, const plan_request *request, search_best *best);

/*
 * Evaluates a choice in the work's own order (levels by position in the device) and keeps it if it is feasible and better.  Returns its
 * cost.
 */
plan_cost search_offer(const plan_work *work, const search_limits *limits, const int64_t *units, const int *levels, search_best *best);

/*
 * Branch and bound over ranges of makespans, units and levels: works for all problems.  *best may hold a choice already.
 * Writes result.optimal, gap and adds to nodes.  Errors: MEMORY.
 */
yoke_status search_ranges(plan_work *work, const search_limits *limits, search_best *best);

/* Branch and bound for a round; as search_ranges.  Errors: MEMORY. */
yoke_status search_round(plan_work *work, const search_limits *limits, search_best *best);

/* Least time if copies do not come before and there is no power cap: by bisection, always optimal. */
void search_least_time(plan_work *work, const search_limits *limits, search_best *best);

#endif
