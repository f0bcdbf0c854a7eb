/* Rounds: what is planned, begun and reported. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/profile.h"

static const int64_t max_units = INT64_C(1000000000000000); /* that plans take in a round */
/* Seconds per unit that changes hands: the weight of a new measurement. */
static const double newest = 0.5;

/* --------------------------------------------------------------------------------------------------- checking */

static yoke_status fail_phase(yoke_run *run, int64_t round, int64_t phase, const char *what, double value, const char *expected)
{
    return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_plan: round %lld, phase %lld: %s is %g; it must be %s", (long long)round,
                     (long long)phase, what, value, expected);
}

static yoke_status check_phase(yoke_run *run, const yoke_round *round, int64_t r, int64_t p)
{
    const yoke_phase *phase = &round->phases[p];
    if (!(phase->calls > 0) || !isfinite(phase->calls)) return fail_phase(run, r, p, "calls", phase->calls, "finite and above 0");
    if (phase->units < 0 || phase->units > max_units) return fail_phase(run, r, p, "units", (double)phase->units, "from 0 to 10^15");
    if (phase->cut < -1 || phase->cut >= round->num_cuts)
        return fail_phase(run, r, p, "cut", (double)phase->cut, "the number of a cut, or -1");
    if (phase->cut < 0 && (phase->device < 0 || phase->device >= run->num_devices || !run_is_active(run, (int)phase->device)))
        return fail_phase(run, r, p, "device", (double)phase->device, "one that may work");
    if (!(phase->call_seconds >= 0) || !isfinite(phase->call_seconds))
        return fail_phase(run, r, p, "call_seconds", phase->call_seconds, "finite and not negative");
    if (phase->cut < 0 || phase->weight_sum == NULL) return YOKE_OK;
    const double *weights = phase->weight_sum;
    for (int64_t i = 0; i < round->cut_units[phase->cut]; i++)
        if (!(weights[i + 1] >= weights[i]) || !isfinite(weights[i + 1]) || weights[0] != 0)
            return fail_phase(run, r, p, "weight_sum", weights[i + 1], "ascending from 0, and finite");
    return YOKE_OK;
}

static yoke_status check_given(yoke_run *run, const yoke_round *round, int64_t r)
{
    int64_t left = round->cut_units[0];
    if (round->given_units == NULL) return YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) {
        const int64_t given = round->given_units[i];
        if (given < 0 || given > left || (given > 0 && !run_is_active(run, i)))
            return yoke_fail(
                run->context, YOKE_ERROR_ARGUMENT,
                "yoke_run_plan: round %lld: given_units of device %d are %lld; they must not be negative, and 0 where it may not work",
                (long long)r, i, (long long)given);
        left -= given;
    }
    if (round->num_cuts == 1 && left == 0) return YOKE_OK;
    return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_plan: round %lld: given_units must sum to the units of its only cut",
                     (long long)r);
}

static yoke_status check_round(yoke_run *run, const yoke_round *round, int64_t r)
{
    const double sizes[] = {round->copy_bytes_per_unit, round->memory_bytes_per_unit};
    if (round->num_cuts < 1 || round->num_cuts > RUN_MAX_CUTS || round->cut_units == NULL)
        return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_plan: round %lld has %lld cuts; there may be 1 to %d", (long long)r,
                         (long long)round->num_cuts, (int)RUN_MAX_CUTS);
    if (round->num_phases < 1 || round->num_phases > RUN_MAX_PHASES || round->phases == NULL)
        return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_plan: round %lld has %lld phases; there may be 1 to %d", (long long)r,
                         (long long)round->num_phases, (int)RUN_MAX_PHASES);
    for (int64_t c = 0; c < round->num_cuts; c++)
        if (round->cut_units[c] < 0 || round->cut_units[c] > max_units)
            return yoke_fail(run->context, YOKE_ERROR_ARGUMENT,
                             "yoke_run_plan: round %lld, cut %lld has %lld units; there may be 0 to 10^15", (long long)r, (long long)c,
                             (long long)round->cut_units[c]);
    for (int k = 0; k < 2; k++)
        if (!(sizes[k] >= 0) || !isfinite(sizes[k]))
            return yoke_fail(run->context, YOKE_ERROR_ARGUMENT,
                             "yoke_run_plan: round %lld: bytes per unit are %g; they must be finite and not negative", (long long)r,
                             sizes[k]);
    for (int i = 0; i < run->num_devices && round->max_units != NULL; i++)
        if (round->max_units[i] < 0)
            return yoke_fail(run->context, YOKE_ERROR_ARGUMENT,
                             "yoke_run_plan: round %lld: max_units of device %d are %lld; they must not be negative", (long long)r, i,
                             (long long)round->max_units[i]);
    yoke_status status = check_given(run, round, r);
    for (int64_t p = 0; p < round->num_phases && status == YOKE_OK; p++) status = check_phase(run, round, r, p);
    return status;
}

