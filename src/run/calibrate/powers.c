/* Powers of a device at work, and the time and power of copies to it. */
#include <math.h>
#include <string.h>

#include "run/calibrate/calibrate.h"

enum { COPIES = 8, PERIODS = 25 };
static const int64_t longest_copy = INT64_C(1) << 26, least_copy = 256;
static const double copy_known = 0.02;

/* An operation that is repeated: calls, or copies. */
typedef struct repeated {
    calibrating *c;
    int64_t units, calls;
    double expected_s; /* of a call; 0: not known */
    yoke_queue *queue;
    yoke_buffer *buffer;
    void *memory;
    int64_t bytes; /* > 0: copies */
} repeated;

static yoke_status copy_once(const repeated *r, double *seconds)
{
    const yoke_device *device = r->c->run->devices[r->c->device].device;
    double begin_s = yoke_device_clock_s(device);
    yoke_status status = yoke_queue_write(r->queue, r->buffer, 0, r->bytes, r->memory);
    if (status == YOKE_OK) status = yoke_queue_finish(r->queue);
    *seconds = yoke_device_clock_s(device) - begin_s;
    return status;
}

/*
 * Repeats the operation without a pause for wanted_s, at least once.  *busy: seconds of the calls.  If the shortest trial counts, what a
 * trial reports may be less than it took: then they are the seconds that it took.
 */
static yoke_status repeat(const repeated *r, double wanted_s, double *busy)
{
    yoke_run *run = r->c->run;
    yoke_status status = YOKE_OK;
    double one_s = 0, begin_s = run_now_s(run);
    *busy = 0;
    do {
        const double call_begin_s = run_now_s(run);
        status = r->bytes > 0 ? copy_once(r, &one_s) : run_calibrate_try(r->c, r->units, r->calls, &one_s);
        *busy += r->c->of->shortest && r->bytes == 0 ? run_now_s(run) - call_begin_s : one_s * (double)r->calls;
    } while (status == YOKE_OK && run_now_s(run) - begin_s < wanted_s && one_s > 0);
    return status;
}

/*
 * For how many seconds the operation is repeated.  Brief calibrations of a simulated machine, whose meters show every change or have a
 * known period, repeat it only as long as this requires.  Copies on a simulated machine are also made in memory, which takes longer than
 * their virtual time, so they are repeated for the shortest time.
 */
static double long_enough_s(const repeated *r)
{
    enum { FEW_CALLS = 64 };
    const yoke_run *run = r->c->run;
    const double shortest_s = PERIODS * run_longest_period_s(run);
    if (r->c->of->brief && run->simulated && r->expected_s > 0) return fmin(run_power_s(run), fmax(FEW_CALLS * r->expected_s, shortest_s));
    if (!run->simulated || r->bytes == 0) return run_power_s(run);
    return shortest_s;
}

/* Measures the energies of all meters while the operation is repeated, and writes them to run->energies. */
static yoke_status metered(const repeated *r, double *seconds, double *busy, yoke_energy *total)
{
    yoke_run *run = r->c->run;
    yoke_region *region = NULL;
    /* The first values of a meter are of the time before, so the operation begins before the region. */
    yoke_status status = run_longest_period_s(run) > 0 ? repeat(r, 2 * run_longest_period_s(run), busy) : YOKE_OK;
    if (status == YOKE_OK) status = yoke_region_begin(run->meter, &region);
    if (status != YOKE_OK) return status;
    status = repeat(r, long_enough_s(r), busy);
    yoke_status ended = yoke_region_end(region, seconds, run->energies, total);
    return status != YOKE_OK ? status : ended;
}

static int has_meters(const yoke_run *run)
{
    return run->meter != NULL && !run->declared && (run->needs_powers || run->simulated || run->options.measure_all);
}

static yoke_run_level *add_level(calibrating *c)
{
    static const yoke_run_watts unknown = {NAN, NAN, YOKE_ENERGY_NONE};
    run_calibrated *found = c->found;
    const double hz = c->run->devices[c->device].hz[c->level];
    int64_t *count = &found->accuracy.num_levels, at = *count;
    while (at > 0 && found->levels[at - 1].frequency_hz > hz) at--;
    memmove(&found->levels[at + 1], &found->levels[at], (size_t)(*count - at) * sizeof found->levels[0]);
    found->levels[at] = (yoke_run_level){.frequency_hz = hz, .idle = unknown, .busy = unknown, .others_more = unknown};
    ++*count;
    return &found->levels[at];
}

/* Power of other hardware (run_others_above_j) above its power at rest; 0 if it is within its uncertainty. */
static yoke_run_watts others(const yoke_run *run, const double *busy, double seconds, const yoke_energy *total)
{
    double uncertain_j, joules = run_others_above_j(run, busy, seconds, total, &uncertain_j);
    yoke_run_watts more = {joules / seconds, uncertain_j / seconds, total->kind};
    if (isnan(more.value_w))
        more.interval_w = NAN;
    else if (!(more.value_w > fmax(more.interval_w, 1e-6 * total->value_j / seconds)))
        more.value_w = 0;
    return more;
}

