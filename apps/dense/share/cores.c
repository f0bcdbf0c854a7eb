/*
 * Devices on the same cores: an accelerator that is OpenCL on the cores on which hosts work.  Both together do less than the better one alone, so one of them rests.
 * As long as nobody knows how fast the accelerator is, it is not even opened: compiling for it would cost more than it can bring in a short work.
 */
#include <math.h>

#include "share/sharing.h"

/* A trial of something that was never tried pays where the rest takes so long; it gets units that take the hosts such a part of that. */
static const double worth_s = 30, trial_part = 0.002;
/* So much better it has to be. */
static const double clearly = 0.02;

int dense_share_works(const dense_sharing *s, int i) { return s->list[i].active && !s->device[i].rests; }

/* Units a second of a device alone; NaN: not known.  *uncertainty: relative. */
static double speed_of(const dense_sharing *s, int i, double *uncertainty)
{
    const int64_t units = s->kernel->units;
    yoke_prediction call;
    if (yoke_run_predict(s->run, s->kernel->work, i, (double)dense_share_weigh(s->kernel, units), NAN, 0, &call) != YOKE_OK) return NAN;
    *uncertainty = isfinite(call.seconds_uncertainty) ? call.seconds_uncertainty / call.seconds : clearly;
    return (double)units / call.seconds;
}

static int is_host(const dense_sharing *s, int i) { return s->list[i].active && !s->list[i].accelerator; }

/* Of all hosts together; NaN: not known. */
static double speed_of_hosts(const dense_sharing *s)
{
    double sum = 0, unused;
    for (int i = 0; i < s->count; i++) sum += is_host(s, i) ? speed_of(s, i, &unused) : 0;
    return sum;
}

static int count_hosts(const dense_sharing *s)
{
    int hosts = 0;
    for (int i = 0; i < s->count; i++) hosts += is_host(s, i);
    return hosts;
}

void dense_share_choose_cores(dense_sharing *s)
{
    const int hosts = count_hosts(s);
    double most = speed_of_hosts(s) * (1 + clearly), unused;
    int best = -1;
    for (int i = 0; i < s->count; i++) {
        s->device[i].rests = 0;
        if (!s->list[i].active || !s->list[i].shares_cores) continue;
        const double speed = speed_of(s, i, &unused);
        if (!(speed > most) && (hosts > 0 || best >= 0)) continue;
        best = i;
        most = speed;
    }
    for (int i = 0; i < s->count; i++) s->device[i].rests = s->list[i].shares_cores ? i != best : best >= 0 && is_host(s, i);
}

/* Units for a trial of a device that rests, and may be the best one for all that is known; 0: none, or it costs too much. */
static int64_t trial_units(const dense_sharing *s, int i, int64_t left)
{
    double uncertainty = 0;
    if (!s->list[i].active || !s->list[i].shares_cores || !s->device[i].rests || s->tried[i] > 0) return 0;
    if (!(s->rate > 0) || (double)left < worth_s * s->rate) return 0;
    const double speed = speed_of(s, i, &uncertainty);
    if (!isnan(speed) && speed * (1 + uncertainty) <= s->rate) return 0;
    const int64_t units = (int64_t)(trial_part * (double)left);
    return units > 1 ? units : 1;
}

int dense_share_try_cores(dense_sharing *s, int64_t left)
{
    for (int i = 0; i < s->count; i++) {
        const int64_t units = trial_units(s, i, left);
        if (units == 0) continue;
        s->tried[i]++;
        s->alone_units = units;
        return i;
    }
    return -1;
}

const char *dense_share_why_rests(const dense_sharing *s, int i)
{
    double unused;
    if (!s->device[i].rests) return "";
    if (!s->list[i].shares_cores) return "a device on the same cores is faster";
    return isnan(speed_of(s, i, &unused)) ? "it would use the cores of the hosts; it is tried where more than 30 s are left"
                                          : "it would use the cores of the hosts, and these are faster alone";
}
