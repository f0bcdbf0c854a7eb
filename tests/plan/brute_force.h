/*
 * brute_force.h - what plans cost, and which are best, straight from the formulas in yoke/plan.h: plain, slow, and independent of src/plan.
 */
#ifndef YOKE_TESTS_PLAN_BRUTE_FORCE_H
#define YOKE_TESTS_PLAN_BRUTE_FORCE_H

#include <stdbool.h>
#include <stdint.h>

#include "yoke/yoke.h"

enum { BRUTE_MAX_DEVICES = 8, BRUTE_MAX_LEVELS = 16 };

typedef struct brute_cost {
    double time_s, energy_j, peak_power_w;
    int used; /* devices with units */
} brute_cost;

/*
 * All choices of units and levels that keep the memory limits; a device without units is parked at its first level of least idle power, but a host at any
 * level where those of hosts have overheads.
 */
typedef struct brute_list {
    int64_t count;
    brute_cost *costs;
} brute_list;

/* What of a list is allowed. */
typedef struct brute_limits {
    double time_s, power_w; /* at most; INFINITY: any */
} brute_limits;

/* t(x) of a level, with the running maximum; 0 for 0 units. */
double brute_seconds(const yoke_plan_level *level, int64_t units);

/* Where a device without units is parked, unless hosts have overheads. */
int64_t brute_parked(const yoke_plan_device *device);
/* Nonzero: levels of hosts have overheads of their own, and a host may be parked at any. */
int brute_parks_anywhere(const yoke_plan_problem *problem, const yoke_plan_device *device);

/* What a choice costs; levels of devices without units are not looked at, but those of hosts that may be parked anywhere. */
brute_cost brute_evaluate(const yoke_plan_problem *problem, const int64_t *units, const int64_t *levels);

double brute_value(yoke_objective objective, const brute_cost *cost);

/* How many choices of units and levels there are without memory limits; 1e300 at most. */
double brute_count(const yoke_plan_problem *problem);

/* All of them; false: no memory.  The list is to be freed. */
bool brute_force(const yoke_plan_problem *problem, brute_list *list);
void brute_free(brute_list *list);

/* The cheapest that is allowed, NULL where none is. */
const brute_cost *brute_best(const brute_list *list, yoke_objective objective, brute_limits limits);
/* What the options of a plan allow of the list, with all limits moved by so much. */
brute_limits brute_limits_of(const yoke_plan_options *options, const brute_list *list, double moved);
/* The least peak power of all that take so long at most; INFINITY where there is none. */
double brute_least_power(const brute_list *list, double most_seconds);

/* Times and energies of which none is both slower and costlier than another that is allowed, by ascending time.  Returns how many; at most count. */
int64_t brute_front(const brute_list *list, brute_limits limits, brute_cost *front);

/*
 * The least time by dynamic programming: F_i(m) = min over d of max(F_(i-1)(m - d), t_i(d)), over all devices, levels free; for copies before
 * the calls that for each limit on the copies' time.  INFINITY where the units do not fit; NAN: no memory.
 */
double brute_least_time(const yoke_plan_problem *problem);

#endif
