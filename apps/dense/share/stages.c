/*
 * Chooses the number of units of a round, and the devices that work on them.  While something is not known, the first rounds are small.
 * Between them single devices work alone, because rounds in which all devices work do not show that they compete for the same cores or the
 * same memory.
 */
#include <math.h>

#include "share/sharing.h"

/*
 * A round takes about round_s, so that devices are balanced again and a user can interrupt; up to longest_s if the kernel's good_units take
 * longer than round_s.
 */
static const double round_s = 2, longest_s = 6;
/*
 * A device must be faster alone than all devices together by the fraction `clearly` to be left alone.  A device that takes `hopeless` times
 * as long as another one is not tried.
 */
static const double clearly = 0.02, hopeless = 2;
/*
 * The relative uncertainty of what is known from only one trial is larger than this.  Stores do not record how often something was
 * measured.
 */
static const double of_one_trial = 0.05;
/* Fraction of the time for all units that a repetition of an earlier trial may cost. */
static const double doubt_part = 0.005;

int64_t dense_share_weigh(const dense_kernel *kernel, int64_t units) { return kernel->weight ? units * kernel->weight : units; }

int dense_share_is_known_of(const dense_sharing *s, int i, int64_t units)
{
    yoke_prediction call;
    return yoke_run_predict(s->run, s->kernel->work, i, (double)dense_share_weigh(s->kernel, units), NAN, 0, &call) == YOKE_OK;
}

static int is_known(const dense_sharing *s, int64_t units)
{
    for (int i = 0; i < s->count; i++)
        if (dense_share_works(s, i) && !dense_share_is_known_of(s, i, units)) return 0;
    return 1;
}

static int count_active(const dense_sharing *s)
{
    int active = 0;
    for (int i = 0; i < s->count; i++) active += dense_share_works(s, i);
    return active;
}

static int64_t few_units(const dense_sharing *s) { return s->kernel->units / 16 < 1 ? 1 : s->kernel->units / 16; }

/* What is known about a number of units: seconds of each device alone and while the others work (NaN: not known), and of all together. */
typedef struct estimate {
    double alone_s[DENSE_MAX_DEVICES], beside_s[DENSE_MAX_DEVICES], shared_s;
    double uncertainty[DENSE_MAX_DEVICES]; /* relative, of alone_s; NaN: never measured alone, alone_s is that while others work */
} estimate;

static double predict_s(const dense_sharing *s, int64_t units, int i, int beside, double *uncertainty)
{
    const double weight = (double)dense_share_weigh(s->kernel, units);
    yoke_prediction call;
    *uncertainty = NAN;
    if (!dense_share_works(s, i) || yoke_run_predict(s->run, s->kernel->work, i, weight, NAN, beside, &call) != YOKE_OK) return NAN;
    *uncertainty = call.seconds_uncertainty / call.seconds;
    return call.seconds;
}

static estimate estimate_units(const dense_sharing *s, int64_t units)
{
    estimate e;
    double speed = 0, unused;
    for (int i = 0; i < s->count; i++) {
        e.alone_s[i] = predict_s(s, units, i, 0, &e.uncertainty[i]);
        e.beside_s[i] = predict_s(s, units, i, 1, &unused);
        speed += e.beside_s[i] > 0 ? 1 / e.beside_s[i] : 0;
    }
    e.shared_s = speed > 0 ? 1 / speed : (double)NAN;
    return e;
}

/*
 * Returns the device that may be the fastest one alone, but whose time alone is unknown: that which is fastest while others work.  If
 * devices lose speed then, also those that take less than twice as long are possible.  Devices are excluded that would have to
 * lose twice as much as any measured device to be faster alone than all together.  -1: none.
 */
static int find_untold(const dense_sharing *s, const estimate *e)
{
    double least_s = INFINITY, most_lost = 0;
    int found = -1;
    for (int i = 0; i < s->count; i++) {
        least_s = fmin(least_s, e->beside_s[i]);
        if (!isnan(e->uncertainty[i])) most_lost = fmax(most_lost, e->beside_s[i] / e->alone_s[i]);
    }
    if (most_lost > 0 && most_lost * (1 - clearly) <= 1) return -1;
    const double most_s = e->shared_s * hopeless * (most_lost > 0 ? most_lost : hopeless);
    for (int i = 0; i < s->count; i++)
        if (isnan(e->uncertainty[i]) && s->tried[i] == 0 && e->beside_s[i] < fmin(hopeless * least_s, most_s) &&
            (found < 0 || e->beside_s[i] < e->beside_s[found]))
            found = i;
    return found;
}

/* Returns the fastest device alone, of those that were measured alone; -1: none was. */
static int find_best_alone(const estimate *e, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (!isnan(e->uncertainty[i]) && (best < 0 || e->alone_s[i] < e->alone_s[best])) best = i;
    return best;
}

/*
 * Returns the fastest device alone if all devices together appear to be faster, but possibly by chance: disturbances make a trial longer,
 * up to twice as long if two of its threads wait for one core.  So a single trial is repeated in the first run, and later as long as the
 * uncertainty leaves the question open, or the device appears to be faster with the others than alone.  -1: none.
 */
static int find_doubtful(const dense_sharing *s, const estimate *e)
{
    const int best = find_best_alone(e, s->count);
    if (best < 0 || s->tried[best] > s->unknown || !(e->alone_s[best] >= (1 - clearly) * e->shared_s)) return -1;
    const double uncertainty = e->uncertainty[best];
    const int once = uncertainty > of_one_trial && (s->unknown || e->beside_s[best] < (1 - clearly) * e->alone_s[best]);
    const double least_s = e->alone_s[best] * fmin(once ? 1 / hopeless : 1, 1 - uncertainty);
    return least_s < (1 - clearly) * e->shared_s ? best : -1;
}

