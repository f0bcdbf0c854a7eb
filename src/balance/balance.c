#include "balance/balance.h"

#include <math.h>
#include <string.h>

/* Reports above these limits are absurd.  Seconds below the least are below the resolution of a clock, so nothing was measured. */
static const double most_seconds = 1e12, least_seconds = 1e-12;

static yoke_status check_shares(yoke_context *context, const double *shares, int64_t devices)
{
    double sum = 0;
    for (int64_t i = 0; i < devices; i++) {
        if (!(shares[i] >= 0 && shares[i] <= 2))
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_balancer_create: the share of device %lld is %g; shares are from 0 to 1",
                             (long long)i, shares[i]);
        sum += shares[i];
    }
    if (!(fabs(sum - 1) <= 1e-9))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_balancer_create: the shares add up to %.12g; they must add up to 1", sum);
    return YOKE_OK;
}

static yoke_status check_options(yoke_context *context, const yoke_balancer_options *options)
{
    int64_t devices = options->devices;
    if (devices < 1 || devices > YOKE_BALANCER_MAX_DEVICES)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_balancer_create: %lld devices; there may be 1 to %d", (long long)devices,
                         YOKE_BALANCER_MAX_DEVICES);
    if ((int)options->policy < YOKE_BALANCE_ADAPTIVE || (int)options->policy > YOKE_BALANCE_FIXED)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_balancer_create: there is no policy %d", (int)options->policy);
    if (options->rounds < 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_balancer_create: %lld rounds; give 0 if the number is not known",
                         (long long)options->rounds);
    if (!(options->calls_per_round >= 0 && options->calls_per_round <= 1e15))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_balancer_create: %g calls per round; give a number from 0 (for 1) to 1e15",
                         options->calls_per_round);
    for (int64_t i = 0; i < devices; i++) {
        double start = options->start_seconds_per_unit ? options->start_seconds_per_unit[i] : NAN;
        if (!isnan(start) && !(start >= 1e-24 && start <= most_seconds))
            return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                             "yoke_balancer_create: start_seconds_per_unit of device %lld is %g; give seconds per unit above 1e-24, or NaN",
                             (long long)i, start);
        if (options->max_units && options->max_units[i] < 0)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_balancer_create: device %lld can take at most %lld units; give 0 or more",
                             (long long)i, (long long)options->max_units[i]);
    }
    return options->shares ? check_shares(context, options->shares, devices) : YOKE_OK;
}

/* Sets the initial shares: as given; else by the given speeds, with the mean of these for a device without one; else equal. */
static void set_shares(yoke_balancer *balancer, const yoke_balancer_options *options)
{
    double sum = 0, known = 0;
    for (int i = 0; i < balancer->devices; i++)
        if (!isnan(balancer->device[i].rate)) {
            sum += 1 / balancer->device[i].rate;
            known += 1;
        }
    double mean = known > 0 ? sum / known : 1;
    sum += mean * (balancer->devices - known);
    for (int i = 0; i < balancer->devices; i++) {
        balance_device *device = &balancer->device[i];
        device->share = options->shares ? options->shares[i] : (isnan(device->rate) ? mean : 1 / device->rate) / sum;
    }
}

