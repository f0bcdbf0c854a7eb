#include "energy/work.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "energy/kernel.h"

extern const char bench_energy_kernel_text[];

/* -------------------------------------------------------------------------------------------------- meters */

/* Notes which meters exist and why they cannot be used. */
static void note_reasons(const yoke_meters *meters, data *d)
{
    const yoke_meter_info *list = meters->others;
    for (int64_t i = 0; i < meters->num_others; i++)
        if (!list[i].usable) data_note(d, "%s: %s%s%s", list[i].name, list[i].why_not, list[i].remedy[0] ? "; " : "", list[i].remedy);
}

yoke_status work_meters_open(yoke_context *context, const work_settings *settings, int simulated, work_meters *meters, data *d)
{
    const yoke_meter_options options = {
        .select = settings->select, .sysroot = settings->sysroot, .declared = settings->declared, .replay = settings->replay};
    *meters = (work_meters){.context = context, .d = d};
    yoke_status status = yoke_meters_open(context, &options, &meters->meter);
    if (status) return status;
    meters->infos = meters->meter->infos;
    meters->count = meters->meter->count;
    for (int64_t i = 0; !status && i < meters->count; i++) {
        meters->simulated |= meters->infos[i].source == YOKE_ENERGY_SIMULATED;
        meters->period_s = fmax(meters->period_s, meters->infos[i].period_s); /* fmax ignores NaN */
    }
    if (status) work_meters_close(meters);
    if (status || (meters->count > 0 && meters->simulated == simulated && meters->count <= WORK_MAX_METERS)) return status;
    if (meters->count > WORK_MAX_METERS)
        data_note(d, "energy: not metered: %lld meters are more than the %d this program has room for; choose some with --meters",
                  (long long)meters->count, WORK_MAX_METERS);
    else if (meters->count > 0)
        data_note(d, "energy: not metered: the meters belong to %s devices, and the device is a %s one", simulated ? "real" : "simulated",
                  simulated ? "simulated" : "real");
    else {
        data_note(d, "energy: not metered%s", simulated ? ": the machine file gives no powers (docs/reference/machine-file.md)" : "");
        if (!simulated) note_reasons(meters->meter, d);
    }
    work_meters_close(meters);
    return status;
}

void work_meters_close(work_meters *meters)
{
    if (meters->unknown > 0)
        data_note(meters->d, "%lld measurements lack an energy; the first: %s", (long long)meters->unknown, meters->why);
    yoke_meters_close(meters->meter);
    *meters = (work_meters){.context = meters->context};
}

void work_columns(const work_meters *meters, const char *ending, data *d)
{
    for (int64_t i = -1; i < meters->count; i++) {
        char name[DATA_NAME], error[DATA_NAME + 8];
        snprintf(name, sizeof name, "%.60s%s", i < 0 ? "total" : meters->infos[i].name, ending);
        for (char *c = name; *c; c++) /* the names are inserted into a script for gnuplot */
            if (*c <= ' ' || *c == 0x7f || strchr("'\"`\\,", *c) != NULL) *c = '_';
        data_column(d, name);
        snprintf(error, sizeof error, "%.64s_error", name);
        data_column(d, error);
    }
}

/* ------------------------------------------------------------------------------------------------- device */

yoke_status work_launch(work_device *d, int64_t units)
{
    /* The time of a simulated device does not depend on what it computes, so one element is sufficient. */
    int64_t done = d->simulated ? 1 : units, groups = done < 65536 ? done : 65536;
    const yoke_argument arguments[] = {yoke_argument_int64(done), yoke_argument_buffer(d->matrices), yoke_argument_buffer(d->values),
                                       yoke_argument_buffer(d->products)};
    return yoke_queue_launch(d->queue, d->function, groups, 96, units, arguments, 4);
}

yoke_status work_copy(work_device *d, int64_t units)
{
    return yoke_queue_write(d->queue, d->matrices, 0, units * WORK_UNIT_BYTES, d->host);
}

/* Small integers, so that the sum does not depend on the order of summation. */
static double matrix_entry(int64_t e, int64_t k) { return (double)((e + k) % 7 - 3); }
static double value_entry(int64_t e, int64_t i) { return (double)((e + i) % 5 - 2); }

