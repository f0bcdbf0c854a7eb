/* How much devices slow each other down: all work at once, each on as many units as it does in the same time alone. */
#include <math.h>

#include "base/statistics.h"
#include "run/calibrate/calibrate.h"

enum { ROUNDS = 16, CALLS = 4 };
/* The measurements alone, with which the others are compared, may take this many times as long as those of a size. */
static const double longer = 3;
static const double least_factor = 0.5, most_factor = 1001;

/* Measures each device alone, on units that take every device the same time: the shortest time that a device needs for its largest size. */
static yoke_status measure_apart(calibrating *c, yoke_sample *alone, int64_t *units)
{
    yoke_run *run = c->run;
    double shortest = INFINITY;
    yoke_status status = YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) {
        const int top = run->devices[i].num_levels - 1;
        units[i] = 0;
        if (run_is_active(run, i))
            shortest = fmin(shortest, run_seconds(run, c->work, i, top, 0, (double)run->results[i].accuracy.max_units, NULL));
    }
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
        if (!run_is_active(run, i)) continue;
        const double most = (double)run->results[i].accuracy.max_units;
        c->device = i;
        c->found = &run->results[i];
        c->level = run->devices[i].num_levels - 1;
        units[i] = (int64_t)fmax(1, round(most * shortest / run_seconds(run, c->work, i, c->level, 0, most, NULL)));
        status = run_calibrate_measure(c, units[i], longer, &alone[i]);
        if (status == YOKE_OK) run_calibrate_keep(c, &alone[i]);
    }
    return status;
}

static yoke_status measure_beside(calibrating *c, const int64_t *units, double seconds[ROUNDS][RUN_MAX_DEVICES])
{
    yoke_status status = YOKE_OK;
    for (int r = 0; r < ROUNDS && status == YOKE_OK; r++) {
        int64_t failed = -1;
        c->device = -1;
        status = run_calibrate_progress(c, -1, "all devices together");
        if (status != YOKE_OK) break;
        status = c->of->together(c->of->user, units, CALLS, seconds[r], &failed);
        c->device = failed >= 0 && failed < c->run->num_devices ? (int)failed : -1;
    }
    return status;
}

/* Mean time of a device in all rounds but the first, with its interval. */
static yoke_sample summarise(double seconds[ROUNDS][RUN_MAX_DEVICES], int device)
{
    double values[ROUNDS], deviation;
    yoke_sample one = {.together = 1, .repeats = ROUNDS - 1, .joules = NAN, .joules_interval = NAN};
    for (int r = 1; r < ROUNDS; r++) values[r - 1] = seconds[r][device];
    statistics_moments(values, ROUNDS - 1, &one.seconds, &deviation);
    one.seconds_interval = statistics_student_95(ROUNDS - 2) * deviation / sqrt(ROUNDS - 1);
    return one;
}

yoke_status run_calibrate_together(calibrating *c)
{
    yoke_run *run = c->run;
    yoke_sample alone[RUN_MAX_DEVICES];
    int64_t units[RUN_MAX_DEVICES];
    double seconds[ROUNDS][RUN_MAX_DEVICES] = {{0}};
    yoke_status status = measure_apart(c, alone, units);
    if (status == YOKE_OK) status = measure_beside(c, units, seconds);
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
        if (!run_is_active(run, i)) continue;
        yoke_sample beside = summarise(seconds, i);
        beside.units = (double)units[i];
        beside.frequency_hz = run->devices[i].hz[run->devices[i].num_levels - 1];
        c->device = i;
        c->found = &run->results[i];
        run_calibrate_keep(c, &beside);
        double factor = beside.seconds / alone[i].seconds;
        if (!(factor > 0) || !isfinite(factor))
            return yoke_fail(run->context, YOKE_ERROR_NUMERIC,
                             "%s: a trial beside the other devices reported %g s; it must report a time above 0",
                             run->devices[i].info->name, beside.seconds);
        double relative = hypot(beside.seconds_interval / beside.seconds, alone[i].seconds_interval / alone[i].seconds);
        c->found->accuracy.contention = 1 / factor;
        run_know_contention(run, c->work, i, fmin(fmax(factor, least_factor), most_factor), relative);
    }
    return status;
}
