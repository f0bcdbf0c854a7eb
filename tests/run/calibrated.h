/*
 * calibrated.h - a simulated machine with a start, a cliff and frequencies, trials of its devices, and a run that is calibrated on it.
 */
#ifndef YOKE_TESTS_RUN_CALIBRATED_H
#define YOKE_TESTS_RUN_CALIBRATED_H

#include "unit.h"
#include "worker.h"

enum { N = 200000 };

/* A GPU with a start, a cliff at 100 000 units, and frequencies whose start does not change; a CPU with one frequency; memory and a host. */
#define MACHINE(gpu)                                                                                                                    \
    "{\"name\": \"node\", \"hosting_w\": 15, \"host\": {\"idle_w\": 40}, \"dram\": {\"idle_w\": 5, \"busy_w\": 12}, \"devices\": ["     \
    "{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": [[0, 2e-6], [20000, 2e-6], [40000, 3e-6]], \"power\": {\"idle_w\": " \
    "50, "                                                                                                                              \
    "\"busy_w\": 150}},"                                                                                                                \
    "{\"name\": \"gpu\", \"class\": \"gpu\", \"start_s\": 2e-4" gpu                                                                     \
    ", \"power\": {\"idle_w\": 30, \"busy_w\": 230}, \"clock\": {\"levels\": ["                                                         \
    "{\"frequency_hz\": 0.8e9, \"seconds_per_unit\": [[0, 1.6e-6], [100000, 1.6e-6], [101000, 2.4e-6]], \"power\": {\"idle_w\": 28, "   \
    "\"busy_w\": "                                                                                                                      \
    "100}},"                                                                                                                            \
    "{\"frequency_hz\": 1.2e9, \"seconds_per_unit\": [[0, 1.2e-6], [100000, 1.2e-6], [101000, 1.8e-6]], \"power\": {\"idle_w\": 29, "   \
    "\"busy_w\": "                                                                                                                      \
    "150}},"                                                                                                                            \
    "{\"frequency_hz\": 1.6e9, \"seconds_per_unit\": [[0, 1e-6], [100000, 1e-6], [101000, 1.5e-6]]}]}}]}"

static inline double cpu_s(double units)
{
    double per_unit = units <= 20000 ? 2e-6 : units >= 40000 ? 3e-6 : 2e-6 + 1e-6 * (units - 20000) / 20000;
    return units > 0 ? units * per_unit : 0;
}

static inline double gpu_s(int level, double units)
{
    static const double per_unit[] = {1.6e-6, 1.2e-6, 1e-6};
    double slower = units <= 100000 ? 1 : units >= 101000 ? 1.5 : 1 + 0.5 * (units - 100000) / 1000;
    return units > 0 ? 2e-4 + units * per_unit[level] * slower : 0;
}

static inline void calibrate(worker *w, yoke_run_accuracy *accuracy)
{
    const yoke_run_calibration of = {.work = "work", .min_units = 100, .max_units = N, .trial = worker_try, .user = w};
    if (yoke_run_calibrate(w->run, &of, accuracy) != YOKE_OK) fail_msg("%s", yoke_last_error(w->context));
}

#endif