/* --------------------------------------------------------------------------------------------------- planning */

static yoke_status fill_plan(yoke_run *run, const yoke_round *round, uint64_t allowed, run_plan *plan)
{
    yoke_status status = YOKE_OK;
    memset(plan, 0, sizeof *plan);
    plan->num_cuts = round->num_cuts;
    plan->num_phases = round->num_phases;
    plan->copy_bytes_per_unit = round->copy_bytes_per_unit;
    plan->memory_bytes_per_unit = round->memory_bytes_per_unit;
    plan->allowed = allowed;
    plan->weighed = run->weighed > 1;
    for (int i = 0; i < run->num_devices; i++) plan->most_units[i] = round->max_units != NULL ? round->max_units[i] : INT64_MAX;
    plan->given = round->given_units != NULL;
    for (int i = 0; i < run->num_devices && plan->given; i++) {
        plan->units[0][i] = round->given_units[i];
        plan->given_levels[i] = run_nearest_level(&run->devices[i], round->given_hz != NULL ? round->given_hz[i] : (double)NAN);
    }
    memcpy(plan->cut_units, round->cut_units, (size_t)round->num_cuts * sizeof plan->cut_units[0]);
    memcpy(plan->phases, round->phases, (size_t)round->num_phases * sizeof plan->phases[0]);
    for (int p = 0; p < plan->num_phases && status == YOKE_OK; p++) {
        status = run_work_find(run, round->phases[p].work, &plan->works[p]);
        if (status == YOKE_OK) status = run_work_open(run, plan->works[p]);
        plan->likes[p] = -1;
        if (status == YOKE_OK && round->phases[p].like != NULL) status = run_work_find(run, round->phases[p].like, &plan->likes[p]);
        if (status == YOKE_OK && plan->likes[p] >= 0) status = run_work_open(run, plan->likes[p]);
        plan->phases[p].like = NULL;
        plan->weighted |= plan->phases[p].weight_sum != NULL;
        if (status == YOKE_OK) plan->phases[p].work = run->run_works[plan->works[p]].name;
    }
    if (status == YOKE_OK) run_choose_resting(run, plan);
    return status;
}

yoke_status run_take_round(yoke_run *run, const yoke_round *round, run_plan *plan)
{
    yoke_status status = check_round(run, round, 0);
    if (status == YOKE_OK) status = fill_plan(run, round, ~UINT64_C(0), plan);
    plan->weighed = 0; /* whatever was planned before */
    plan->resting = 0;
    return status;
}

/* Nonzero: a is to be worked rather than b.  What is not known yet is learned first. */
static int is_better(const run_plan *a, const run_plan *b)
{
    int a_learns = a->decision == YOKE_RUN_STARTED || a->decision == YOKE_RUN_EXPLORED;
    int b_learns = b->decision == YOKE_RUN_STARTED || b->decision == YOKE_RUN_EXPLORED;
    if (a_learns || b_learns) return a_learns && !b_learns;
    if (a->feasible != b->feasible) return a->feasible;
    if (!a->feasible && strcmp(a->binding, "power-cap") == 0) return a->nearest < b->nearest;
    if (!a->feasible) return a->predicted.time_s < b->predicted.time_s;
    return a->value < b->value * (1 + 1e-9); /* of equals the later one, which may say more: a device alone */
}

