/* The shares of the next round: which devices take part, how many units each gets, and whether new shares are worth their copies. */
#include <math.h>
#include <string.h>

#include "balance/balance.h"

_Static_assert((int)YOKE_BALANCER_MAX_DEVICES <= (int)YOKE_SHARE_MAX_DEVICES, "shares are planned for all devices of a balancer");

/* The reasons for these figures are in docs/methods/balance.md. */
static const double handicap = 0.45, least_slack = 0.7; /* of a device whose seconds rise steeply */
static const double significance = 0.05;                /* a gain below this number of standard deviations of the makespan is none */
static const double return_below = 0.8; /* a dropped device is used again when copying costs less than this part of the limit */
static const int64_t rounds_unknown = 10;
enum { FIRST_PROBE = 4 };

double balance_room(const yoke_balancer *balancer)
{
    double room = 0;
    for (int i = 0; i < balancer->devices; i++) room += (double)balancer->device[i].most;
    return room;
}

static bool has_model(const yoke_balancer *balancer, int i)
{
    return balancer->policy == YOKE_BALANCE_ADAPTIVE && balancer->device[i].model.points > 0;
}

double balance_predict(const yoke_balancer *balancer, int i, int64_t units)
{
    if (units == 0) return 0;
    const balance_device *device = &balancer->device[i];
    return has_model(balancer, i) ? yoke_curve_seconds(&device->model.curve, (double)units) : device->rate * (double)units;
}

/* Whether shares follow from the initial ones, and not from measurements. */
static bool by_initial_shares(const yoke_balancer *balancer) { return balancer->policy == YOKE_BALANCE_FIXED || balancer->round == 0; }

/* Seconds per unit of a device whose speed is taken to be constant. */
static double constant_rate(const yoke_balancer *balancer, int i)
{
    const balance_device *device = &balancer->device[i];
    if (by_initial_shares(balancer)) return 1 / fmax(device->share, 1e-9);
    if (!isnan(device->rate)) return device->rate;
    /* It was never measured: it is assumed to be as slow as the slowest measured device, so that it is measured next. */
    double rate = 0;
    for (int j = 0; j < balancer->devices; j++)
        if (balancer->device[j].rate > rate) rate = balancer->device[j].rate;
    return rate > 0 ? rate : 1;
}

static const yoke_curve *curve_of(yoke_balancer *balancer, int i)
{
    balance_device *device = &balancer->device[i];
    yoke_curve *curve = &device->model.curve;
    if (by_initial_shares(balancer) || !has_model(balancer, i)) {
        double rate = constant_rate(balancer, i);
        curve = &balancer->line[i];
        curve->knots = 1;
        curve->at_zero = 0;
        curve->units[0] = 1;
        curve->seconds[0] = curve->beyond = rate;
    }
    curve->most = (double)device->most;
    return curve;
}

/*
 * Finds the devices that take part, and returns their number: devices that are not removed, not dropped, and have a share if initial shares
 * are used.  If these have no room for n units, dropped devices and those without a share take part, too.
 */
static int taking_part(yoke_balancer *balancer, int64_t n, const yoke_curve **curves, int *who)
{
    double room = 0;
    int count = 0;
    for (int all = 0; all < 2 && room < (double)n; all++) {
        count = 0;
        for (int i = 0; i < balancer->devices; i++) {
            const balance_device *device = &balancer->device[i];
            if (device->most == 0) continue;
            if (!all && (device->dropped || (by_initial_shares(balancer) && device->share == 0))) continue;
            curves[count] = curve_of(balancer, i);
            who[count++] = i;
            room += (double)device->most;
        }
    }
    return count;
}

/*
 * The expected makespan is least if each device is the slowest one with a probability proportional to the inverse of its slope dt/dx: an
 * error on a steep curve costs more.  So steep devices are planned to end early, by a number of standard deviations of their seconds.
 * Returns whether there are any.
 */
static bool find_slack(const yoke_balancer *balancer, const yoke_curve *const *curves, const int *who, int count, double seconds,
                       const double *shares, double *slack)
{
    double rate[YOKE_BALANCER_MAX_DEVICES], variance[YOKE_BALANCER_MAX_DEVICES], rates = 0, variances = 0;
    bool any = false;
    for (int k = 0; k < count; k++) {
        yoke_curve_units(curves[k], seconds, &rate[k]);
        double deviation = model_uncertainty(&balancer->device[who[k]].model, shares[k]);
        variance[k] = has_model(balancer, who[k]) ? deviation * deviation : 0;
        rates += rate[k];
        variances += variance[k];
    }
    for (int k = 0; k < count; k++) {
        double others = (rates - rate[k]) / (count - 1);
        slack[k] = 1;
        if (rate[k] > 0 && others > 1.5 * rate[k]) {
            double deviation = sqrt(variance[k] + (variances - variance[k]) / (count - 1));
            slack[k] = fmax(1 - handicap * log(others / rate[k]) * deviation, least_slack);
            any = true;
        }
    }
    return any;
}

