/*
 * round.h - the search for rounds: branch and bound over units, levels and makespans; what its files share.
 *
 * Two bounds hold in a node.  By intervals: seconds never fall with units, so the fewest units and the fastest level of each device bound each interval.
 * By prices: an interval lasts at least as long as any weighted mean of its devices, and a mean is a sum over devices, which a price of units
 * takes apart; with good weights this is the dual of the linear problem.  docs/methods/plan.md has the formulas.
 */
#ifndef YOKE_PLAN_ROUND_H
#define YOKE_PLAN_ROUND_H

#include "plan/search.h"

/* Parts of a cut that are weighted alike: the parts y_i of all devices sum to 1 (to 0 where the cut has no units). */
typedef struct round_group {
    int cut;
    const double *weight_sum; /* NULL: units, as in the first groups, one of each cut */
    double total;             /* 1, or 0 */
    int num_terms;
    int terms[PLAN_MOST_PHASES + 1]; /* phases; -1: the copies */
} round_group;

/* From a part of the cut to the next, below the seconds (weighted) and joules of all terms: straight lines. */
typedef struct round_piece {
    double from, to, seconds[2], joules[2];
} round_piece;

/* Of a device at a level, for a group: its pieces, and each term's own lines, [count][num_terms][2] seconds. */
typedef struct round_curve {
    int64_t count;
    round_piece *pieces;
    double *lines;
} round_curve;

/* All choices with units, levels (by place) and makespans in these ranges. */
typedef struct round_node {
    double bound, low_s, high_s;
    int64_t number;          /* in the order in which nodes were made */
    int device, cut, levels; /* how to split it: levels of a device, or its units of a cut; device -1: makespans */
    int64_t at;              /* the last unit or level of the first half */
    int first[PLAN_MOST_DEVICES], last[PLAN_MOST_DEVICES];
    int64_t units[]; /* [num_cuts][num_devices][2]: fewest, most */
} round_node;

/* What a node leaves, made by round_look. */
typedef struct round_box {
    int64_t (*before)[2]; /* [num_cuts][num_devices + 1]: fewest and most units before a device */
    int64_t *fewest;      /* [num_phases][num_devices] units */
    double (*parts)[2];   /* [groups][num_devices]: of the group */
    double (*seconds)[2]; /* [num_intervals][num_devices]: least, most (the latter with hosting only) */
    char *possible;       /* of all levels, by number */
    char *may_be_off, *may_work;
    double *idle_w;    /* [num_devices]: the least */
    double standing_w; /* base and these */
} round_box;

/* What a price of each group's parts gives. */
typedef struct round_relaxed {
    double bound;   /* seconds or joules */
    double seconds; /* weighted */
    double *parts;  /* [groups][num_devices] */
    double *mixed;  /* the same, of two prices, with the right sums */
    int *levels;    /* -1: off */
} round_relaxed;

typedef struct round_search {
    plan_work *work;
    const search_limits *limits;
    search_best *best;
    int num_groups, num_waits; /* waits: intervals, and copies that come before */
    round_group groups[PLAN_MOST_PHASES + PLAN_MOST_CUTS];
    int first_level[PLAN_MOST_DEVICES]; /* number of a device's first level among all */
    int num_levels;
    round_curve *curves;          /* [levels][groups] */
    double *alone;                /* [levels][2]: seconds (weighted) and joules of the device's own phases and set-up */
    double *weights;              /* [num_waits][num_devices]: each wait's sum to 1 */
    double *prices;               /* [groups]: the last ones */
    int works[PLAN_MOST_DEVICES]; /* nonzero: it has a phase of its own */
    round_box box;
    round_relaxed relaxed;
    int64_t last_node, evaluations; /* how many are left */
    /* nodes that are open */
    int64_t stride, count, room, made;
    char *pool;
    int64_t *heap, *free;
    int64_t num_free;
} round_search;

/* A choice in the order of the problem, and how it is ranked: limits first. */
typedef struct round_trial {
    int64_t units[PLAN_MOST_CUTS * PLAN_MOST_DEVICES], levels[PLAN_MOST_DEVICES];
    double excess, value, time_s;
} round_trial;

static inline int64_t *round_units(const round_search *search, round_node *node, int cut, int device)
{
    return node->units + 2 * (cut * search->work->num_devices + device);
}

/* round_curves.c: groups, and memory for curves; makes their lines; weighs them.  Errors: MEMORY. */
void round_make_groups(round_search *search);
yoke_status round_make_curves(round_search *search);
void round_weigh(round_search *search);

/* round_price.c: a bound of the node in box, seconds for least time, else joules; effort: of bisections. */
double round_price(round_search *search, const round_node *node, int effort);

/* round_look.c: narrows the node, sets its bound and how to split it.  Returns 0 where it holds nothing better than the best. */
int round_look(round_search *search, round_node *node, int effort);

/* round_split.c: how to split a node that was looked at. */
void round_choose_split(const round_search *search, round_node *node);

/* k of E T^k; of least time 1. */
static inline int round_power_of_time(yoke_objective objective)
{
    return objective == YOKE_OBJECTIVE_ENERGY ? 0 : objective == YOKE_OBJECTIVE_ED2P ? 2 : 1;
}

/* round_improve.c: offers a choice (in the order of the problem), and what moving its units and changing its levels leads to. */
void round_offer(round_search *search, const int64_t *units, const int64_t *levels);
void round_improve(round_search *search, const int64_t *units, const int64_t *levels);
/* Whole units of the parts in relaxed.mixed, and levels. */
void round_from_relaxed(const round_search *search, int64_t *units, int64_t *levels);

void round_rank(round_search *search, round_trial *trial);
int round_is_better(const round_trial *a, const round_trial *b);

/* round_balance.c: choices whose devices end each interval together, of many durations of the intervals; the best is improved and offered. */
void round_balance(round_search *search);

/* round_weights.c: weights for which the choice's devices are worth the same at the margin. */
void round_find_weights(round_search *search, round_node *root);

#endif
