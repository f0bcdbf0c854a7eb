/*
 * tuner_costs.c - a tuner's costs on this machine: read from a run and its store, and measured if they are missing.
 */
#include <math.h>

#include "expansion/pages.h"
#include "expansion/waves.h"
#include "tune/costs/free.h"
#include "tune/shares.h"
#include "tune/tuner.h"

static yoke_status open_run(const fmm_tuner *t, yoke_objective objective, yoke_run **run)
{
    const fmm_tune_options *o = t->options;
    const yoke_run_options options = {.devices = "openmp",
                                      .objective = objective,
                                      .store = t->store,
                                      .declared = o->declared,
                                      .keep_frequencies = 1,
                                      .no_meters = objective == YOKE_OBJECTIVE_TIME};
    return yoke_run_create(t->context, &options, run);
}

/*
 * Writes the run's store, if it has one.  If it cannot be written, this gives a warning and the store is not used from now on; results are
 * correct without it.  This machine's store may have no path at all (ARGUMENT); the run has warned of this already.
 */
static yoke_status save(fmm_tuner *t, yoke_run *run)
{
    yoke_status status = t->store ? yoke_run_save(run, NULL) : YOKE_OK;
    if (status != YOKE_ERROR_ARGUMENT && status != YOKE_ERROR_SYSTEM) return status;
    if (status == YOKE_ERROR_SYSTEM)
        yoke_log(t->context, YOKE_LOG_WARNING, "costs of operations are not kept for later runs: %s", yoke_last_error(t->context));
    t->store = NULL;
    return YOKE_OK;
}

/* The orders that are measured now, for trees of an order and with waves of a set `finer` above it. */
static fmm_orders orders_for(int order, int finer)
{
    const int set = order + (finer > 0 ? finer : 0), most = order > FMM_LAST_WAVE_SET ? order : FMM_LAST_WAVE_SET;
    return fmm_orders_around(order) | fmm_orders_around(set < most ? set : most);
}

/* The precision in which the near field is measured. */
static fmm_precisions precision_of(const fmm_tuner *t) { return t->single ? FMM_IN_SINGLE : FMM_IN_DOUBLE; }

/* Measures missing costs, in a separate run that needs no powers. */
static yoke_status measure_machine(fmm_tuner *t, fmm_orders orders)
{
    const fmm_machine_options options = {.gradient = t->options->gradient,
                                         .measure = t->options->measure,
                                         .clock = fmm_tuner_clock(t),
                                         .progress = t->options->progress,
                                         .user = t->options->user};
    yoke_run *run = NULL;
    yoke_status status = open_run(t, YOKE_OBJECTIVE_TIME, &run);
    if (!status) status = fmm_machine_measure_missing(t->context, run, 0, &options, orders, precision_of(t), &t->machine);
    if (!status) status = save(t, run);
    yoke_run_destroy(run);
    return status;
}

/* Whether disturbed costs may be measured again now: after 0, 1, 2, 4, 8 ... runs that were learned from.  On a machine that is never
 * idle each trial costs some tenths of a second. */
static int may_mend(const fmm_machine *machine)
{
    int64_t runs = 0;
    for (int part = 0; part < FMM_TIMED_PARTS; part++)
        if (machine->factor[part].runs > runs) runs = machine->factor[part].runs;
    return machine->disturbed > 0 && (runs & (runs - 1)) == 0;
}

/* Measures again those costs in the store that were measured while other programs used the cores, if the cores are free now.  *measured:
 * nonzero: this was done. */
static yoke_status mend_machine(fmm_tuner *t, int *measured)
{
    const fmm_machine_options options = {.gradient = t->options->gradient, .progress = t->options->progress, .user = t->options->user};
    int are_free;
    yoke_run *run = NULL;
    yoke_status status = fmm_cores_are_free(t->context, &are_free);
    if (status || !are_free) return status;
    status = open_run(t, YOKE_OBJECTIVE_TIME, &run);
    if (!status) status = fmm_machine_measure_again(t->context, run, 0, &options, &t->machine);
    *measured = !status && !(t->machine.disturbed > 0);
    if (*measured) status = save(t, run);
    yoke_run_destroy(run);
    return status;
}

/* The objective of the run of the cores.  It needs powers of the cores only if there is no run of devices, which has its own. */
static yoke_objective objective_here(const fmm_tuner *t) { return t->host == FMM_HOST_NONE ? t->options->objective : YOKE_OBJECTIVE_TIME; }

/* Measures powers, if the objective needs them and the run does not know them. */
static yoke_status get_powers(fmm_tuner *t)
{
    const fmm_machine_options options = {.gradient = t->options->gradient, .progress = t->options->progress, .user = t->options->user};
    const yoke_run_device *devices;
    int64_t count;
    yoke_status status = yoke_run_devices(t->run, &devices, &count);
    if (status || objective_here(t) == YOKE_OBJECTIVE_TIME || !isnan(devices[0].idle_w + devices[0].dynamic_w)) return status;
    status = fmm_machine_measure_powers(t->context, t->run, &options);
    if (!status) status = yoke_run_devices(t->run, &devices, &count);
    if (!status && isnan(devices[0].idle_w + devices[0].dynamic_w))
        yoke_log(t->context, YOKE_LOG_WARNING,
                 "powers of the cores are not known: there is no meter, --declare states none, and no store has any; the fastest tree is "
                 "taken, which on the cores alone takes least energy, too");
    return status ? status : save(t, t->run);
}