static double product_entry(int64_t e, int i)
{
    double sum = 0;
    for (int j = 0; j < 81; j++) {
        int row = i > j ? i : j, column = i > j ? j : i;
        sum += matrix_entry(e, row * (row + 1) / 2 + column) * value_entry(e, j);
    }
    return sum;
}

/* Fills the buffers and checks one product. */
static yoke_status fill_and_check(yoke_context *context, work_device *d)
{
    int64_t last = d->simulated ? 0 : d->max_units - 1;
    double *matrices = d->host, *values = NULL, found[81];
    yoke_status status = yoke_allocate(context, d->max_units * 81, sizeof(double), &values);
    if (status) return status;
    for (int64_t e = 0; e < d->max_units; e++) {
        for (int64_t k = 0; k < 3321; k++) matrices[e * 3321 + k] = matrix_entry(e, k);
        for (int64_t i = 0; i < 81; i++) values[e * 81 + i] = value_entry(e, i);
    }
    status = work_copy(d, d->max_units);
    if (!status) status = yoke_queue_write(d->queue, d->values, 0, d->max_units * 81 * (int64_t)sizeof(double), values);
    if (!status) status = work_launch(d, d->max_units);
    if (!status) status = yoke_queue_read(d->queue, d->products, last * (int64_t)sizeof found, sizeof found, found);
    if (!status) status = yoke_queue_finish(d->queue);
    yoke_release(context, values);
    for (int i = 0; !status && i < 81; i++)
        if (found[i] != product_entry(last, i))
            status = yoke_fail(context, YOKE_ERROR_NUMERIC, "%s computes a wrong product: row %d of element %lld is %g instead of %g",
                               yoke_device_info_get(d->device)->name, i, (long long)last, found[i], product_entry(last, i));
    return status;
}

yoke_status work_device_open(yoke_context *context, const char *name, int64_t max_units, work_device *d)
{
    static const yoke_host_kernel kernels[] = {{"packed_products", packed_products}};
    const char *const texts[] = {bench_energy_kernel_text};
    const yoke_program_source source = {
        .name = "energy/kernel.h", .texts = texts, .num_texts = 1, .host_kernels = kernels, .num_host_kernels = 1};
    *d = (work_device){.max_units = max_units};
    yoke_status status = yoke_device_open(context, name, &d->device);
    if (status) return status;
    d->simulated = strcmp(yoke_device_info_get(d->device)->kind, "sim") == 0;
    status = yoke_queue_create(d->device, 0, &d->queue);
    if (!status) status = yoke_program_create(d->device, &source, &d->program);
    if (!status) status = yoke_program_function(d->program, "packed_products", &d->function);
    if (!status) status = yoke_buffer_create(d->device, max_units * WORK_UNIT_BYTES, &d->matrices);
    if (!status) status = yoke_buffer_create(d->device, max_units * 81 * (int64_t)sizeof(double), &d->values);
    if (!status) status = yoke_buffer_create(d->device, max_units * 81 * (int64_t)sizeof(double), &d->products);
    if (!status) status = yoke_host_allocate(d->device, max_units * WORK_UNIT_BYTES, &d->host);
    if (!status) status = fill_and_check(context, d);
    if (status) work_device_close(d);
    return status;
}

void work_device_close(work_device *d)
{
    if (!d->device) return;
    yoke_queue_destroy(d->queue); /* first, because it may still use the others */
    if (d->host) yoke_host_release(d->device, d->host);
    yoke_buffer_destroy(d->products);
    yoke_buffer_destroy(d->values);
    yoke_buffer_destroy(d->matrices);
    yoke_program_destroy(d->program);
    yoke_device_close(d->device);
    *d = (work_device){0};
}

/* ---------------------------------------------------------------------------------------------- measuring */

static yoke_status begin(const work_meters *meters, yoke_region **region)
{
    *region = NULL;
    return meters->meter ? yoke_region_begin(meters->meter, region) : YOKE_OK;
}

/*
 * Returns how many periods of the meters (1 to 2) the work is to run before a measurement, so that it begins at a different phase of the
 * periods each time, and the power before it is the same: at the ends, a meter shows a value that is up to a period old.  The golden
 * section distributes the phases without random numbers.
 */
static double periods_before(work_meters *meters)
{
    double phase = 0.6180339887498949 * (double)++meters->begun;
    return 1 + phase - floor(phase);
}

