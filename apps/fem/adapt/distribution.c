#include "adapt/distribution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/distribution_devices.h"
#include "adapt/learned.h"

/* Powers are measured and contention is looked for in so many of the first steps, whose meshes are small. */
enum { TRIAL_STEPS = 3, TRIAL_PRODUCTS = 64 };
static const double most_contention = 3;

struct fem_distribution {
    yoke_context *context;
    fem_distribution_options options;
    int planned; /* nonzero: shares and clocks follow from plans; zero: from the balancer */
    fem_devices *devices;
    int64_t most[FEM_MOST_DEVICES]; /* elements that each may get */
    fem_learned *learned;           /* NULL: no store */
    yoke_balancer *balancer;
    yoke_meters *meter; /* of the devices that work; borrowed; or NULL */
    int simulated;      /* nonzero: all devices are */
    fem_device_clocks *clocks;
    fem_powers powers;
    fem_prediction prediction;
    yoke_share_report reports[FEM_MOST_DEVICES]; /* of the latest step */
    fem_solution solution;                       /* of the latest step: its numbers, no arrays */
    int steps;                                   /* that were reported */
    int64_t units[FEM_MOST_DEVICES];             /* of the present step */
    int levels[FEM_MOST_DEVICES];                /* of clocks, likewise */
    int32_t cut[FEM_MOST_DEVICES + 1];
    double predicted_s[FEM_MOST_DEVICES]; /* per product */
    fem_work work;                        /* predicted; all zero before the second step */
    fem_cost cost;
    double alone_s[FEM_MOST_DEVICES]; /* per product of the present step's elements by each device without the others; NaN: not tried */
    int known_failed[FEM_MOST_DEVICES];
    /* what the record borrows */
    int num_parts, num_failures;
    fem_part_record parts[FEM_MOST_DEVICES];
    fem_failure_record failures[FEM_MOST_DEVICES];
    const char *names[FEM_MOST_DEVICES];
    fem_choice choice;
    fem_weighed_record weighed[FEM_MOST_ALTERNATIVES];
    char *decision;
};

/* ----------------------------------------------------------------------------------------------------- creation */

static yoke_status make_balancer(fem_distribution *d)
{
    double shares[FEM_MOST_DEVICES];
    int fixed = !isnan(d->options.gpu_share);
    yoke_status status = fem_distribution_select(d->devices, &d->options, d->most);
    if (status) return status;
    if (fixed) fem_distribution_fixed(d->devices, d->options.gpu_share, shares);
    yoke_balancer_options options = {.devices = d->devices->count,
                                     .policy = fixed ? YOKE_BALANCE_FIXED : d->options.policy,
                                     .keep_all = d->options.use == FEM_USE_BOTH,
                                     .shares = fixed ? shares : NULL,
                                     .max_units = d->most,
                                     .rounds = d->options.rounds + 1};
    return yoke_balancer_create(d->context, &options, &d->balancer);
}

static int all_simulated(const fem_devices *devices)
{
    for (int i = 0; i < devices->count; i++)
        if (strcmp(devices->list[i].info->kind, "sim") != 0) return 0;
    return 1;
}

static yoke_status open_store(fem_distribution *d)
{
    return fem_learned_open(d->context, d->options.store, NULL, d->options.work, d->devices, &d->learned);
}

yoke_status fem_distribution_create(yoke_context *context, const fem_distribution_options *options, fem_distribution **out)
{
    fem_distribution *d;
    yoke_status status = yoke_allocate(context, 1, sizeof *d, &d);
    if (status) return status;
    d->context = context;
    d->options = *options;
    d->planned = fem_plan_wanted(&options->plan);
    status = fem_distribution_open(context, options, &d->devices);
    if (!status) d->simulated = all_simulated(d->devices);
    if (!status && options->store) status = open_store(d);
    if (!status) status = make_balancer(d);
    if (!status) {
        fem_powers_clear(&d->powers, d->devices->count);
        fem_prediction_start(&d->prediction, d->devices, d->balancer, &d->powers);
        for (int i = 0; i < d->devices->count; i++) d->names[i] = d->devices->list[i].info->name;
        *out = d;
    } else {
        fem_distribution_destroy(d);
    }
    return status;
}

