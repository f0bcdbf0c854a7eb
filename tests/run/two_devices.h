/*
 * two_devices.h - rounds on a simulated CPU and GPU, whose best shares are known.
 */
#ifndef YOKE_TESTS_RUN_TWO_DEVICES_H
#define YOKE_TESTS_RUN_TWO_DEVICES_H

#include <math.h>

#include "unit.h"
#include "worker.h"

/* cpu: 10 us + 4 us a unit; gpu: 100 us + 1 us a unit: together 100 000 units end after t with (t - 1e-5) / 4e-6 + (t - 1e-4) / 1e-6 = 1e5. */
#define TWO_DEVICES(cpu, gpu)                                                                        \
    "{\"name\": \"two\", \"devices\": ["                                                             \
    "{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 4e-6, \"start_s\": 1e-5" cpu "}," \
    "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6, \"start_s\": 1e-4" gpu "}]}"
enum { N = 100000 };
static const double best_s = (1e5 + 1e-5 / 4e-6 + 1e-4 / 1e-6) / (1 / 4e-6 + 1 / 1e-6);

static inline double makespan(const worker *w)
{
    return fmax(1e-5 + 4e-6 * (double)worker_units(w, 0), 1e-4 + 1e-6 * (double)worker_units(w, 1));
}

static inline void expect_near(double found, double expected, double relative, const char *what)
{
    if (!(fabs(found - expected) <= relative * fabs(expected))) fail_msg("%s: %.9g instead of %.9g", what, found, expected);
}

#endif