static void note_unknown(work_meters *meters, const yoke_energy *each)
{
    int64_t i = 0;
    while (i < meters->count && !isnan(each[i].value_j)) i++;
    if (i == meters->count || meters->unknown++ > 0) return;
    snprintf(meters->why, sizeof meters->why, "%s: %s", meters->infos[i].name, each[i].why_not);
}

static yoke_status end(work_meters *meters, yoke_region *region, double *energies)
{
    yoke_energy each[WORK_MAX_METERS], total = {.value_j = NAN, .uncertainty_j = NAN};
    double seconds;
    yoke_status status = region ? yoke_region_end(region, &seconds, each, &total) : YOKE_OK;
    if (region) note_unknown(meters, each);
    for (int64_t i = -1; i < meters->count; i++) {
        const yoke_energy *energy = i < 0 ? &total : &each[i];
        energies[2 * (1 + i)] = energy->value_j;
        energies[2 * (1 + i) + 1] = isnan(energy->value_j) ? (double)NAN : energy->uncertainty_j;
    }
    return status;
}

static yoke_status do_work(work_device *devices, int num_devices, work_function *work, int64_t units, int64_t calls)
{
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < calls && !status; k++)
        for (int i = 0; i < num_devices && !status; i++) status = work(&devices[i], units);
    for (int i = 0; i < num_devices && !status; i++) status = yoke_queue_finish(devices[i].queue);
    return status;
}

yoke_status work_measure(work_meters *meters, work_device *devices, int num_devices, work_function *work, int64_t units, int64_t calls,
                         double *seconds, double *energies)
{
    yoke_region *region;
    double before = meters->meter ? ceil((double)calls * periods_before(meters) / WORK_PERIODS) : 0;
    yoke_status status = do_work(devices, num_devices, work, units, (int64_t)before);
    if (!status) status = begin(meters, &region);
    if (status) return status;
    double begin_s = yoke_device_clock_s(devices[0].device);
    status = do_work(devices, num_devices, work, units, calls);
    double end_s = yoke_device_clock_s(devices[0].device);
    yoke_status metered = end(meters, region, energies);
    *seconds = end_s - begin_s;
    return status ? status : metered;
}

yoke_status work_calls(work_device *d, work_function *work, int64_t units, double seconds, int64_t *calls)
{
    enum { MAX_CALLS = 100000 };
    work_meters none = {0};
    double taken = 0, unused[2];
    int64_t count = 1;
    yoke_status status = work_measure(&none, d, 1, work, units, 1, &taken, unused); /* the first call warms up */
    for (; !status; count *= 4) {
        status = work_measure(&none, d, 1, work, units, count, &taken, unused);
        if (taken >= 0.1 * seconds || count * 4 > MAX_CALLS || !(taken > 0)) break;
    }
    double wanted = taken > 0 ? ceil(seconds / taken * (double)count) : 1;
    *calls = wanted < 1 ? 1 : wanted > MAX_CALLS ? MAX_CALLS : (int64_t)wanted;
    return status;
}

static yoke_status sleep_here(yoke_context *context, double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    if (nanosleep(&left, NULL) == 0) return YOKE_OK;
    return yoke_fail(context, errno == EINTR ? YOKE_ERROR_INTERRUPTED : YOKE_ERROR_SYSTEM, "the sleep was ended: %s", strerror(errno));
}

static yoke_status sleep_on(const work_meters *meters, double seconds)
{
    return meters->simulated ? yoke_machine_sleep(meters->context, seconds) : sleep_here(meters->context, seconds);
}

yoke_status work_sleep(work_meters *meters, double length_s, double *seconds, double *energies)
{
    yoke_region *region;
    yoke_status status = sleep_on(meters, periods_before(meters) * meters->period_s);
    if (!status) status = begin(meters, &region);
    if (status) return status;
    double begin_s = yoke_clock_s();
    status = sleep_on(meters, length_s);
    *seconds = meters->simulated ? length_s : yoke_clock_s() - begin_s;
    yoke_status metered = end(meters, region, energies);
    return status ? status : metered;
}

double work_seconds(const work_settings *settings, const work_meters *meters)
{
    return fmax(settings->seconds, WORK_PERIODS * meters->period_s);
}
