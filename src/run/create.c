/* Opens and closes what a run works with: devices, frequencies, meters, and the store. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "device/sim/sim.h"
#include "meter/meter.h"
#include "run/machine/list.h"
#include "run/profile.h"

int run_is_active(const yoke_run *run, int device) { return !run->devices[device].excluded && !run->devices[device].failed; }

yoke_status run_need_device(const yoke_run *run)
{
    char reasons[1024] = "";
    for (int i = 0; i < run->num_devices; i++) {
        if (run_is_active(run, i)) return YOKE_OK;
        size_t length = strlen(reasons);
        snprintf(reasons + length, sizeof reasons - length, "%s%s: %s", i > 0 ? "; " : "", run->devices[i].info->name, run->devices[i].why);
    }
    return yoke_fail(run->context, YOKE_ERROR_UNAVAILABLE, "no device is left: %s", reasons);
}

double run_now_s(const yoke_run *run) { return run->simulated ? yoke_device_clock_s(run->devices[0].device) : yoke_clock_s(); }

/* ----------------------------------------------------------------------------------------------- devices */

static void nothing(void *user) { (void)user; }

/*
 * Finds whether the device runs functions of the host in the host's memory.  If not, it is an accelerator: also a CPU by OpenCL, which runs
 * kernels only.
 */
static yoke_status find_accelerator(run_device *d)
{
    yoke_queue *queue = NULL;
    d->accelerator = 1;
    if (d->info->device_class != YOKE_DEVICE_CPU) return YOKE_OK;
    yoke_status status = yoke_queue_create(d->device, YOKE_QUEUE_INLINE, &queue);
    if (status != YOKE_OK) return status;
    status = yoke_queue_call(queue, nothing, NULL, 0);
    d->accelerator = status == YOKE_ERROR_UNAVAILABLE;
    yoke_queue_destroy(queue);
    return status == YOKE_ERROR_UNAVAILABLE ? YOKE_OK : status;
}

static yoke_status open_device(yoke_run *run, int number, const char *name)
{
    run_device *d = &run->devices[number];
    yoke_status status = yoke_device_open(run->context, name, &d->device);
    if (status != YOKE_OK) return status;
    d->info = yoke_device_info_get(d->device);
    d->num_levels = 1;
    d->hz[0] = d->copy_seconds_per_unit = NAN;
    d->copy_start_s = d->copy_seconds_per_byte = d->copy_power_w = NAN;
    for (int i = 0; i < run->num_devices; i++) /* a card may be named by its name and by its address */
        if (i != number && run->devices[i].info != NULL && strcmp(run->devices[i].info->name, d->info->name) == 0)
            return yoke_fail(run->context, YOKE_ERROR_INPUT, "device %.64s is named twice", d->info->name);
    status = find_accelerator(d);
    if (status == YOKE_OK && d->accelerator) {
        int64_t unused = 0;
        status = yoke_device_memory(d->device, &unused, &d->memory_bytes);
    }
    return status;
}

static yoke_status open_devices(yoke_run *run, char *names)
{
    yoke_status status = YOKE_OK;
    const char *list[RUN_MAX_DEVICES];
    for (char *name = names; name != NULL;) {
        char *comma = strchr(name, ',');
        if (comma != NULL) *comma = '\0';
        if (run->num_devices == RUN_MAX_DEVICES)
            return yoke_fail(run->context, YOKE_ERROR_INPUT, "there are more than %d devices; name those that are to work",
                             (int)RUN_MAX_DEVICES);
        list[run->num_devices++] = name;
        name = comma != NULL ? comma + 1 : NULL;
    }
    /*
     * Devices with drivers of their own are opened first: threads of OpenMP are bound to cores when they start, and threads that a driver
     * starts later would be bound likewise.
     */
    for (int openmp = 0; openmp < 2; openmp++)
        for (int i = 0; i < run->num_devices && status == YOKE_OK; i++)
            if ((strncmp(list[i], "openmp", 6) == 0) == openmp) status = open_device(run, i, list[i]);
    run->core_time = yoke_core_time_get;
    run->simulated = status == YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) run->simulated = run->simulated && strcmp(run->devices[i].info->kind, "sim") == 0;
    return status;
}