void fem_distribution_destroy(fem_distribution *d)
{
    if (!d) return;
    fem_device_clocks_close(d->clocks);
    yoke_release(d->context, d->decision);
    yoke_balancer_destroy(d->balancer);
    fem_learned_close(d->learned);
    fem_devices_close(d->devices);
    yoke_release(d->context, d);
}

int fem_distribution_has_gpu(const fem_distribution *d)
{
    for (int i = 0; i < d->devices->count; i++)
        if (fem_is_gpu(&d->devices->list[i])) return 1;
    return 0;
}

int fem_distribution_devices(const fem_distribution *d) { return d->devices->count; }

/* ------------------------------------------------------------------------------------------------------- powers */

/* Powers that need not be measured: those of the store, else those that are declared. */
static yoke_status known_powers(fem_distribution *d)
{
    const fem_case_energy *declared = &d->options.input->keys.energy;
    if (d->learned) fem_learned_powers(d->learned, &d->powers);
    if (d->powers.source != FEM_POWERS_UNKNOWN) {
        d->powers.base_w = declared->base_w.value;
        d->powers.hosting_w = declared->hosting_w.value;
        return YOKE_OK;
    }
    return app_given(declared->place) ? fem_powers_declare(d->options.input, d->devices, &d->powers) : YOKE_OK;
}

static yoke_status nothing_tells_powers(const fem_distribution *d)
{
    if (d->powers.why_not[0])
        return yoke_fail(d->context, YOKE_ERROR_UNAVAILABLE,
                         "the devices' powers could not be measured: %s; declare them in the case (energy)", d->powers.why_not);
    const char *what = d->options.plan.objective == YOKE_OBJECTIVE_TIME ? "a power cap" : "this objective";
    return yoke_fail(
        d->context, YOKE_ERROR_INPUT,
        "%s needs the devices' powers, and nothing tells them: there is no usable meter of them (`yoke info` says why), no store that "
        "has them, and the case declares none; declare them in the case: energy: {base_w: W, devices: [{name: %s, idle_w: W, "
        "busy_w: W}, ...]}",
        what, d->devices->list[0].info->name);
}

yoke_status fem_distribution_meter(fem_distribution *d, yoke_meters *meter, int simulated)
{
    d->meter = meter && simulated == d->simulated ? meter : NULL;
    yoke_status status = known_powers(d);
    if (!status && d->planned && !d->meter && d->powers.source == FEM_POWERS_UNKNOWN) status = nothing_tells_powers(d);
    if (!status && d->planned && d->options.plan.set_clocks) status = fem_device_clocks_open(d->context, d->devices, &d->clocks);
    return status;
}

/* Before the first step: what meters tell counts more than a store or a declaration. */
static yoke_status measure_powers(fem_distribution *d, const fem_space *space, const fem_constraints *constraints)
{
    const fem_powers_site site = {d->context, d->devices, d->clocks, d->meter, d->simulated};
    fem_powers measured;
    yoke_status status = fem_powers_measure(&site, space, constraints, d->options.operator_kind, &measured);
    if (status) return status;
    if (measured.source != FEM_POWERS_UNKNOWN)
        d->powers = measured;
    else
        memcpy(d->powers.why_not, measured.why_not, sizeof d->powers.why_not);
    return d->planned && d->powers.source == FEM_POWERS_UNKNOWN ? nothing_tells_powers(d) : YOKE_OK;
}

/* Nonzero: before the first steps devices may be tried; a simulated machine loses no time by it. */
static int may_try(const fem_distribution *d) { return d->planned || (d->simulated && d->meter); }

static yoke_status try_one(fem_distribution *d, const fem_space *space, const fem_constraints *constraints, int device, int64_t elements,
                           double *seconds)
{
    fem_trial trial;
    fem_trial_options options = {.devices = d->devices,
                                 .device = device,
                                 .elements = (int32_t)elements,
                                 .operator_kind = d->options.operator_kind,
                                 .least = TRIAL_PRODUCTS,
                                 .most = TRIAL_PRODUCTS};
    *seconds = NAN;
    if (!elements || d->devices->list[device].failed || !d->most[device]) return YOKE_OK;
    yoke_status status = fem_trial_run(space, constraints, &options, &trial, NULL);
    if (status == YOKE_ERROR_DEVICE || status == YOKE_ERROR_DEVICE_MEMORY)
        return YOKE_OK; /* the solve will meet it, and go on without it */
    if (status) return status;
    *seconds = trial.seconds_per_product;
    fem_prediction_copy(&d->prediction, device, (double)elements, trial.moved_s);
    fem_prediction_alone(&d->prediction, device, (double)elements, *seconds / d->powers.device[device].slowness[d->levels[device]]);
    return YOKE_OK;
}

