/*
 * round.h - the search for rounds: branch and bound over units, levels and makespans; declarations that its files share.
 *
 * Two bounds hold in a node.
 *   By intervals: seconds never fall with units, so the fewest units and the fastest level of each device bound each interval.
 *   By prices: an interval lasts at least as long as any weighted mean of its devices, and a mean is a sum over devices, which a price of
 *   units separates; with good weights this is the dual of the linear problem.
 * docs/methods/plan.md has the formulas.
 */
#ifndef YOKE_PLAN_ROUND_H
#define YOKE_PLAN_ROUND_H

#include "plan/round/simplex.h"
#include "plan/search/search.h"

/* Parts of a cut with the same weights: the parts y_i of all devices sum to 1 (to 0 if the cut has no units). */
typedef struct round_group {
    int cut;
    const double *weight_sum; /* NULL: units, as in the first groups, one for each cut */
    double total;             /* 1, or 0 */
    int num_terms;
    int terms[PLAN_MAX_PHASES + 1]; /* phases; -1: the copies */
} round_group;

/*
 * Seconds and joules of a device at a level, for all terms of a group, piecewise linear between corners (parts of the cut): [count]
 * pieces with two ends each.  Seconds are those of each line of the program, bounded from below; `above` (for hosts, if they matter) is
 * bounded from above.
 */
typedef struct round_curve {
    int64_t count;
    double *corners; /* [count + 1] */
    double *joules;  /* [count][2] */
    double *seconds; /* [count][2][num_lines] */
    double *above;   /* the same; NULL */
} round_curve;

/* All choices with units, levels (by position) and makespans in these ranges. */
typedef struct round_node {
    double bound, low_s, high_s;
    int64_t number;          /* in the order in which nodes were created */
    int device, cut, levels; /* the split: levels of a device, or its units of a cut; device -1: makespans */
    double middle_s;         /* of the makespans */
    int64_t at;              /* the last unit or level of the first half */
    int first[PLAN_MAX_DEVICES], last[PLAN_MAX_DEVICES];
    int64_t units[]; /* [num_cuts][num_devices][2]: fewest, most */
} round_node;

/* The ranges that a node permits, computed by round_look. */
typedef struct round_box {
    int64_t (*before)[2]; /* [num_cuts][num_devices + 1]: fewest and most units before a device */
    int64_t *fewest;      /* [num_phases][num_devices] units */
    double (*parts)[2];   /* [groups][num_devices]: of the group */
    double (*seconds)[2]; /* [num_intervals][num_devices]: least, most (the latter with host overhead only) */
    char *possible;       /* of all levels, by number */
    char *may_be_off, *may_work;
    double *idle_w;    /* [num_devices]: the least */
    double standing_w; /* base power and the sum of these */
} round_box;

/* Prices: the cost of a second of a device in a line, and the value of a part of a group. */
typedef struct round_prices {
    int joules;     /* nonzero: joules have their own cost; zero: they have none */
    double second;  /* of the sum of all lines */
    double *lines;  /* [num_lines][num_devices] */
    double *hosts;  /* [num_lines]: saving by a second of a host's work */
    double *groups; /* [num_groups] */
} round_prices;

/*
 * A state of a device: off, or parts of each group at a level.  Its numbers: [num_groups] parts, [num_lines] seconds, [num_lines] bounds
 * from above, joules.
 */
typedef struct round_state {
    int device, level; /* level -1: off */
    int column;        /* of the program; -1: the program does not have it */
    int used;          /* nonzero: a solution had it */
    double cost;       /* by the prices with which it was found */
} round_state;

/* The solution of a node's program: each device has a mean of some states. */
typedef struct round_relaxed {
    double time_s, joules;      /* joules: of E, at time_s */
    double value;               /* of the objective, of both */
    double *mixed;              /* [groups][num_devices]: mean parts; those of each group sum to its total */
    double (*parts)[2];         /* [groups][num_devices]: the smallest and the largest part of a state */
    double *weights;            /* [num_levels]: of states at a level */
    double *rough;              /* [num_devices]: how much less the states cost than their mean parts */
    int *levels, *other_levels; /* the level of largest weight, and the next; -1: off, or no other */
} round_relaxed;

