/*
 * search.h - what the searches share.
 */
#ifndef YOKE_PLAN_SEARCH_H
#define YOKE_PLAN_SEARCH_H

#include <math.h>

#include "plan/plan.h"

/* A request in the work's own order. */
typedef struct search_limits {
    yoke_objective objective;
    double deadline_s, power_cap_w; /* with room for rounding; INFINITY: none */
    double least_s;                 /* of a round: no choice takes less */
    int64_t most[PLAN_MAX_DEVICES]; /* units of the first cut */
    const int *allowed;             /* of a round: devices (of the problem) that may have units of any cut; NULL: all */
    int first_level[PLAN_MAX_DEVICES], last_level[PLAN_MAX_DEVICES];
} search_limits;

/* The best choice so far. */
typedef struct search_best {
    plan_result result;
    double value; /* of the objective; INFINITY: none yet */
    int open;     /* nonzero: the search ended before it found a choice, or that there is none */
    int late;     /* where the power cap binds: nonzero: not even without it is the deadline met */
    double slack; /* relative: nothing is looked for that is better by less; 0: PLAN_ROUNDING */
} search_best;

/* What a bound must reach so that nothing better can be behind it. */
static inline double search_enough(const search_best *best)
{
    double slack = best->slack > 0 ? best->slack : PLAN_ROUNDING;
    return best->result.feasible ? best->value - slack * fabs(best->value) : INFINITY;
}

/*
 * One search (search.c) in a work whose hosts' overheads are all alike; *best is none at first.  Where there is no choice its binding and nearest say why.
 * Errors: MEMORY.
 */
yoke_status search_request(plan_work *work, const plan_request *request, search_best *best);

/* The same where overheads differ by the hosts' levels (overhead.c). */
yoke_status search_overheads(plan_work *work, const plan_request *request, search_best *best);

/* Evaluates a choice in the work's own order (levels by their place in the device) and keeps it if it is feasible and better.  Returns its cost. */
plan_cost search_offer(const plan_work *work, const search_limits *limits, const int64_t *units, const int *levels, search_best *best);

/*
 * Branch and bound over ranges of makespans, units and levels: works for all problems.  *best may hold a choice already.
 * Writes result.optimal, gap and adds to nodes.  Errors: MEMORY.
 */
yoke_status search_ranges(plan_work *work, const search_limits *limits, search_best *best);

/* Branch and bound for a round; as search_ranges.  Errors: MEMORY. */
yoke_status search_round(plan_work *work, const search_limits *limits, search_best *best);

/* Least time where copies do not come before and there is no power cap: by bisection, always optimal. */
void search_least_time(plan_work *work, const search_limits *limits, search_best *best);

#endif
