/*
 * split.c - selects the range of a node to split: where the solution of the program differs most from a choice.
 */
#include <math.h>

#include "plan/round/round.h"

/* The solution must explain this fraction of the gap to the best choice; otherwise the cause is that units are whole. */
static const double explained = 0.2;
/* Makespans closer to each other than this are not split; other ranges are. */
static const double least_apart = 1e-3;

/* The group whose parts define how a cut is divided. */
static int group_of_cut(const round_search *search, int cut)
{
    for (int g = 0; g < search->num_groups; g++)
        if (search->groups[g].cut == cut && search->groups[g].num_terms > 0) return g;
    return cut;
}

/* The last number of units before a jump of the device's seconds, between the fewest and the mean units of its states. */
static int64_t jump_between(const round_search *search, int cut, double few, double mean)
{
    const plan_work *work = search->work;
    const double n = (double)work->cut_units[cut];
    int64_t at = 0;
    for (int p = 0; p < work->num_phases; p++) {
        const plan_phase *phase = &work->phases[p];
        if (phase->cut != cut || phase->whole || phase->units == 0 || phase->weight_sum != NULL) continue;
        const double part = 1 / (double)phase->units; /* smaller parts may have no unit of the phase */
        if (part < few || part > mean) continue;
        const int64_t units = (int64_t)floor(part * n);
        if (units > at) at = units;
    }
    return at;
}

/* The last unit of the first half if the units of a device are split; -1: no split. */
static int64_t units_at(const round_search *search, const round_node *node, int cut, int i)
{
    const plan_work *work = search->work;
    const int64_t *units = node->units + 2 * (cut * work->num_devices + i);
    const int place = group_of_cut(search, cut) * work->num_devices + i;
    const double n = (double)work->cut_units[cut], *range = search->relaxed.parts[place], mean = search->relaxed.mixed[place];
    if (units[0] == units[1]) return -1;
    int64_t at = range[0] < mean * 0.5 ? jump_between(search, cut, range[0], mean) : (int64_t)floor(mean * n);
    if (at < units[0] || at >= units[1]) at = (int64_t)floor(mean * n);
    if (at < units[0] || at >= units[1]) at = units[0] + (units[1] - units[0]) / 2;
    return at;
}

/* Nonzero: the device's states differ in their parts by more than states at one level do. */
static int differ_in_parts(const round_search *search, int cut, int i)
{
    const double *range = search->relaxed.parts[group_of_cut(search, cut) * search->work->num_devices + i];
    return range[1] - range[0] > 1e-9 && range[0] < 0.5 * range[1];
}

static void split_device(const round_search *search, round_node *node, int i)
{
    const plan_work *work = search->work;
    const round_relaxed *relaxed = &search->relaxed;
    int cut = -1;
    double widest = -1;
    for (int c = 0; c < work->num_cuts; c++) {
        const double *range = relaxed->parts[group_of_cut(search, c) * work->num_devices + i];
        if (node->units[2 * (c * work->num_devices + i)] == node->units[2 * (c * work->num_devices + i) + 1]) continue;
        if (!(range[1] - range[0] > widest)) continue;
        widest = range[1] - range[0];
        cut = c;
    }
    const int one = relaxed->levels[i], other = relaxed->other_levels[i];
    node->device = i;
    node->levels = node->first[i] < node->last[i] && (cut < 0 || (one >= 0 && other >= 0 && !differ_in_parts(search, cut, i)));
    if (node->levels) {
        node->at = one >= 0 && other >= 0 ? (one < other ? one : other) : node->first[i] + (node->last[i] - node->first[i]) / 2;
        if (node->at >= node->last[i]) node->at = node->last[i] - 1;
        return;
    }
    node->cut = cut;
    node->at = units_at(search, node, cut, i);
}

/* The reference for differences of seconds. */
static double usual_seconds(const round_search *search, const round_node *node)
{
    if (isfinite(node->high_s)) return fmax(node->high_s, 1e-300);
    return fmax(search->best->result.feasible ? search->best->result.cost.time_s : node->low_s, 1e-300);
}