yoke_status yoke_balancer_create(yoke_context *context, const yoke_balancer_options *options, yoke_balancer **balancer)
{
    if (context == NULL || options == NULL || balancer == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_balancer_create: context, options and balancer must not be NULL");
    yoke_status status = check_options(context, options);
    void *memory = NULL;
    if (!status) status = yoke_allocate(context, 1, sizeof(yoke_balancer) + (size_t)options->devices * sizeof(balance_device), &memory);
    if (status) return status;

    yoke_balancer *made = memory;
    made->context = context;
    made->policy = options->policy;
    made->devices = (int)options->devices;
    made->rounds = options->rounds;
    made->calls = options->calls_per_round > 0 ? options->calls_per_round : 1;
    made->keep_all = options->keep_all != 0;
    made->n = -1;
    made->kept_s = made->measured_s = made->best_seen_s = NAN;
    for (int i = 0; i < made->devices; i++) {
        balance_device *device = &made->device[i];
        device->most = options->max_units && options->max_units[i] < BALANCE_MAX_UNITS ? options->max_units[i] : BALANCE_MAX_UNITS;
        device->rate = options->start_seconds_per_unit ? options->start_seconds_per_unit[i] : NAN;
        device->copy_s = device->copy_each_s = device->moved = device->copy_limit_s = device->planned_s = device->measured_s =
            device->energy_j = NAN;
        device->probe_at = 4;
    }
    set_shares(made, options);
    *balancer = made;
    return YOKE_OK;
}

void yoke_balancer_destroy(yoke_balancer *balancer)
{
    if (balancer != NULL) yoke_release(balancer->context, balancer);
}

static yoke_status check_total(const yoke_balancer *balancer, const char *call, int64_t n)
{
    if (n < 0 || n > BALANCE_MAX_UNITS)
        return yoke_fail(balancer->context, YOKE_ERROR_ARGUMENT, "%s: a total of %lld units; give 0 to 2^53", call, (long long)n);
    double room = balance_room(balancer);
    if ((double)n > room)
        return yoke_fail(
            balancer->context, YOKE_ERROR_ARGUMENT,
            "%s: %lld units do not fit: all devices together can take at most %.0f; make fewer units or raise a device's limit", call,
            (long long)n, room);
    return YOKE_OK;
}

/* The units of the latest decision; for another total, new shares from present knowledge. */
static void decided_units(yoke_balancer *balancer, int64_t n, int64_t *units)
{
    if (n == balancer->n)
        for (int i = 0; i < balancer->devices; i++) units[i] = balancer->device[i].next;
    else
        balance_shares(balancer, n, units);
}

static bool absurd(double value, double most) { return !isnan(value) && !(value >= 0 && value <= most); }

static yoke_status check_reports(const yoke_balancer *balancer, const yoke_share_report *reports)
{
    for (int i = 0; i < balancer->devices; i++) {
        const yoke_share_report *r = &reports[i];
        if (r->units < 0 || r->units > BALANCE_MAX_UNITS || r->moved_units < 0 || r->moved_units > BALANCE_MAX_UNITS)
            return yoke_fail(balancer->context, YOKE_ERROR_ARGUMENT,
                             "yoke_balancer_update: device %d reports %lld units and %lld moved units; give 0 to 2^53", i,
                             (long long)r->units, (long long)r->moved_units);
        if (absurd(r->seconds, most_seconds) || absurd(r->moved_s, most_seconds) || absurd(r->energy_j, 1e18))
            return yoke_fail(
                balancer->context, YOKE_ERROR_ARGUMENT,
                "yoke_balancer_update: device %d reports %g s, %g s for moving and %g J; give numbers from 0 to 1e12 (J: 1e18), or NaN", i,
                r->seconds, r->moved_s, r->energy_j);
        if (absurd(r->calls, 1e15))
            return yoke_fail(balancer->context, YOKE_ERROR_ARGUMENT,
                             "yoke_balancer_update: device %d reports %g calls; give a number from 0 to 1e15, or NaN", i, r->calls);
    }
    return YOKE_OK;
}

/* Learns the cost of moving units.  whole: all units of the device were moved, so that the next time it will be all that it has then. */
static void take_copy(balance_device *device, double units, double seconds, bool whole)
{
    double copy = seconds / units, before = device->copied;
    if (whole && before > 0 && fabs(units / before - 1) > 0.25)
        device->copy_each_s = fmin(fmax((seconds - device->copy_s * before) / (units - before), 0), copy);
    else if (!isnan(device->copy_s))
        copy = 0.5 * (device->copy_s + copy);
    device->copy_s = copy;
    device->copied = whole ? units : 0;
}

double balance_copy_s(const balance_device *device, double units)
{
    if (!(device->copied > 0) || (isnan(device->copy_each_s) && units <= device->copied)) return device->copy_s;
    double each = isnan(device->copy_each_s) ? 0 : fmin(device->copy_each_s, device->copy_s);
    return each + (device->copy_s - each) * device->copied / fmax(units, 1);
}

/* Learns the cost of moving units to the device, and which part of its units is moved in a round. */
static void take_move(balance_device *device, const yoke_share_report *report)
{
    if (isnan(report->moved_s)) return;
    if (report->moved_units > 0) {
        take_copy(device, (double)report->moved_units, report->moved_s, report->moved_units >= report->units);
    }
    if (report->units == 0) return;
    /* The first round has to move everything and says nothing about the others. */
    double moved = fmin((double)report->moved_units / (double)report->units, 1);
    if (device->moved_rounds++ > 0) device->moved = isnan(device->moved) ? moved : 0.5 * (device->moved + moved);
}

static void take_report(yoke_balancer *balancer, int i, const yoke_share_report *report)
{
    balance_device *device = &balancer->device[i];
    device->planned_s = balance_predict(balancer, i, report->units);
    device->had = report->units;
    bool measured = report->units > 0 && report->seconds >= least_seconds;
    device->measured_s = measured ? report->seconds : NAN;
    device->energy_j = report->energy_j > 0 ? report->energy_j : NAN; /* a report of zeros says nothing */
    device->verdict = MODEL_NOTHING;
    take_move(device, report);
    if (!measured) return;
    if (balancer->policy == YOKE_BALANCE_ADAPTIVE) device->verdict = model_measure(&device->model, (double)report->units, report->seconds);
    if (device->verdict != MODEL_SUSPECT) device->rate = report->seconds / (double)report->units;
}

/* Records the measured makespan per unit, for the regret. */
static void take_makespan(yoke_balancer *balancer)
{
    double makespan = 0, units = 0;
    for (int i = 0; i < balancer->devices; i++) {
        makespan = fmax(makespan, balancer->device[i].measured_s);
        units += (double)balancer->device[i].had;
    }
    balancer->measured_s = makespan > 0 ? makespan / units : NAN;
    balancer->best_seen_s = fmin(balancer->best_seen_s, balancer->measured_s);
}

static void share_noise(yoke_balancer *balancer)
{
    noise_belief *beliefs[YOKE_BALANCER_MAX_DEVICES];
    for (int i = 0; i < balancer->devices; i++) beliefs[i] = &balancer->device[i].model.noise;
    noise_share(beliefs, balancer->devices);
}

yoke_status yoke_balancer_update(yoke_balancer *balancer, const yoke_share_report *reports, int64_t n, int64_t *units)
{
    if (balancer == NULL || units == NULL)
        return yoke_fail(balancer ? balancer->context : NULL, YOKE_ERROR_ARGUMENT,
                         "yoke_balancer_update: balancer and units must not be NULL");
    yoke_status status = check_total(balancer, "yoke_balancer_update", n);
    if (!status && reports == NULL) {
        decided_units(balancer, n, units);
        return YOKE_OK;
    }
    if (!status) status = check_reports(balancer, reports);
    if (status) return status;
    for (int i = 0; i < balancer->devices; i++) {
        take_report(balancer, i, &reports[i]);
        if (reports[i].calls > 0) balancer->calls = reports[i].calls;
    }
    share_noise(balancer);
    take_makespan(balancer);
    balancer->round++;
    balance_decide(balancer, n);
    for (int i = 0; i < balancer->devices; i++) units[i] = balancer->device[i].next;
    return YOKE_OK;
}

yoke_status yoke_balancer_limit(yoke_balancer *balancer, int64_t device, int64_t most)
{
    if (balancer == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_balancer_limit: balancer must not be NULL");
    if (device < 0 || device >= balancer->devices)
        return yoke_fail(balancer->context, YOKE_ERROR_ARGUMENT, "yoke_balancer_limit: there is no device %lld; there are %d, from 0",
                         (long long)device, balancer->devices);
    balance_device *limited = &balancer->device[device];
    if (most < 0 || (limited->most == 0 && most > 0))
        return yoke_fail(balancer->context, YOKE_ERROR_ARGUMENT, "yoke_balancer_limit: a limit of %lld for device %lld: %s",
                         (long long)most, (long long)device, most < 0 ? "give 0 or more" : "the device was removed and cannot return");
    limited->most = most < BALANCE_MAX_UNITS ? most : BALANCE_MAX_UNITS;
    balancer->n = -1; /* the latest decision may not hold any more */
    return YOKE_OK;
}
