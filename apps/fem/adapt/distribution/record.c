/* record.c - explains why elements are distributed as they are, in words and in the record. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "adapt/distribution/private.h"
#include "common/console/append.h"
#include "common/console/options.h"

static int is_gpu(const fem_distribution *d, int i) { return !d->devices->list[i].host_functions; }

static const char *case_text(const fem_distribution *d, const int64_t *units)
{
    int hosts = 0, gpus = 0;
    for (int i = 0; i < d->devices->count; i++) {
        hosts |= units[i] > 0 && !is_gpu(d, i);
        gpus |= units[i] > 0 && is_gpu(d, i);
    }
    return hosts && gpus ? "both" : gpus ? "gpu" : "cpu";
}

/* ------------------------------------------------------------------------------------------------------ decision */

static int differ(const fem_distribution *d, const int64_t *a, const int64_t *b)
{
    int64_t all = 0, other = 0;
    for (int i = 0; i < d->devices->count; i++) {
        all += a[i];
        other += a[i] > b[i] ? a[i] - b[i] : 0;
    }
    return other * 100 > all || strcmp(case_text(d, a), case_text(d, b)) != 0;
}

/* Reports where the rule of 2014 would have chosen worse. */
static void append_published(const fem_distribution *d, char *text, size_t size)
{
    const yoke_assignment *a = d->assignment;
    for (int64_t k = 0; k < a->num_alternatives; k++) {
        const yoke_run_alternative *it = &a->alternatives[k];
        if (strcmp(it->name, "published") != 0 || isnan(it->time_s) || !differ(d, it->units, d->units)) continue;
        app_append(text, size, "the rule of the 2014 paper takes case %s (%s), which costs %+.1f %% energy and %+.1f %% time\n",
                   case_text(d, it->units), it->note, 100 * (it->energy_j / a->predicted.energy_j - 1),
                   100 * (it->time_s / a->predicted.time_s - 1));
    }
}

yoke_status fem_distribution_explain(fem_distribution *d)
{
    enum { MORE = 1024 };
    char *text = NULL;
    yoke_release(d->context, d->decision);
    d->decision = NULL;
    if (d->devices->count < 2) return YOKE_OK;
    yoke_status status = yoke_run_explain(d->run, &text);
    if (status) return status;
    size_t size = strlen(text) + MORE;
    status = yoke_allocate(d->context, (int64_t)size, 1, &d->decision);
    if (!status) {
        app_append(d->decision, size, "case %s, ", case_text(d, d->units));
        if (d->assignment->powers[0]) app_append(d->decision, size, "powers %s, ", d->assignment->powers);
        app_append(d->decision, size, "%s", text);
        append_published(d, d->decision, size);
    }
    yoke_release(d->context, text);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- record */

static double longest(int count, const double *seconds)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = seconds[i] > most || isnan(seconds[i]) ? seconds[i] : most;
    return most > 0 ? most : (double)NAN;
}

/* The device of all cores has as many threads as OpenMP; a device of some cores has one thread per core. */
static int threads_of(const fem_device *device)
{
    if (!device->host_functions) return 0;
    return strcmp(device->info->name, "openmp") != 0 ? (int)device->info->compute_units : omp_get_max_threads();
}

static void record_part(fem_distribution *d, int i, const fem_solution *solution)
{
    const fem_solve_share *share = &solution->shares[i];
    const fem_device *device = &d->devices->list[i];
    if (!share->elements) return;
    d->parts[d->num_parts++] =
        (fem_part_record){.device = device->info->name,
                          .threads = threads_of(device),
                          .elements = share->elements,
                          .seconds_per_element = share->seconds_per_element,
                          .seconds_per_product = share->seconds_per_product,
                          .predicted_seconds_per_product = solution->restarts ? (double)NAN : d->assignment->predicted_s[i],
                          .halo_bytes = share->interface_bytes,
                          .setup_moved_s = share->setup_moved_s,
                          .frequency_hz = d->assignment->frequency_hz[i]};
}

static void record_failures(fem_distribution *d, fem_step_record *record)
{
    d->num_failures = 0;
    for (int i = 0; i < d->devices->count; i++) {
        const fem_device *device = &d->devices->list[i];
        if (!device->failed || d->known_failed[i]) continue;
        d->known_failed[i] = 1;
        d->failures[d->num_failures++] = (fem_failure_record){.device = device->info->name, .why = device->why};
    }
    record->num_failures = d->num_failures;
    record->failures = d->failures;
}

