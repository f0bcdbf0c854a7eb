/*
 * range.h - branch and bound over ranges of makespans, units and levels: what its files share.
 */
#ifndef YOKE_PLAN_SEARCH_RANGE_H
#define YOKE_PLAN_SEARCH_RANGE_H

#include "plan/search/envelope.h"
#include "plan/search/search.h"

/*
 * Besides the makespan (T, or max w where copies come before) a second time may be bounded: the longest copy (where copies come before), or the
 * longest work of accelerators (where host overhead counts and copies make it differ from the makespan).
 */
typedef enum range_second { RANGE_ONE, RANGE_COPIES, RANGE_ACCELERATORS } range_second;

enum { RANGE_NO_HOST = -1, RANGE_NO_HOST_OVERHEAD = -2 };

/* All choices with makespans, units and levels (by place) in these ranges, whose longest host is `leader`. */
typedef struct range_node {
    double bound; /* no such choice has an objective below this */
    double low[2], high[2];
    int leader; /* RANGE_NO_HOST: no host has units; RANGE_NO_HOST_OVERHEAD: no matter */
    /* how to split it */
    int split_device, split_second; /* device, or -1: a makespan, the second where split_second is nonzero */
    int split_levels;
    int64_t split_units;
    double split_s;
    int64_t least[PLAN_MAX_DEVICES], most[PLAN_MAX_DEVICES];
    int first_level[PLAN_MAX_DEVICES], last_level[PLAN_MAX_DEVICES];
    uint64_t dropped[PLAN_MAX_DEVICES]; /* bits of levels within that range which are known not to be the best's */
    double price;                       /* of a unit, J, that gave the best bound; NaN: none yet */
    int tight;                          /* the device that the second time is thought to be of */
    double second_w;                    /* what a second of it costs */
    double overhead_part;               /* 1: the leading host is thought to end before the accelerators; 0: behind them */
} range_node;

/* Nonzero where a level (by place) still counts.  Of a device's levels only the first 64 can be dropped. */
static inline int range_has(const range_node *node, int device, int level)
{
    return level >= 64 || (node->dropped[device] >> level & 1) == 0;
}

typedef struct range_search {
    plan_work *work;
    const search_limits *limits;
    search_best *best;
    range_second second;
    double host_overhead_w; /* 0 where it does not matter */
    envelope_point *points; /* of all devices */
    int64_t *capacities;    /* of all levels, in the node that is looked at */
    struct state *states;   /* of power.c, with room for all levels and devices */
    int64_t last_node;      /* when to stop */
    range_node *stack;
    int64_t count, room;
} range_search;

/* Narrows the node's ranges, sets its bound and how to split it, and offers a choice.  Returns 0 where it holds nothing better than the best. */
int range_look(range_search *search, range_node *node);

/* Nonzero where bounds by a price of units hold: all levels are linear, and energy counts. */
int range_can_price(const range_search *search);

/*
 * The bound that a price of a unit gives (price.c): leaves out levels and parts of the makespans' ranges that cannot hold the best, raises
 * the node's bound.  Returns 0 where nothing is left.
 */
int range_price(const range_search *search, range_node *node, double price);

/*
 * For least time under a power cap (power.c): 0 where n units cannot be done within the node's makespans and power; 1 with a choice; 2 where that
 * is open, and how to split the node is set.
 */
int range_fill_power(const range_search *search, range_node *node, int64_t *units, int *levels);
int64_t range_state_bytes(void);

#endif
