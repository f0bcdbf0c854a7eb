#include "distribution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "distribution_store.h"

struct fem_distribution {
    yoke_context *context;
    fem_distribution_options options;
    fem_devices *devices;
    fem_store *store; /* NULL: none */
    yoke_balancer *balancer;
    yoke_share_report reports[FEM_MOST_DEVICES]; /* of the latest step */
    int steps;                                   /* that were reported */
    double solve_per_product;        /* seconds of the latest solve over the longest part's seconds per product; NaN before the first */
    int64_t units[FEM_MOST_DEVICES]; /* of the present step */
    int32_t cut[FEM_MOST_DEVICES + 1];
    double predicted_s[FEM_MOST_DEVICES]; /* per product */
    int known_failed[FEM_MOST_DEVICES];
    /* what the record borrows */
    int num_parts, num_failures;
    fem_part_record parts[FEM_MOST_DEVICES];
    fem_failure_record failures[FEM_MOST_DEVICES];
    char *decision;
};

/* ------------------------------------------------------------------------------------------- which devices */

static int is_gpu(const fem_device *device) { return !device->host_functions; }

/* Appends a name to a list of them; 0 where it does not fit. */
static int append_name(char *names, size_t size, const char *name)
{
    size_t length = strlen(names);
    int added = snprintf(names + length, size - length, "%s%s", length ? "," : "", name);
    return added > 0 && (size_t)added < size - length;
}

/* All cores, and each GPU once: one card may be seen by several interfaces. */
static yoke_status automatic_names(yoke_context *context, fem_use use, char *names, size_t size)
{
    yoke_device_info *list;
    int64_t count;
    yoke_status status = YOKE_OK;
    names[0] = 0;
    if (use != FEM_USE_GPU) append_name(names, size, "openmp");
    if (use == FEM_USE_CPU) return YOKE_OK;
    status = yoke_devices_list(context, &list, &count);
    if (status) return status;
    int gpus = 0;
    for (int64_t i = 0; i < count; i++) {
        int seen = !list[i].usable || list[i].device_class != YOKE_DEVICE_GPU || !list[i].double_precision;
        for (int64_t k = 0; k < i && !seen; k++) seen = list[k].usable && list[i].pci[0] && !strcmp(list[k].pci, list[i].pci);
        if (!seen) gpus += append_name(names, size, list[i].name);
    }
    if (!gpus && (use == FEM_USE_GPU || use == FEM_USE_BOTH)) {
        char reasons[1024] = "";
        for (int64_t i = 0; i < count; i++) {
            size_t length = strlen(reasons);
            if (!list[i].usable) snprintf(reasons + length, sizeof reasons - length, "; %s: %s", list[i].name, list[i].why_not);
        }
        status = yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "there is no usable GPU (`yoke info` says what to do)%s", reasons);
    }
    yoke_release(context, list);
    return status;
}

static yoke_status open_devices(fem_distribution *d)
{
    const fem_distribution_options *o = &d->options;
    char names[FEM_MOST_DEVICES * 64];
    yoke_status status = YOKE_OK;
    if (o->machine) status = yoke_machine_read(d->context, o->machine);
    const char *list = o->devices && strcmp(o->devices, "auto") ? o->devices : NULL;
    if (!status && !list) status = automatic_names(d->context, o->use, names, sizeof names);
    return status ? status : fem_devices_open(d->context, list ? list : names, &d->devices);
}

/* Of the devices that were named, those that `use` wants; the others have no limit but 0. */
static yoke_status select_devices(fem_distribution *d, int64_t *most)
{
    static const char *const names[] = {"auto", "cpu", "gpu", "both"};
    fem_use use = d->options.use;
    int cpus = 0, gpus = 0;
    for (int i = 0; i < d->devices->count; i++) {
        const fem_device *device = &d->devices->list[i];
        cpus += !is_gpu(device);
        gpus += is_gpu(device);
        int wanted = use == FEM_USE_CPU ? !is_gpu(device) : use == FEM_USE_GPU ? is_gpu(device) : 1;
        most[i] = wanted ? INT64_MAX : 0;
    }
    if ((use == FEM_USE_CPU && !cpus) || (use == FEM_USE_GPU && !gpus) || (use == FEM_USE_BOTH && (!cpus || !gpus)))
        return yoke_fail(d->context, YOKE_ERROR_INPUT, "--case %s: among the devices %s there is no %s", names[use], d->options.devices,
                         use == FEM_USE_CPU || (use == FEM_USE_BOTH && !cpus) ? "CPU" : "GPU");
    if (isnan(d->options.gpu_share)) return YOKE_OK;
    if (!cpus || !gpus || use == FEM_USE_CPU || use == FEM_USE_GPU)
        return yoke_fail(d->context, YOKE_ERROR_INPUT, "--share needs a CPU and a GPU to share between; the devices are %s",
                         d->options.devices ? d->options.devices : "openmp (there is no usable GPU, see `yoke info`)");
    return YOKE_OK;
}