static yoke_status find_shared_cores(yoke_run *run)
{
    const yoke_device_info *infos[RUN_MAX_DEVICES];
    yoke_topology topology;
    int openmp = 0;
    for (int i = 0; i < run->num_devices; i++) {
        infos[i] = run->devices[i].info;
        openmp |= run_is_cores(infos[i]) && !run->devices[i].accelerator;
    }
    if (!openmp || !isnan(run->share) || run->options.use == YOKE_RUN_BOTH) return YOKE_OK;
    yoke_status status = yoke_topology_get(run->context, &topology);
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++)
        run->devices[i].shares_cores = run_shares_cores(infos, run->num_devices, i, &topology, omp_get_max_threads());
    return status;
}

/* Marks the devices that the options exclude. */
static yoke_status exclude_devices(yoke_run *run)
{
    static const char *const wanted[] = {"", "a host", "an accelerator", "a host and an accelerator"};
    int hosts = 0, accelerators = 0;
    yoke_run_use use = run->options.use;
    for (int i = 0; i < run->num_devices; i++) {
        run_device *d = &run->devices[i];
        hosts += !d->accelerator;
        accelerators += d->accelerator;
        d->excluded = (use == YOKE_RUN_HOSTS && d->accelerator) || (use == YOKE_RUN_ACCELERATORS && !d->accelerator);
        if (d->excluded) snprintf(d->why, sizeof d->why, "the options allow %s only", use == YOKE_RUN_HOSTS ? "hosts" : "accelerators");
    }
    int missing = (use == YOKE_RUN_HOSTS && hosts == 0) || (use == YOKE_RUN_ACCELERATORS && accelerators == 0) ||
                  (use == YOKE_RUN_BOTH && (hosts == 0 || accelerators == 0)) || (!isnan(run->share) && (hosts == 0 || accelerators == 0));
    if (!missing) return YOKE_OK;
    return yoke_fail(run->context, YOKE_ERROR_INPUT, "there is no %s among the devices, but %s is asked for",
                     hosts == 0 ? "host" : "accelerator", isnan(run->share) ? wanted[use] : "a fixed share of accelerators");
}

/* ---------------------------------------------------------------------------------------------- frequencies */

static void choose_levels(const yoke_frequency_info *domain, run_device *d)
{
    int64_t there = domain->num_levels;
    d->num_levels = there > 0 && there < RUN_MAX_LEVELS ? (int)there : RUN_MAX_LEVELS;
    for (int k = 0; k < d->num_levels; k++) {
        double part = d->num_levels > 1 ? k / (d->num_levels - 1.0) : 1;
        d->hz[k] = there > 0 ? domain->levels_hz[(int64_t)(part * (double)(there - 1) + 0.5)]
                             : domain->min_hz + part * (domain->max_hz - domain->min_hz);
    }
    d->level = d->num_levels - 1;
    snprintf(d->domain, sizeof d->domain, "%s", domain->name);
}

static void leave_frequencies(yoke_run *run, const char *why)
{
    for (int i = 0; i < run->num_devices; i++) {
        run_device *d = &run->devices[i];
        d->domain[0] = '\0';
        d->num_levels = 1;
        d->level = 0;
        d->hz[0] = NAN;
        snprintf(d->why_no_frequency, sizeof d->why_no_frequency, "%s", why);
    }
}

static int match_frequencies(yoke_run *run, const yoke_frequency_info *list, int64_t count)
{
    const yoke_device_info *infos[RUN_MAX_DEVICES];
    int found = 0;
    for (int i = 0; i < run->num_devices; i++) infos[i] = run->devices[i].info;
    for (int i = 0; i < run->num_devices; i++) {
        run_device *d = &run->devices[i];
        const yoke_frequency_info *domain = run_frequency_of(list, count, infos, run->num_devices, i, d->why_no_frequency);
        if (domain == NULL) continue;
        choose_levels(domain, d);
        found++;
    }
    return found;
}