/* The whole mesh, and the products of this step, by each device without the others: what it could do, and how much these disturb it. */
static yoke_status try_alone(fem_distribution *d, const fem_space *space, const fem_constraints *constraints)
{
    yoke_status status = YOKE_OK;
    double whole_s;
    int working = 0;
    for (int i = 0; i < d->devices->count; i++) {
        d->alone_s[i] = NAN;
        working += d->units[i] > 0;
    }
    if (!may_try(d) || d->steps >= TRIAL_STEPS || d->devices->count < 2) return YOKE_OK;
    for (int i = 0; i < d->devices->count && !status; i++) {
        status = try_one(d, space, constraints, i, space->num_elements, &whole_s);
        if (!status && working > 1) status = try_one(d, space, constraints, i, d->units[i], &d->alone_s[i]);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- plan */

/* Tells the balancer which devices have failed, or what fits on them, since it was asked last. */
static yoke_status update_limits(fem_distribution *d)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < d->devices->count && !status; i++) {
        const fem_device *device = &d->devices->list[i];
        if (device->failed)
            status = yoke_balancer_limit(d->balancer, i, d->most[i] = 0);
        else if (device->most_elements < INT64_MAX && d->most[i])
            status = yoke_balancer_limit(d->balancer, i, d->most[i] = device->most_elements);
    }
    return status;
}

/* The balancer's units, after it was told what the latest step, or earlier runs, measured. */
static yoke_status balance(fem_distribution *d, int64_t elements)
{
    int rounds = 0;
    if (d->steps) {
        yoke_status status = yoke_balancer_update(d->balancer, d->reports, elements, d->units);
        return status ? status : fem_prediction_learn(&d->prediction, &d->solution, d->levels);
    }
    if (d->learned) {
        yoke_status status = fem_learned_show(d->learned, d->balancer, elements, d->units, &rounds);
        if (status) return status;
    }
    return rounds ? YOKE_OK : yoke_balancer_update(d->balancer, NULL, elements, d->units);
}

/* Least time: a device that is faster without partners than all together gets all, which the balancer, who only sees them together, cannot know. */
static yoke_status leave_alone(fem_distribution *d)
{
    const double clearly = 0.98;
    int64_t units[FEM_MOST_DEVICES], best[FEM_MOST_DEVICES];
    fem_cost cost;
    yoke_status status = fem_prediction_cost(&d->prediction, &d->work, d->units, NULL, &cost);
    double min_s = clearly * cost.time_s;
    memcpy(best, d->units, sizeof best);
    for (int i = 0; i < d->devices->count && !status; i++) {
        if (d->prediction.alone[i].count < 2 || d->most[i] < d->work.elements || d->options.use == FEM_USE_BOTH) continue;
        memset(units, 0, sizeof units);
        units[i] = d->work.elements;
        status = fem_prediction_cost(&d->prediction, &d->work, units, NULL, &cost);
        if (status || !(cost.time_s < min_s)) continue;
        min_s = cost.time_s;
        memcpy(best, units, sizeof best);
    }
    memcpy(d->units, best, sizeof best);
    return status;
}

/* Shares and clocks by a plan, where there is one to make. */
static yoke_status plan(fem_distribution *d)
{
    const fem_plan_site site = {.context = d->context,
                                .devices = d->devices,
                                .prediction = &d->prediction,
                                .options = &d->options.plan,
                                .most = d->most,
                                .balanced = d->units,
                                .both = d->options.use == FEM_USE_BOTH};
    int fixed = !isnan(d->options.gpu_share);
    for (int i = 0; i < d->devices->count; i++) d->levels[i] = d->powers.device[i].num_levels - 1;
    d->choice = (fem_choice){.decision = NULL};
    if (fixed || !d->prediction.num_steps) return YOKE_OK;
    if (!d->planned) return leave_alone(d);
    yoke_status status = fem_plan_choose(&site, &d->work, &d->choice);
    if (!status) {
        memcpy(d->units, d->choice.units, sizeof d->units);
        memcpy(d->levels, d->choice.levels, sizeof d->levels);
        d->decision = d->choice.decision;
    } else {
        yoke_release(d->context, d->choice.decision);
        d->choice.decision = NULL;
    }
    return status;
}