/* Units of a repeated trial: at most twice the device's share of a small round, and no more than may be lost by it. */
static int64_t doubtful_units(const dense_sharing *s, const estimate *e, int i)
{
    const double loss = fmax(e->alone_s[i] / e->shared_s - 1, 1e-3), most = doubt_part / loss * (double)s->kernel->units;
    const int64_t twice = 2 * s->beside[i];
    return most < (double)twice ? (int64_t)most : twice;
}

/*
 * Returns the device whose latest trial was faster than all devices together, although its model does not predict that yet.  It continues
 * with more units.  -1: none.
 */
static int find_promising(const dense_sharing *s, const estimate *e)
{
    const int i = s->trial;
    if (i < 0 || !(e->alone_s[i] >= (1 - clearly) * e->shared_s)) return -1;
    return (double)few_units(s) * s->trial_s < (1 - clearly) * e->shared_s ? i : -1;
}

/* Units for a device that continues alone: more than before, or all that are left. */
static int64_t promising_units(const dense_sharing *s, int64_t left)
{
    enum { MORE = 4 };
    const double most = fmax(1, round_s / s->trial_s);
    const int64_t units = MORE * s->alone_units > left / 2 ? left : MORE * s->alone_units;
    return (double)units > most ? (int64_t)most : units;
}

/* Returns the device that has the next round alone, after a round in which all devices had few units; -1: none. */
static int next_alone(dense_sharing *s)
{
    const dense_kernel *k = s->kernel;
    const dense_range *r = &s->left[s->ranges - 1];
    const int64_t left = r->last - r->first;
    if (s->stage != DENSE_LARGER_ROUND || count_active(s) < 2) return -1;
    if (s->decision != YOKE_RUN_STARTED && s->decision != YOKE_RUN_BALANCED) return -1;
    const estimate e = estimate_units(s, few_units(s));
    const int promising = find_promising(s, &e), untold = promising >= 0 ? -1 : find_untold(s, &e);
    const int i = promising >= 0 ? promising : untold >= 0 ? untold : find_doubtful(s, &e);
    if (i < 0) return -1;
    int64_t units = promising >= 0 ? promising_units(s, left) : untold >= 0 ? s->beside[i] : doubtful_units(s, &e, i);
    if (s->list[i].accelerator && k->most_units && units > k->most_units(k->user, i)) units = k->most_units(k->user, i);
    if (units < 1 || (promising < 0 && left <= 2 * units)) return -1;
    s->tried[i]++;
    s->alone_units = units;
    return i;
}

yoke_status dense_share_begin(dense_sharing *s)
{
    for (int i = 0; i < DENSE_MAX_DEVICES; i++) s->tried[i] = 0;
    s->alone = s->trial = -1;
    s->rate = 0;
    yoke_status status = dense_share_choose_cores(s, s->kernel->units);
    s->unknown = !is_known(s, s->kernel->units);
    s->stage = s->unknown ? DENSE_FIRST_ROUND : DENSE_KNOWN;
    if (status || s->unknown || count_active(s) < 2) return status;
    const estimate e = estimate_units(s, few_units(s));
    if (find_untold(s, &e) >= 0 || find_doubtful(s, &e) >= 0) s->stage = DENSE_LARGER_ROUND;
    return YOKE_OK;
}

void dense_share_expect(dense_sharing *s)
{
    const double part = (double)few_units(s) / (double)s->kernel->units;
    s->decision = s->assignment->decision;
    for (int i = 0; i < s->count; i++) {
        const int64_t units = s->assignment->first[0][i + 1] - s->assignment->first[0][i];
        s->beside[i] = (int64_t)ceil(part * (double)units);
    }
}

dense_range dense_share_take(dense_sharing *s, int64_t units)
{
    dense_range *r = &s->left[s->ranges - 1];
    const dense_range taken = {r->first, units < r->last - r->first ? r->first + units : r->last};
    r->first = taken.last;
    if (r->first >= r->last) s->ranges--;
    return taken;
}

/*
 * If a device was never measured, the first round has one unit for each device, and a device that has finished continues (trial.c).  Later
 * rounds are larger, because speeds depend on the size.  A single device has a first round only if the work takes long.
 */
yoke_status dense_share_next(dense_sharing *s, dense_range *taken)
{
    const dense_range *r = &s->left[s->ranges - 1];
    const int64_t all = r->last - r->first, few = few_units(s);
    yoke_status status = dense_share_choose_cores(s, all);
    if (status) return status;
    const int active = count_active(s);
    int64_t units = all, least = 4 * active;
    s->alone = dense_share_try_cores(s);
    if (s->alone < 0) s->alone = next_alone(s);
    if (s->alone >= 0) {
        *taken = dense_share_take(s, s->alone_units);
        return YOKE_OK;
    }
    if (s->stage == DENSE_FIRST_ROUND && active > 1)
        units = least = active;
    else if (s->stage <= DENSE_FEW_ROUND && (active > 1 || all > 32 * s->kernel->first_units))
        units = s->stage == DENSE_FIRST_ROUND && s->kernel->first_units < few ? s->kernel->first_units : few;
    else if (s->stage == DENSE_LARGER_ROUND && s->unknown && active > 1)
        units = 4 * few;
    if (s->stage < DENSE_KNOWN) s->stage++;
    const double wanted = fmax(round_s * s->rate, fmin((double)s->kernel->good_units, longest_s * s->rate));
    if (s->rate > 0 && (double)units > wanted) units = (int64_t)wanted;
    if (units < least) units = least;
    *taken = dense_share_take(s, units > all - all / 8 ? all : units); /* avoids a small remainder */
    return YOKE_OK;
}