static void find_ranges(yoke_run *run)
{
    const run_plan *plan = run->plan;
    int same = run_has_distribution(run, plan);
    memcpy(run->before, run->first, sizeof run->before);
    for (int c = 0; c < plan->num_cuts; c++) {
        run->first[c][0] = 0;
        for (int i = 0; i < run->num_devices; i++) run->first[c][i + 1] = run->first[c][i] + plan->units[c][i];
        run->first_of[c] = run->first[c];
        run->before_of[c] = run->before[c];
    }
    run->assignment.before = same ? run->before_of : NULL;
    run->given_cuts = plan->num_cuts;
    memcpy(run->given_units, plan->cut_units, sizeof run->given_units);
}

yoke_status run_set_level(yoke_run *run, int device, int level)
{
    run_device *d = &run->devices[device];
    if (run->frequencies == NULL || d->domain[0] == '\0' || d->failed || (d->is_set && d->level == level)) return YOKE_OK;
    yoke_status status = yoke_frequency_set(run->frequencies, d->domain, d->hz[level], NULL);
    if (status != YOKE_OK) return status;
    d->level = level;
    d->is_set = 1;
    return YOKE_OK;
}

static yoke_status set_frequencies(yoke_run *run)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
        const run_device *d = &run->devices[i];
        int is_ours = run->frequencies != NULL && d->domain[0] != '\0' && !d->failed;
        run->frequency_hz[i] = is_ours ? d->hz[run->plan->levels[i]] : (double)NAN;
        status = run_set_level(run, i, run->plan->levels[i]);
    }
    return status;
}

static void fill_assignment(yoke_run *run, int64_t chosen)
{
    const run_plan *plan = run->plan;
    yoke_assignment *a = &run->assignment;
    a->round = chosen;
    a->num_cuts = plan->num_cuts;
    a->num_devices = run->num_devices;
    a->first = run->first_of;
    a->frequency_hz = run->frequency_hz;
    a->predicted_s = plan->predicted_s;
    a->decision = plan->decision;
    a->predicted = plan->predicted;
    a->feasible = plan->feasible;
    a->binding = plan->binding;
    a->nearest = plan->nearest;
    a->optimal = plan->optimal;
    a->gap = plan->gap;
    a->num_alternatives = plan->num_alternatives;
    a->alternatives = run->alternatives;
    for (int k = 0; k < plan->num_alternatives; k++) {
        const run_alternative *from = &plan->alternatives[k];
        run->alternatives[k] = (yoke_run_alternative){.name = from->name,
                                                      .note = from->note,
                                                      .feasible = from->feasible,
                                                      .units = from->units,
                                                      .frequency_hz = from->hz,
                                                      .time_s = from->time_s,
                                                      .energy_j = from->energy_j};
    }
    a->powers = run_powers_text(run);
    a->metered = run->num_meters > 0;
    a->with_calls = (yoke_cost){NAN, NAN, NAN, NAN, NAN};
    a->energy = (yoke_energy){.value_j = NAN, .uncertainty_j = NAN};
}

/* Of several rounds none may take longer than the slowdown allows beside the fastest of all. */
static yoke_status find_limit(yoke_run *run, const yoke_round *rounds, int64_t count, uint64_t allowed)
{
    double least_s = INFINITY;
    yoke_status status = YOKE_OK;
    run->limit_s = 0;
    if (count < 2 || !(run->options.max_slowdown > 0)) return YOKE_OK;
    for (int64_t r = 0; r < count && status == YOKE_OK; r++) {
        double seconds = NAN;
        status = fill_plan(run, &rounds[r], allowed, run->candidate);
        if (status == YOKE_OK) status = run_least_time(run, run->candidate, &seconds);
        least_s = fmin(least_s, seconds);
    }
    if (status == YOKE_OK && isfinite(least_s)) run->limit_s = run->options.max_slowdown * least_s * (1 + 1e-9);
    return status;
}

static int is_named(const run_alternative *list, int count, const char *name)
{
    for (int k = 0; k < count; k++)
        if (strcmp(list[k].name, name) == 0) return 1;
    return 0;
}

/* Adds alternatives whose names are not there; what is best for one round is not for all. */
static int join(const run_alternative *from, int num_from, run_alternative *to, int count)
{
    for (int k = 0; k < num_from && count < RUN_MAX_ALTERNATIVES; k++)
        if (!is_named(to, count, from[k].name) && strcmp(from[k].name, "best") != 0) to[count++] = from[k];
    return count;
}

