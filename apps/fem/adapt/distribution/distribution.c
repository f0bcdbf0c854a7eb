#include "adapt/distribution/distribution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/distribution/private.h"
#include "adapt/distribution/trial.h"
#include "solver/multigrid/multigrid.h"

/*
 * Devices are tried alone again on meshes that are larger by this factor, up to this number of elements.  On larger meshes the solves
 * provide more information, and trials take too long.
 */
static const double much_larger = 3, largest = 5000;
/* Number of products of a trial; meshes larger than SMALL elements have fewer. */
enum { TRIAL_PRODUCTS = 8, SMALL = 500 };
/* profile_part: fraction of the time that a profile may take.  The budgets limit the time of all trials of a device. */
static const double profile_part = 0.01;
static const double real_budget_s = 2, simulated_budget_s = 1e6;

int fem_distribution_plans(const fem_distribution_options *o) { return o->objective != YOKE_OBJECTIVE_TIME || !isnan(o->power_cap_w); }

/* ----------------------------------------------------------------------------------------------------- creation */

static double or_none(double value) { return isnan(value) ? 0 : value; }

static int declared_powers(const fem_case_energy *energy, yoke_run_power *powers)
{
    int count = 0;
    for (; count < energy->devices.count && count < FEM_MAX_DEVICES; count++)
        powers[count] = (yoke_run_power){.device = energy->devices.items[count].name.value,
                                         .idle_w = energy->devices.items[count].idle_w.value,
                                         .busy_w = energy->devices.items[count].busy_w.value};
    return count;
}

/* Reports an error at its place in the case file. */
static yoke_status check_declared(const fem_case *input)
{
    const fem_case_energy *energy = &input->keys.energy;
    for (int i = 0; i < energy->devices.count; i++) {
        const fem_case_power *power = &energy->devices.items[i];
        if (power->busy_w.value < power->idle_w.value)
            return app_yaml_fail(input->yaml, power->busy_w.place,
                                 "busy_w of %s is less than its idle_w; busy_w is its whole power at work", power->name.value);
    }
    return YOKE_OK;
}

/* The meters of a machine measure all of its ranks together. */
static int share_meters(const fem_distribution *d) { return !d->options.simulated && app_ranks_here(d->options.ranks) > 1; }

static yoke_status fail_without_powers(const fem_distribution *d, const char *name)
{
    return yoke_fail(d->context, YOKE_ERROR_INPUT,
                     "%s needs the devices' powers, and they are not known: there is %s, no store with powers, and "
                     "the case declares none; declare them in the case: energy: {base_w: W, devices: [{name: %s, idle_w: W, busy_w: W}, "
                     "...]}; --declare "
                     "idle=W,busy=W serves where the cores alone work",
                     d->options.objective == YOKE_OBJECTIVE_TIME ? "a power cap" : "this objective",
                     share_meters(d) ? "no meter that tells this rank's devices from those of the other ranks on this machine"
                                     : "no usable meter (`yoke info` says why)",
                     name);
}

/* If the run finds its devices without the objective, it is the powers that are missing. */
static yoke_status explain_unavailable(const fem_distribution *d, const yoke_run_options *asked)
{
    char cause[1024];
    yoke_run *run = NULL;
    const yoke_run_device *list;
    int64_t count;
    yoke_run_options without = *asked;
    snprintf(cause, sizeof cause, "%s", yoke_last_error(d->context));
    without.objective = YOKE_OBJECTIVE_TIME;
    without.power_cap_w = 0;
    yoke_status status = yoke_run_create(d->context, &without, &run);
    if (status) return yoke_fail(d->context, status, "%s", cause);
    status = yoke_run_devices(run, &list, &count);
    if (!status) status = fail_without_powers(d, list[0].info->name);
    yoke_run_destroy(run);
    return status;
}

