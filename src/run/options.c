/* Options of a run, and the names of its devices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"

enum { NAME_BYTES = 64 };

static yoke_status fail_number(yoke_context *context, const char *what, double value, const char *expected)
{
    return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_run_create: %s is %g; it must be %s", what, value, expected);
}

static int from_zero(double value) { return value >= 0 && isfinite(value); }

static yoke_status check_powers(yoke_context *context, const yoke_run_options *options)
{
    if (options->num_powers < 0 || (options->num_powers > 0 && options->powers == NULL))
        return fail_number(context, "num_powers", (double)options->num_powers, "the number of items of powers");
    if (!from_zero(options->base_w)) return fail_number(context, "base_w", options->base_w, "finite and not negative");
    if (!from_zero(options->host_overhead_w))
        return fail_number(context, "host_overhead_w", options->host_overhead_w, "finite and not negative");
    for (int64_t i = 0; i < options->num_powers; i++) {
        const yoke_run_power *power = &options->powers[i];
        if (power->device == NULL)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_run_create: powers[%lld] names no device; give the name of one",
                             (long long)i);
        if (!from_zero(power->idle_w) || !from_zero(power->busy_w) || power->busy_w < power->idle_w || power->busy_w <= 0)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                             "yoke_run_create: %.64s has idle_w %g and busy_w %g; both must be finite, and busy_w, the whole power at "
                             "work, above 0 and at least idle_w",
                             power->device, power->idle_w, power->busy_w);
    }
    return YOKE_OK;
}

yoke_status run_options_check(yoke_context *context, const yoke_run_options *o)
{
    if ((int)o->objective < YOKE_OBJECTIVE_TIME || o->objective > YOKE_OBJECTIVE_ED2P)
        return fail_number(context, "objective", (double)o->objective, "one of yoke_objective");
    if ((int)o->use < YOKE_RUN_ANY || o->use > YOKE_RUN_BOTH) return fail_number(context, "use", (double)o->use, "one of yoke_run_use");
    if ((int)o->policy < YOKE_BALANCE_ADAPTIVE || o->policy > YOKE_BALANCE_FIXED)
        return fail_number(context, "policy", (double)o->policy, "one of yoke_balance_policy");
    if (!from_zero(o->deadline_s)) return fail_number(context, "deadline_s", o->deadline_s, "above 0, or 0 for none");
    if (!from_zero(o->power_cap_w)) return fail_number(context, "power_cap_w", o->power_cap_w, "above 0, or 0 for none");
    if (!(o->max_slowdown == 0 || (o->max_slowdown >= 1 && isfinite(o->max_slowdown))))
        return fail_number(context, "max_slowdown", o->max_slowdown, "at least 1, or 0 for none");
    if (o->share != NULL && !(*o->share >= 0 && *o->share <= 1)) return fail_number(context, "share", *o->share, "from 0 to 1");
    if (!(o->profile >= 0 && o->profile <= 0.5)) return fail_number(context, "profile", o->profile, "from 0 to 0.5");
    for (int64_t i = 0; i < o->num_known; i++)
        if (o->known == NULL || o->known[i] == NULL)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_run_create: known[%lld] is NULL", (long long)i);
    if (o->num_known < 0) return fail_number(context, "num_known", (double)o->num_known, "the number of items of known");
    if (o->rounds < 0) return fail_number(context, "rounds", (double)o->rounds, "0 or more");
    return check_powers(context, o);
}

/* ------------------------------------------------------------------------------------------------- names */

typedef struct name_list {
    char *text;
    size_t size;
} name_list;

static void append(name_list *list, const char *name)
{
    size_t length = strlen(list->text);
    snprintf(list->text + length, list->size - length, "%s%s", length > 0 ? "," : "", name);
}