yoke_status run_calibrate_powers(calibrating *c)
{
    yoke_run *run = c->run;
    run_device *d = &run->devices[c->device];
    run_level_power *power = &d->powers[c->level];
    double busy[RUN_MAX_DEVICES] = {0}, seconds = 0, uncertain_j, warm_s;
    int levels[RUN_MAX_DEVICES];
    yoke_energy total;
    yoke_run_level *level = add_level(c);
    if (!has_meters(run) || (c->of->brief && power->busy_s > 0 && !isnan(power->idle_w))) return YOKE_OK;
    yoke_status status = run_calibrate_progress(c, c->device, "power at rest and at work");
    if (status == YOKE_OK) status = run_powers_rest(run);
    if (status != YOKE_OK) return status;
    level->idle = (yoke_run_watts){power->idle_w, power->idle_uncertainty_w, run_power_kind(run, c->device)};
    repeated r = {.c = c, .units = c->max_units, .calls = c->of->calls > 0 ? c->of->calls : 1};
    r.expected_s = run_seconds(run, c->work, c->device, c->level, 0, (double)c->max_units, NULL);
    if (r.expected_s > 0) r.calls = (int64_t)fmin(fmax((double)r.calls, 0.1 * long_enough_s(&r) / r.expected_s), 1e6);
    if (!c->of->brief) status = run_calibrate_try(c, r.units, 1, &warm_s); /* the preparation of a trial for this size is no work */
    if (status == YOKE_OK) status = metered(&r, &seconds, &busy[c->device], &total);
    if (status != YOKE_OK || !(busy[c->device] > 0)) return status;
    for (int i = 0; i < run->num_devices; i++) levels[i] = run->devices[i].level;
    level->busy.value_w = run_own_j(run, c->device, &uncertain_j) / seconds;
    level->busy.interval_w = isnan(level->busy.value_w) ? (double)NAN : uncertain_j / seconds;
    level->busy.kind = run_power_kind(run, c->device);
    level->others_more = others(run, busy, seconds, &total);
    power->above_j = power->busy_s = power->uncertain_j = 0; /* the powers of another work are dropped */
    run_powers_learn(run, levels, seconds, &total, busy);
    return YOKE_OK;
}

/* Measures the host overhead at the host's present level, while the accelerator works and the host waits. */
static yoke_status measure_overhead(calibrating *c)
{
    yoke_run *run = c->run;
    double busy[RUN_MAX_DEVICES] = {0}, seconds = 0;
    int levels[RUN_MAX_DEVICES];
    yoke_energy total;
    repeated r = {.c = c, .units = c->found->accuracy.max_units, .calls = 1};
    r.expected_s = run_seconds(run, c->work, c->device, c->level, 0, (double)r.units, NULL);
    if (r.expected_s > 0) r.calls = (int64_t)fmin(fmax(1, 0.1 * long_enough_s(&r) / r.expected_s), 1e6);
    yoke_status status = metered(&r, &seconds, &busy[c->device], &total);
    if (status != YOKE_OK || !(busy[c->device] > 0)) return status;
    for (int i = 0; i < run->num_devices; i++) levels[i] = run->devices[i].level;
    run_powers_learn(run, levels, seconds, &total, busy);
    return YOKE_OK;
}

yoke_status run_calibrate_overheads(calibrating *c)
{
    yoke_run *run = c->run;
    const int host = run_serving_host(run), before = host >= 0 ? run->devices[host].level : 0;
    yoke_status status = YOKE_OK;
    if (host < 0 || !run->devices[c->device].accelerator || !has_meters(run) || c->of->brief || c->found->accuracy.max_units == 0)
        return YOKE_OK;
    for (int l = 0; l < run->devices[host].num_levels && status == YOKE_OK; l++) {
        /* Only levels at which the host itself was measured, and its overhead was not. */
        if (!(run->devices[host].powers[l].busy_s > 0) || run_is_overhead_measured(run, l)) continue;
        status = run_calibrate_progress(c, c->device, "power of the host that serves it, at %.2f GHz", 1e-9 * run->devices[host].hz[l]);
        if (status == YOKE_OK) status = run_set_level(run, host, l);
        if (status == YOKE_OK) status = measure_overhead(c);
    }
    yoke_status back = host >= 0 ? run_set_level(run, host, before) : YOKE_OK;
    return status != YOKE_OK ? status : back;
}

/* -------------------------------------------------------------------------------------------------- copies */

