/*
 * The times at which kernels were at work: an event in the queue at each mark.  The times of events are read later, so that nothing waits
 * for a device that works by itself.
 */
#include "run/profile.h"

#include <math.h>

static yoke_status record(run_profile_device *d, yoke_device *of, yoke_queue *queue, int kernel, int continues)
{
    run_profile_mark *mark = &d->marks[d->started % RUN_PROFILE_EVENTS];
    yoke_status status = mark->event ? YOKE_OK : yoke_event_create(of, &mark->event);
    if (status == YOKE_OK) status = yoke_queue_record(queue, mark->event);
    if (status != YOKE_OK) return status;
    mark->kernel = kernel;
    mark->continues = continues;
    d->started++;
    return YOKE_OK;
}

static yoke_status tell_known(run_profile_device *d, double until_s)
{
    yoke_status status = YOKE_OK;
    for (int m = 0; m < d->num_meters && status == YOKE_OK; m++) status = profiler_known(d->meters[m].profiler, until_s);
    return run_profile_without_energy(d, status);
}

static void add_timed(run_profile_device *d, const profile_call *call)
{
    const int level = d->level, kernel = call->kernel;
    const double seconds = call->end_s - call->start_s, before_s = call->continues ? d->last_s[kernel] : 0;
    d->last_s[kernel] = before_s + seconds;
    d->timed[level][kernel] += !call->continues;
    d->timed_s[level][kernel] += seconds;
    d->timed_squares[level][kernel] += d->last_s[kernel] * d->last_s[kernel] - before_s * before_s;
}

static yoke_status tell_call(run_profile_device *d, const profile_call *call)
{
    yoke_status status = YOKE_OK;
    for (int m = 0; m < d->num_meters && status == YOKE_OK; m++) status = profiler_call(d->meters[m].profiler, call);
    add_timed(d, call);
    return run_profile_without_energy(d, status);
}

/*
 * Reads the time of the next mark, from its distance to the previous mark: distances are exact, whereas absolute times would lose digits.
 */
static yoke_status read_next(run_profile_device *d)
{
    const run_profile_mark *before = &d->marks[(d->read - 1) % RUN_PROFILE_EVENTS], *mark = &d->marks[d->read % RUN_PROFILE_EVENTS];
    double seconds = 0;
    yoke_status status = yoke_event_elapsed_s(before->event, mark->event, &seconds);
    if (status != YOKE_OK) return status;
    d->read++;
    d->read_s += seconds > 0 ? seconds : 0;
    const profile_call call = {.start_s = d->open_s, .end_s = d->read_s, .kernel = d->open, .continues = d->open_continues};
    if (d->open >= 0) status = tell_call(d, &call);
    d->open = mark->kernel;
    d->open_continues = mark->continues;
    d->open_s = d->read_s;
    return status;
}

/*
 * The time of an event on the host's clock is known to lie between the start of its recording and the end of the wait for it.  This
 * interval is long if a thread is woken late or the queue has work, so the measurement is repeated until the interval is about as short as
 * the shortest one so far.
 */
yoke_status run_marks_begin(run_profile_device *d, yoke_device *of, yoke_queue *queue)
{
    enum { MAX_TRIES = 4 };
    static const double about = 1.5, near_enough_s = 5e-5;
    double best = INFINITY;
    d->started = d->read = 0;
    d->open = -1;
    for (int tries = 0; tries < MAX_TRIES && !(best <= fmax(near_enough_s, about * d->nearest_s)); tries++) {
        double before = yoke_device_clock_s(of);
        yoke_status status = record(d, of, queue, -1, 0);
        if (status == YOKE_OK) status = yoke_event_wait(d->marks[d->started - 1].event, NULL);
        if (status != YOKE_OK) return status;
        double after = yoke_device_clock_s(of);
        if (!(after - before < best)) continue;
        best = after - before;
        d->read = d->started;
        d->read_s = d->open_s = 0.5 * (before + after);
    }
    if (d->nearest_s == 0 || best < d->nearest_s) d->nearest_s = best;
    return YOKE_OK;
}

yoke_status run_marks_add(run_profile_device *d, yoke_device *of, yoke_queue *queue, int kernel, int continues)
{
    yoke_status status = YOKE_OK;
    /* The older half of the marks is done, or the work behind them keeps the device busy during the wait. */
    if (d->started - d->read >= RUN_PROFILE_EVENTS - 2) {
        while (d->started - d->read > RUN_PROFILE_EVENTS / 2 && status == YOKE_OK) status = read_next(d);
        if (status == YOKE_OK) status = tell_known(d, d->read_s);
    }
    if (status != YOKE_OK) return status;
    double before = yoke_device_clock_s(of);
    status = record(d, of, queue, kernel, continues);
    d->spent_s += yoke_device_clock_s(of) - before;
    return status;
}

yoke_status run_marks_end(run_profile_device *d)
{
    yoke_status status = YOKE_OK;
    while (d->read < d->started && status == YOKE_OK) status = read_next(d);
    return status == YOKE_OK ? tell_known(d, INFINITY) : status;
}

void run_marks_destroy(run_profile_device *d)
{
    for (int k = 0; k < RUN_PROFILE_EVENTS; k++) yoke_event_destroy(d->marks[k].event);
}
