/* Trials on the cores while other programs use them as well. */
#include <math.h>
#include <time.h>

#include "run/calibrate/calibrate.h"

enum { MOST_TRIALS = 4 };
/* All repeated trials of a run take at most repeated_s and repeated_part of the time of the trials that count. */
static const double repeated_s = 0.2, repeated_part = 0.5;
/*
 * Before a trial is repeated, this process sleeps for as long as the trial took, but not longer than this: then the operating system gives
 * it the cores for as long again.
 */
static const double longest_pause_s = 0.01;

/*
 * Nonzero: other programs may disturb trials on this device.  Only the cores are shared with other programs, and a simulated machine's
 * clock does not advance while these work.
 */
static int is_watched(const calibrating *c) { return !c->run->simulated && !c->run->devices[c->device].accelerator; }

static double cores(const calibrating *c)
{
    yoke_topology topology;
    return yoke_topology_get(c->run->context, &topology) == YOKE_OK ? (double)topology.hardware_threads : 1;
}

/* Nonzero: the trial was hardly disturbed; or the shortest trial counts, and an earlier one was hardly disturbed. */
static int is_quiet(const calibrating *c, double wall_s, double lost_s)
{
    return lost_s <= RUN_DISTURBED * wall_s || (c->of->shortest && c->least_part <= RUN_DISTURBED);
}

/* wall_s: duration of the trial; lost_s: the part of it in which other programs had the cores. */
static yoke_status try_watched(calibrating *c, int64_t units, int64_t calls, double *seconds, double *wall_s, double *lost_s)
{
    yoke_core_time before, after;
    c->run->core_time(&before);
    const double begin_s = yoke_clock_s();
    yoke_status status = run_calibrate_try(c, units, calls, seconds);
    *wall_s = yoke_clock_s() - begin_s;
    c->run->core_time(&after);
    *lost_s = fmin(yoke_core_time_lost(&before, &after, *wall_s, cores(c)), *wall_s);
    return status;
}

static void pause_for(double seconds)
{
    const struct timespec pause = {.tv_nsec = (long)(1e9 * fmin(seconds, longest_pause_s))};
    (void)nanosleep(&pause, NULL);
}

yoke_status run_calibrate_try_quietly(calibrating *c, int64_t units, int64_t calls, double *seconds)
{
    yoke_run *run = c->run;
    double best_wall_s = 0, best_lost_s = 0;
    if (!is_watched(c)) return run_calibrate_try(c, units, calls, seconds);
    for (int k = 0; k < MOST_TRIALS; k++) {
        double now_s = NAN, wall_s, lost_s;
        yoke_status status = try_watched(c, units, calls, &now_s, &wall_s, &lost_s);
        if (status != YOKE_OK) return status;
        if (k == 0 || lost_s * best_wall_s < best_lost_s * wall_s) *seconds = now_s, best_wall_s = wall_s, best_lost_s = lost_s;
        run->repeated_s += k > 0 ? wall_s : 0;
        if (is_quiet(c, best_wall_s, best_lost_s) || run->repeated_s > repeated_s + repeated_part * run->trials_s) break;
        run->repeated_s += fmin(wall_s, longest_pause_s);
        pause_for(wall_s);
    }
    run->trials_s += best_wall_s;
    c->counted_s += best_wall_s;
    c->lost_s += best_lost_s;
    if (best_wall_s > 0) c->least_part = fmin(c->least_part, best_lost_s / best_wall_s);
    return YOKE_OK;
}