/* The round as a plan, and what its units and levels are to be.  What all draw at rest has to be known for that, and would be measured before the round anyway. */
static yoke_status decide(yoke_run *run, const yoke_round *round, uint64_t allowed)
{
    yoke_status status = fill_plan(run, round, allowed, run->candidate);
    if (status == YOKE_OK && run->needs_powers && isnan(run->base_w)) status = run_powers_rest(run);
    return status == YOKE_OK ? run_decide(run, run->candidate) : status;
}

yoke_status run_plan_rounds(yoke_run *run, const yoke_round *rounds, int64_t count, uint64_t allowed)
{
    int64_t chosen = 0;
    run->weighed = count;
    run->num_gathered = 0;
    yoke_status status = find_limit(run, rounds, count, allowed);
    /* Two plans lie beside each other: the one that was worked, which deciding looks at, and the new one.  Of alternatives the best is made again. */
    for (int64_t r = 0; r < count && status == YOKE_OK && count > 1; r++) {
        status = decide(run, &rounds[r], allowed);
        if (status != YOKE_OK) return status;
        run->num_gathered = join(run->candidate->alternatives, run->candidate->num_alternatives, run->gathered, run->num_gathered);
        if (r > 0 && !is_better(run->candidate, run->other)) continue;
        *run->other = *run->candidate;
        chosen = r;
    }
    if (count == 1) {
        status = decide(run, &rounds[0], allowed);
        if (status != YOKE_OK) return status;
    } else {
        *run->candidate = *run->other;
        run->candidate->num_alternatives =
            join(run->gathered, run->num_gathered, run->candidate->alternatives, run->candidate->num_alternatives);
    }
    run_plan *made = run->candidate;
    run->candidate = run->plan;
    run->plan = made;
    run->has_plan = 1;
    run->measured = (yoke_cost){NAN, NAN, NAN, NAN, NAN};
    for (int i = 0; i < run->num_devices; i++) run->measured_s[i] = NAN;
    find_ranges(run);
    status = set_frequencies(run);
    if (status == YOKE_OK) status = run_powers_rest(run);
    fill_assignment(run, chosen);
    return status;
}

yoke_status yoke_run_plan(yoke_run *run, const yoke_round *rounds, int64_t count, const yoke_assignment **assignment)
{
    if (run == NULL || rounds == NULL || assignment == NULL || count < 1)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT,
                         "yoke_run_plan: an argument is NULL, or there is no round");
    if (run->begun)
        return yoke_fail(run->context, YOKE_ERROR_ARGUMENT,
                         "yoke_run_plan: a round has begun; call yoke_run_end first, or yoke_run_fail for a device that failed");
    yoke_status status = YOKE_OK;
    for (int64_t r = 0; r < count && status == YOKE_OK; r++) status = check_round(run, &rounds[r], r);
    if (status == YOKE_OK) status = run_plan_rounds(run, rounds, count, ~UINT64_C(0));
    if (status == YOKE_OK) *assignment = &run->assignment;
    return status;
}

/* ------------------------------------------------------------------------------------------------ begin and end */

yoke_status yoke_run_begin(yoke_run *run)
{
    if (run == NULL || !run->has_plan || run->begun)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_begin: %s",
                         run == NULL  ? "run is NULL"
                         : run->begun ? "a round has begun already"
                                      : "nothing is planned");
    run_profile_begin(run);
    if (run->meter != NULL) {
        yoke_status status = yoke_region_begin(run->meter, &run->region);
        if (status != YOKE_OK) return status;
    }
    run->begin_s = run_now_s(run);
    run->begun = 1;
    return YOKE_OK;
}

double run_copy_s(const run_device *d, double units)
{
    static const double well_apart = 1.3;
    if (!(d->copy_few > 0) || !(units > 0)) return 0;
    /* Of one size: that more cost no more than those did.  Being wrong costs one round, but taking starts for lengths would keep a fast device out. */
    if (d->copy_most < well_apart * d->copy_few) return d->copy_most_s * fmin(1, units / d->copy_most);
    double per_unit = fmax(0, d->copy_most_s - d->copy_few_s) / (d->copy_most - d->copy_few);
    return fmax(0, d->copy_few_s - per_unit * d->copy_few) + per_unit * units;
}