/* The difference of a device's seconds, or joules, between its levels, with the relaxed parts. */
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
            double units = phase->cut < 0
                               ? (phase->device == i ? (double)phase->units : 0)
                               : (double)phase->units * search->relaxed.mixed[group_of_cut(search, phase->cut) * work->num_devices + i];
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

/* The difference between the seconds of the most and of the fewest units, at the level where it is smallest. */
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
    return isinf(spread) ? 1e-9 : spread / usual_seconds(search, node) + 1e-9; /* never 0 */
}

/* If the program's solution is nearly a choice: splits the range that makes the largest difference. */
static void split_widest(const round_search *search, round_node *node)
{
    const plan_work *work = search->work;
    const int power = round_power_of_time(search->limits->objective);
    double most = -1;
    if (search->limits->objective != YOKE_OBJECTIVE_TIME && node->low_s > 0 && node->high_s > node->low_s * 1.001 &&
        isfinite(node->high_s)) {
        most = 0.3 * (1 + power) * (1 - node->low_s / node->high_s);
        node->device = -1;
        node->middle_s = node->low_s + (node->high_s - node->low_s) / 2;
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

/*
 * Estimates how much the bound of E is too low because the makespan is not known.  The chord between v / T^k at two makespans is above that
 * function by at most k (k + 1) / 8 of v times the square of their relative distance.  Idle powers in excess of the least are counted only
 * for the least makespan.
 */
static double rough_makespan(const round_search *search, const round_node *node)
{
    const plan_work *work = search->work;
    const round_relaxed *relaxed = &search->relaxed;
    const int power = round_power_of_time(search->limits->objective);
    if (search->limits->objective == YOKE_OBJECTIVE_TIME || !isfinite(node->high_s) || !(node->low_s > 0) ||
        node->high_s <= node->low_s * (1 + least_apart))
        return 0;
    const double apart = node->high_s / node->low_s - 1, late = fmin(relaxed->time_s, node->high_s) - node->low_s;
    double rough = fmax(0, relaxed->joules) * fmin(1, 0.125 * power * (power + 1) * apart * apart);
    for (int i = 0; i < work->num_devices; i++)
        if (relaxed->levels[i] >= 0) rough += (work->devices[i].levels[relaxed->levels[i]].idle_w - search->box.idle_w[i]) * fmax(0, late);
    return rough;
}

void round_choose_split(const round_search *search, round_node *node)
{
    const plan_work *work = search->work;
    const round_relaxed *relaxed = &search->relaxed;
    const double enough = search_enough(search->best), size = isfinite(enough) ? enough : relaxed->value;
    const int power = search->limits->objective == YOKE_OBJECTIVE_TIME ? 0 : round_power_of_time(search->limits->objective);
    const double missing = (size - node->bound) / pow(fmax(relaxed->time_s, 1e-300), power);
    double most = rough_makespan(search, node), sum = most;
    int device = -1;
    for (int i = 0; i < work->num_devices; i++) {
        int open = node->first[i] < node->last[i];
        for (int c = 0; c < work->num_cuts; c++)
            open |= node->units[2 * (c * work->num_devices + i)] < node->units[2 * (c * work->num_devices + i) + 1];
        if (!search->box.may_work[i] || !open) continue;
        sum += relaxed->rough[i];
        if (!(relaxed->rough[i] > most)) continue;
        most = relaxed->rough[i];
        device = i;
    }
    if (!search->best->result.feasible || !(sum > explained * missing) || !(most > 0)) {
        split_widest(search, node);
        return;
    }
    node->device = -1;
    node->middle_s = fmin(fmax(relaxed->time_s, 0.8 * node->low_s + 0.2 * node->high_s), 0.2 * node->low_s + 0.8 * node->high_s);
    if (device >= 0) split_device(search, node, device);
}
