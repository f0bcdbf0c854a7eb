#include "tune/tune.h"

#include <math.h>
#include <string.h>

#include "expansion/waves.h"
#include "method/method.h"
#include "tune/costs/free.h"
#include "tune/shares.h"

struct fmm_tuner {
    yoke_context *context;
    const fmm_particles *particles;
    const fmm_tune_options *options;
    const char *store;    /* that of the options; NULL as soon as it turns out not to be writable */
    fmm_counter *counter; /* NULL: costs are seconds */
    yoke_run *run;        /* of the cores; NULL: not needed yet */
    fmm_host_kind host;   /* of the devices that share the near field; NONE: the cores are all */
    fmm_machine machine;
    int looked; /* nonzero: `even` is of these particles */
    fmm_even even;
    fmm_analysis *analysis; /* NULL until it is asked */
    int num_capacities;     /* of adaptive trees of these particles; 0: not listed yet */
    int64_t capacity[FMM_MAX_CAPACITIES];
    int64_t cells;            /* of the tree between two depths that was counted last; 0: none */
    fmm_analysis *between;    /* of that tree; its counts are kept after the tree was taken */
    int takes_cells;          /* nonzero: it was chosen last */
    int measured_now, rested; /* rested: the devices were planned by powers */
    int warned;               /* nonzero: it was told that other programs disturbed measurements */
    double machine_s;         /* 0 after it was told */
    int64_t learned;          /* runs */
    int finer;                /* of waves */
    int single;               /* nonzero: near field in single precision */
};

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
 * Writes the run's store, where it has one.  One that cannot be written is left out from now on, with a warning: results are as right without.  This machine's
 * store may have no place at all (ARGUMENT), of which the run has warned.
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

/*
 * Those that are measured now, for trees of an order and with waves of a set `finer` above it.  All where devices have a run: it is opened again where this
 * machine was measured when the tuner was created, not later.
 */
static fmm_orders orders_for(const fmm_tuner *t, int order, int finer)
{
    const int set = order + (finer > 0 ? finer : 0), most = order > FMM_LAST_WAVE_SET ? order : FMM_LAST_WAVE_SET;
    if (t->options->devices) return FMM_ALL_ORDERS;
    return fmm_orders_around(order) | fmm_orders_around(set < most ? set : most);
}

/* On a run of its own, which needs no powers. */
static yoke_status measure_machine(fmm_tuner *t, fmm_orders orders)
{
    const fmm_machine_options options = {.gradient = t->options->gradient,
                                         .measure = t->options->measure,
                                         .clock = fmm_tuner_clock(t),
                                         .progress = t->options->progress,
                                         .user = t->options->user};
    yoke_run *run = NULL;
    yoke_status status = open_run(t, YOKE_OBJECTIVE_TIME, &run);
    if (!status) status = fmm_machine_measure_missing(t->context, run, 0, &options, orders, &t->machine);
    if (!status) status = save(t, run);
    yoke_run_destroy(run);
    return status;
}

/* On a machine that is never quiet each trial costs some tenths of a second: after 0, 1, 2, 4, 8 ... runs that learned. */
static int may_mend(const fmm_machine *machine)
{
    int64_t runs = 0;
    for (int part = 0; part < FMM_TIMED_PARTS; part++)
        if (machine->factor[part].runs > runs) runs = machine->factor[part].runs;
    return machine->disturbed > 0 && (runs & (runs - 1)) == 0;
}

/* Costs in the store were measured while other programs had the cores: those are measured again, if the cores are free now.  *measured: nonzero: they were. */
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

/* Powers of the cores matter where no run of devices tells theirs. */
static yoke_objective objective_here(const fmm_tuner *t) { return t->host == FMM_HOST_NONE ? t->options->objective : YOKE_OBJECTIVE_TIME; }

/* Powers, where the objective needs them and the run does not know them. */
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

/* The first plan by powers measures what this machine draws at rest, which is no part of a choice. */
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
    fmm_work_name(FMM_TREE, sizes[0], t->options->gradient, t->options->measure, name);
    return yoke_run_plan(t->run, &round, 1, &assignment);
}