double balance_shares(yoke_balancer *balancer, int64_t n, int64_t *units)
{
    const yoke_curve *curves[YOKE_BALANCER_MAX_DEVICES];
    double shares[YOKE_BALANCER_MAX_DEVICES], slack[YOKE_BALANCER_MAX_DEVICES];
    int64_t integers[YOKE_BALANCER_MAX_DEVICES];
    int who[YOKE_BALANCER_MAX_DEVICES];
    memset(units, 0, (size_t)balancer->devices * sizeof *units);
    if (n == 0) return 0;
    int count = taking_part(balancer, n, curves, who);
    double seconds = yoke_share_real(curves, count, (double)n, NULL, balancer->hint_s, shares);
    const double *slacks = NULL;
    if (balancer->policy == YOKE_BALANCE_ADAPTIVE && balancer->round > 0 && count > 1 &&
        find_slack(balancer, curves, who, count, seconds, shares, slack)) {
        slacks = slack;
        seconds = yoke_share_real(curves, count, (double)n, slack, seconds, shares);
    }
    balancer->hint_s = seconds;
    double makespan = yoke_share_integer(curves, count, n, slacks, shares, integers);
    for (int k = 0; k < count; k++) units[who[k]] = integers[k];
    return makespan;
}

static double remaining_rounds(const yoke_balancer *balancer)
{
    int64_t left = balancer->rounds == 0 ? rounds_unknown : balancer->rounds - balancer->round;
    return left > 1 ? (double)left : 1;
}

/*
 * How often a unit's data is copied to the device in a round; NaN: not known yet.  A device without data gets it at least once in the
 * remaining rounds.
 */
static double copies_per_round(const yoke_balancer *balancer, const balance_device *device)
{
    if (balancer->policy == YOKE_BALANCE_PAPER) return 1;
    double least = device->had > 0 ? 0 : 1 / remaining_rounds(balancer);
    return device->moved_rounds < 2 ? NAN : fmin(fmax(device->moved, least), 1);
}

/* Seconds to move a unit to the device, if it had this part of all units. */
static double drop_cost(const yoke_balancer *balancer, const balance_device *device, double part)
{
    return balancer->policy == YOKE_BALANCE_PAPER ? device->copy_s : balance_copy_s(device, part * (double)balancer->n);
}

/*
 * Lang and Ruenger 2014, eq. 23: a device is used only if copying a unit to it takes less time than the others need for that unit in all
 * calls for which the copy serves.  The device that exceeds its limit most is dropped first, since that raises the limits of the others.
 */
static void drop_devices(yoke_balancer *balancer)
{
    double speed[YOKE_BALANCER_MAX_DEVICES], all = 0;
    bool was[YOKE_BALANCER_MAX_DEVICES], copies = false;
    for (int i = 0; i < balancer->devices; i++) {
        balance_device *device = &balancer->device[i];
        was[i] = device->dropped;
        device->dropped = false;
        device->copy_limit_s = NAN;
        copies = copies || device->copy_s > 0;
    }
    if (!copies || balancer->keep_all) return;
    for (int i = 0; i < balancer->devices; i++) {
        const balance_device *device = &balancer->device[i];
        int64_t units = device->had > 0 ? device->had : balancer->n / balancer->devices + 1;
        speed[i] = device->most == 0 || isnan(device->rate) ? 0 : (double)units / balance_predict(balancer, i, units);
        all += speed[i];
    }
    for (;;) {
        int worst = -1;
        double most = 0;
        for (int i = 0; i < balancer->devices; i++) {
            balance_device *device = &balancer->device[i];
            double others = all - speed[i];
            if (device->dropped || device->most == 0 || !(device->copy_s > 0) || !(others > 1e-9 * all)) continue;
            device->copy_limit_s = balancer->calls / others / copies_per_round(balancer, device);
            if (was[i] && balancer->policy == YOKE_BALANCE_ADAPTIVE) device->copy_limit_s *= return_below;
            double part = drop_cost(balancer, device, speed[i] / all) / device->copy_limit_s;
            if (part >= 1 && part > most) {
                most = part;
                worst = i;
            }
        }
        if (worst < 0) return;
        balancer->device[worst].dropped = true;
        all -= speed[worst];
    }
}

/* Whether the units may stay as they are.  Returns false if another total or other limits force a move; else sets kept_s. */
static bool may_stay(yoke_balancer *balancer, int64_t n)
{
    int64_t sum = 0;
    balancer->kept_s = 0;
    for (int i = 0; i < balancer->devices; i++) {
        const balance_device *device = &balancer->device[i];
        if (device->had > device->most || (device->dropped && device->had > 0)) return false;
        if (device->had > n - sum) return false;
        sum += device->had;
        balancer->kept_s = fmax(balancer->kept_s, balance_predict(balancer, i, device->had));
    }
    return sum == n && !isnan(balancer->kept_s);
}

