/*
 * range.h - branch and bound over ranges of makespans, units and levels: declarations that its files share.
 */
#ifndef YOKE_PLAN_SEARCH_RANGE_H
#define YOKE_PLAN_SEARCH_RANGE_H

#include "plan/search/envelope.h"
#include "plan/search/search.h"

/*
 * In addition to the makespan (T, or max w if copies come before) a second time may be bounded: the longest copy (if copies come before),
 * or the longest work of accelerators (if host overhead counts and copies make it differ from the makespan).
 */
typedef enum range_second { RANGE_ONE, RANGE_COPIES, RANGE_ACCELERATORS } range_second;

enum { RANGE_NO_HOST = -1, RANGE_NO_HOST_OVERHEAD = -2 };

/* All choices with makespans, units and levels (by position) in these ranges, whose longest host is `leader`. */
typedef struct range_node {
    double bound; /* no such choice has an objective below this */
    double low[2], high[2];
    int leader; /* RANGE_NO_HOST: no host has units; RANGE_NO_HOST_OVERHEAD: it does not matter */
    /* how to split it */
    int split_device, split_second; /* device, or -1: a makespan, the second one if split_second is nonzero */
    int split_levels;
    int64_t split_units;
    double split_s;
    int64_t least[PLAN_MAX_DEVICES], most[PLAN_MAX_DEVICES];
    int first_level[PLAN_MAX_DEVICES], last_level[PLAN_MAX_DEVICES];
    uint64_t dropped[PLAN_MAX_DEVICES]; /* bits of levels within that range which the best choice is known not to have */
    double price;                       /* of a unit, J, that gave the best bound; NaN: none yet */
    int tight;                          /* the device that is assumed to determine the second time */
    double second_w;                    /* cost of a second of it */
    double overhead_part;               /* 1: the leading host is assumed to end before the accelerators; 0: after them */
} range_node;

/* Nonzero: a level (by position) still counts.  Only the first 64 levels of a device can be dropped. */
static inline int range_has(const range_node *node, int device, int level)
{
    return level >= 64 || (node->dropped[device] >> level & 1) == 0;
}

typedef struct range_search {
    plan_work *work;
    const search_limits *limits;
    search_best *best;
    range_second second;
    double host_overhead_w; /* 0 if it does not matter */
    envelope_point *points; /* of all devices */
    int64_t *capacities;    /* of all levels, in the node that is examined */
    struct state *states;   /* of power.c, with room for all levels and devices */
    int64_t last_node;      /* the node at which to stop */
    range_node *stack;
    int64_t count, room;
} range_search;

/* Narrows the node's ranges, sets its bound and its split, and offers a choice.  Returns 0 if it holds nothing better than the best. */
int range_look(range_search *search, range_node *node);

/* Nonzero: bounds by a price of units are valid: all levels are linear, and energy counts. */
int range_can_price(const range_search *search);

/*
 * Applies the bound of a price of a unit (price.c): removes levels and parts of the makespans' ranges that cannot hold the best choice,
 * and raises the node's bound.  Returns 0 if nothing is left.
 */
int range_price(const range_search *search, range_node *node, double price);

/*
 * For least time under a power cap (power.c): 0 if n units cannot be done within the node's makespans and power; 1 with a choice; 2 if
 * that is undecided, and the split of the node is set.
 */
int range_fill_power(const range_search *search, range_node *node, int64_t *units, int *levels);
int64_t range_state_bytes(void);

#endif
