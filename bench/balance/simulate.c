#include "balance/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 100000, GROWN_UNITS = 2000000, CHANGE_ROUND = 14, CHANGE_ROUNDS = 8 };

static const double shared_part = 0.37, shared_factor = 1.6;

typedef struct simulated_world {
    const simulated_case *simulation;
    random_state random;
    int devices, rounds;
    double work_per_unit, spikes, drift;
    int drifting; /* index of the device that drifts */
    int64_t total[SIMULATE_ROUNDS + 1];
    true_device device[FAMILY_MAX_DEVICES];
    double slow[FAMILY_MAX_DEVICES], best_shares[FAMILY_MAX_DEVICES], best_s;
    int64_t units[FAMILY_MAX_DEVICES];
    double true_s[FAMILY_MAX_DEVICES];
    int last_spike;
    int change_round[FAMILY_MAX_DEVICES]; /* 0: no change */
    double unit_s[FAMILY_MAX_DEVICES];    /* mean seconds per unit over the previous rounds in which the device had units */
    int measured[FAMILY_MAX_DEVICES];     /* number of these rounds */
} simulated_world;

/* Total units of the rounds; with growth, the last total is the one for which the sizes of the families are intended. */
static void draw_totals(simulated_world *w)
{
    w->rounds = SIMULATE_ROUNDS;
    int64_t units = UNITS;
    bool grows = w->simulation->disturbance == DISTURBANCE_GROWTH;
    if (grows) {
        w->rounds = 6 + (int)random_uniform(&w->random, 0, 7);
        units = GROWN_UNITS;
    }
    w->work_per_unit = 0.5 * w->devices / (double)units;
    for (int r = w->rounds; r >= 0; r--) {
        w->total[r] = units;
        if (grows && r < w->rounds) units = (int64_t)((double)units / random_uniform(&w->random, 1.3, 3)) + 1;
    }
}

static void draw_changes(simulated_world *w)
{
    int first = (int)random_uniform(&w->random, 0, w->devices);
    switch (w->simulation->disturbance) {
    case DISTURBANCE_CHANGES:
        for (int i = first % 2; i < w->devices; i += 2) w->change_round[i] = CHANGE_ROUND;
        break;
    case DISTURBANCE_SUCCESSION:
        w->change_round[(first + 1) % w->devices] = CHANGE_ROUND + 2;
        w->change_round[first] = CHANGE_ROUND;
        break;
    case DISTURBANCE_CHANGE:
        w->change_round[first] = CHANGE_ROUND;
        break;
    default:
        break;
    }
}

static void draw_world(simulated_world *w, const simulated_case *simulation, int64_t number)
{
    memset(w, 0, sizeof *w);
    w->simulation = simulation;
    w->random.state = simulation->seed * 0x9e3779b97f4a7c15u + (uint64_t)number * 0xd1342543de82ef95u;
    w->devices = simulation->devices > 0 ? simulation->devices : 3 + (int)random_uniform(&w->random, 0, 6);
    for (int i = 0; i < w->devices; i++) {
        w->device[i] = family_draw(simulation->family, i % 2 == 1, &w->random);
        w->slow[i] = 1;
    }
    w->spikes = random_uniform(&w->random, 0.01, 0.05);
    w->drift = random_uniform(&w->random, 0, 1) < 0.5 ? 1.02 : 1 / 1.02;
    w->drifting = (int)random_uniform(&w->random, 0, w->devices);
    w->last_spike = -SIMULATE_ROUNDS;
    draw_totals(w);
    draw_changes(w);
}

/* Makes devices slower, or faster again, in this round.  Returns whether any device changes. */
static bool change(simulated_world *w, int round)
{
    bool changes = false;
    for (int i = 0; i < w->devices; i++) {
        if (w->change_round[i] == 0) continue;
        if (round == w->change_round[i])
            w->slow[i] = w->simulation->factor;
        else if (round == w->change_round[i] + CHANGE_ROUNDS)
            w->slow[i] = 1;
        else
            continue;
        changes = true;
    }
    return changes;
}

static double work_of(const simulated_world *w, int i) { return (double)w->units[i] * w->work_per_unit; }

/* Computes the true seconds of a round.  Returns the excess of the makespan over the best one. */
static double work(simulated_world *w, int round, bool changes)
{
    bool drifts = w->simulation->disturbance == DISTURBANCE_DRIFT;
    if (drifts) w->slow[w->drifting] *= w->drift;
    if (drifts || changes || round == 0 || w->total[round] != w->total[round - 1])
        w->best_s = best_makespan(w->device, w->slow, w->devices, (double)w->total[round] * w->work_per_unit, w->best_shares);
    double makespan = 0;
    for (int i = 0; i < w->devices; i++) {
        w->true_s[i] = w->slow[i] * true_seconds(&w->device[i], work_of(w, i));
        makespan = fmax(makespan, w->true_s[i]);
    }
    return makespan / w->best_s - 1;
}