static double known_or(double value, double otherwise) { return value > 0 && isfinite(value) ? value : otherwise; }

int64_t run_units_of(const yoke_run *run, const yoke_phase *phase, int device)
{
    if (phase->cut < 0) return phase->device == device ? phase->units : 0;
    const int64_t *first = run->first[phase->cut];
    return run_phase_units(phase, run->plan->cut_units[phase->cut], first[device], first[device + 1]);
}

static void learn_copies(yoke_run *run, int device, double moved_s, int64_t moved)
{
    run_device *d = &run->devices[device];
    if (!(moved_s >= 0) || !isfinite(moved_s) || moved <= 0) return;
    double one = moved_s / (double)moved, units = (double)moved;
    if (!(d->copy_few > 0) || units < d->copy_few) {
        d->copy_few = units;
        d->copy_few_s = moved_s;
    }
    if (units >= d->copy_most) {
        d->copy_most = units;
        d->copy_most_s = moved_s;
    }
    d->copy_seconds_per_unit = isnan(d->copy_seconds_per_unit) ? one : (1 - newest) * d->copy_seconds_per_unit + newest * one;
}

/* Units of cut 0 that the device has and did not have before. */
static int64_t moved_units(const yoke_run *run, int device)
{
    int64_t first = run->first[0][device], last = run->first[0][device + 1];
    if (run->assignment.before == NULL) return last - first;
    int64_t from = run->before[0][device] > first ? run->before[0][device] : first;
    int64_t to = run->before[0][device + 1] < last ? run->before[0][device + 1] : last;
    return last - first - (to > from ? to - from : 0);
}

static int64_t moved_to(const yoke_run *run, const yoke_run_report *report, int device)
{
    int64_t moved = report->moved_units != NULL ? report->moved_units[device] : moved_units(run, device);
    return moved < 0 ? 0 : moved;
}

/* Learns seconds; busy[i]: of device i in all its phases. */
static void learn_seconds(yoke_run *run, const yoke_run_report *report, double *busy)
{
    const run_plan *plan = run->plan;
    for (int i = 0; i < run->num_devices; i++) {
        busy[i] = 0;
        run->measured_s[i] = NAN;
        for (int p = 0; p < plan->num_phases; p++) {
            const yoke_phase *phase = &plan->phases[p];
            int64_t units = run_units_of(run, phase, i);
            double seconds = report->seconds != NULL ? known_or(report->seconds[p * run->num_devices + i], NAN) : (double)NAN;
            double calls = report->calls != NULL ? known_or(report->calls[p], phase->calls) : phase->calls;
            int *tries = &run->run_works[plan->works[p]].tries[i];
            if (p == 0) run->measured_s[i] = units > 0 ? seconds : 0;
            if (units > 0 && !isnan(seconds)) {
                run_learn_seconds(run, plan->works[p], i, plan->levels[i], run_is_beside(run, plan, p, 1), (double)units, seconds);
                busy[i] += calls * seconds;
                *tries = 0;
            } else if (plan->explores && phase->units > 0 && run_most_units(run, plan, i) > 0 && !run_is_measured(run, plan->works[p], i)) {
                ++*tries;
            }
        }
        if (report->moved_s != NULL) learn_copies(run, i, report->moved_s[i], moved_to(run, report, i));
    }
}

/* What the balancer of a single phase is told when it is asked next: of a device that works alone it would learn how fast it is not, beside others. */
static void keep_reports(yoke_run *run, const yoke_run_report *report, const yoke_energy *total)
{
    const run_plan *plan = run->plan;
    run_work *work = &run->run_works[plan->works[0]];
    if (!plan->balanced || work->balancer == NULL || plan->num_phases != 1 || plan->num_cuts != 1) return;
    for (int i = 0; i < run->num_devices; i++) {
        int64_t units = plan->units[0][i], moved = moved_to(run, report, i);
        double moved_s = report->moved_s != NULL && report->moved_s[i] >= 0 && report->moved_s[i] < 1e12 ? report->moved_s[i] : (double)NAN;
        double seconds = run->measured_s[i] < 1e12 ? run->measured_s[i] : (double)NAN;
        work->reports[i] = (yoke_share_report){.units = units,
                                               .seconds = units > 0 ? seconds : (double)NAN,
                                               .moved_s = moved_s,
                                               .moved_units = moved,
                                               .calls = report->calls != NULL ? known_or(report->calls[0], NAN) : (double)NAN,
                                               .energy_j = i == 0 && total->value_j >= 0 ? total->value_j : (double)NAN};
    }
    work->reported = 1;
}