typedef struct round_search {
    plan_work *work;
    const search_limits *limits;
    search_best *best;
    int num_groups, num_waits;          /* waits: intervals, and copies that come before */
    int num_lines;                      /* waits, or neighbouring waits that are combined */
    char overhead[PLAN_MAX_PHASES + 1]; /* [num_lines]: nonzero: it may have host overhead */
    round_group groups[PLAN_MAX_PHASES + PLAN_MAX_CUTS];
    int first_level[PLAN_MAX_DEVICES]; /* number of a device's first level among all */
    int num_levels;
    round_curve *curves;    /* [levels][groups] */
    double *alone;          /* [levels][num_lines + 1]: seconds and joules of the device's own phases and set-up */
    round_prices prices[2]; /* the best prices of the last node: for T, for the objective */
    round_prices trial;
    plan_simplex program;
    round_state *states; /* of the programs so far */
    double *numbers;     /* [MAX_STATES][state_size] */
    int num_states, most_states, state_size;
    int works[PLAN_MAX_DEVICES]; /* nonzero: it has a phase of its own */
    round_box box;
    round_relaxed relaxed;
    int64_t last_node, evaluations; /* the number of evaluations that are left */
    /* open nodes */
    int64_t stride, count, room, made;
    char *pool;
    int64_t *heap, *free;
    int64_t num_free;
} round_search;

/* A choice in the order of the problem, with the values by which it is ranked: limits first. */
typedef struct round_trial {
    int64_t units[PLAN_MAX_CUTS * PLAN_MAX_DEVICES], levels[PLAN_MAX_DEVICES];
    double excess, value, time_s;
} round_trial;

static inline int64_t *round_units(const round_search *search, round_node *node, int cut, int device)
{
    return node->units + 2 * (cut * search->work->num_devices + device);
}

/* curves.c: makes groups and lines; allocates and makes curves.  Errors: MEMORY. */
void round_make_groups(round_search *search);
yoke_status round_make_curves(round_search *search);

/* price.c: the least cost of a device by the prices, less the value of its parts; the state that has it, and its numbers. */
double round_best_state(const round_search *search, const round_node *node, int device, const round_prices *prices, round_state *state,
                        double *numbers);

/*
 * program.c: allocates memory for programs; a bound of T, or of the objective, in the node (in box), by at most `turns` turns.  The bound
 * of the objective also writes `relaxed`, and narrows makespans.
 * Errors: MEMORY.
 */
yoke_status round_program_create(round_search *search);
void round_program_destroy(round_search *search);
double round_bound_time(round_search *search, const round_node *node, int turns);
double round_bound_objective(round_search *search, round_node *node, int turns);

/* look.c: narrows the node, sets its bound and its split.  Returns 0 if it holds nothing better than the best. */
int round_look(round_search *search, round_node *node, int effort);

/* split.c: chooses the split of a node that was examined. */
void round_choose_split(const round_search *search, round_node *node);

/* k of E T^k; 1 for least time. */
static inline int round_power_of_time(yoke_objective objective)
{
    return objective == YOKE_OBJECTIVE_ENERGY ? 0 : objective == YOKE_OBJECTIVE_ED2P ? 2 : 1;
}

/*
 * improve.c: offers a choice (in the order of the problem); round_improve also offers choices found by moving its units and changing its
 * levels, and uses one of `parts` parts of the evaluations that are left.
 */
void round_offer(round_search *search, const int64_t *units, const int64_t *levels);
void round_improve(round_search *search, const int64_t *units, const int64_t *levels, int parts);
/* The same in few steps, for a choice that is nearly as good as the best, or nearly keeps the limits. */
void round_polish(round_search *search, const int64_t *units, const int64_t *levels);
/* Whole units for the parts in relaxed.mixed, and levels. */
void round_from_relaxed(const round_search *search, int64_t *units, int64_t *levels);

#endif