/* The choice itself comes first. */
static void record_weighed(fem_distribution *d, fem_step_record *record)
{
    const yoke_assignment *a = d->assignment;
    int count = 0;
    record->num_devices = d->devices->count;
    record->device_names = d->names;
    record->weighed = d->weighed;
    if (a->num_alternatives && a->decision >= YOKE_RUN_PLANNED)
        d->weighed[count++] = (fem_weighed_record){
            .name = "best", .note = "", .elements = d->units, .time_s = a->predicted.time_s, .energy_j = a->predicted.energy_j};
    for (int64_t k = 0; k < a->num_alternatives && count && count < FEM_MAX_WEIGHED; k++) {
        const yoke_run_alternative *it = &a->alternatives[k];
        if (strcmp(it->name, "best") != 0)
            d->weighed[count++] = (fem_weighed_record){
                .name = it->name, .note = it->note, .elements = it->units, .time_s = it->time_s, .energy_j = it->energy_j};
    }
    record->num_weighed = count;
}

/*
 * Records predictions together with measured values.  Predictions are also recorded for the actual number of products, by models that have
 * not seen this step.
 */
static void record_costs(const fem_distribution *d, const fem_solution *solution, double product_s, fem_step_record *record)
{
    const yoke_assignment *a = d->assignment;
    const double products = (double)solution->operator_applications;
    record->objective = app_objective_names[d->options.objective];
    record->powers = a->powers[0] ? a->powers : NULL;
    record->measured_time_s = solution->solve_s;
    record->measured_energy_j = a->energy.value_j;
    record->energy_kind = isnan(a->energy.value_j) ? NULL : yoke_energy_kind_text(a->energy.kind);
    record->measured_product_s = product_s;
    record->measured_product_j = a->energy.value_j / products;
    if (solution->restarts || solution->solver != d->solver) return; /* this is not what was predicted */
    record->predicted_product_s = longest(d->devices->count, a->predicted_s);
    if (!d->predicted) return;
    record->predicted_time_s = a->predicted.time_s;
    record->predicted_energy_j = a->predicted.energy_j;
    record->predicted_product_j = a->predicted.energy_j / d->products.all_products;
    record->predicted_applications = d->products.all_products;
    if (d->other) return;
    record->time_with_l_s = a->with_calls.time_s;
    record->energy_with_l_j = a->with_calls.energy_j;
}

yoke_status fem_distribution_report(fem_distribution *d, const fem_solution *solution, fem_step_record *record)
{
    int64_t elements = 0, on_gpu = 0;
    double measured[FEM_MAX_DEVICES];
    d->num_parts = 0;
    for (int i = 0; i < d->devices->count; i++) {
        record_part(d, i, solution);
        measured[i] = solution->shares[i].elements ? solution->shares[i].seconds_per_product : 0;
        elements += solution->shares[i].elements;
        on_gpu += is_gpu(d, i) ? solution->shares[i].elements : 0;
        d->cut[i + 1] = (int32_t)elements;
    }
    record->num_parts = d->num_parts;
    record->parts = d->parts;
    record->gpu_share = elements ? (double)on_gpu / (double)elements : (double)NAN;
    record->share = !on_gpu ? FEM_SHARE_CPU : on_gpu == elements ? FEM_SHARE_GPU : FEM_SHARE_BOTH;
    record->decision = d->decision;
    record->memory_bytes = (double)solution->memory_bytes;
    record->messages_per_iteration = solution->messages_per_iteration;
    record->sent_bytes_per_iteration = solution->sent_bytes_per_iteration;
    record_failures(d, record);
    record_weighed(d, record);
    record_costs(d, solution, longest(d->devices->count, measured), record);
    fem_forecast_learn(&d->forecast, solution);
    d->all_j += d->assignment->energy.value_j;
    const int as_planned = d->predicted && !solution->restarts && solution->solver == d->solver;
    yoke_status status = fem_distribution_report_ranks(d, as_planned, record);
    if (status) return status;
    return d->options.store ? yoke_run_save(d->run, NULL) : YOKE_OK;
}

int fem_distribution_metered(const fem_distribution *d, const char **why_not)
{
    *why_not = isnan(d->assignment->energy.value_j) ? d->assignment->energy.why_not : "";
    return d->assignment->metered;
}

void fem_distribution_parts(const fem_distribution *d, int64_t elements, int32_t *part)
{
    int number = d->first_part;
    for (int i = 0; i < d->devices->count; i++) {
        for (int64_t e = d->cut[i]; e < d->cut[i + 1] && e < elements; e++) part[e] = number;
        number += d->cut[i + 1] > d->cut[i];
    }
}
