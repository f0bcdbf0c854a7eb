/* Planning of rounds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"

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
    if (phase->units < 0 || phase->units > RUN_MAX_UNITS) return fail_phase(run, r, p, "units", (double)phase->units, "from 0 to 10^15");
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
        if (round->cut_units[c] < 0 || round->cut_units[c] > RUN_MAX_UNITS)
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
    plan->weighed = 0; /* regardless of how many rounds were planned before */
    plan->resting = 0;
    return status;
}

/* Nonzero: plan a is to be executed rather than plan b.  A plan from which something unknown is learned comes first. */
static int is_better(const run_plan *a, const run_plan *b)
{
    int a_learns = a->decision == YOKE_RUN_STARTED || a->decision == YOKE_RUN_EXPLORED;
    int b_learns = b->decision == YOKE_RUN_STARTED || b->decision == YOKE_RUN_EXPLORED;
    if (a_learns || b_learns) return a_learns && !b_learns;
    if (a->feasible != b->feasible) return a->feasible;
    if (!a->feasible && strcmp(a->binding, "power-cap") == 0) return a->nearest < b->nearest;
    if (!a->feasible) return a->predicted.time_s < b->predicted.time_s;
    return a->value < b->value * (1 + 1e-9); /* if both are equal, the later one, which may be more specific: a device alone */
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

/* Sets the longest time that any of several rounds may take: the allowed slowdown times the least time of all rounds. */
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

/* Adds alternatives whose names are not in the list.  The one named "best" is left out: the best of one round is not the best of all. */
static int join(const run_alternative *from, int num_from, run_alternative *to, int count)
{
    for (int k = 0; k < num_from && count < RUN_MAX_ALTERNATIVES; k++)
        if (!is_named(to, count, from[k].name) && strcmp(from[k].name, "best") != 0) to[count++] = from[k];
    return count;
}

/*
 * Makes the plan of a round and decides its units and levels.  This needs the powers of all devices at rest, which would be measured before
 * the round anyway.
 */
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
    /*
     * Deciding uses the plan that was executed last, which stays in run->plan.  A new plan is made in run->candidate, and the best one so
     * far is kept in run->other.  The alternative named "best" is that of the chosen round.
     */
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