/* Approximate relative standard deviation of the predicted makespan. */
static double makespan_deviation(const yoke_balancer *balancer)
{
    double variance = 0;
    int count = 0;
    for (int i = 0; i < balancer->devices; i++) {
        const balance_device *device = &balancer->device[i];
        if (device->had == 0) continue;
        double deviation = model_uncertainty(&device->model, (double)device->had);
        variance += deviation * deviation;
        count++;
    }
    return sqrt(variance / (count > 0 ? count : 1));
}

/*
 * Decides whether units move.  A move is worthwhile if the gain is more than noise, and over the remaining rounds more than the cost of the
 * move.
 */
static void weigh(yoke_balancer *balancer, int64_t n)
{
    balancer->cost_s = 0;
    for (int i = 0; i < balancer->devices; i++) {
        const balance_device *device = &balancer->device[i];
        if (device->next > device->had && device->copy_s > 0) balancer->cost_s += (double)(device->next - device->had) * device->copy_s;
    }
    if (!may_stay(balancer, n)) {
        balancer->decision = BALANCE_RESIZED;
        balancer->kept_s = NAN;
        return;
    }
    double gain = balancer->kept_s - balancer->best_s;
    bool noise = gain <= significance * makespan_deviation(balancer) * balancer->best_s;
    bool costs = gain * balancer->calls * remaining_rounds(balancer) <= balancer->cost_s;
    balancer->decision = noise ? BALANCE_KEPT : costs ? BALANCE_COSTS : BALANCE_MOVED;
    if (balancer->decision == BALANCE_MOVED) return;
    for (int i = 0; i < balancer->devices; i++) balancer->device[i].next = balancer->device[i].had;
}

/*
 * A device without units may have become faster, or have been measured badly.  After 4, 8, 16, ... idle rounds it gets one unit, if there
 * are rounds left to profit, and if that delays the others by no more than a quarter of the makespans of the idle rounds.  Its time for one
 * unit is not known if it was never measured with so few units: it lies between the time that the model gives for a unit and, if all of
 * that is start-up cost, the time of the fewest units measured.
 */
static void probe(yoke_balancer *balancer)
{
    int richest = 0;
    for (int i = 0; i < balancer->devices; i++)
        if (balancer->device[i].next > balancer->device[richest].next) richest = i;
    for (int i = 0; i < balancer->devices; i++) {
        balance_device *device = &balancer->device[i];
        if (device->next > 0) {
            device->idle = 0;
            device->probe_at = FIRST_PROBE;
            continue;
        }
        if (device->most == 0 || device->dropped || ++device->idle < device->probe_at) continue;
        double seconds = balance_predict(balancer, i, 1);
        if (has_model(balancer, i)) seconds = sqrt(seconds * device->model.point[0].seconds);
        if (balancer->device[richest].next < 2 || remaining_rounds(balancer) < 4) continue;
        if (seconds > (1 + 0.25 * (double)device->idle) * balancer->best_s) continue;
        device->probe_at = 2 * device->idle;
        balancer->device[richest].next--;
        device->next = 1;
        balancer->decision = BALANCE_PROBED;
        return;
    }
}

/*
 * Gives each device at least one unit if all are to be kept, and in any case a device whose change must be confirmed, unless it was
 * dropped.
 */
static void keep_each(yoke_balancer *balancer)
{
    for (int i = 0; i < balancer->devices; i++) {
        int richest = i;
        const balance_device *device = &balancer->device[i];
        bool doubtful = !device->dropped && (device->model.changed > 0 || device->model.suspect > 0);
        if (device->next > 0 || device->most == 0 || !(balancer->keep_all || doubtful)) continue;
        for (int j = 0; j < balancer->devices; j++)
            if (balancer->device[j].next > balancer->device[richest].next) richest = j;
        if (balancer->device[richest].next < 2) return;
        balancer->device[richest].next--;
        balancer->device[i].next = 1;
    }
}

void balance_decide(yoke_balancer *balancer, int64_t n)
{
    int64_t units[YOKE_BALANCER_MAX_DEVICES];
    balancer->n = n;
    if (balancer->policy != YOKE_BALANCE_FIXED) drop_devices(balancer);
    balancer->best_s = balance_shares(balancer, n, units);
    bool same = true;
    for (int i = 0; i < balancer->devices; i++) {
        balancer->device[i].next = units[i];
        same = same && units[i] == balancer->device[i].had;
    }
    if (balancer->policy == YOKE_BALANCE_ADAPTIVE) {
        weigh(balancer, n);
        if (n > 0) probe(balancer);
    } else {
        balancer->decision = same ? BALANCE_KEPT : BALANCE_MOVED;
        balancer->cost_s = 0;
        bool stay = may_stay(balancer, n);
        if (!stay) balancer->kept_s = NAN;
        balancer->best_s = 0;
        for (int i = 0; i < balancer->devices; i++) balancer->best_s = fmax(balancer->best_s, balance_predict(balancer, i, units[i]));
    }
    if (balancer->policy != YOKE_BALANCE_FIXED) keep_each(balancer);
}