/* The run reads the store anew. */
static yoke_status open_again(fmm_tuner *t)
{
    yoke_run_destroy(t->run);
    t->run = NULL;
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

/* What is missing of some orders.  *measured: nonzero: something was. */
static yoke_status measure_orders(fmm_tuner *t, fmm_orders orders, int *measured)
{
    if (!fmm_machine_missing(&t->machine, orders)) return YOKE_OK;
    *measured = 1;
    yoke_status status = save(t, t->run); /* tells before the measurements that they cannot be kept */
    return status ? status : measure_machine(t, orders);
}

/* After costs were read: the devices' run tells what their host takes, and corrects it itself. */
static void leave_factors_out(fmm_tuner *t)
{
    if (t->host == FMM_HOST_CORES) t->machine.factor[FMM_PART_NEAR] = t->machine.factor[FMM_PART_FAR] = (fmm_factor){.value = 1};
}

/* Costs from the store; what is not there of some orders, or was disturbed, is measured. */
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

/* The same of another order, later. */
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

/* Costs of the host for some orders, as far as they are not there: of simulated devices what they count. */
static yoke_status get_machine(fmm_tuner *t, fmm_orders orders)
{
    const fmm_host_kind before = t->host;
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

/* Counts serve several orders, also after the tree was taken; one for what was not counted, deeper or for capacities, is made anew then. */
static yoke_status analyse(fmm_tuner *t, int depth, int capacities)
{
    const fmm_analysis *a = t->analysis;
    if (a && (a->tree || (depth <= a->depth && (!capacities || a->num_capacities > 0)))) return fmm_analysis_deepen(t->analysis, depth);
    fmm_analysis_destroy(t->analysis);
    t->analysis = NULL;
    yoke_status status = fmm_analysis_create(t->particles, depth, &t->analysis);
    if (!status && t->analysis->deepest < 2)
        yoke_log(
            t->particles->context, YOKE_LOG_WARNING,
            "a softening of %g is more than a quarter of the box around the particles: there is no far field, and all pairs are summed",
            t->particles->softening);
    return status;
}

/* All depths from first to last. */
static void predict(const fmm_tuner *t, int order, fmm_choice *choice)
{
    for (int d = choice->first; d <= choice->last; d++)
        fmm_depth_predict(&t->machine, t->analysis, d, order, t->options->gradient, &choice->of[d]);
}

static int fastest(const fmm_choice *choice)
{
    int best = choice->first;
    for (int d = choice->first; d <= choice->last; d++)
        if (choice->of[d].predicted.total < choice->of[best].predicted.total) best = d;
    return best;
}

/*
 * Capacities of adaptive trees.  Those with the smallest leaves have the most cells to count: it takes as long as such a tree may save, unless it is estimated to be
 * clearly the fastest.
 */
static void list_capacities(fmm_tuner *t, int order)
{
    enum { SMALL = 2, ALL = 11 };
    static const int64_t capacities[ALL] = {32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
    static const double clearly = 0.95, full = 1. / 3; /* of leaves, in the mean */
    double estimate_s[ALL], others_s = INFINITY;
    int first = 0;
    for (int k = ALL - 1; k >= 0; k--) {
        estimate_s[k] = fmm_predict_filled(&t->machine, order, full * (double)capacities[k]);
        if (k >= SMALL) others_s = fmin(others_s, estimate_s[k]);
    }
    while (first < SMALL && estimate_s[first] > clearly * others_s) first++;
    t->num_capacities = ALL - first;
    memcpy(t->capacity, capacities + first, (size_t)t->num_capacities * sizeof *capacities);
}

/* Adaptive trees, the same capacities for all orders. */
static yoke_status predict_capacities(fmm_tuner *t, int order, fmm_choice *choice)
{
    if (!t->num_capacities) list_capacities(t, order);
    choice->num_capacities = t->num_capacities;
    memcpy(choice->capacity, t->capacity, sizeof t->capacity);
    return fmm_capacities_predict(&t->machine, t->analysis, order, t->options->gradient, choice);
}

/*
 * Nonzero: the deepest is the fastest, so that a deeper one may be faster still.  No adaptive tree is faster: particles that need a deeper uniform tree than
 * evenly spread ones do are on surfaces or in clusters, and one with leaves of the same size would be found among these.  Nor is the far field of the next
 * depth slower by far, which has about as many pairs for each cell.
 */
static int deeper_may_be_better(const fmm_tuner *t, const fmm_choice *choice)
{
    enum { BY_FAR = 2 };
    const fmm_analysis *a = t->analysis;
    const int last = choice->last;
    const double best_s = choice->of[fastest(choice)].predicted.total;
    for (int k = 0; k < choice->num_capacities; k++)
        if (choice->at[k].predicted.total < best_s) return 0;
    if (fastest(choice) < last || last >= a->deepest || choice->of[last].near_pairs == 0) return 0;
    if (last < a->depth) return 1; /* it is counted */
    return (double)a->cells_below / (double)a->cells[last].leaves * choice->of[last].predicted.far < BY_FAR * best_s;
}

static void forget_between(fmm_tuner *t)
{
    fmm_analysis_destroy(t->between);
    t->between = NULL;
    t->cells = 0;
}

static yoke_status count_between(fmm_tuner *t, int64_t cells)
{
    forget_between(t);
    yoke_status status = fmm_analysis_create_cells(t->particles, cells, &t->between);
    if (!status) t->cells = cells;
    return status;
}

static void predict_between(const fmm_tuner *t, int order, fmm_choice *choice)
{
    choice->cells = t->cells;
    if (t->cells > 0)
        fmm_depth_predict(&t->machine, t->between, fmm_depth_of_cells(t->cells), order, t->options->gradient, &choice->of_cells);
    choice->of_cells.by_operations = 0;
}

static yoke_status compare_all(fmm_tuner *t, int order, fmm_choice *choice);

/* What a softening leaves of depths. */
static int deepest_of(const fmm_particles *particles, int depth)
{
    if (!(particles->softening > 0)) return depth;
    const fmm_box box = fmm_box_around(particles);
    const int deepest = fmm_method_deepest(&box, particles->softening);
    return deepest < depth ? deepest : depth;
}

/*
 * Takes the tree between two depths that is estimated to be faster than those of all depths by far, which are not counted then.  *taken: zero: there is none,
 * or counts show that the particles are not spread as evenly as they look.
 */
static yoke_status choose_between(fmm_tuner *t, int order, fmm_choice *choice, int *taken)
{
    static const double alike = 1.1;
    const fmm_estimating of = {.machine = &t->machine, .even = &t->even, .order = order, .gradient = t->options->gradient};
    const double sort_s = t->analysis || t->cells ? (double)t->particles->count * t->machine.tree_particle : 0;
    double estimate_s;
    *taken = 0;
    yoke_status status = t->looked ? YOKE_OK : fmm_even_find(t->particles, &t->even);
    if (status) return status;
    t->looked = 1;
    choice->last = deepest_of(t->particles, choice->last);
    const int64_t cells = t->even.is_even ? fmm_cells_estimate(&of, choice->last, t->takes_cells ? t->cells : 0, sort_s, &estimate_s) : 0;
    if (!cells) return YOKE_OK;
    if (cells != t->cells) status = count_between(t, cells);
    if (status) return status;
    predict_between(t, order, choice);
    t->even.is_even = choice->of_cells.predicted.total <= alike * estimate_s;
    if (!t->even.is_even) return YOKE_OK;
    *taken = 1;
    choice->estimated = !t->options->all;
    if (t->options->all) status = compare_all(t, order, choice);
    for (int d = choice->first; d <= choice->last && choice->estimated; d++) fmm_depth_estimate(&of, (int64_t)1 << d, &choice->of[d]);
    if (!status) status = fmm_choose(t->run, 0, t->options->gradient, &t->machine, choice);
    if (!status) (void)fmm_choice_keep(choice, 0, 0, cells, INFINITY);
    return status;
}

/* The best of all trees, by the devices where there are some. */
static yoke_status take_best(fmm_tuner *t, int order, fmm_choice *choice)
{
    enum { MOST_BETWEEN = 2 }; /* trees between two depths that are counted: the first tells where a better one may be */
    const fmm_tune_options *o = t->options;
    const fmm_shares_options options = {.run = o->devices,
                                        .share = o->share,
                                        .gradient = o->gradient,
                                        .rests = o->objective != YOKE_OBJECTIVE_TIME && !t->rested,
                                        .measured_s = &t->machine_s,
                                        .progress = o->progress,
                                        .user = o->user};
    fmm_choice alone = *choice;
    int64_t cells = 0;
    if (t->host == FMM_HOST_NONE) return fmm_choose(t->run, 0, o->gradient, &t->machine, choice);
    t->rested = 1;
    yoke_status status = fmm_shares_choose(t->context, &options, &t->machine, t->particles->count, choice);
    for (int k = 0; k < MOST_BETWEEN && !status && o->depth < 0; k++) {
        status = fmm_shares_between(t->context, &options, &t->machine, t->particles->count, choice,
                                    (double)t->particles->count * t->machine.tree_particle, &cells);
        if (status || !cells) return status;
        status = count_between(t, cells);
        if (status) return status;
        predict_between(t, order, &alone);
        *choice = alone;
        status = fmm_shares_choose(t->context, &options, &t->machine, t->particles->count, choice);
    }
    return status;
}

/* Counts all depths that may be best, and adaptive trees; particles that fill their box evenly have none that is another one. */
static yoke_status compare_all(fmm_tuner *t, int order, fmm_choice *choice)
{
    const int fixed = t->options->depth >= 0, capacities = !fixed && t->particles->count > 0 && (t->options->all || !t->even.is_even);
    yoke_status status = analyse(t, choice->last, capacities);
    if (status) return status;
    const int deepest = t->analysis->deepest;
    if (!fixed && choice->last > deepest) choice->last = deepest;
    predict(t, order, choice);
    if (capacities) status = predict_capacities(t, order, choice);
    while (!status && !fixed && deeper_may_be_better(t, choice)) {
        choice->last += choice->last < deepest - 1 ? 2 : 1;
        status = analyse(t, choice->last, capacities);
        if (!status) predict(t, order, choice);
    }
    if (!status) fmm_choice_leave_equal_out(t->analysis, choice);
    return status;
}

static yoke_status choose(fmm_tuner *t, int order, fmm_choice *choice)
{
    const int fixed = t->options->depth >= 0;
    int taken = 0;
    yoke_status status = get_machine(t, orders_for(t, order, t->finer));
    t->machine.finer = t->finer;
    fmm_machine_take_single(&t->machine, t->single);
    choice->first = fixed ? t->options->depth : 0;
    choice->last = fixed ? t->options->depth : fmm_deep_enough(t->particles->count);
    if (!status && !fixed && !t->options->by_operations && t->host == FMM_HOST_NONE) status = choose_between(t, order, choice, &taken);
    if (status || taken) return status;
    status = compare_all(t, order, choice);
    if (!status && !fixed) predict_between(t, order, choice); /* one that was counted for another order */
    if (!status) status = take_best(t, order, choice);
    if (!status && t->options->by_operations) fmm_choice_take_depth(choice, fmm_depth_by_operations(choice));
    return status;
}

/* In the run that costs were read by; one that has meters would measure powers of what is no work, and another one is opened. */
static yoke_status save_factors(fmm_tuner *t)
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

yoke_status fmm_tuner_learn(fmm_tuner *t, const fmm_tuned *tuned)
{
    static const double least_s = 1e-3; /* shorter parts are disturbed by anything */
    const fmm_seconds *predicted = &fmm_chosen(&tuned->choice)->predicted, *measured = fmm_chosen_measured(tuned);
    const double predicted_s[FMM_TIMED_PARTS] = {predicted->tree, predicted->near, predicted->far};
    const double measured_s[FMM_TIMED_PARTS] = {measured->tree, measured->near, measured->far};
    if (!t->store || t->host != FMM_HOST_NONE || t->counter) return YOKE_OK;
    for (int part = 0; part < FMM_TIMED_PARTS; part++) {
        const double plain_s = predicted_s[part] / tuned->factor[part].value;
        if (plain_s < least_s || !(measured_s[part] >= least_s)) continue;
        t->machine.factor[part] = fmm_factor_learn(t->machine.factor[part], measured_s[part] / plain_s, t->machine.disturbed > 0);
    }
    t->learned++;
    return t->learned & (t->learned - 1) ? YOKE_OK : save_factors(t);
}

yoke_status fmm_tuner_create(yoke_context *context, const fmm_tune_options *options, fmm_tuner **tuner)
{
    fmm_tuner *t = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *t, &t);
    if (status) return status;
    t->context = context;
    t->options = options;
    t->store = options->store;
    if (options->measure) status = fmm_counter_open(context, options->measure, &t->counter);
    if (!status) status = get_machine(t, orders_for(t, options->order, 0));
    if (status)
        fmm_tuner_destroy(t);
    else
        *tuner = t;
    return status;
}

const fmm_clock *fmm_tuner_clock(const fmm_tuner *t) { return t->counter ? fmm_counter_clock(t->counter) : NULL; }

void fmm_tuner_set_waves(fmm_tuner *t, int finer) { t->finer = finer; }

void fmm_tuner_set_single(fmm_tuner *t, int single) { t->single = single; }

int fmm_tuner_measured(const fmm_tuner *t) { return t->measured_now; }

void fmm_tuner_set_particles(fmm_tuner *t, const fmm_particles *particles)
{
    fmm_analysis_destroy(t->analysis);
    t->analysis = NULL;
    forget_between(t);
    t->looked = t->takes_cells = t->num_capacities = 0;
    t->particles = particles;
}

void fmm_tuner_destroy(fmm_tuner *t)
{
    if (!t) return;
    fmm_analysis_destroy(t->analysis);
    forget_between(t);
    yoke_run_destroy(t->run);
    fmm_counter_close(t->counter);
    yoke_release(t->context, t);
}

yoke_status fmm_tuner_choose(fmm_tuner *t, int order, fmm_tuned *tuned)
{
    fmm_tuned found = {.measure = t->options->measure};
    for (int d = 0; d <= FMM_MAX_DEPTH; d++) found.measured[d] = (fmm_seconds){NAN, NAN, NAN, NAN};
    for (int k = 0; k < FMM_MAX_CAPACITIES; k++) found.measured_at[k] = (fmm_seconds){NAN, NAN, NAN, NAN};
    found.measured_cells = (fmm_seconds){NAN, NAN, NAN, NAN};
    const int analysed_before = t->analysis != NULL;
    const int64_t cells_before = t->cells;
    const double machine_before_s = t->machine_s, begin_s = yoke_clock_s();
    yoke_status status = choose(t, order, &found.choice);
    found.analysis_s = yoke_clock_s() - begin_s - (t->machine_s - machine_before_s);
    found.machine_s = t->machine_s;
    found.measured_now = t->measured_now;
    found.disturbed = t->machine.disturbed;
    memcpy(found.factor, t->machine.factor, sizeof found.factor);
    t->takes_cells = found.choice.takes_cells;
    const int sorted_before = t->takes_cells ? t->cells == cells_before : analysed_before;
    if (!status) found.sort_s = (t->takes_cells ? t->between : t->analysis)->sort_s;
    if (!status && !sorted_before) found.analysis_s -= found.sort_s;
    t->machine_s = 0;
    if (!status) *tuned = found;
    return status;
}

fmm_tree *fmm_tuner_take_tree(fmm_tuner *t, int64_t cells)
{
    fmm_analysis *chosen = cells <= 0 ? t->analysis : cells == t->cells ? t->between : NULL;
    fmm_tree *tree = chosen ? chosen->tree : NULL;
    if (tree) chosen->tree = NULL;
    if (t->between) fmm_analysis_drop_tree(t->between);
    if (t->analysis) fmm_analysis_drop_tree(t->analysis);
    return tree;
}