static yoke_status open_frequencies(yoke_run *run)
{
    const yoke_frequency_options options = {.sysroot = run->options.sysroot};
    yoke_frequency_info *list = NULL;
    int64_t count = 0;
    int found = 0;
    leave_frequencies(run,
                      run->options.keep_frequencies ? "frequencies are to stay as they are" : "the objective does not choose frequencies");
    if (run->options.keep_frequencies || run->declared) return YOKE_OK;
    if (!run->options.measure_all && (!run->plans || !run->needs_powers)) return YOKE_OK;
    yoke_status status = yoke_frequencies_list(run->context, &options, &list, &count);
    if (status == YOKE_OK) found = match_frequencies(run, list, count);
    yoke_release(run->context, list);
    if (status != YOKE_OK || found == 0) return status;
    status = yoke_frequencies_open(run->context, &options, &run->frequencies);
    if (status != YOKE_ERROR_UNAVAILABLE) return status;
    yoke_log(run->context, YOKE_LOG_WARNING, "frequencies stay as they are: %s", yoke_last_error(run->context));
    leave_frequencies(run, "another process has the frequencies");
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- meters */

static void match_meters(yoke_run *run)
{
    int64_t counted = 0;
    for (int64_t k = 0; k < run->num_meters; k++) counted += run->meter_infos[k].counted != 0;
    for (int i = 0; i < run->num_devices; i++) {
        run_device *d = &run->devices[i];
        for (int64_t k = 0; k < run->num_meters && k < RUN_MAX_METERS; k++) {
            if (!run_meter_belongs(&run->meter_infos[k], counted, d->info)) continue;
            size_t length = strlen(d->meter_names);
            d->meters |= UINT64_C(1) << k;
            snprintf(d->meter_names + length, sizeof d->meter_names - length, "%s%s", length > 0 ? "," : "", run->meter_infos[k].name);
        }
    }
    for (int i = 0; i < run->num_devices; i++)
        for (int k = 0; k < run->num_devices; k++)
            if (i != k && (run->devices[i].meters & run->devices[k].meters) != 0) run->devices[i].shares_meters = 1;
}

static yoke_status open_meters(yoke_run *run)
{
    const int probes = run->needs_powers || run->options.measure_all;
    const yoke_meter_options options = {.sysroot = run->options.sysroot, .declared = run->options.declared, .probe_s = probes ? 0 : -1};
    void *memory = NULL;
    int mixed = 0;
    for (int i = 0; i < run->num_devices; i++) mixed |= !run->simulated && strcmp(run->devices[i].info->kind, "sim") == 0;
    /* A simulated machine's meters do not measure real devices, and real meters do not measure a simulated machine. */
    if (run->options.no_meters || mixed || (run->simulated && !sim_machine_of(run->context)->powered))
        return meter_declared_check(run->context, run->options.declared);
    yoke_status status = yoke_meters_open(run->context, &options, &run->meter);
    if (status == YOKE_OK) {
        run->meter_infos = run->meter->infos;
        run->num_meters = run->meter->count;
    }
    if (status == YOKE_OK) status = yoke_allocate(run->context, run->num_meters, sizeof(yoke_energy), &memory);
    if (status != YOKE_OK) return status;
    run->energies = memory;
    match_meters(run);
    return YOKE_OK;
}

static int is_all_metered(const yoke_run *run)
{
    for (int i = 0; i < run->num_devices; i++)
        if (!run->devices[i].excluded && run->devices[i].meters == 0) return 0;
    return 1;
}

/* ---------------------------------------------------------------------------------------------------- create */

yoke_status run_copy_text(yoke_context *context, const char *text, char **copy)
{
    void *memory = NULL;
    if (text == NULL) return YOKE_OK;
    yoke_status status = yoke_allocate(context, (int64_t)strlen(text) + 1, 1, &memory);
    if (status == YOKE_OK) *copy = strcpy(memory, text);
    return status;
}

static yoke_status copy_options(yoke_run *run, const yoke_run_options *options)
{
    run->options = *options;
    run->share = options->share != NULL ? *options->share : (double)NAN;
    run->options.share = NULL;
    run->declared = options->num_powers > 0;
    run->needs_powers = options->objective != YOKE_OBJECTIVE_TIME || options->power_cap_w > 0;
    run->plans = isnan(run->share) && (run->needs_powers || options->deadline_s > 0);
    yoke_status status = run_copy_text(run->context, options->store, &run->texts[0]);
    if (status == YOKE_OK) status = run_copy_text(run->context, options->machine, &run->texts[1]);
    if (status == YOKE_OK) status = run_copy_text(run->context, options->sysroot, &run->texts[2]);
    if (status == YOKE_OK) status = run_copy_text(run->context, options->declared, &run->texts[3]);
    run->options.store = run->texts[0];
    run->options.machine = run->texts[1];
    run->options.sysroot = run->texts[2];
    run->options.declared = run->texts[3];
    return status;
}

static yoke_status open_store(yoke_run *run)
{
    const char *path = run->options.store, *declined = NULL;
    if (path == NULL) return YOKE_OK;
    yoke_status status = yoke_store_open(run->context, path[0] != '\0' ? path : NULL, run->options.machine, &run->store, &declined);
    if (status == YOKE_ERROR_UNAVAILABLE) { /* the environment names no place for the store: the run works without it */
        yoke_log(run->context, YOKE_LOG_WARNING, "measurements are not kept: %s", yoke_last_error(run->context));
        run->options.store = NULL;
        return YOKE_OK;
    }
    if (status == YOKE_OK && declined != NULL && declined[0] != '\0') yoke_log(run->context, YOKE_LOG_WARNING, "store: %s", declined);
    return status;
}

/* Opens the texts of earlier runs.  A text that does not fit is skipped, and is no error. */
static yoke_status open_known(yoke_run *run, const yoke_run_options *options)
{
    for (int64_t i = 0, count = 0; i < options->num_known && count < RUN_MAX_KNOWN; i++) {
        const char *declined = NULL;
        yoke_store *store = NULL;
        yoke_status status =
            yoke_store_open_text(run->context, options->known[i], "what an earlier run knew", run->options.machine, &store, &declined);
        if (status != YOKE_OK && status != YOKE_ERROR_INPUT) return status;
        if (status == YOKE_ERROR_INPUT) yoke_log(run->context, YOKE_LOG_WARNING, "%s", yoke_last_error(run->context));
        if (status == YOKE_OK && declined == NULL)
            run->known[count++] = store;
        else
            yoke_store_close(store);
    }
    return YOKE_OK;
}

static yoke_status open_all(yoke_run *run, const yoke_run_options *options)
{
    char *names = NULL;
    void *memory = NULL;
    yoke_status status = copy_options(run, options);
    if (status == YOKE_OK) status = run_device_names(run->context, options, &names);
    if (status == YOKE_OK && options->measure_all) status = run_powers_before(run);
    if (status == YOKE_OK) status = open_devices(run, names);
    yoke_release(run->context, names);
    if (status == YOKE_OK) status = find_shared_cores(run);
    if (status == YOKE_OK) status = exclude_devices(run);
    if (status == YOKE_OK) status = open_meters(run);
    if (run->declared && options->measure_first && is_all_metered(run)) run->declared = 0;
    if (status == YOKE_OK) status = run_powers_start(run);
    if (status == YOKE_OK) status = open_frequencies(run);
    for (int i = 0; i < run->num_devices; i++)
        if (run->devices[i].num_levels > run->most_levels) run->most_levels = run->devices[i].num_levels;
    if (status == YOKE_OK) status = open_store(run);
    if (status == YOKE_OK) status = open_known(run, options);
    if (status == YOKE_OK) status = run_profile_create(run);
    if (status == YOKE_OK) status = yoke_allocate(run->context, 5, sizeof(run_plan), &memory);
    if (status != YOKE_OK) return status;
    run->plans_memory = memory;
    run->plan = memory;
    run->candidate = run->plan + 1;
    run->other = run->plan + 2;
    run->alone = run->plan + 3;
    run->forced = -1;
    return YOKE_OK;
}

yoke_status yoke_run_create(yoke_context *context, const yoke_run_options *options, yoke_run **run)
{
    static const yoke_run_options none = {0};
    void *memory = NULL;
    if (context == NULL || run == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_run_create: %s is NULL", context == NULL ? "context" : "run");
    if (options == NULL) options = &none;
    yoke_status status = run_options_check(context, options);
    if (status == YOKE_OK) status = yoke_allocate(context, 1, sizeof(yoke_run), &memory);
    if (status != YOKE_OK) return status;
    yoke_run *created = memory;
    created->context = context;
    status = open_all(created, options);
    /* The powers given by the caller are copied by now, and the caller may release the arrays. */
    created->options.powers = NULL;
    created->options.devices = NULL;
    created->options.known = NULL;
    if (status == YOKE_OK)
        *run = created;
    else
        yoke_run_destroy(created);
    return status;
}

void yoke_run_destroy(yoke_run *run)
{
    if (run == NULL) return;
    yoke_context *context = run->context;
    if (run->region != NULL) (void)yoke_region_end(run->region, NULL, NULL, NULL);
    if (run->store != NULL && !run->unsaved && (run->rounds > run->rounds_saved || run->calibrated) && yoke_run_save(run, NULL) != YOKE_OK)
        yoke_log(context, YOKE_LOG_WARNING, "the measurements could not be written to the store: %s", yoke_last_error(context));
    run_profile_destroy(run);
    run_kernels_destroy(run);
    yoke_store_close(run->store);
    for (int i = 0; i < RUN_MAX_KNOWN; i++) yoke_store_close(run->known[i]);
    run_works_clear(run);
    yoke_frequencies_close(run->frequencies);
    yoke_meters_close(run->meter);
    for (int i = run->num_devices - 1; i >= 0; i--) {
        run_device *d = &run->devices[i];
        for (int k = 0; k < 3; k++) yoke_event_destroy(d->marks[k]);
        yoke_queue_destroy(d->queue);
        if (d->device != NULL) yoke_device_close(d->device);
    }
    for (int i = 0; i < 4; i++) yoke_release(context, run->texts[i]);
    yoke_release(context, run->results);
    yoke_release(context, run->energies);
    yoke_release(context, run->plans_memory);
    yoke_release(context, run);
}

yoke_status yoke_run_devices(yoke_run *run, const yoke_run_device **devices, int64_t *count)
{
    if (run == NULL || devices == NULL || count == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_devices: an argument is NULL");
    for (int i = 0; i < run->num_devices; i++) {
        const run_device *d = &run->devices[i];
        run->shown[i] = (yoke_run_device){.device = d->device,
                                          .info = d->info,
                                          .accelerator = d->accelerator,
                                          .active = run_is_active(run, i),
                                          .why = d->why,
                                          .frequency_domain = d->domain,
                                          .why_no_frequency = d->why_no_frequency,
                                          .num_frequencies = d->domain[0] != '\0' ? d->num_levels : 0,
                                          .frequencies_hz = d->hz,
                                          .meters = d->meter_names,
                                          .why_no_meter = d->meters != 0       ? ""
                                                          : run->meter == NULL ? "no meters are open"
                                                                               : "no meter here covers it",
                                          .idle_w = run_idle_w(run, i, d->level),
                                          .dynamic_w = run_dynamic_w(run, i, d->level, NULL),
                                          .shares_cores = d->shares_cores};
    }
    *devices = run->shown;
    *count = run->num_devices;
    return YOKE_OK;
}
