/*
 * The first round of a work for which some device was never measured.  Each device begins with a piece, and a device that has finished its
 * piece continues with the next units until all are measured.  So no device waits for a much slower one, except at the very end, if the
 * slow device has not finished its piece when all other units are done.
 *
 * The time of a device's first piece does not show its speed, because drivers do additional work at a first launch.  So an accelerator gets
 * two pieces, if there is time for that.
 */
#include <math.h>

#include "share/sharing.h"

typedef struct trial {
    dense_sharing *s;
    double begin_s[DENSE_MAX_DEVICES]; /* on each device's clock */
    int tries[DENSE_MAX_DEVICES];      /* nonzero: the device has had a piece */
    int works[DENSE_MAX_DEVICES];      /* nonzero: it is computing one */
    int64_t *units;                    /* units of the last valid piece of each device */
    double *seconds;                   /* seconds of these units */
    int told[DENSE_MAX_DEVICES];       /* nonzero: the device has had a valid piece */
} trial;

/* Units per second of all measured devices except one; except = -1: of all. */
static double rate_of_all_but(const trial *t, int except)
{
    double rate = 0;
    for (int i = 0; i < t->s->count; i++)
        if (i != except && t->seconds[i] > 0 && !t->s->device[i].failed) rate += (double)t->units[i] / t->seconds[i];
    return rate;
}

static int64_t count_left(const dense_sharing *s)
{
    int64_t left = 0;
    for (int64_t k = 0; k < s->ranges; k++) left += s->left[k].last - s->left[k].first;
    return left;
}

/* Nonzero: the others would complete all remaining units before this device completes another such piece. */
static int takes_too_long(const trial *t, int i, double seconds) { return seconds * rate_of_all_but(t, i) >= (double)count_left(t->s); }

static int is_everybody_told(const trial *t)
{
    for (int i = 0; i < t->s->count; i++)
        if (t->tries[i] && !t->told[i] && !t->s->device[i].failed) return 0;
    return 1;
}

/*
 * Returns the number of units with which the device continues; 0: none.  A piece is to take as long as the trial has taken so far: smaller
 * pieces would be slow, and with larger ones a device that has been measured in the meantime would wait too long.  At the end, all devices
 * get a share.
 */
static int64_t next_units(const trial *t, int i)
{
    const dense_sharing *s = t->s;
    const dense_share_device *d = &s->device[i];
    const int64_t left = count_left(s), before = d->last - d->first;
    if (left == 0 || d->failed) return 0;
    if (!t->told[i]) return before;
    if (is_everybody_told(t)) return 0;
    const double rate = t->seconds[i] > 0 ? (double)t->units[i] / t->seconds[i] : 0, all = rate_of_all_but(t, -1);
    if (!(rate > 0)) return before;
    const double wanted = rate * (yoke_device_clock_s(d->device) - t->begin_s[i]), part = ceil((double)left * rate / all);
    int64_t units = wanted < part ? (int64_t)wanted : (int64_t)part;
    const int64_t most = s->list[i].accelerator && s->kernel->most_units ? s->kernel->most_units(s->kernel->user, i) : units;
    if (units > most) units = most;
    return units > 1 ? units : 1;
}

static yoke_status start(trial *t, int i)
{
    t->tries[i] = t->works[i] = 1; /* even if it fails, because it must be waited for */
    return dense_share_start(t->s, i);
}

/* Called after the device's piece has ended. */
static yoke_status end(trial *t, int i)
{
    dense_sharing *s = t->s;
    dense_share_device *d = &s->device[i];
    double seconds = NAN;
    t->works[i] = 0;
    yoke_status status = dense_share_finish(s, i, &seconds);
    yoke_status added = dense_share_add_piece(s, i, seconds);
    if (status || added || !d->done) return status ? status : added;
    if (d->is_warm || !s->list[i].accelerator || takes_too_long(t, i, seconds)) {
        t->told[i] = 1;
        t->units[i] = d->last - d->first;
        t->seconds[i] = seconds;
    }
    d->is_warm = 1;
    return s->kernel->progress.call ? s->kernel->progress.call(s->kernel->progress.user, s->done, s->kernel->units) : YOKE_OK;
}

static yoke_status go_on(trial *t, int i)
{
    dense_share_device *d = &t->s->device[i];
    const int64_t units = next_units(t, i);
    if (units == 0) return YOKE_OK;
    const dense_range taken = dense_share_take(t->s, units);
    d->first = taken.first;
    d->last = taken.last;
    return start(t, i);
}

/* Waits for the first device to finish.  ended [count]: which devices have finished.  Returns how many were working. */
static int wait_for_one(const trial *t, int *ended)
{
    yoke_event *events[DENSE_MAX_DEVICES];
    int of[DENSE_MAX_DEVICES], reached[DENSE_MAX_DEVICES], count = 0;
    for (int i = 0; i < t->s->count; i++) {
        ended[i] = 0;
        if (!t->works[i]) continue;
        of[count] = i;
        events[count++] = t->s->device[i].marks[1];
    }
    const int failed = count > 0 && yoke_event_wait_any(events, count, reached) != YOKE_OK;
    for (int k = 0; k < count; k++) ended[of[k]] = failed || reached[k];
    return count;
}

yoke_status dense_share_try_devices(dense_sharing *s, int64_t *units, double *seconds)
{
    int ended[DENSE_MAX_DEVICES];
    trial t = {.s = s, .units = units, .seconds = seconds};
    yoke_status status = YOKE_OK;
    for (int i = 0; i < s->count; i++) {
        units[i] = 0;
        seconds[i] = NAN;
        t.begin_s[i] = yoke_device_clock_s(s->list[i].device);
    }
    for (int accelerator = 0; accelerator < 2;
         accelerator++) /* hosts have threads of their own; copies to an accelerator may block this thread */
        for (int i = 0; i < s->count && !status; i++)
            if (s->device[i].last > s->device[i].first && s->list[i].accelerator == accelerator) status = start(&t, i);
    while (wait_for_one(&t, ended)) {
        for (int i = 0; i < s->count; i++) {
            yoke_status of = ended[i] ? end(&t, i) : YOKE_OK;
            if (!status) status = of;
        }
        for (int i = 0; i < s->count && !status; i++)
            if (ended[i]) status = go_on(&t, i);
    }
    return status;
}
