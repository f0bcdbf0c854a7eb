/*
 * perf_counts.h - files of a recorded machine that stand for its perf events of energy.
 */
#ifndef YOKE_TESTS_METER_PERF_COUNTS_H
#define YOKE_TESTS_METER_PERF_COUNTS_H

#include <math.h>

#include "tree.h"

#define PMU "sys/bus/event_source/devices/power/"
#define COUNTS "yoke/perf/power/"

static const double perf_joule = 4294967296.0; /* counts */

static inline void add_j(const tree *where, const char *path, double more_j) { tree_add(where, path, llround(more_j * perf_joule)); }

#endif
