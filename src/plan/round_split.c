/*
 * round_split.c - which range of a node to halve: the one that makes the largest difference.
 */
#include <math.h>

#include "plan/round.h"

/* Seconds that others are compared with. */
static double usual_seconds(const round_search *search, const round_node *node)
{
    if (isfinite(node->high_s)) return fmax(node->high_s, 1e-300);
    return fmax(search->best->result.feasible ? search->best->result.cost.time_s : node->low_s, 1e-300);
}

/* By how much a device's seconds, or joules, differ between levels with the relaxed parts. */
static double spread_of_levels(const round_search *search, const round_node *node, int i)
{
    const plan_work *work = search->work;
    double least[2] = {INFINITY, INFINITY}, most[2] = {0, 0};
    for (int l = node->first[i]; l <= node->last[i]; l++) {
        const plan_level *level = &work->devices[i].levels[l];
        double seconds = 0, joules = level->idle_w * node->low_s;
        if (!search->box.possible[search->first_level[i] + l]) continue;
        for (int p = 0; p < work->num_phases; p++) {
            const plan_phase *phase = &work->phases[p];
            double units = phase->cut < 0 ? (phase->device == i ? (double)phase->units : 0)
                                          : (double)phase->units * search->relaxed.mixed[phase->cut * work->num_devices + i];
            if (level->times[p].absent || units < 0.5) continue;
            const double this = plan_time_s(&level->times[p], (int64_t)(units + 0.5));
            seconds += this;
            joules += level->times[p].dynamic_w * this;
        }
        least[0] = fmin(least[0], seconds);
        most[0] = fmax(most[0], seconds);
        least[1] = fmin(least[1], joules);
        most[1] = fmax(most[1], joules);
    }
    const double usual = usual_seconds(search, node), of_seconds = (most[0] - least[0]) / usual;
    if (search->limits->objective == YOKE_OBJECTIVE_TIME) return of_seconds;
    return of_seconds + (most[1] - least[1]) / fmax(search->box.standing_w * usual, 1e-300);
}

/* By how much the seconds of a device's fastest level differ between the fewest and the most units. */
static double spread_of_units(const round_search *search, const round_node *node, int cut, int i)
{
    const plan_work *work = search->work;
    const plan_device *device = &work->devices[i];
    const int64_t *units = node->units + 2 * (cut * work->num_devices + i);
    const double apart = (double)(units[1] - units[0]), n = (double)work->cut_units[cut];
    double spread = INFINITY;
    for (int l = node->first[i]; l <= node->last[i]; l++) {
        double this = cut == 0 ? device->copy_per_unit_s * apart : 0;
        if (!search->box.possible[search->first_level[i] + l]) continue;
        for (int p = 0; p < work->num_phases; p++) {
            const plan_phase *phase = &work->phases[p];
            const plan_time *time = &device->levels[l].times[p];
            if (phase->cut != cut || time->absent || phase->units == 0) continue;
            const int64_t low = search->box.fewest[p * work->num_devices + i], more = (int64_t)ceil((double)phase->units * apart / n);
            this += plan_time_s(time, low + more) - plan_time_s(time, low);
        }
        spread = fmin(spread, this);
    }
    return isinf(spread) ? 1e-9 : spread / usual_seconds(search, node) + 1e-9; /* never nothing */
}

void round_choose_split(const round_search *search, round_node *node)
{
    const plan_work *work = search->work;
    const int power = round_power_of_time(search->limits->objective);
    double most = -1;
    if (search->limits->objective != YOKE_OBJECTIVE_TIME && node->low_s > 0 && node->high_s > node->low_s * 1.001 &&
        isfinite(node->high_s)) {
        most = 0.3 * (1 + power) * (1 - node->low_s / node->high_s);
        node->device = -1;
    }
    for (int i = 0; i < work->num_devices; i++) {
        if (!search->box.may_work[i]) continue;
        if (node->first[i] < node->last[i]) {
            const double spread = spread_of_levels(search, node, i) + 1e-9;
            if (spread > most) {
                most = spread;
                node->device = i;
                node->levels = 1;
                node->at = node->first[i] + (node->last[i] - node->first[i]) / 2;
            }
        }
        for (int c = 0; c < work->num_cuts; c++) {
            const int64_t *units = node->units + 2 * (c * work->num_devices + i);
            if (units[0] == units[1]) continue;
            const double spread = spread_of_units(search, node, c, i);
            if (!(spread > most)) continue;
            most = spread;
            node->device = i;
            node->levels = 0;
            node->cut = c;
            node->at = units[0] + (units[1] - units[0]) / 2;
        }
    }
}