static yoke_status create_run(fem_distribution *d)
{
    yoke_run_power powers[FEM_MAX_DEVICES];
    const fem_distribution_options *o = &d->options;
    const fem_case_energy *energy = &o->input->keys.energy;
    const int num_powers = app_given(energy->place) ? declared_powers(energy, powers) : 0;
    const char **known = NULL;
    int64_t num_known = 0;
    yoke_status status = fem_distribution_find_known(d, &known, &num_known);
    const yoke_run_options options = {.devices = o->devices,
                                      .use = o->use,
                                      .objective = o->objective,
                                      .deadline_s = or_none(o->deadline_s),
                                      .max_slowdown = or_none(o->max_slowdown),
                                      .power_cap_w = or_none(o->power_cap_w) / app_ranks_count(o->ranks),
                                      .share = isnan(o->gpu_share) ? NULL : &o->gpu_share,
                                      .policy = o->policy,
                                      .rounds = o->rounds + 1,
                                      .store = o->store,
                                      .keep_frequencies = o->keep_frequencies,
                                      .declared = o->declared,
                                      .powers = powers,
                                      .num_powers = num_powers,
                                      .base_w = or_none(energy->base_w.value),
                                      .host_overhead_w = or_none(energy->host_overhead_w.value),
                                      .no_meters = !d->counts || (share_meters(d) && d->plans && !num_powers),
                                      .measure_first = !share_meters(d),
                                      .profile = o->profile ? profile_part : 0,
                                      .copies_apart = 1,
                                      .known = known,
                                      .num_known = num_known};
    if (!status) status = check_declared(o->input);
    if (!status) status = yoke_run_create(d->context, &options, &d->run);
    if (status == YOKE_ERROR_UNAVAILABLE && d->plans) status = explain_unavailable(d, &options);
    yoke_release(d->context, known);
    return status;
}

static yoke_status take_devices(fem_distribution *d)
{
    const yoke_run_device *list;
    yoke_device *devices[FEM_MAX_DEVICES];
    int64_t count;
    yoke_status status = yoke_run_devices(d->run, &list, &count);
    if (status) return status;
    d->simulated = 1;
    for (int64_t i = 0; i < count; i++) {
        devices[i] = list[i].device;
        d->names[i] = list[i].info->name;
        d->simulated = d->simulated && !strcmp(list[i].info->kind, "sim");
    }
    status = fem_devices_take(d->context, devices, (int)count, &d->devices);
    if (!status && d->options.profile) d->devices->profiled = d->run;
    if (status != YOKE_ERROR_DEVICE) return status;
    char why[1024]; /* the error is the same as for a device that could not be opened */
    snprintf(why, sizeof why, "%s", yoke_last_error(d->context));
    return yoke_fail(d->context, YOKE_ERROR_UNAVAILABLE, "%s", why);
}

yoke_status fem_distribution_create(yoke_context *context, const fem_distribution_options *options, fem_distribution **out)
{
    fem_distribution *d = NULL;
    yoke_status status = app_ranks_agree(options->ranks, yoke_allocate(context, 1, sizeof *d, &d));
    if (status) {
        yoke_release(context, d);
        return status;
    }
    d->context = context;
    d->options = *options;
    d->plans = fem_distribution_plans(options);
    d->counts = options->simulated || app_ranks_place_here(options->ranks) == 0;
    fem_forecast_start(&d->forecast, FEM_SOLVER_MULTIGRID, 0);
    status = app_ranks_agree(options->ranks, fem_distribution_start_ranks(d));
    if (!status) status = app_ranks_agree(options->ranks, fem_distribution_start_joint(d));
    if (!status) status = create_run(d);
    if (!status) status = take_devices(d);
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
    yoke_release(d->context, d->messages);
    yoke_release(d->context, d->all_parts);
    yoke_release(d->context, d->failure_messages);
    yoke_release(d->context, d->all_failures);
    yoke_release(d->context, d->rank_counts);
    yoke_release(d->context, d->share);
    yoke_release(d->context, d->profile_messages);
    yoke_release(d->context, d->profile_rows);
    yoke_release(d->context, d->profile_names);
    yoke_release(d->context, d->profile_ranks);
    app_joint_destroy(d->joint);
    fem_devices_close(d->devices);
    yoke_run_destroy(d->run);
    yoke_release(d->context, d);
}

fem_forecast *fem_distribution_forecast(fem_distribution *d) { return &d->forecast; }

