/* The public functions of meters: which kinds there are, and by which clock they are read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "meter/set.h"
#include "run/machine/list.h"
#include "run/machine/measure.h"
#include "run/machine/meter_sim.h"

/* All kinds of meters, in the order in which they are listed. */
static const meter_kind *const kinds[] = {
    &meter_powercap, /* package, cores, memory of Intel's and AMD's CPUs */
    &meter_perf,     /* the same through another interface */
    &meter_nvml,     /* NVIDIA's GPUs */
    &meter_amdsmi,   /* AMD's GPUs */
    &meter_hwmon,    /* sensors of cards and boards */
    &meter_declared, /* powers declared by the user */
    &meter_replay,   /* a recording */
    &run_meter_sim,  /* a machine file */
};

enum { NUM_KINDS = sizeof kinds / sizeof kinds[0], ROOT_BYTES = 1024 };

typedef struct open_meter {
    yoke_meters meter; /* first, so that a pointer to it also points to the whole */
    yoke_context *context;
    meter_time time;
    meter_set *set;
    run_sim_watch watch; /* of a simulated machine's clock */
} open_meter;

static open_meter *all_of(yoke_meters *meter) { return (open_meter *)meter; }

/* --------------------------------------------------------------------------------------------------- site */

static double now_s(void *user)
{
    (void)user;
    return yoke_clock_s();
}

static double suspended_s(void *user)
{
    (void)user;
    return yoke_suspended_s();
}

/* "/", "" and trailing slashes stand for this machine. */
static yoke_status set_root(yoke_context *context, const char *sysroot, char root[ROOT_BYTES])
{
    if (sysroot == NULL) sysroot = getenv("YOKE_SYSROOT");
    if (sysroot == NULL) sysroot = "";
    size_t length = strlen(sysroot);
    while (length > 0 && sysroot[length - 1] == '/') length--;
    if (length >= ROOT_BYTES)
        return yoke_fail(context, YOKE_ERROR_INPUT, "the root directory of the meters has %zu characters; at most %d can be used", length,
                         ROOT_BYTES - 1);
    memcpy(root, sysroot, length);
    root[length] = '\0';
    return YOKE_OK;
}

typedef struct place { /* what meter_site refers to */
    meter_site site;
    char root[ROOT_BYTES];
    const char *sole; /* see meter_set_options */
} place;