static void measure(simulated_world *w, int round, yoke_share_report *reports)
{
    bool averages = w->simulation->method == METHOD_AVERAGE;
    for (int i = 0; i < w->devices; i++) {
        double seconds = w->true_s[i] * fmax(1 + w->simulation->noise * random_normal(&w->random), 0.01);
        double chance = random_uniform(&w->random, 0, 1), factor = exp(random_uniform(&w->random, log(10), log(500)));
        if (w->simulation->disturbance == DISTURBANCE_SPIKES && chance < w->spikes) {
            seconds *= factor;
            w->last_spike = round;
        }
        if (w->simulation->disturbance == DISTURBANCE_SHARED && chance < shared_part) seconds *= shared_factor;
        if (averages && w->units[i] > 0) {
            w->unit_s[i] += (seconds / (double)w->units[i] - w->unit_s[i]) / ++w->measured[i];
            seconds = w->unit_s[i] * (double)w->units[i];
        }
        reports[i] = (yoke_share_report){.units = w->units[i], .seconds = w->units[i] > 0 ? seconds : NAN, .moved_s = NAN, .energy_j = NAN};
    }
}

static bool balanced(const simulated_world *w)
{
    double least = INFINITY, most = 0;
    for (int i = 0; i < w->devices; i++) {
        least = fmin(least, w->true_s[i]);
        most = fmax(most, w->true_s[i]);
    }
    return most - least <= 0.05 * least;
}

static bool starved(const simulated_world *w)
{
    double all = 0;
    for (int i = 0; i < w->devices; i++) all += w->best_shares[i];
    for (int i = 0; i < w->devices; i++)
        if (w->best_shares[i] > 0.01 * all && work_of(w, i) < 0.25 * w->best_shares[i]) return true;
    return false;
}

static yoke_status run_rounds(simulated_world *w, yoke_balancer *balancer, simulated_pair *pair)
{
    yoke_share_report reports[FAMILY_MAX_DEVICES];
    bool grows = w->simulation->disturbance == DISTURBANCE_GROWTH;
    int first = grows ? 4 : SIMULATE_FIRST;
    double sum = 0, weights = 0, next = 0;
    int changes = 0;
    bool changed = false;
    *pair = (simulated_pair){.steps = -1};
    yoke_status status = yoke_balancer_update(balancer, NULL, w->total[0], w->units);
    for (int r = 0; r < w->rounds && !status; r++) {
        bool follows = changed;
        changed = change(w, r);
        double excess = work(w, r, changed);
        pair->course[r] = (float)excess;
        if (follows && !changed) {
            next += excess;
            changes++;
        }
        if (r + 1 >= first && r > w->last_spike + SIMULATE_SETTLE && !changed) {
            double weight = grows ? w->best_s : 1;
            sum += excess * weight;
            weights += weight;
        }
        if (pair->steps < 0 && balanced(w)) pair->steps = r;
        measure(w, r, reports);
        status = yoke_balancer_update(balancer, reports, w->total[r + 1], w->units);
    }
    pair->excess = weights > 0 ? sum / weights : NAN;
    pair->next = changes > 0 ? next / changes : NAN;
    pair->starved = w->rounds > w->last_spike + 1 + SIMULATE_SETTLE && starved(w);
    return status;
}

static yoke_balance_policy policy_of(sharing_method method)
{
    return method == METHOD_ADAPTIVE ? YOKE_BALANCE_ADAPTIVE : YOKE_BALANCE_PAPER;
}

static yoke_status simulate_pair(yoke_context *context, const simulated_case *simulation, int64_t number, simulated_pair *pair)
{
    simulated_world w;
    draw_world(&w, simulation, number);
    yoke_balancer *balancer = NULL;
    yoke_balancer_options options = {.devices = w.devices, .policy = policy_of(simulation->method)};
    yoke_status status = yoke_balancer_create(context, &options, &balancer);
    if (!status) status = run_rounds(&w, balancer, pair);
    yoke_balancer_destroy(balancer);
    return status;
}

yoke_status simulate(yoke_context *context, const simulated_case *simulation, int64_t count, simulated_pair *pairs)
{
    yoke_status failure = YOKE_OK;
    char text[256] = "";
#pragma omp parallel
    {
        yoke_context *own = NULL; /* a context serves one thread at a time */
        yoke_status status = yoke_context_create(NULL, &own);
#pragma omp for schedule(dynamic, 16)
        for (int64_t k = 0; k < count; k++)
            if (!status) status = simulate_pair(own, simulation, k, &pairs[k]);
        if (status) {
#pragma omp critical
            {
                failure = status;
                snprintf(text, sizeof text, "%s", yoke_last_error(own));
            }
        }
        yoke_context_destroy(own);
    }
    return failure ? yoke_fail(context, failure, "%s", text) : YOKE_OK;
}
