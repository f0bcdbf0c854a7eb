/*
 * The first round of a loop on devices of which some were never measured.  Each device begins with a few units, and a device that has
 * finished its piece continues with the next units, until all devices are measured and a certain part of the loop is done.  So no device
 * waits for a much slower one, except at the very end, if the slow one has not finished its piece when everything else is done.
 *
 * The time of a device's first piece does not show its speed, as drivers do additional work at a first launch: a device has two pieces, if
 * there is time for that.
 */
#include <math.h>

#include "run/kernel.h"

/*
 * LEAST_PART: at least 1/LEAST_PART of the units is done, as larger pieces give more accurate speeds.  PIECE_PART: a further piece has at
 * most 1/PIECE_PART of the units.
 */
enum { LEAST_PART = 16, PIECE_PART = 32 };

typedef struct trial {
    yoke_run *run;
    yoke_run_kernel *kernel;
    run_piece_report *report;
    int64_t first, next, last; /* units from `next` on are left */
    double begin_s;
    int tries[RUN_MAX_DEVICES];    /* nonzero: it has had a piece */
    int works[RUN_MAX_DEVICES];    /* nonzero: it works on a piece */
    int told[RUN_MAX_DEVICES];     /* nonzero: its speed was measured */
    double speed[RUN_MAX_DEVICES]; /* units per second; 0: not known */
} trial;

static double speed_of_all_but(const trial *t, int except)
{
    double speed = 0;
    for (int i = 0; i < t->run->num_devices; i++) speed += i != except && !t->kernel->devices[i].failed ? t->speed[i] : 0;
    return speed;
}

static int is_everybody_told(const trial *t)
{
    for (int i = 0; i < t->run->num_devices; i++)
        if (t->tries[i] && !t->told[i] && !t->kernel->devices[i].failed) return 0;
    return 1;
}

/*
 * Number of units with which the device continues; 0: none.  A piece takes about as long as the whole trial so far, so that pieces grow;
 * the units that are left at the end are divided by speed.
 */
static int64_t next_units(const trial *t, int i)
{
    const run_kernel_device *d = &t->kernel->devices[i];
    const int64_t left = t->last - t->next, all = t->last - t->first, before = d->last - d->first;
    if (left == 0 || d->failed) return 0;
    if (is_everybody_told(t) && t->next - t->first >= all / LEAST_PART) return 0;
    if (!t->told[i] || !(t->speed[i] > 0)) return run_smaller(before, left);
    const double wanted = t->speed[i] * (run_now_s(t->run) - t->begin_s), part = ceil((double)left * t->speed[i] / speed_of_all_but(t, -1));
    const int64_t most = run_smaller(left, run_larger(all / PIECE_PART, 1));
    return wanted < 1 ? 1 : (int64_t)fmin((double)most, fmin(wanted, part));
}

static yoke_status start(trial *t, int i)
{
    t->tries[i] = t->works[i] = 1; /* even if it fails: it must be waited for */
    return run_kernel_start(t->run, t->kernel, i);
}

/* Ends the device's piece and determines its speed from it. */
static yoke_status end(trial *t, int i)
{
    run_kernel_device *d = &t->kernel->devices[i];
    const double units = (double)(d->last - d->first);
    double seconds, moved_s;
    t->works[i] = 0;
    yoke_status status = run_kernel_finish(t->run, t->kernel, i, &seconds, &moved_s);
    if (status != YOKE_OK || d->failed) return status;
    t->report->busy_s[i] += seconds;
    /* Before a second piece of this length ends, the other devices could do all units that are left. */
    const int takes_too_long = seconds * speed_of_all_but(t, i) >= (double)(t->last - t->next);
    if (d->warm || t->run->simulated || takes_too_long) {
        t->told[i] = 1;
        t->speed[i] = seconds > 0 ? units / seconds : 0;
        t->report->seconds[i] = seconds;
        t->report->units[i] = d->last - d->first;
    }
    d->warm = 1;
    return YOKE_OK;
}

/*
 * Copies to the host the parts of kept arrays that only an accelerator has, before its next piece: it keeps one range of units only.  The
 * copy must have ended before that range is dropped.
 */
static yoke_status give_up(trial *t, int i)
{
    const run_device *device = &t->run->devices[i];
    run_kernel_device *d = &t->kernel->devices[i];
    if (!device->accelerator) return YOKE_OK;
    yoke_status status = run_kernel_fetch(device, d, t->kernel, d->first, d->last);
    if (status == YOKE_OK) status = yoke_queue_finish(device->queue);
    if (status == YOKE_OK) run_kernel_trim(d, t->kernel, d->first, d->last);
    return run_kernel_note(t->run, d, status);
}

static yoke_status go_on(trial *t, int i)
{
    run_kernel_device *d = &t->kernel->devices[i];
    const int64_t units = next_units(t, i);
    if (units == 0) return YOKE_OK;
    d->first = t->next;
    d->last = t->next += units;
    d->done = 0;
    yoke_status status = give_up(t, i);
    return status == YOKE_OK && !d->failed ? start(t, i) : status;
}

/*
 * Waits until at least one device has finished.  ended [num_devices]: nonzero for those that have.  Returns the number of devices that were
 * at work; 0: none.
 */
static int wait_for_one(const trial *t, int *ended)
{
    yoke_event *events[RUN_MAX_DEVICES];
    int of[RUN_MAX_DEVICES], reached[RUN_MAX_DEVICES], count = 0;
    for (int i = 0; i < t->run->num_devices; i++) {
        ended[i] = 0;
        if (!t->works[i]) continue;
        of[count] = i;
        events[count++] = t->run->devices[i].marks[2];
    }
    const int failed = count > 0 && yoke_event_wait_any(events, count, reached) != YOKE_OK;
    for (int k = 0; k < count; k++) ended[of[k]] = failed || reached[k];
    return count;
}

yoke_status run_kernel_try(yoke_run *run, yoke_run_kernel *kernel, int64_t *next, int64_t last, run_piece_report *report)
{
    int ended[RUN_MAX_DEVICES];
    trial t = {.run = run, .kernel = kernel, .report = report, .first = *next, .next = *next, .last = last, .begin_s = run_now_s(run)};
    yoke_status status = YOKE_OK;
    for (int accelerator = 0; accelerator < 2;
         accelerator++) /* hosts first: they have threads of their own, and copies to an accelerator may block this thread */
        for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
            const run_kernel_device *d = &kernel->devices[i];
            if (!d->failed && d->last > d->first && run->devices[i].accelerator == accelerator) status = start(&t, i);
        }
    while (wait_for_one(&t, ended)) {
        for (int i = 0; i < run->num_devices; i++) {
            const yoke_status of = ended[i] ? end(&t, i) : YOKE_OK;
            if (status == YOKE_OK) status = of;
        }
        for (int i = 0; i < run->num_devices && status == YOKE_OK; i++)
            if (ended[i]) status = go_on(&t, i);
    }
    *next = t.next;
    return status;
}