/* Measures the idle power of this machine, if it is needed: the first plan that uses powers does this, and it is not part of a choice. */
static yoke_status rest(fmm_tuner *t)
{
    char name[FMM_WORK_BYTES];
    const int *sizes;
    const int64_t units = 1;
    const yoke_phase phase = {.work = name, .calls = 1, .units = units};
    const yoke_round round = {.num_cuts = 1, .num_phases = 1, .cut_units = &units, .phases = &phase};
    const yoke_assignment *assignment;
    if (objective_here(t) == YOKE_OBJECTIVE_TIME) return YOKE_OK;
    (void)fmm_measured_sizes(FMM_TREE, &sizes);
    const fmm_naming naming = fmm_naming_create(t->options->gradient, t->options->measure);
    fmm_work_name(&naming, FMM_TREE, sizes[0], name);
    return yoke_run_plan(t->run, &round, 1, &assignment);
}

/*
 * After costs were measured: opens the run again, which reads the store again.  The memory of the measurements is given back: most of it has
 * not been used for some time, and would take as long as new memory, but without being predicted (notes/fmm-depth.md).
 */
static yoke_status open_again(fmm_tuner *t)
{
    yoke_run_destroy(t->run);
    t->run = NULL;
    if (t->options->keeps_memory) fmm_pages_give_back();
    yoke_status status = open_run(t, objective_here(t), &t->run);
    return status || !t->store ? status : fmm_machine_get(t->run, 0, t->options->gradient, t->options->measure, &t->machine);
}

static void warn_disturbed(fmm_tuner *t)
{
    if (t->machine.disturbed > 0 && !t->warned)
        yoke_log(t->context, YOKE_LOG_WARNING,
                 "other programs had a core for up to %.0f %% of the time in which costs of operations were measured: the chosen tree may "
                 "not be the fastest%s",
                 100 * t->machine.disturbed, t->store ? "; a run while the cores are free measures these costs again" : "");
    t->warned |= t->machine.disturbed > 0;
}

/* Measures the missing costs of these orders.  *measured: nonzero: some were missing. */
static yoke_status measure_orders(fmm_tuner *t, fmm_orders orders, int *measured)
{
    if (!fmm_machine_missing(&t->machine, orders, precision_of(t))) return YOKE_OK;
    *measured = 1;
    yoke_status status = save(t, t->run); /* warns before the measurements if they cannot be kept */
    return status ? status : measure_machine(t, orders);
}

/* Resets the factors of both fields after costs were read: with devices, their run has the costs of the host and corrects them itself. */
static void leave_factors_out(fmm_tuner *t)
{
    if (t->host == FMM_HOST_CORES) t->machine.factor[FMM_PART_NEAR] = t->machine.factor[FMM_PART_FAR] = (fmm_factor){.value = 1};
}

/* Reads costs from the store, and measures those of these orders that are missing or were disturbed. */
static yoke_status get_costs(fmm_tuner *t, fmm_orders orders)
{
    const double begin_s = yoke_clock_s();
    int measured = 0;
    t->machine = (fmm_machine){0};
    yoke_status status = open_run(t, objective_here(t), &t->run);
    if (!status) status = fmm_machine_get(t->run, 0, t->options->gradient, t->options->measure, &t->machine);
    if (status == YOKE_ERROR_UNAVAILABLE && t->run) status = YOKE_OK;
    if (!status) status = measure_orders(t, orders, &measured);
    if (!status && !measured && may_mend(&t->machine)) status = mend_machine(t, &measured);
    t->measured_now |= measured;
    if (!status && measured) status = open_again(t);
    if (!status && measured) warn_disturbed(t);
    if (!status) status = get_powers(t);
    if (!status) status = rest(t);
    leave_factors_out(t);
    t->machine_s += yoke_clock_s() - begin_s;
    return status;
}

/* The same for other orders, later. */
static yoke_status get_more_costs(fmm_tuner *t, fmm_orders orders)
{
    const double begin_s = yoke_clock_s();
    int measured = 0;
    if (t->host == FMM_HOST_SIMULATED) return YOKE_OK;
    yoke_status status = measure_orders(t, orders, &measured);
    t->measured_now |= measured;
    if (!status && measured) status = open_again(t);
    if (!status && measured) warn_disturbed(t);
    leave_factors_out(t);
    t->machine_s += yoke_clock_s() - begin_s;
    return status;
}

yoke_status fmm_tuner_get_costs(fmm_tuner *t, int order, int finer)
{
    const fmm_host_kind before = t->host;
    const fmm_orders orders = orders_for(order, finer);
    yoke_status status = t->options->devices ? fmm_shares_host(t->options->devices, &t->host) : YOKE_OK;
    if (status) return status;
    if (t->run && t->host == before) return get_more_costs(t, orders);
    if (t->host == FMM_HOST_SIMULATED) {
        fmm_machine_count_work(&t->machine);
        return YOKE_OK;
    }
    yoke_run_destroy(t->run);
    t->run = NULL;
    return get_costs(t, orders);
}

/* Uses the run that read the costs, unless it has meters: it would measure powers although there is no work, so another run is opened. */
yoke_status fmm_tuner_save_factors(fmm_tuner *t)
{
    const int gradient = t->options->gradient, has_run = objective_here(t) == YOKE_OBJECTIVE_TIME;
    yoke_run *run = t->run;
    yoke_status status = has_run ? YOKE_OK : open_run(t, YOKE_OBJECTIVE_TIME, &run);
    if (!status && !has_run) status = fmm_machine_tell_works(run, gradient, FMM_MEASURE_SECONDS);
    if (!status) status = fmm_machine_put_factors(run, gradient, &t->machine);
    if (!status) status = save(t, run);
    if (!has_run) yoke_run_destroy(run);
    return status;
}