/* The GPUs' share in equal parts among them, the rest among the others. */
static void fixed_shares(const fem_distribution *d, double *shares)
{
    int gpus = 0, count = d->devices->count;
    for (int i = 0; i < count; i++) gpus += is_gpu(&d->devices->list[i]);
    for (int i = 0; i < count; i++)
        shares[i] = is_gpu(&d->devices->list[i]) ? d->options.gpu_share / gpus : (1 - d->options.gpu_share) / (count - gpus);
}

static yoke_status make_balancer(fem_distribution *d)
{
    int64_t most[FEM_MOST_DEVICES];
    double shares[FEM_MOST_DEVICES], start_s[FEM_MOST_DEVICES];
    int fixed = !isnan(d->options.gpu_share);
    yoke_status status = select_devices(d, most);
    if (status) return status;
    if (fixed) fixed_shares(d, shares);
    for (int i = 0; i < d->devices->count; i++)
        start_s[i] = d->store ? fem_store_find(d->store, d->options.work, d->devices->list[i].info) : (double)NAN;
    yoke_balancer_options options = {.devices = d->devices->count,
                                     .policy = fixed ? YOKE_BALANCE_FIXED : d->options.policy,
                                     .keep_all = d->options.use == FEM_USE_BOTH,
                                     .shares = fixed ? shares : NULL,
                                     .start_s = start_s,
                                     .most = most,
                                     .rounds = d->options.rounds + 1};
    return yoke_balancer_create(d->context, &options, &d->balancer);
}

yoke_status fem_distribution_create(yoke_context *context, const fem_distribution_options *options, fem_distribution **out)
{
    fem_distribution *d;
    yoke_status status = yoke_allocate(context, 1, sizeof *d, (void **)&d);
    if (status) return status;
    d->context = context;
    d->options = *options;
    d->solve_per_product = NAN;
    status = open_devices(d);
    if (!status && options->store) status = fem_store_read(context, options->store, &d->store);
    if (!status) status = make_balancer(d);
    if (status)
        fem_distribution_destroy(d);
    else
        *out = d;
    return status;
}

void fem_distribution_destroy(fem_distribution *d)
{
    if (!d) return;
    yoke_release(d->context, d->decision);
    yoke_balancer_destroy(d->balancer);
    fem_store_destroy(d->store);
    fem_devices_close(d->devices);
    yoke_release(d->context, d);
}

int fem_distribution_has_gpu(const fem_distribution *d)
{
    for (int i = 0; i < d->devices->count; i++)
        if (is_gpu(&d->devices->list[i])) return 1;
    return 0;
}

int fem_distribution_devices(const fem_distribution *d) { return d->devices->count; }

/* ------------------------------------------------------------------------------------------------------ plan */

/* Tells the balancer which devices have failed, or what fits on them, since it was asked last. */
static yoke_status update_limits(fem_distribution *d)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < d->devices->count && !status; i++) {
        const fem_device *device = &d->devices->list[i];
        if (device->failed)
            status = yoke_balancer_limit(d->balancer, i, 0);
        else if (device->most_elements < INT64_MAX)
            status = yoke_balancer_limit(d->balancer, i, device->most_elements);
    }
    return status;
}

yoke_status fem_distribution_plan(fem_distribution *d, int64_t elements, fem_solve_options *options)
{
    yoke_status status = update_limits(d);
    if (!status)
        status = d->steps ? yoke_balancer_update(d->balancer, d->reports, elements, d->units)
                          : yoke_balancer_units(d->balancer, elements, d->units);
    if (!status) status = yoke_balancer_predict(d->balancer, d->units, d->predicted_s);
    yoke_release(d->context, d->decision);
    d->decision = NULL;
    if (!status && d->devices->count > 1) status = yoke_balancer_explain(d->balancer, &d->decision);
    if (status) return status;
    for (int i = 0; i < d->devices->count; i++) d->cut[i + 1] = d->cut[i] + (int32_t)d->units[i];
    options->devices = d->devices;
    options->cut = d->cut;
    options->exchange = d->options.exchange;
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------------- report */

static double longest(int count, const double *seconds)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = seconds[i] > most || isnan(seconds[i]) ? seconds[i] : most;
    return most > 0 ? most : (double)NAN;
}