int fem_distribution_has_gpu(const fem_distribution *d)
{
    for (int i = 0; i < d->devices->count; i++)
        if (!d->devices->list[i].host_functions) return 1;
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- trials */

static int count_active(const fem_distribution *d, const yoke_run_device **list)
{
    int64_t count = 0;
    int active = 0;
    if (yoke_run_devices(d->run, list, &count)) return 0;
    for (int64_t i = 0; i < count; i++) active += (*list)[i].active;
    return active;
}

static yoke_status name_works(fem_distribution *d, const fem_space *space)
{
    if (d->works.fine[0]) return YOKE_OK;
    fem_works_name(space, d->options.operator_kind, &d->works);
    return fem_works_tell(&d->works, d->context, d->run);
}

/*
 * Returns nonzero if the store, or an earlier calibration, provides times and powers of all devices for this many elements, at each of
 * their frequencies.
 */
static int is_known(const fem_distribution *d, const char *work, int64_t elements)
{
    const yoke_run_device *list;
    yoke_prediction call;
    if (!count_active(d, &list)) return 0;
    for (int i = 0; i < d->devices->count; i++) {
        const int64_t levels = list[i].num_frequencies > 0 ? list[i].num_frequencies : 1;
        for (int64_t l = 0; l < levels && list[i].active; l++) {
            const double hz = list[i].num_frequencies > 0 ? list[i].frequencies_hz[l] : (double)NAN;
            if (yoke_run_predict(d->run, work, i, (double)elements, hz, 0, &call) || !call.inside || isnan(call.joules)) return 0;
        }
    }
    return 1;
}

static yoke_status try_work(fem_distribution *d, const char *work, const fem_space *space, const fem_constraints *constraints,
                            fem_precision precision)
{
    fem_trial *trial = NULL;
    int64_t most = space->num_elements, products = (int64_t)TRIAL_PRODUCTS * SMALL / most;
    yoke_status status = fem_trial_create(space, constraints, d->devices,
                                          precision == FEM_DOUBLE ? d->options.operator_kind : FEM_MATRIXFREE, precision, &trial);
    if (status) return status;
    const yoke_run_calibration calibration = {.work = work,
                                              .min_units = most > 4 ? most / 4 : 1,
                                              .max_units = most,
                                              .sizes = 2,
                                              .brief = 1,
                                              .calls = products < 1                ? 1
                                                       : products > TRIAL_PRODUCTS ? TRIAL_PRODUCTS
                                                                                   : products,
                                              .budget_s = d->simulated ? simulated_budget_s : real_budget_s,
                                              .trial = fem_trial_run,
                                              .user = trial};
    status = yoke_run_calibrate(d->run, &calibration, NULL);
    fem_trial_destroy(trial);
    return status;
}

/* Tries devices on the multigrid's coarser levels, for which the first one stands. */
static yoke_status try_coarse(fem_distribution *d, const fem_space *space)
{
    fem_element element = strncmp(d->works.coarse, "q1", 2) ? space->element : FEM_Q1;
    fem_space *coarse = NULL;
    fem_boundary *boundary = NULL;
    fem_constraints *constraints = NULL;
    yoke_status status = fem_space_create(space->problem, space->forest, element, &coarse);
    if (!status) status = fem_boundary_create(coarse, &boundary);
    if (!status) status = fem_constraints_create(coarse, boundary, &constraints);
    if (!status) status = try_work(d, d->works.coarse, coarse, constraints, FEM_SINGLE);
    fem_constraints_destroy(constraints);
    fem_boundary_destroy(boundary);
    fem_space_destroy(coarse);
    return status;
}

/* Tries devices alone if powers are needed, or if it costs nothing: a simulated machine loses no time. */
static yoke_status try_alone(fem_distribution *d, const fem_space *space, const fem_constraints *constraints)
{
    const yoke_run_device *list;
    const int active = count_active(d, &list);
    int metered = 1;
    for (int i = 0; i < d->devices->count; i++) metered = metered && (!list[i].active || list[i].meters[0]);
    const int wanted = d->plans || (d->simulated && metered && active > 1 && isnan(d->options.gpu_share));
    const double elements = (double)space->num_elements;
    yoke_status status = YOKE_OK;
    if (d->tried > 0 && d->tried_coarse > 0 && elements > largest) return YOKE_OK;
    if (wanted && elements >= much_larger * d->tried) {
        if (!is_known(d, d->works.fine, space->num_elements)) status = try_work(d, d->works.fine, space, constraints, FEM_DOUBLE);
        d->tried = elements;
        d->fine_known = ~UINT64_C(0);
    }
    if (!status && wanted && d->products.num_levels > 1 && elements >= much_larger * d->tried_coarse) {
        if (!is_known(d, d->works.coarse, space->num_elements)) status = try_coarse(d, space);
        d->tried_coarse = elements;
        d->coarse_known = ~UINT64_C(0);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- plan */

/*
 * Makes the rounds: all devices together, with the small levels on `keeper`, and each device alone that may be better.  Returns their
 * number.
 */
static int make_rounds(fem_distribution *d, int keeper)
{
    const yoke_run_device *list;
    const int active = count_active(d, &list), devices = d->devices->count, levels = d->products.num_levels;
    const int choice = isnan(d->options.gpu_share) && d->options.use != YOKE_RUN_BOTH && d->options.policy == YOKE_BALANCE_ADAPTIVE;
    int count = 1;
    d->elements = d->products.levels[0].elements;
    fem_round_phases(&d->products, &d->works, FEM_SHARED_ELEMENTS * (int64_t)active, active > 1 ? keeper : -1, d->shared);
    fem_round_phases(&d->products, &d->works, 0, -1, d->whole);
    /* nonzero: an accelerator runs on cores of the hosts; it and the hosts slow each other down, and nobody needs to know by how much */
    int on_hosts = 0;
    for (int i = 0; i < devices && active > 0; i++) on_hosts |= list[i].active && list[i].shares_cores;
    /* The first step measures the devices while all of them work, because no trial measures their exchange. */
    const int teaches = choice && active > 1 && !on_hosts && !d->steps && d->tried > 0 && !d->options.store && !d->options.saved &&
                        isnan(d->options.power_cap_w);
    const int64_t even = teaches ? (d->elements + active - 1) / active : INT64_MAX;
    for (int i = 0; i < devices; i++) {
        const int64_t most = d->devices->list[i].most_elements;
        d->limits[0][i] = !list[i].active ? 0 : most < even ? most : even;
    }
    d->rounds[0] = (yoke_round){.num_cuts = 1,
                                .cut_units = &d->elements,
                                .num_phases = d->options.policy == YOKE_BALANCE_PAPER ? 1 : levels,
                                .phases = d->shared,
                                .max_units = d->limits[0]};
    if (d->given) { /* the plan of all ranks has decided; a rank may have no elements */
        d->elements = d->shared[0].units = d->empty ? 0 : d->elements;
        d->rounds[0].given_units = d->given_units;
        d->rounds[0].given_hz = d->given_hz;
    }
    for (int i = 0; i < devices && active > 1 && choice && d->steps && !d->given; i++) {
        const uint64_t known = d->fine_known & (levels > 1 ? d->coarse_known : ~UINT64_C(0));
        if (d->limits[0][i] < d->elements || !(known >> i & 1)) continue;
        memset(d->limits[count], 0, sizeof d->limits[count]);
        d->limits[count][i] = d->elements;
        d->rounds[count] = d->rounds[0];
        d->rounds[count].phases = d->whole;
        d->rounds[count].max_units = d->limits[count];
        count++;
    }
    return count;
}

int fem_distribution_working(const fem_distribution *d)
{
    int count = 0;
    for (int i = 0; i < d->devices->count; i++) count += d->units[i] > 0;
    return count;
}

/* Levels that one device has alone are planned for that device.  If the plan gives them to another one, it is made once more. */
static yoke_status plan_rounds(fem_distribution *d)
{
    const yoke_run_device *list;
    yoke_status status = YOKE_OK;
    if (!fem_distribution_working(d)) /* nothing is known so far */
        for (int i = 0, active = count_active(d, &list); i < d->devices->count; i++) d->units[i] = active && list[i].active;
    int keeper = fem_round_keeper(d->devices, d->units);
    for (int attempt = 0; attempt < 2 && !status; attempt++) {
        if (keeper >= 0 && count_active(d, &list) && !list[keeper].active)
            for (int i = d->devices->count - 1; i >= 0; i--)
                if (list[i].active) keeper = i;
        status = yoke_run_plan(d->run, d->rounds, make_rounds(d, keeper), &d->assignment);
        for (int i = 0; i < d->devices->count && !status; i++) d->units[i] = d->assignment->first[0][i + 1] - d->assignment->first[0][i];
        const int wanted = fem_round_keeper(d->devices, d->units);
        if (status || d->assignment->round > 0 || fem_distribution_working(d) < 2 || wanted == keeper) break;
        keeper = wanted;
    }
    d->cut[0] = 0;
    for (int i = 0; i < d->devices->count; i++) {
        if (d->empty) d->units[i] = 0;
        d->cut[i + 1] = d->cut[i] + (int32_t)d->units[i];
    }
    return status;
}

/* Checks for limits that cannot be met, and for powers that are not known. */
static yoke_status check_plan(const fem_distribution *d)
{
    const yoke_assignment *a = d->assignment;
    if (d->plans && !a->powers[0] && !a->metered) return fail_without_powers(d, d->names[0]);
    if (a->feasible) return YOKE_OK;
    if (!strcmp(a->binding, "power-cap") && d->any_plans) /* all ranks keep the cap together, and this step was planned otherwise */
        return YOKE_OK;
    if (!strcmp(a->binding, "power-cap"))
        return yoke_fail(d->context, YOKE_ERROR_INPUT,
                         "--power-cap %g: no choice of devices and frequencies keeps it; the least that can be kept is %.4g W",
                         d->options.power_cap_w / app_ranks_count(d->options.ranks), a->nearest);
    if (!strcmp(a->binding, "deadline") && !isnan(d->options.deadline_s))
        yoke_log(d->context, YOKE_LOG_WARNING,
                 "the deadline of %.4g s cannot be met for the next step, which takes %.4g s at least; it is solved as fast as possible",
                 d->options.deadline_s, a->nearest);
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------------------- solve */

static yoke_status begin(void *user)
{
    fem_distribution *d = user;
    d->begin_s = yoke_device_clock_s(d->devices->list[0].device);
    yoke_status status = yoke_run_begin(d->run);
    d->begun = !status;
    return status;
}

static yoke_status end(void *user, const fem_solution *solution)
{
    fem_distribution *d = user;
    d->other = fem_round_report(&d->products, solution, d->solver, d->seconds, d->calls);
    for (int i = 0; i < d->devices->count; i++) {
        d->moved_s[i] = solution->shares[i].setup_moved_s;
        d->moved[i] = isnan(d->moved_s[i]) ? 0 : solution->shares[i].elements;
        if (solution->shares[i].elements) d->fine_known |= UINT64_C(1) << i;
        for (int p = 1; p < d->products.num_levels; p++)
            if (!isnan(d->seconds[p * d->devices->count + i])) d->coarse_known |= UINT64_C(1) << i;
    }
    const yoke_run_report report = {.seconds = d->seconds,
                                    .calls = d->calls,
                                    .moved_s = d->moved_s,
                                    .moved_units = d->moved,
                                    .waited = app_ranks_count(d->options.ranks) > 1};
    d->begun = 0;
    d->steps++;
    yoke_status status = fem_distribution_wait(d);
    return status ? status : yoke_run_end(d->run, &report, NULL);
}

/* Reports failed devices to the run, and plans again without them. */
static yoke_status restart(void *user, int32_t *cut)
{
    fem_distribution *d = user;
    const yoke_run_device *list;
    yoke_status status = YOKE_OK;
    if (!count_active(d, &list)) return YOKE_OK;
    for (int i = 0; i < d->devices->count && !status; i++) {
        if (!d->devices->list[i].failed || !list[i].active) continue;
        status = yoke_run_fail(d->run, i, d->devices->list[i].why);
        d->begun = 0;
        if (!status && !count_active(d, &list)) break;
    }
    if (!status && d->begun) status = yoke_run_end(d->run, NULL, NULL); /* no device failed, but the memory of one was too small */
    d->begun = d->given = 0;
    if (!status) status = plan_rounds(d);
    if (!status) memcpy(cut, d->cut, (size_t)(d->devices->count + 1) * sizeof *cut);
    return status;
}

yoke_status fem_distribution_learn(fem_distribution *d, const fem_space *space, const fem_constraints *constraints)
{
    d->empty = space->num_elements == 0;
    yoke_status status = name_works(d, space);
    if (!status) status = fem_forecast_products(&d->forecast, space, &d->products);
    return status || d->empty ? status : try_alone(d, space, constraints);
}

yoke_status fem_distribution_plan(fem_distribution *d, const fem_space *space, const fem_constraints *constraints,
                                  fem_solve_options *options)
{
    d->solver = options->solver;
    const int factored = fem_forecast_is_factored(&d->forecast, space, options->solver);
    if (options->solver != d->forecast.solver || factored != d->forecast.factored)
        fem_forecast_start(&d->forecast, options->solver, factored);
    d->predicted = d->forecast.num_steps > 0;
    d->given = 0;
    yoke_status status = d->begun ? yoke_run_end(d->run, NULL, NULL) : YOKE_OK; /* the round belongs to a solve that failed */
    d->begun = 0;
    if (!status) status = fem_distribution_learn(d, space, constraints);
    if (d->joint) status = app_ranks_agree(d->options.ranks, status);
    if (!status && d->joint) status = fem_distribution_take_choice(d, space->num_elements);
    if (!status) status = plan_rounds(d);
    if (!status) status = check_plan(d);
    if (!status) status = fem_distribution_explain(d);
    if (!status && d->options.model && !d->joint) {
        status = yoke_run_write_model(d->run, NULL, d->options.model);
        if (status == YOKE_ERROR_UNAVAILABLE) status = YOKE_OK; /* nothing is known so far */
    }
    if (status) return status;
    const yoke_run_device *list;
    const int active = count_active(d, &list), devices = fem_distribution_working(d);
    d->hooks = (fem_solve_round){.restart = restart, .begin = begin, .end = end, .user = d};
    options->devices = d->devices;
    options->cut = d->cut;
    options->exchange = d->options.exchange;
    options->shared_elements = devices > 1 ? (FEM_SHARED_ELEMENTS * (int64_t)active + devices - 1) / devices : 0;
    options->round = &d->hooks;
    return YOKE_OK;
}