/* Fits t = start + bytes x seconds per byte by least squares of relative errors; neither coefficient is negative. */
static void fit_copies(run_device *d, int count, const double *bytes, const double *seconds)
{
    double weight = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        double w = 1 / (seconds[i] * seconds[i]);
        weight += w;
        mean_x += w * bytes[i];
        mean_y += w * seconds[i];
    }
    mean_x /= weight;
    mean_y /= weight;
    for (int i = 0; i < count; i++) {
        double w = 1 / (seconds[i] * seconds[i]);
        xx += w * (bytes[i] - mean_x) * (bytes[i] - mean_x);
        xy += w * (bytes[i] - mean_x) * (seconds[i] - mean_y);
    }
    d->copy_seconds_per_byte = fmax(0, xy / xx);
    d->copy_start_s = fmax(0, mean_y - d->copy_seconds_per_byte * mean_x); /* on a simulated machine a number of bytes may be free */
}

static yoke_status measured_copy(void *user, double *seconds, double *joules)
{
    *joules = NAN;
    return copy_once(user, seconds);
}

/* Measures copies from the longest to the shortest, until copies take no time. */
static yoke_status measure_copies(repeated *r, int64_t longest)
{
    run_device *d = &r->c->run->devices[r->c->device];
    double bytes[COPIES], seconds[COPIES];
    const yoke_measure_options options = {.budget_s = r->c->budget_s, .relative = copy_known};
    int count = 0;
    yoke_status status = YOKE_OK;
    for (int k = 0; k < COPIES && longest >> (2 * k) >= least_copy; k++) {
        yoke_sample sample;
        r->bytes = longest >> (2 * k);
        status = run_calibrate_progress(r->c, r->c->device, "copies of %lld bytes", (long long)r->bytes);
        if (status == YOKE_OK) status = yoke_measure(r->c->run->context, measured_copy, r, &options, &sample);
        if (status != YOKE_OK) break;
        bytes[count] = (double)r->bytes;
        seconds[count++] = sample.seconds;
    }
    if (status == YOKE_ERROR_NUMERIC) status = YOKE_OK; /* copies that take no time, of a simulated machine */
    r->bytes = longest;
    if (status == YOKE_OK && count > 1) fit_copies(d, count, bytes, seconds);
    return status;
}

/* Measures the power of all meters above rest while the longest copies are repeated. */
static yoke_status measure_copy_power(const repeated *r)
{
    yoke_run *run = r->c->run;
    run_device *d = &run->devices[r->c->device];
    double seconds, busy, idle_w = run->base_w, uncertain_w = 0;
    yoke_energy total;
    if (!has_meters(run) || isnan(d->copy_seconds_per_byte)) return YOKE_OK;
    yoke_status status = run_powers_rest(run);
    if (status == YOKE_OK) status = metered(r, &seconds, &busy, &total);
    if (status != YOKE_OK) return status;
    for (int i = 0; i < run->num_devices; i++) {
        if (run->devices[i].meters == 0) continue;
        idle_w += run_idle_w(run, i, run->devices[i].level);
        uncertain_w = hypot(uncertain_w, run->devices[i].powers[run->devices[i].level].idle_uncertainty_w);
    }
    double more_w = total.value_j / seconds - idle_w;
    d->copy_power_w = more_w <= hypot(total.uncertainty_j / seconds, uncertain_w) ? 0 : more_w;
    return YOKE_OK;
}

yoke_status run_calibrate_copies(calibrating *c)
{
    run_device *d = &c->run->devices[c->device];
    repeated r = {.c = c, .calls = 1};
    int64_t longest = d->memory_bytes > 0 && d->memory_bytes / 8 < longest_copy ? d->memory_bytes / 8 : longest_copy;
    if (!d->accelerator || longest < least_copy) return YOKE_OK; /* a host works on the data where they are */
    yoke_status status = yoke_queue_create(d->device, 0, &r.queue);
    if (status == YOKE_OK) status = yoke_host_allocate(d->device, longest, &r.memory);
    if (status == YOKE_OK) memset(r.memory, 0, (size_t)longest);
    if (status == YOKE_OK) status = yoke_buffer_create(d->device, longest, &r.buffer);
    if (status == YOKE_OK) status = measure_copies(&r, longest);
    if (status == YOKE_OK) status = measure_copy_power(&r);
    yoke_buffer_destroy(r.buffer);
    if (r.memory != NULL) yoke_host_release(d->device, r.memory);
    yoke_queue_destroy(r.queue);
    return status;
}

/* -------------------------------------------------------------------------------------------------- joules */

void run_calibrate_joules(const yoke_run *run, int device, run_calibrated *found)
{
    const run_device *d = &run->devices[device];
    for (int64_t k = 0; k < found->accuracy.num_samples; k++) {
        yoke_sample *one = &found->samples[k];
        int level = d->num_levels - 1;
        double uncertainty;
        for (int l = 0; l < d->num_levels; l++)
            if (!(d->hz[l] < one->frequency_hz) && !(d->hz[l] > one->frequency_hz)) level = l;
        double dynamic_w = run_dynamic_w(run, device, level, &uncertainty);
        one->joules = one->joules_interval = NAN;
        if (!(dynamic_w > 0)) continue;
        one->joules = dynamic_w * one->seconds;
        one->joules_interval = one->joules * hypot(uncertainty, one->seconds_interval / one->seconds);
    }
}