/* Nonzero: an earlier interface in the list has the same card. */
static int seen_before(const yoke_device_info *list, int64_t i)
{
    for (int64_t k = 0; k < i; k++)
        if (list[k].usable && list[i].pci[0] != '\0' && strcmp(list[k].pci, list[i].pci) == 0) return 1;
    return 0;
}

/* Fails with the reasons why there is no accelerator. */
static yoke_status no_accelerator(yoke_context *context, const yoke_device_info *list, int64_t count)
{
    char reasons[1024] = "";
    for (int64_t i = 0; i < count; i++) {
        size_t length = strlen(reasons);
        if (!list[i].usable) snprintf(reasons + length, sizeof reasons - length, "; %s: %s", list[i].name, list[i].why_not);
    }
    return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "there is no usable GPU (`yoke info` says what to do)%s", reasons);
}

/*
 * All devices of the simulated machine, if there is one; otherwise all cores, and each usable GPU once, as several interfaces may list the
 * same card.
 */
static yoke_status automatic_names(yoke_context *context, const yoke_run_options *options, char **names)
{
    yoke_device_info *simulated = NULL, *gpus = NULL;
    int64_t num_simulated = 0, num_gpus = 0, found = 0;
    name_list list = {NULL, 0};
    void *memory = NULL;
    yoke_status status = yoke_devices_list(context, "sim", 0, &simulated, &num_simulated);
    if (status != YOKE_OK) return status;
    int machine = num_simulated > 0 && simulated[0].usable;
    /* GPUs are listed only if they may be used: a vendor's library costs time, and may fail. */
    if (!machine && options->use != YOKE_RUN_HOSTS) status = yoke_devices_list(context, NULL, 1, &gpus, &num_gpus);
    list.size = (size_t)(num_simulated + num_gpus + 2) * NAME_BYTES;
    if (status == YOKE_OK) status = yoke_allocate(context, (int64_t)list.size, 1, &memory);
    if (status == YOKE_OK) {
        list.text = memory;
        for (int64_t i = 0; machine && i < num_simulated; i++)
            if (simulated[i].usable) append(&list, simulated[i].name);
        if (!machine && options->use != YOKE_RUN_ACCELERATORS) append(&list, "openmp");
        for (int64_t i = 0; i < num_gpus; i++) {
            if (!gpus[i].usable || gpus[i].device_class != YOKE_DEVICE_GPU || !gpus[i].double_precision || seen_before(gpus, i)) continue;
            append(&list, gpus[i].name);
            found++;
        }
        if (!machine && found == 0 && options->use >= YOKE_RUN_ACCELERATORS) status = no_accelerator(context, gpus, num_gpus);
    }
    yoke_release(context, simulated);
    yoke_release(context, gpus);
    if (status == YOKE_OK)
        *names = list.text;
    else
        yoke_release(context, memory);
    return status;
}

static yoke_status check_names(yoke_context *context, const char *names)
{
    int count = 0;
    for (const char *name = names;; name++) {
        size_t length = strcspn(name, ",");
        if (length == 0 || length >= NAME_BYTES)
            return yoke_fail(context, YOKE_ERROR_INPUT,
                             "the list of devices \"%.200s\" has an empty or too long name: expected names like openmp,cuda:0", names);
        if (++count > RUN_MAX_DEVICES)
            return yoke_fail(context, YOKE_ERROR_INPUT, "the list names more than %d devices", (int)RUN_MAX_DEVICES);
        name += length;
        if (*name == '\0') return YOKE_OK;
    }
}

yoke_status run_device_names(yoke_context *context, const yoke_run_options *options, char **names)
{
    void *memory = NULL;
    if (options->devices == NULL || strcmp(options->devices, "auto") == 0) return automatic_names(context, options, names);
    yoke_status status = check_names(context, options->devices);
    if (status == YOKE_OK) status = yoke_allocate(context, (int64_t)strlen(options->devices) + 1, 1, &memory);
    if (status != YOKE_OK) return status;
    strcpy(memory, options->devices);
    *names = memory;
    return YOKE_OK;
}
