/*
 * envelope.h - convex lower bounds of a device's cost as a function of its units.
 */
#ifndef YOKE_PLAN_SEARCH_ENVELOPE_H
#define YOKE_PLAN_SEARCH_ENVELOPE_H

#include "plan/plan.h"

typedef struct envelope_point {
    double units, joules;
} envelope_point;

/*
 * The cost of n units at a level is idle x seconds + dynamic w + copy n; with host_overhead_w (of a leading host, see
 * docs/methods/plan.md) also host_overhead_w x max(0, waited_s - w).
 */
typedef struct envelope_price {
    double seconds; /* during which idle power is drawn */
    double host_overhead_w, waited_s;
} envelope_price;

double envelope_joules(const plan_device *device, const plan_level *level, const envelope_price *price, int64_t n);

/* Adds corners of a polygon that is nowhere above the level's cost on [from, to], 1 <= from <= to; returns how many. */
int64_t envelope_add(const plan_work *work, const plan_device *device, const plan_level *level, const envelope_price *price, int64_t from,
                     int64_t to, envelope_point *points);

/* The largest number of points that envelope_add writes for a level. */
int64_t envelope_most_points(const plan_level *level);

/* Sorts points and keeps the lower convex hull; returns its number of corners. */
int64_t envelope_hull(envelope_point *points, int64_t count);

#endif
