/*
 * machine_measure.c - measures the costs of operations, and keeps them in the store of a run.
 */
#include <math.h>

#include "tune/costs/factor_store.h"
#include "tune/costs/machine_parts.h"

/*
 * A trial is the shortest of CALLS calls, or of one if it is long (fmm_bench_run).  The trials of one size of an operation may take about
 * budget_s.
 */
enum { CALLS = 2 };
static const double budget_s = 0.03;

typedef struct measuring {
    yoke_context *context;
    yoke_run *run;
    const fmm_machine_options *options;
    fmm_bench *bench; /* NULL until it is needed */
    fmm_operation operation;
    int size;
    double least_s;              /* the least of its trials so far; infinity: none yet */
    yoke_run_accuracy *accuracy; /* of the device, if there is only one; NULL: not requested */
} measuring;

static yoke_status run_operation(measuring *m, int64_t calls, double *seconds)
{
    yoke_status status = YOKE_OK;
    if (m->options->trial) return m->options->trial(m->options->user, m->operation, m->size, calls, seconds);
    if (!m->bench) status = fmm_bench_create(m->context, m->options->gradient, m->options->clock, &m->bench);
    return status ? status : fmm_bench_run(m->bench, m->operation, m->size, calls, seconds);
}

/* Returns the shortest of all trials so far, not only of the calls of this one, because other activity of the machine only adds to
 * times. */
static yoke_status try_operation(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    measuring *m = user;
    double now_s = NAN;
    (void)device;
    (void)units;
    yoke_status status = run_operation(m, calls, &now_s);
    if (!status && m->options->measure && !isfinite(now_s))
        return yoke_fail(m->context, YOKE_ERROR_UNAVAILABLE, "%s cannot be read: other programs count on this processor, too",
                         fmm_measure_names[m->options->measure]);
    if (!status) *seconds = m->least_s = fmin(m->least_s, now_s);
    return status;
}

static yoke_status measure(measuring *m, fmm_operation operation, int size, int brief)
{
    char name[FMM_WORK_BYTES], text[FMM_TEXT_BYTES];
    const fmm_naming naming = fmm_naming_create(m->options->gradient, m->options->measure);
    const int64_t units = fmm_bench_units(operation, size);
    const yoke_run_calibration of = {.work = name,
                                     .min_units = units,
                                     .max_units = units,
                                     .sizes = 2,
                                     .brief = brief,
                                     .calls = CALLS,
                                     .budget_s = budget_s,
                                     .trial = try_operation,
                                     .user = m,
                                     .shortest = 1};
    m->operation = operation;
    m->size = size;
    m->least_s = INFINITY;
    fmm_work_name(&naming, operation, size, name);
    fmm_operation_text(operation, size, m->options->gradient, text);
    yoke_status status = m->options->progress ? m->options->progress(m->options->user, text) : YOKE_OK;
    return status ? status : yoke_run_calibrate(m->run, &of, m->accuracy);
}

yoke_status fmm_machine_measure_powers(yoke_context *context, yoke_run *run, const fmm_machine_options *options)
{
    measuring m = {.context = context, .run = run, .options = options};
    yoke_status status = measure(&m, FMM_NEAR, FMM_MAX_BENCH_PARTICLES, 1);
    fmm_bench_destroy(m.bench);
    return status;
}

static yoke_status forget_factors(yoke_run *run, const fmm_naming *naming)
{
    yoke_status status = YOKE_OK;
    for (int part = 0; part < FMM_TIMED_PARTS && !status && !naming->measure; part++)
        status = fmm_factor_put(run, naming, part, (fmm_factor){.value = 1});
    return status;
}

/* Measures the unknown costs of these orders, and the unknown costs that all orders need. */
static yoke_status measure_missing(measuring *m, fmm_orders wanted, fmm_precisions precisions, const fmm_machine *known)
{
    yoke_status status = YOKE_OK;
    const int *orders;
    (void)fmm_measured_sizes(FMM_PAIR, &orders);
    for (int o = 0; o < FMM_TABLES; o++) {
        const int *sizes, count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count && !status; k++)
            if (fmm_is_in(o, precisions) && !(known->unit[o][k] > 0)) status = measure(m, o, sizes[k], 0);
    }
    for (int k = 0; k < FMM_MEASURED_ORDERS; k++) { /* all operations of an order together, because they share its tables */
        if (!(wanted >> k & 1) || fmm_machine_knows_order(known, orders[k])) continue;
        for (int o = FMM_TABLES; o < FMM_OPERATIONS && !status; o++)
            if (fmm_is_measured(o, orders[k])) status = measure(m, o, orders[k], 0);
    }
    return status;
}