static yoke_status end_region(yoke_run *run, double *seconds, yoke_energy *total)
{
    *seconds = run_now_s(run) - run->begin_s;
    *total = (yoke_energy){.value_j = NAN, .uncertainty_j = NAN};
    snprintf(total->why_not, sizeof total->why_not, "no meter is open");
    if (run->region == NULL) return YOKE_OK;
    double on_meter = *seconds;
    yoke_status status = yoke_region_end(run->region, &on_meter, run->energies, total);
    run->region = NULL;
    if (status == YOKE_OK) *seconds = on_meter;
    return status;
}

/* As predicted, with the calls that there were: before anything is learned of them. */
static yoke_status predict_with_calls(yoke_run *run, const yoke_run_report *report)
{
    run->assignment.with_calls = run->plan->predicted;
    if (report->calls == NULL) return YOKE_OK;
    *run->candidate = *run->plan;
    for (int p = 0; p < run->candidate->num_phases; p++)
        run->candidate->phases[p].calls = known_or(report->calls[p], run->candidate->phases[p].calls);
    run->candidate->planned.time_s = NAN;
    yoke_status status = run_predict(run, run->candidate);
    if (status == YOKE_OK) run->assignment.with_calls = run->candidate->predicted;
    return status;
}

yoke_status yoke_run_end(yoke_run *run, const yoke_run_report *report, yoke_cost *measured)
{
    static const yoke_run_report nothing = {0};
    double busy[RUN_MAX_DEVICES], seconds = NAN;
    yoke_energy total;
    if (run == NULL || !run->begun)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_end: %s",
                         run == NULL ? "run is NULL" : "no round has begun");
    if (report == NULL) report = &nothing;
    run->begun = 0;
    yoke_status status = end_region(run, &seconds, &total);
    if (status == YOKE_OK) status = run_profile_end(run, seconds);
    if (status != YOKE_OK) return status;
    status = predict_with_calls(run, report);
    if (status != YOKE_OK) return status;
    learn_seconds(run, report, busy);
    if (seconds > 0) run_powers_learn(run, run->plan->levels, seconds, &total, busy);
    if (!report->waited) run_learn_overhead(run, report, seconds);
    keep_reports(run, report, &total);
    run->rounds++;
    run->has_regret = 0;
    run->measured = (yoke_cost){seconds, total.value_j, NAN, NAN, total.uncertainty_j};
    run->energy_kind = isnan(total.value_j) ? YOKE_ENERGY_NONE : total.kind;
    snprintf(run->energy_why, sizeof run->energy_why, "%s", total.why_not);
    if (!isnan(total.value_j)) {
        run->known_s += seconds;
        run->known_j += total.value_j;
    }
    run->assignment.energy = total;
    run->sum_s += seconds;
    run->sum_j += total.value_j;
    if (measured != NULL) *measured = run->measured;
    /* Weights are the caller's, and gone from now on. */
    for (int p = 0; p < run->plan->num_phases; p++) run->plan->phases[p].weight_sum = NULL;
    return YOKE_OK;
}

yoke_status yoke_run_fail(yoke_run *run, int64_t device, const char *why)
{
    if (run == NULL || device < 0 || device >= run->num_devices)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_fail: %s",
                         run == NULL ? "run is NULL" : "there is no such device");
    run_device *d = &run->devices[device];
    if (run->region != NULL) (void)yoke_region_end(run->region, NULL, NULL, NULL);
    run->region = NULL;
    run->begun = 0;
    run_profile_drop(run);
    d->failed = 1;
    snprintf(d->why, sizeof d->why, "%s", why != NULL && why[0] != '\0' ? why : "it failed");
    yoke_log(run->context, YOKE_LOG_WARNING, "%s failed and is left out: %s", d->info->name, d->why);
    return run_need_device(run);
}