static void report_part(fem_distribution *d, int i, const fem_solution *solution)
{
    const fem_solve_share *share = &solution->shares[i];
    const fem_device *device = &d->devices->list[i];
    d->reports[i] = (yoke_share_report){.units = share->elements,
                                        .seconds = share->elements && !device->failed ? share->seconds_per_product : (double)NAN,
                                        .moved_s = share->setup_moved_s,
                                        .moved_units = isnan(share->setup_moved_s) ? 0 : share->elements,
                                        .calls = (double)solution->operator_applications,
                                        .energy_j = NAN};
    if (!share->elements) return;
    d->parts[d->num_parts++] = (fem_part_record){.device = device->info->name,
                                                 .threads = device->host_functions ? (int)device->info->compute_units : 0,
                                                 .elements = share->elements,
                                                 .seconds_per_element = share->seconds_per_element,
                                                 .seconds_per_product = share->seconds_per_product,
                                                 .predicted_seconds_per_product = solution->restarts ? (double)NAN : d->predicted_s[i],
                                                 .halo_bytes = share->interface_bytes,
                                                 .setup_moved_s = share->setup_moved_s};
}

static yoke_status keep(fem_distribution *d, const fem_solution *solution)
{
    yoke_status status = YOKE_OK;
    if (!d->store) return YOKE_OK;
    for (int i = 0; i < d->devices->count && !status; i++)
        if (solution->shares[i].elements)
            status = fem_store_put(d->store, d->options.work, d->devices->list[i].info, solution->shares[i].seconds_per_element);
    return status ? status : fem_store_write(d->store);
}

static void report_failures(fem_distribution *d)
{
    d->num_failures = 0;
    for (int i = 0; i < d->devices->count; i++) {
        const fem_device *device = &d->devices->list[i];
        if (!device->failed || d->known_failed[i]) continue;
        d->known_failed[i] = 1;
        d->failures[d->num_failures++] = (fem_failure_record){.device = device->info->name, .why = device->why};
    }
}

yoke_status fem_distribution_report(fem_distribution *d, const fem_solution *solution, fem_step_record *record)
{
    int64_t elements = 0, on_gpu = 0;
    double measured[FEM_MOST_DEVICES], predicted = longest(d->devices->count, d->predicted_s);
    d->num_parts = 0;
    for (int i = 0; i < d->devices->count; i++) {
        report_part(d, i, solution);
        measured[i] = solution->shares[i].elements ? solution->shares[i].seconds_per_product : 0;
        elements += solution->shares[i].elements;
        on_gpu += is_gpu(&d->devices->list[i]) ? solution->shares[i].elements : 0;
        d->cut[i + 1] = (int32_t)elements;
    }
    report_failures(d);
    record->num_parts = d->num_parts;
    record->parts = d->parts;
    record->gpu_share = elements ? (double)on_gpu / (double)elements : (double)NAN;
    record->share = !on_gpu ? FEM_SHARE_CPU : on_gpu == elements ? FEM_SHARE_GPU : FEM_SHARE_BOTH;
    record->decision = d->decision;
    record->num_failures = d->num_failures;
    record->failures = d->failures;
    /* the work beside the products goes with them: what a solve took for each second of its longest part's product is taken from the last one */
    record->predicted_time_s = solution->restarts ? (double)NAN : predicted * d->solve_per_product;
    record->measured_time_s = solution->solve_s;
    d->solve_per_product = solution->solve_s / longest(d->devices->count, measured);
    d->steps++;
    return keep(d, solution);
}

void fem_distribution_parts(const fem_distribution *d, int64_t elements, int32_t *part)
{
    int number = 0;
    for (int i = 0; i < d->devices->count; i++) {
        for (int64_t e = d->cut[i]; e < d->cut[i + 1] && e < elements; e++) part[e] = number;
        number += d->cut[i + 1] > d->cut[i];
    }
}
