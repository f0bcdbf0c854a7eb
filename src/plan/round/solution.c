/*
 * solution.c - reads the solution of a node's program: mean parts, levels, and the distance of each device from a single state.
 */
#include <math.h>
#include <string.h>

#include "plan/round/program.h"

/* The mean parts of the devices, and their levels of largest weight. */
static void take_means(node_program *p)
{
    round_search *search = p->search;
    round_relaxed *relaxed = &search->relaxed;
    const plan_simplex *program = &search->program;
    static const double least = 1e-7;
    double *weights = relaxed->weights;
    const int count = p->groups * p->devices;
    memset(weights, 0, (size_t)search->num_levels * sizeof *weights);
    memset(relaxed->mixed, 0, (size_t)count * sizeof(double));
    for (int k = 0; k < count; k++) {
        relaxed->parts[k][0] = INFINITY;
        relaxed->parts[k][1] = 0;
    }
    for (int i = 0; i < p->devices; i++) relaxed->levels[i] = relaxed->other_levels[i] = -1;
    for (int s = 0; s < search->num_states; s++) {
        round_state *state = &search->states[s];
        const double x = plan_simplex_value(program, state->column), *numbers = numbers_of(search, s);
        const int i = state->device;
        if (!(x > least)) continue;
        state->used = 1;
        for (int g = 0; g < p->groups; g++) {
            double *range = relaxed->parts[g * p->devices + i];
            relaxed->mixed[g * p->devices + i] += x * numbers[g];
            range[0] = fmin(range[0], numbers[g]);
            range[1] = fmax(range[1], numbers[g]);
        }
        if (state->level >= 0) weights[search->first_level[i] + state->level] += x;
    }
    for (int i = 0; i < p->devices; i++)
        for (int l = p->node->first[i]; l <= p->node->last[i]; l++) {
            const double *of = weights + search->first_level[i];
            int *first = &relaxed->levels[i], *second = &relaxed->other_levels[i];
            if (!(of[l] > 0)) continue;
            if (*first < 0 || of[l] > of[*first]) {
                *second = *first;
                *first = l;
            } else if (*second < 0 || of[l] > of[*second])
                *second = l;
        }
}

/*
 * Scales parts so that they sum to the totals.  If units of a group cost nothing, its parts are equal, or those of another group of the
 * same cut.
 */
static void settle_parts(const node_program *p)
{
    const round_search *search = p->search;
    double *mixed = search->relaxed.mixed;
    for (int g = 0; g < p->groups; g++) {
        double sum = 0, *row = mixed + g * p->devices;
        for (int i = 0; i < p->devices; i++) sum += row[i];
        for (int i = 0; i < p->devices; i++)
            row[i] = is_used(search, g) && sum > 0 ? row[i] / sum * search->groups[g].total : search->groups[g].total / p->devices;
    }
    for (int c = 0; c < search->work->num_cuts; c++)
        for (int g = search->work->num_cuts; g < p->groups && search->groups[c].num_terms == 0; g++)
            if (search->groups[g].cut == c) memcpy(mixed + c * p->devices, mixed + g * p->devices, (size_t)p->devices * sizeof(double));
}

/* The difference between the cost of a device's mean parts and the smaller cost of its mean of states. */
static double roughness(node_program *p, int i)
{
    round_search *search = p->search;
    double kept[PLAN_MAX_PHASES + PLAN_MAX_CUTS][2], numbers[3 * PLAN_MAX_PHASES + PLAN_MAX_CUTS + 8];
    round_state state;
    const double least = round_best_state(search, p->node, i, p->prices, &state, numbers);
    double sum = 0;
    for (int g = 0; g < p->groups; g++) {
        double *part = search->box.parts[g * p->devices + i], mean = search->relaxed.mixed[g * p->devices + i];
        memcpy(kept[g], part, sizeof kept[g]);
        if (!is_used(search, g)) continue;
        part[0] = part[1] = fmin(fmax(mean, part[0]), part[1]);
        sum += mean;
    }
    const char off = search->box.may_be_off[i];
    search->box.may_be_off[i] = (char)(off && sum < 1e-9);
    const double mean = round_best_state(search, p->node, i, p->prices, &state, numbers);
    search->box.may_be_off[i] = off;
    for (int g = 0; g < p->groups; g++) memcpy(search->box.parts[g * p->devices + i], kept[g], sizeof kept[g]);
    return isfinite(mean) ? fmax(0, mean - least) : 0;
}

void round_take_solution(node_program *p)
{
    round_search *search = p->search;
    round_relaxed *relaxed = &search->relaxed;
    const plan_simplex *program = &search->program;
    take_means(p);
    settle_parts(p);
    relaxed->time_s = p->node->low_s + plan_simplex_value(program, p->own.longer) * p->second_unit;
    const double cost = plan_simplex_cost(program) * p->cost_unit + p->second * p->node->low_s;
    relaxed->joules = cost - p->falling * relaxed->time_s;
    relaxed->value = p->joules ? relaxed->joules * pow(relaxed->time_s, round_power_of_time(search->limits->objective)) : cost;
    for (int i = 0; i < p->devices; i++) relaxed->rough[i] = roughness(p, i);
}
