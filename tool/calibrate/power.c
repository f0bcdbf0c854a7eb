/* Powers of devices at rest and at work, from the meters that are theirs. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "calibrate/calibrate.h"
#include "common/interrupt.h"

enum { MOST_METERS = 64 };

double calibrate_period_s(const calibration *c)
{
    double longest = 0;
    for (int64_t i = 0; i < c->num_meters; i++)
        if (c->meters[i].period_s > longest) longest = c->meters[i].period_s;
    return longest;
}

static bool belongs(const calibration *c, const yoke_meter_info *meter, const calibrate_device *d)
{
    if (!meter->counted) return false;
    if (strcmp(d->info->kind, "sim") == 0) return strcmp(meter->name, d->info->name) == 0;
    if (d->info->pci[0]) return strcmp(meter->pci, d->info->pci) == 0;
    /* The cores' meter is that of their packages; of powers that were declared the whole machine's is taken for it. */
    return d->host && (strncmp(meter->covers, "package-", 8) == 0 || (c->num_meters == 1 && strcmp(meter->kind, "declared") == 0));
}

static bool is_accelerators(const calibration *c, const yoke_meter_info *meter)
{
    for (int i = 0; i < c->num_devices; i++)
        if (!c->devices[i].host && belongs(c, meter, &c->devices[i])) return true;
    return false;
}

typedef enum which_meters { ALL, OWN, OTHERS } which_meters;

/* Sum over all meters that are counted, those of a device, or those that are neither its nor an accelerator's. */
static calibrate_power sum(const calibration *c, const calibrate_device *d, which_meters which, const yoke_energy *energies, double seconds)
{
    calibrate_power power = {NAN, NAN, YOKE_ENERGY_NONE};
    for (int64_t i = 0; i < c->num_meters; i++) {
        const yoke_meter_info *meter = &c->meters[i];
        if (!meter->counted || (which == OWN && !belongs(c, meter, d))) continue;
        if (which == OTHERS && (belongs(c, meter, d) || is_accelerators(c, meter))) continue;
        if (power.kind == YOKE_ENERGY_NONE) power = (calibrate_power){0, 0, energies[i].kind};
        power.value_w += energies[i].value_j / seconds;
        power.interval_w += energies[i].uncertainty_j / seconds;
    }
    return power;
}

static yoke_status rest(calibration *c, double seconds)
{
    if (c->machine) return yoke_machine_sleep(c->context, seconds);
    struct timespec left = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&left, NULL); /* a signal ends it early: the next check says so */
    return app_interrupt_check(c->context);
}

yoke_status calibrate_idle(calibration *c, calibrate_device *d, int level, calibrate_power *total)
{
    yoke_energy energies[MOST_METERS];
    yoke_region *region = NULL;
    double seconds = 0;
    *total = (calibrate_power){NAN, NAN, YOKE_ENERGY_NONE};
    if (d) d->levels[level].idle = d->levels[level].others_idle = *total;
    if (c->num_meters == 0 || c->num_meters > MOST_METERS) return YOKE_OK;
    yoke_status status = rest(c, 2 * calibrate_period_s(c)); /* what is shown first is of the time before */
    if (!status) status = yoke_region_begin(c->meter, &region);
    if (!status) status = rest(c, c->power_s);
    if (region) {
        yoke_status ended = yoke_region_end(region, &seconds, energies, NULL);
        if (!status) status = ended;
    }
    if (status) return status;
    *total = sum(c, NULL, ALL, energies, seconds);
    if (d) d->levels[level].idle = sum(c, d, OWN, energies, seconds);
    if (d) d->levels[level].others_idle = sum(c, d, OTHERS, energies, seconds);
    return YOKE_OK;
}

/* Work, or copies (of bytes > 0), without a pause. */
static yoke_status work(calibration *c, calibrate_device *d, int64_t units, int64_t bytes, double least_s)
{
    double begin_s = yoke_device_clock_s(d->device), seconds;
    do {
        yoke_status status = bytes > 0 ? calibrate_copy(d, bytes, &seconds) : calibrate_call(d, units, &seconds);
        if (!status) status = app_interrupt_check(c->context);
        if (status) return status;
    } while (yoke_device_clock_s(d->device) - begin_s < least_s);
    return YOKE_OK;
}

/* Energies of all meters while it works. */
static yoke_status metered_work(calibration *c, calibrate_device *d, int64_t units, int64_t bytes, double *seconds, yoke_energy *energies)
{
    yoke_region *region = NULL;
    yoke_status status = work(c, d, units, bytes, 2 * calibrate_period_s(c));
    if (!status) status = yoke_region_begin(c->meter, &region);
    if (!status) status = work(c, d, units, bytes, c->power_s);
    if (!region) return status;
    yoke_status ended = yoke_region_end(region, seconds, energies, NULL);
    return status ? status : ended;
}

yoke_status calibrate_busy(calibration *c, calibrate_device *d, int level, int64_t units)
{
    yoke_energy energies[MOST_METERS];
    double seconds = 0;
    d->levels[level].busy = d->levels[level].others_busy = (calibrate_power){NAN, NAN, YOKE_ENERGY_NONE};
    if (c->num_meters == 0 || c->num_meters > MOST_METERS) return YOKE_OK;
    yoke_status status = metered_work(c, d, units, 0, &seconds, energies);
    if (status) return status;
    d->levels[level].busy = sum(c, d, OWN, energies, seconds);
    d->levels[level].others_busy = sum(c, d, OTHERS, energies, seconds);
    return YOKE_OK;
}

yoke_status calibrate_copying(calibration *c, calibrate_device *d, int64_t bytes)
{
    yoke_energy energies[MOST_METERS];
    calibrate_power idle;
    double seconds = 0;
    if (c->num_meters == 0 || c->num_meters > MOST_METERS) return YOKE_OK;
    yoke_status status = calibrate_idle(c, NULL, 0, &idle);
    if (!status) status = metered_work(c, d, 0, bytes, &seconds, energies);
    if (status) return status;
    calibrate_power all = sum(c, d, ALL, energies, seconds);
    double more_w = all.value_w - idle.value_w;
    d->copy_power_w = isnan(more_w) || more_w > hypot(all.interval_w, idle.interval_w) ? more_w : 0;
    return YOKE_OK;
}

calibrate_power calibrate_rest(const calibrate_level *level)
{
    calibrate_power more = {level->others_busy.value_w - level->others_idle.value_w,
                            hypot(level->others_busy.interval_w, level->others_idle.interval_w), level->others_busy.kind};
    if (!(more.value_w > fmax(more.interval_w, 1e-6 * level->others_busy.value_w))) more.value_w = more.interval_w = 0;
    return more;
}

void calibrate_add_energy(const calibrate_device *d, yoke_sample *one)
{
    one->joules = one->joules_interval = NAN;
    for (int i = 0; i < d->num_levels; i++) {
        const calibrate_level *level = &d->levels[i];
        if (d->num_levels > 1 && (level->hz < one->frequency_hz || level->hz > one->frequency_hz)) continue;
        double dynamic_w = level->busy.value_w - level->idle.value_w, interval_w = hypot(level->busy.interval_w, level->idle.interval_w);
        calibrate_power memory = calibrate_rest(level);
        if (d->host) dynamic_w += memory.value_w;
        if (d->host) interval_w = hypot(interval_w, memory.interval_w);
        if (dynamic_w > 0) one->joules = dynamic_w * one->seconds;
        if (dynamic_w > 0) one->joules_interval = hypot(interval_w * one->seconds, dynamic_w * one->seconds_interval);
        if (!isfinite(one->joules_interval)) one->joules_interval = NAN;
    }
}
