/*
 * price.c - the best state of a single device under given prices: the level and parts with the least cost minus value.
 */
#include <math.h>
#include <string.h>

#include "plan/round/round.h"

/* The prices of a device's seconds in each line. */
typedef struct device_prices {
    int lines, joules; /* joules: nonzero: joules have a cost */
    double seconds[PLAN_MAX_PHASES + 1], above[PLAN_MAX_PHASES + 1];
} device_prices;

/* A part of a curve: the piece, and the position between its ends. */
typedef struct place {
    double cost, part;
    int64_t piece;
    double at;
} place;

static double end_cost(const round_curve *curve, int64_t end, const device_prices *prices)
{
    const double *seconds = curve->seconds + end * prices->lines;
    double cost = prices->joules ? curve->joules[end] : 0;
    for (int k = 0; k < prices->lines; k++) cost += prices->seconds[k] * seconds[k];
    if (curve->above == NULL) return cost;
    const double *above = curve->above + end * prices->lines;
    for (int k = 0; k < prices->lines; k++) cost -= prices->above[k] * above[k];
    return cost;
}

/* The part in the range with the least cost minus value; piece -1: no part. */
static place best_part(const round_curve *curve, const double range[2], const device_prices *prices, double price)
{
    place best = {INFINITY, range[0], -1, 0};
    if (range[0] <= 0) best = (place){0, 0, -1, 0};
    if (range[1] <= 0) return best;
    int64_t low = 0, high = curve->count; /* corners[low] <= range[0] */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (curve->corners[middle] <= range[0])
            low = middle;
        else
            high = middle;
    }
    for (int64_t k = low; k < curve->count && curve->corners[k] <= range[1]; k++) {
        const double from = curve->corners[k], to = curve->corners[k + 1];
        const double costs[2] = {end_cost(curve, 2 * k, prices), end_cost(curve, 2 * k + 1, prices)};
        for (int end = 0; end < 2; end++) {
            const double part = end ? fmin(to, range[1]) : fmax(from, range[0]);
            const double at = to > from ? (part - from) / (to - from) : 0, cost = costs[0] + at * (costs[1] - costs[0]) - price * part;
            if (cost < best.cost) best = (place){cost, part, k, at};
        }
    }
    return best;
}

static void add_place(const round_search *search, const round_curve *curve, const place *from, double *numbers)
{
    const int lines = search->num_lines;
    double *seconds = numbers + search->num_groups, *above = seconds + lines, *joules = above + lines;
    if (from->piece < 0) return;
    const double weights[2] = {1 - from->at, from->at};
    for (int end = 0; end < 2; end++) {
        const int64_t row = (2 * from->piece + end) * lines;
        *joules += weights[end] * curve->joules[2 * from->piece + end];
        for (int k = 0; k < lines; k++) seconds[k] += weights[end] * curve->seconds[row + k];
        for (int k = 0; k < lines && curve->above != NULL; k++) above[k] += weights[end] * curve->above[row + k];
    }
}

static device_prices prices_of(const round_search *search, int device, const round_prices *prices)
{
    device_prices of = {.lines = search->num_lines, .joules = prices->joules};
    for (int k = 0; k < of.lines; k++) {
        of.seconds[k] = prices->lines[k * search->work->num_devices + device];
        of.above[k] = search->work->devices[device].host ? prices->hosts[k] : 0;
    }
    return of;
}

double round_best_state(const round_search *search, const round_node *node, int device, const round_prices *prices, round_state *state,
                        double *numbers)
{
    const plan_device *of = &search->work->devices[device];
    const round_box *box = &search->box;
    const int groups = search->num_groups, devices = search->work->num_devices, lines = search->num_lines;
    const device_prices own = prices_of(search, device, prices);
    place best[PLAN_MAX_PHASES + PLAN_MAX_CUTS], places[PLAN_MAX_PHASES + PLAN_MAX_CUTS];
    *state = (round_state){.device = device, .level = -1, .column = -1, .cost = INFINITY};
    memset(numbers, 0, (size_t)search->state_size * sizeof *numbers);
    if (box->may_be_off[device]) state->cost = own.joules ? (of->parked_w - box->idle_w[device]) * node->low_s : 0;
    for (int l = node->first[device]; l <= node->last[device] && box->may_work[device]; l++) {
        const int number = search->first_level[device] + l;
        const double *alone = search->alone + number * (lines + 1);
        if (!box->possible[number]) continue;
        double cost = own.joules ? alone[lines] + (of->levels[l].idle_w - box->idle_w[device]) * node->low_s : 0;
        for (int k = 0; k < lines; k++) cost += (own.seconds[k] - own.above[k]) * alone[k];
        for (int g = 0; g < groups && cost < INFINITY; g++) {
            places[g] = (place){.piece = -1};
            if (search->groups[g].total > 0 && search->groups[g].num_terms > 0)
                places[g] = best_part(&search->curves[number * groups + g], box->parts[g * devices + device], &own, prices->groups[g]);
            cost += places[g].cost;
        }
        if (!(cost < state->cost)) continue;
        state->cost = cost;
        state->level = l;
        memcpy(best, places, (size_t)groups * sizeof *best);
    }
    if (state->level < 0) return state->cost;
    const int number = search->first_level[device] + state->level;
    const double *alone = search->alone + number * (lines + 1);
    for (int k = 0; k <= lines; k++) numbers[groups + (k < lines ? k : 2 * lines)] = alone[k];
    for (int k = 0; k < lines && of->host; k++) numbers[groups + lines + k] = alone[k];
    for (int g = 0; g < groups; g++) {
        numbers[g] = best[g].part;
        add_place(search, &search->curves[number * groups + g], &best[g], numbers);
    }
    return state->cost;
}