static yoke_status set_clocks(const fem_distribution *d)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; d->clocks && i < d->devices->count && !status; i++)
        if (d->powers.device[i].num_levels > 1) status = fem_device_clocks_set(d->clocks, i, d->levels[i]);
    return status;
}

static yoke_status predict(fem_distribution *d)
{
    yoke_status status = fem_prediction_seconds(&d->prediction, d->units, d->predicted_s);
    for (int i = 0; i < d->devices->count; i++) d->predicted_s[i] *= d->powers.device[i].slowness[d->levels[i]];
    d->cost = (fem_cost){.product_s = NAN, .product_j = NAN, .time_s = NAN, .energy_j = NAN};
    return status || !d->prediction.num_steps ? status : fem_prediction_cost(&d->prediction, &d->work, d->units, d->levels, &d->cost);
}

yoke_status fem_distribution_plan(fem_distribution *d, const fem_space *space, const fem_constraints *constraints,
                                  fem_solve_options *options)
{
    yoke_status status = update_limits(d);
    if (!status && may_try(d) && d->meter && !d->steps) status = measure_powers(d, space, constraints);
    if (!status) status = balance(d, space->num_elements);
    yoke_release(d->context, d->decision);
    d->decision = NULL;
    if (options->solver != d->prediction.solver) fem_prediction_change(&d->prediction, options->solver);
    if (!status && d->prediction.num_steps) status = fem_prediction_work(&d->prediction, space, &d->work);
    if (!status) status = plan(d);
    if (!status && d->devices->count > 1 && !d->decision) status = yoke_balancer_explain(d->balancer, &d->decision);
    if (!status) status = set_clocks(d);
    if (!status) status = try_alone(d, space, constraints);
    if (!status) status = predict(d);
    if (status) return status;
    for (int i = 0; i < d->devices->count; i++) d->cut[i + 1] = d->cut[i] + (int32_t)d->units[i];
    options->devices = d->devices;
    options->cut = d->cut;
    options->exchange = d->options.exchange;
    return YOKE_OK;
}

/* -------------------------------------------------------------------------------------------------------- report */

static double longest(int count, const double *seconds)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = seconds[i] > most || isnan(seconds[i]) ? seconds[i] : most;
    return most > 0 ? most : (double)NAN;
}

static double frequency(const fem_distribution *d, int i) { return d->clocks ? d->powers.device[i].hz[d->levels[i]] : (double)NAN; }

/* The balancer's seconds are those at the highest clocks and beside the others: what it is told is made so. */
static double for_balancer(const fem_distribution *d, int i, double seconds, int working)
{
    seconds /= d->powers.device[i].slowness[d->levels[i]];
    return working < 2 ? seconds * d->prediction.contention[i] : seconds;
}

/* A step that one device had alone. */
static void learn_alone(fem_distribution *d, const fem_solution *solution)
{
    for (int i = 0; i < d->devices->count; i++)
        fem_prediction_alone(&d->prediction, i, solution->shares[i].elements,
                             solution->shares[i].seconds_per_product / d->powers.device[i].slowness[d->levels[i]]);
}

static void report_part(fem_distribution *d, int i, const fem_solution *solution, int working)
{
    const fem_solve_share *share = &solution->shares[i];
    const fem_device *device = &d->devices->list[i];
    double seconds = share->elements && !device->failed ? share->seconds_per_product : (double)NAN;
    d->reports[i] = (yoke_share_report){.units = share->elements,
                                        .seconds = for_balancer(d, i, seconds, working),
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
                                                 .setup_moved_s = share->setup_moved_s,
                                                 .frequency_hz = frequency(d, i)};
}

