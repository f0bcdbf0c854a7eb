/* The thread that reads meters before they wrap, and the measurement of their update periods. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/statistics.h"
#include "meter/set.h"

/* ------------------------------------------------------------------------------------------------- thread */

static struct timespec timespec_of(double seconds)
{
    double whole = floor(seconds);
    return (struct timespec){.tv_sec = (time_t)whole, .tv_nsec = (long)fmin(1e9 * (seconds - whole), 999999999.0)};
}

/* Reads the meters that are due.  Returns the time at which the next one is due. */
static double read_due(meter_set *set)
{
    double next_s = INFINITY, now_s = yoke_clock_s();
    double suspended_s = meter_set_suspended_s(set);
    for (int64_t i = 0; i < set->count; i++) {
        meter_member *member = &set->members[i];
        if (isinf(member->interval_s)) continue;
        if (member->due_s <= now_s) {
            pthread_mutex_lock(&member->lock);
            meter_set_read(set, member, suspended_s);
            pthread_mutex_unlock(&member->lock);
            /* Keeps the interval, unless it is late by more than half of it. */
            member->due_s = fmax(member->due_s + member->interval_s, now_s + 0.5 * member->interval_s);
        }
        next_s = fmin(next_s, member->due_s);
    }
    return next_s;
}

static void *watch(void *user)
{
    meter_set *set = user;
    meter_watch *state = &set->watch;
    pthread_mutex_lock(&state->lock);
    while (!state->stop) {
        pthread_mutex_unlock(&state->lock);
        struct timespec until = timespec_of(read_due(set)); /* the condition waits on the clock of yoke_clock_s */
        pthread_mutex_lock(&state->lock);
        int error = 0;
        while (!state->stop && error == 0) error = pthread_cond_timedwait(&state->wake, &state->lock, &until);
    }
    pthread_mutex_unlock(&state->lock);
    return NULL;
}

static int start_thread(meter_set *set)
{
    meter_watch *state = &set->watch;
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);
    if (error != 0) return error;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    error = pthread_cond_init(&state->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (error != 0) return error;
    error = pthread_mutex_init(&state->lock, NULL);
    if (error == 0) {
        /* Signals are handled by the application's threads. */
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(&state->thread, NULL, watch, set);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (error != 0) pthread_mutex_destroy(&state->lock);
    }
    if (error != 0) pthread_cond_destroy(&state->wake);
    return error;
}

yoke_status meter_watch_start(meter_set *set)
{
    if (set->time->virtual_time || isinf(meter_set_interval_s(set))) return YOKE_OK;
    double now_s = yoke_clock_s();
    for (int64_t i = 0; i < set->count; i++) set->members[i].due_s = now_s + set->members[i].interval_s;
    int error = start_thread(set);
    if (error != 0)
        return yoke_fail(
            set->context, YOKE_ERROR_SYSTEM,
            "the thread that reads the meters cannot be started (%s); raise the limit of threads (ulimit -u), or select fewer meters",
            strerror(error));
    set->watch.running = 1;
    return YOKE_OK;
}

void meter_watch_stop(meter_set *set)
{
    meter_watch *state = &set->watch;
    if (!state->running) return;
    pthread_mutex_lock(&state->lock);
    state->stop = 1;
    pthread_cond_signal(&state->wake);
    pthread_mutex_unlock(&state->lock);
    pthread_join(state->thread, NULL);
    pthread_cond_destroy(&state->wake);
    pthread_mutex_destroy(&state->lock);
    state->running = 0;
}

/* -------------------------------------------------------------------------------------------------- probe */

enum { PROBE_CHANGES = 17, PROBE_MIN = 3, PROBE_MEMBERS = 32 };

typedef struct probing {
    meter_member *member;
    yoke_meter_info *info;
    meter_sample last;
    double changed_s[PROBE_CHANGES];
    int changes;
} probing;

static int shows_the_same(const meter_track *track, const meter_sample *before)
{
    return track->quantity == METER_COUNTER ? track->last.count == before->count : track->last.power_w == before->power_w;
}

static void probe_one(meter_set *set, probing *probe)
{
    meter_member *member = probe->member;
    pthread_mutex_lock(&member->lock);
    meter_set_read(set, member, meter_set_suspended_s(set));
    pthread_mutex_unlock(&member->lock);
    if (!member->track.started) return;
    if (!shows_the_same(&member->track, &probe->last)) probe->changed_s[probe->changes++] = member->track.last.time_s;
    probe->last = member->track.last;
}

/* The mean of the middle half of the times between changes, so that missed or late updates have no influence. */
static void conclude(probing *probe)
{
    int64_t count = probe->changes - 1;
    if (probe->changes < PROBE_MIN) return;
    double between_s[PROBE_CHANGES - 1], sum_s = 0;
    for (int64_t i = 0; i < count; i++) between_s[i] = probe->changed_s[i + 1] - probe->changed_s[i];
    statistics_sort(between_s, count);
    int64_t from = count / 4, to = count - count / 4;
    for (int64_t i = from; i < to; i++) sum_s += between_s[i];
    double period_s = sum_s / (double)(to - from);
    if (!(period_s > 0)) return;
    probe->info->period_s = probe->member->domain.info.period_s = period_s;
    probe->info->period_measured = probe->member->domain.info.period_measured = 1;
    meter_track_period(&probe->member->track, period_s);
    probe->member->interval_s = meter_track_interval_s(&probe->member->track);
}

void meter_watch_probe(meter_set *set, double seconds)
{
    probing probes[PROBE_MEMBERS];
    int64_t count = 0, open = 0;
    if (set->time->virtual_time) return;
    for (int64_t i = 0; i < set->count && count < PROBE_MEMBERS; i++) {
        meter_member *member = &set->members[i];
        if (member->domain.quantity == METER_ENERGY || member->domain.info.period_measured || !member->track.started) continue;
        probes[count++] = (probing){.member = member, .info = &set->infos[i], .last = member->track.last};
    }
    open = count;
    double end_s = yoke_clock_s() + seconds;
    while (open > 0 && yoke_clock_s() < end_s) {
        open = 0;
        for (int64_t i = 0; i < count; i++) {
            if (probes[i].changes == PROBE_CHANGES) continue;
            probe_one(set, &probes[i]);
            open += probes[i].changes < PROBE_CHANGES;
        }
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    for (int64_t i = 0; i < count; i++) conclude(&probes[i]);
}