/* A recording stands for the whole machine, and so does a simulated machine. */
static yoke_status prepare(yoke_context *context, const yoke_meter_options *options, meter_time *time, place *where)
{
    static const yoke_meter_options none = {0};
    if (options == NULL) options = &none;
    if (isnan(options->probe_s))
        return yoke_fail(context, YOKE_ERROR_INPUT, "yoke_meter_options: probe_s is NaN; give seconds, or 0 for the default");
    if (options->pid < 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "yoke_meter_options: pid is %lld; expected the number of a process, or 0 for this one",
                         (long long)options->pid);
    yoke_status status = set_root(context, options->sysroot, where->root);
    if (status != YOKE_OK) return status;
    *time = (meter_time){.now_s = now_s, .suspended_s = suspended_s};
    where->sole = run_meter_sim_time(context, time) ? "sim" : NULL;
    if (options->replay != NULL) where->sole = "replay";
    where->site = (meter_site){.context = context,
                               .root = where->root,
                               .declared = options->declared,
                               .replay = options->replay,
                               .pid = options->pid,
                               .time = time};
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- list */

yoke_status yoke_meters_list(yoke_context *context, const yoke_meter_options *options, yoke_meter_info **list, int64_t *count)
{
    if (context == NULL || list == NULL || count == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_meters_list: an argument is NULL");
    meter_time time;
    place where;
    meter_list found;
    void *infos = NULL;
    yoke_status status = prepare(context, options, &time, &where);
    if (status == YOKE_OK) status = meter_find(&where.site, kinds, NUM_KINDS, &found);
    if (status != YOKE_OK) return status;
    status = meter_list_count(&found, where.sole);
    if (status == YOKE_OK) status = yoke_allocate(context, found.count, sizeof(yoke_meter_info), &infos);
    if (status == YOKE_OK) {
        for (int64_t i = 0; i < found.count; i++) ((yoke_meter_info *)infos)[i] = found.domains[i].info;
        *list = infos;
        *count = found.count;
    }
    meter_list_clear(&found);
    return status;
}

/* -------------------------------------------------------------------------------------------------- meters */

static void moved(void *user) { meter_set_poll(user); }

/* With a virtual clock there is no sampling thread: the thread that advances the clock reads the meters. */
static void watch_virtual_clock(open_meter *meter)
{
    double every_s = meter_set_interval_s(meter->set);
    if (!meter->time.virtual_time || isinf(every_s)) return;
    meter->watch = (run_sim_watch){.every_s = every_s, .moved = moved, .user = meter->set};
    run_sim_watch_begin(meter->context, &meter->watch);
}

yoke_status yoke_meters_open(yoke_context *context, const yoke_meter_options *options, yoke_meters **meter)
{
    if (context == NULL || meter == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_meters_open: %s is NULL", context == NULL ? "context" : "meter");
    static const double usual_probe_s = 0.25;
    place where;
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(open_meter), &memory);
    if (status != YOKE_OK) return status;
    open_meter *made = memory;
    made->context = context;
    status = prepare(context, options, &made->time, &where);
    if (status == YOKE_OK) {
        double probe_s = options != NULL ? options->probe_s : 0;
        meter_set_options opening = {.select = options != NULL ? options->select : NULL,
                                     .sole = where.sole,
                                     .probe_s = probe_s == 0 ? usual_probe_s : fmin(probe_s, 60)};
        status = meter_set_open(&where.site, kinds, NUM_KINDS, &opening, &made->set);
    }
    if (status != YOKE_OK) {
        yoke_release(context, memory);
        return status;
    }
    watch_virtual_clock(made);
    made->meter = (yoke_meters){
        .infos = made->set->infos, .count = made->set->count, .others = made->set->others, .num_others = made->set->num_others};
    *meter = &made->meter;
    return YOKE_OK;
}

void yoke_meters_close(yoke_meters *meter)
{
    if (meter == NULL) return;
    open_meter *all = all_of(meter);
    yoke_context *context = all->context;
    if (all->watch.every_s > 0) run_sim_watch_end(&all->watch);
    meter_set_close(all->set);
    yoke_release(context, all);
}

/* Reads the meter by `read` now, under its lock. */
static yoke_status read_now(yoke_context *context, meter_member *member, meter_read_function *read, double *value)
{
    char why[METER_WHY_BYTES] = "";
    meter_sample sample = {.time_s = NAN, .power_w = NAN, .energy_j = NAN};
    pthread_mutex_lock(&member->lock);
    meter_result result = member->track.gone ? METER_GONE : read(member->domain.state, &sample, why);
    pthread_mutex_unlock(&member->lock);
    why[sizeof why - 1] = '\0';
    if (result != METER_READ || !isfinite(sample.power_w))
        return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "%s cannot be read: %s", member->domain.info.name,
                         why[0] != '\0' ? why : "the device is lost");
    *value = sample.power_w;
    return YOKE_OK;
}

yoke_status yoke_meters_read(yoke_meters *meter, int64_t index, double *power_w, double *temperature_c)
{
    if (meter == NULL || index < 0 || index >= meter->count)
        return yoke_fail(meter != NULL ? all_of(meter)->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_meters_read: %s",
                         meter == NULL ? "meter is NULL" : "there is no such meter");
    yoke_context *context = all_of(meter)->context;
    meter_member *member = &all_of(meter)->set->members[index];
    meter_read_function *read = member->domain.quantity == METER_POWER ? member->domain.read : member->domain.read_power;
    double watts = NAN, celsius = NAN;
    if (power_w != NULL && read == NULL)
        return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "%s shows energy only, and no power", member->domain.info.name);
    if (temperature_c != NULL && member->domain.read_temperature == NULL)
        return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "%s shows no temperature", member->domain.info.name);
    yoke_status status = power_w != NULL ? read_now(context, member, read, &watts) : YOKE_OK;
    if (status == YOKE_OK && temperature_c != NULL) status = read_now(context, member, member->domain.read_temperature, &celsius);
    if (status != YOKE_OK) return status;
    if (power_w != NULL) *power_w = watts;
    if (temperature_c != NULL) *temperature_c = celsius;
    return YOKE_OK;
}

yoke_status run_meter_joules(yoke_meters *meters, int64_t index, double *joules, int64_t *faults)
{
    open_meter *all = all_of(meters);
    meter_member *member = &all->set->members[index];
    double suspended = meter_set_suspended_s(all->set);
    pthread_mutex_lock(&member->lock);
    meter_set_read(all->set, member, suspended);
    int lost = member->track.gone || member->track.failed > 0 || !member->track.started;
    *joules = meter_track_total_j(&member->track);
    int failed = *faults >= 0 && *faults != member->track.faults;
    *faults = member->track.faults;
    pthread_mutex_unlock(&member->lock);
    if (failed) return yoke_fail(all->context, YOKE_ERROR_UNAVAILABLE, "%s: %s", member->domain.info.name, member->track.fault);
    if (!lost) return YOKE_OK;
    return yoke_fail(all->context, YOKE_ERROR_UNAVAILABLE, "%s cannot be read: %s", member->domain.info.name,
                     member->track.failure[0] != '\0' ? member->track.failure : "the device is lost");
}

yoke_status yoke_region_begin(yoke_meters *meter, yoke_region **region)
{
    if (meter == NULL || region == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_region_begin: an argument is NULL");
    return meter_region_begin(all_of(meter)->set, region);
}

yoke_status yoke_region_end(yoke_region *region, double *seconds, yoke_energy *energies, yoke_energy *total)
{
    if (region == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_region_end: region is NULL");
    return meter_region_end(region, seconds, energies, total);
}