static yoke_status keep(fem_distribution *d, const fem_solution *solution, int working)
{
    if (!d->learned) return YOKE_OK;
    for (int i = 0; i < d->devices->count; i++) {
        const fem_solve_share *share = &solution->shares[i];
        if (share->elements && !d->devices->list[i].failed)
            fem_learned_add(d->learned, i, share->elements, share->seconds_per_product, frequency(d, i), solution->operator_applications,
                            working > 1);
    }
    fem_learned_set_powers(d->learned, &d->powers);
    return fem_learned_write(d->learned);
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

/* How much slower a device is beside the others than alone with the same elements: the mean of the first steps. */
static void learn_contention(fem_distribution *d, const fem_solution *solution)
{
    for (int i = 0; i < d->devices->count; i++) {
        double ratio = solution->shares[i].seconds_per_product / d->alone_s[i];
        if (!isfinite(ratio) || solution->restarts) continue;
        double now = fmin(fmax(ratio, 1), most_contention), *seen = &d->prediction.contention[i];
        *seen = d->steps ? 0.5 * (*seen + now) : now;
    }
}

static void record_weighed(fem_distribution *d, fem_step_record *record)
{
    record->num_devices = d->devices->count;
    record->device_names = d->names;
    record->num_weighed = d->choice.num_alternatives;
    record->weighed = d->weighed;
    for (int k = 0; k < d->choice.num_alternatives; k++) {
        const fem_alternative *a = &d->choice.alternatives[k];
        d->weighed[k] =
            (fem_weighed_record){.name = a->name, .note = a->note, .elements = a->units, .time_s = a->time_s, .energy_j = a->energy_j};
    }
}

/* Predictions beside what was measured; with the products that it turned out to be as well, by models that have not seen this step. */
static yoke_status record_costs(fem_distribution *d, const fem_solution *solution, double product_s, fem_step_record *record)
{
    fem_cost with_l = {.time_s = NAN, .energy_j = NAN};
    fem_work actual;
    fem_prediction_actual(solution, &actual);
    yoke_status status = YOKE_OK;
    record->objective = fem_objective_text(d->options.plan.objective);
    record->powers = d->powers.source == FEM_POWERS_UNKNOWN ? NULL : fem_powers_source_text(d->powers.source);
    record->measured_time_s = solution->solve_s;
    record->measured_product_s = product_s;
    record->measured_product_j = solution->energy.value_j / (double)solution->operator_applications;
    if (solution->restarts || solution->solver != d->prediction.solver) return YOKE_OK; /* not what was predicted */
    record->predicted_product_s = longest(d->devices->count, d->predicted_s);
    if (!d->prediction.num_steps) return YOKE_OK;
    status = fem_prediction_cost(&d->prediction, &actual, d->units, d->levels, &with_l);
    record->predicted_time_s = d->cost.time_s;
    record->predicted_energy_j = d->cost.energy_j;
    record->predicted_product_j = d->cost.product_j;
    record->predicted_applications = d->work.all_products;
    record->time_with_l_s = with_l.time_s;
    record->energy_with_l_j = with_l.energy_j;
    return status;
}

yoke_status fem_distribution_report(fem_distribution *d, const fem_solution *solution, fem_step_record *record)
{
    int64_t elements = 0, on_gpu = 0;
    double measured[FEM_MOST_DEVICES];
    int working = 0;
    for (int i = 0; i < d->devices->count; i++) working += solution->shares[i].elements > 0;
    learn_contention(d, solution);
    d->num_parts = 0;
    for (int i = 0; i < d->devices->count; i++) {
        report_part(d, i, solution, working);
        measured[i] = solution->shares[i].elements ? solution->shares[i].seconds_per_product : 0;
        elements += solution->shares[i].elements;
        on_gpu += fem_is_gpu(&d->devices->list[i]) ? solution->shares[i].elements : 0;
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
    record_weighed(d, record);
    yoke_status status = record_costs(d, solution, longest(d->devices->count, measured), record);
    if (working == 1 && !solution->restarts) learn_alone(d, solution);
    d->solution = *solution;
    d->solution.u = d->solution.load = d->solution.residual = NULL;
    d->solution.energies = NULL;
    d->steps++;
    return status ? status : keep(d, solution, working);
}

void fem_distribution_parts(const fem_distribution *d, int64_t elements, int32_t *part)
{
    int number = 0;
    for (int i = 0; i < d->devices->count; i++) {
        for (int64_t e = d->cut[i]; e < d->cut[i + 1] && e < elements; e++) part[e] = number;
        number += d->cut[i + 1] > d->cut[i];
    }
}