yoke_status fmm_machine_measure_missing(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                        fmm_orders orders, fmm_precisions precisions, fmm_machine *machine)
{
    measuring m = {.context = context, .run = run, .options = options};
    const int knows_nothing = fmm_machine_missing(machine, FMM_ALL_ORDERS, FMM_IN_DOUBLE) == FMM_ALL_ORDERS &&
                              fmm_machine_missing(machine, FMM_ALL_ORDERS, FMM_IN_SINGLE) == FMM_ALL_ORDERS;
    machine->measure = options->measure;
    yoke_status status = fmm_machine_tell_works(run, options->gradient, options->measure);
    if (!status) status = measure_missing(&m, orders, precisions, machine);
    fmm_bench_destroy(m.bench);
    const fmm_naming naming = fmm_naming_create(options->gradient, options->measure);
    if (!status && knows_nothing) status = forget_factors(run, &naming);
    return status ? status : fmm_machine_read(run, device, options->gradient, machine);
}

yoke_status fmm_machine_measure(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                fmm_machine *machine)
{
    *machine = (fmm_machine){0};
    return fmm_machine_measure_missing(context, run, device, options, FMM_ALL_ORDERS, FMM_IN_BOTH, machine);
}

/* ---------------------------------------------------------------------------------------------------- again */

/* A run whose disturbed costs, in seconds, are measured again. */
typedef struct disturbed_run {
    yoke_run *run;
    int64_t device;
    fmm_naming naming;
} disturbed_run;

/* Seconds of calls that were measured again; 0: not measured again. */
typedef double again[FMM_OPERATIONS][FMM_MEASURED_ORDERS];

/* Measures an operation again in a separate run, if its cost was disturbed.  *disturbed: nonzero: it was disturbed again. */
static yoke_status measure_if_disturbed(measuring *m, const disturbed_run *r, fmm_operation operation, int size, double *seconds,
                                        int *disturbed)
{
    char name[FMM_WORK_BYTES];
    yoke_prediction known;
    fmm_work_name(&r->naming, operation, size, name);
    yoke_status status = yoke_run_predict(r->run, name, r->device, (double)fmm_bench_units(operation, size), NAN, 0, &known);
    if (status == YOKE_ERROR_UNAVAILABLE) return YOKE_OK;
    if (status || !(known.disturbed > 0)) return status;
    status = measure(m, operation, size, 0);
    if (status) return status;
    *seconds = m->least_s;
    *disturbed = m->accuracy->disturbed > 0;
    return YOKE_OK;
}

static yoke_status measure_disturbed(yoke_context *context, const disturbed_run *r, const fmm_machine_options *options, again seconds,
                                     int *disturbed)
{
    const yoke_run_options alone = {.devices = "openmp", .keep_frequencies = 1, .no_meters = 1};
    yoke_run_accuracy accuracy;
    measuring m = {.context = context, .options = options, .accuracy = &accuracy};
    yoke_status status = yoke_run_create(context, &alone, &m.run);
    for (int o = 0; o < FMM_OPERATIONS; o++) {
        const int *sizes;
        const int count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count && !status && !*disturbed; k++)
            status = measure_if_disturbed(&m, r, o, sizes[k], &seconds[o][k], disturbed);
    }
    fmm_bench_destroy(m.bench);
    yoke_run_destroy(m.run);
    return status;
}

static yoke_status put_again(const disturbed_run *r, again seconds)
{
    char name[FMM_WORK_BYTES];
    yoke_status status = YOKE_OK;
    for (int o = 0; o < FMM_OPERATIONS; o++) {
        const int *sizes;
        const int count = fmm_measured_sizes(o, &sizes);
        for (int k = 0; k < count && !status; k++) {
            if (!(seconds[o][k] > 0)) continue;
            fmm_work_name(&r->naming, o, sizes[k], name);
            status = fmm_number_put(r->run, name, fmm_bench_units(o, sizes[k]), seconds[o][k]);
        }
    }
    return status ? status : forget_factors(r->run, &r->naming);
}

yoke_status fmm_machine_measure_again(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                      fmm_machine *machine)
{
    const disturbed_run r = {.run = run, .device = device, .naming = fmm_naming_create(options->gradient, FMM_MEASURE_SECONDS)};
    again seconds = {{0}};
    int disturbed = 0;
    yoke_status status = fmm_machine_tell_works(run, options->gradient, FMM_MEASURE_SECONDS);
    if (!status) status = measure_disturbed(context, &r, options, seconds, &disturbed);
    if (!status && !disturbed) status = put_again(&r, seconds);
    if (status) return status;
    *machine = (fmm_machine){0};
    return fmm_machine_read(run, device, options->gradient, machine);
}
