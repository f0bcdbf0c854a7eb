/*
 * look.c - examines a node of the search for rounds: narrows and bounds it, and decides how to split it.
 */
#include <math.h>
#include <string.h>

#include "plan/round/round.h"

static double of_time(double seconds, int power) { return power == 0 ? 1 : power == 1 ? seconds : seconds * seconds; }

/* -------------------------------------------------------------------------------------------------- ranges of units */

/* A device must do what the other devices cannot.  Returns 0 if nothing is left. */
static int narrow_sums(const round_search *search, round_node *node)
{
    const plan_work *work = search->work;
    for (int c = 0; c < work->num_cuts; c++) {
        int64_t fewest = 0, most = 0, n = work->cut_units[c];
        for (int i = 0; i < work->num_devices; i++) {
            const int64_t *units = round_units(search, node, c, i);
            if (units[0] > units[1]) return 0;
            fewest += units[0];
            most += units[1];
        }
        if (fewest > n || most < n) return 0;
        for (int i = 0; i < work->num_devices; i++) {
            int64_t *units = round_units(search, node, c, i);
            const int64_t others_fewest = fewest - units[0], others_most = most - units[1];
            if (n - others_most > units[0]) units[0] = n - others_most;
            if (n - others_fewest < units[1]) units[1] = n - others_fewest;
        }
    }
    return 1;
}

/* The range of units before each device, from both ends of the cut. */
static void place_ranges(round_search *search, round_node *node)
{
    const plan_work *work = search->work;
    const int devices = work->num_devices;
    for (int c = 0; c < work->num_cuts; c++) {
        int64_t(*before)[2] = search->box.before + c * (devices + 1);
        before[0][0] = before[0][1] = 0;
        for (int i = 0; i < devices; i++) {
            const int64_t *units = round_units(search, node, c, i);
            before[i + 1][0] = before[i][0] + units[0];
            before[i + 1][1] = before[i][1] + units[1];
        }
        int64_t fewest = work->cut_units[c], most = fewest;
        for (int i = devices; i >= 0; i--) {
            if (fewest > before[i][0]) before[i][0] = fewest;
            if (most < before[i][1]) before[i][1] = most;
            if (i == 0) break;
            const int64_t *units = round_units(search, node, c, i - 1);
            fewest -= units[1];
            most -= units[0];
        }
    }
}

/* The fewest units of a phase for n units of its cut, at any position within these ranges. */
static int64_t fewest_of(const plan_phase *phase, const int64_t before[2], const int64_t after[2], int64_t n, double cut_units)
{
    if (phase->whole) return n;
    int64_t surely = after[0] > before[1] ? plan_phase_units(phase, before[1], after[0] - before[1]) : 0;
    if (phase->weight_sum == NULL) {
        const double part = floor((double)phase->units * (double)n / cut_units * (1 - 1e-15));
        if (part > (double)surely) surely = (int64_t)part;
    }
    return surely;
}

/* The most units of a phase, at any position within these ranges. */
static int64_t most_of(const plan_phase *phase, const int64_t before[2], const int64_t after[2])
{
    return plan_phase_units(phase, before[0], after[1] - before[0]);
}

static void find_parts(round_search *search, round_node *node)
{
    const plan_work *work = search->work;
    const int devices = work->num_devices;
    for (int p = 0; p < work->num_phases; p++) {
        const plan_phase *phase = &work->phases[p];
        for (int i = 0; i < devices; i++) {
            int64_t *fewest = &search->box.fewest[p * devices + i];
            if (phase->cut < 0) {
                *fewest = phase->device == i ? phase->units : 0;
                continue;
            }
            int64_t(*before)[2] = search->box.before + phase->cut * (devices + 1) + i;
            *fewest = phase->units > 0 ? fewest_of(phase, before[0], before[1], round_units(search, node, phase->cut, i)[0],
                                                   (double)work->cut_units[phase->cut])
                                       : 0;
        }
    }
    for (int g = 0; g < search->num_groups; g++) {
        const round_group *group = &search->groups[g];
        const int64_t n = work->cut_units[group->cut];
        for (int i = 0; i < devices; i++) {
            double *part = search->box.parts[g * devices + i];
            const int64_t *units = round_units(search, node, group->cut, i);
            int64_t(*before)[2] = search->box.before + group->cut * (devices + 1) + i;
            part[0] = part[1] = 0;
            if (!(group->total > 0)) continue;
            if (group->weight_sum == NULL) {
                part[0] = (double)units[0] / (double)n;
                part[1] = (double)units[1] / (double)n;
                continue;
            }
            const double *sum = group->weight_sum;
            if (before[1][0] > before[0][1]) part[0] = (sum[before[1][0]] - sum[before[0][1]]) / sum[n];
            part[1] = fmin(1, (sum[before[1][1]] - sum[before[0][0]]) / sum[n] * (1 + 1e-14));
            part[0] = fmin(part[0] * (1 - 1e-14), part[1]);
        }
    }
}

/* ------------------------------------------------------------------------------------------------- bound by intervals */

typedef struct interval_bound {
    double seconds, joules;
} interval_bound;

/*
 * Seconds in each interval of a device at a level, with the fewest units.  Returns the sum of all intervals.  INFINITY: there is no kernel.
 */
static double fewest_seconds(const round_search *search, const round_node *node, int i, int l, double *intervals, double *joules)
{
    const plan_work *work = search->work;
    const plan_device *device = &work->devices[i];
    const plan_level *level = &device->levels[l];
    const int64_t n = node->units[2 * i];
    const double copy = device->copy_s + device->copy_per_unit_s * (double)n;
    double all = work->copies_before ? 0 : copy;
    *joules = device->copy_j * (double)n;
    for (int k = 0; k < work->num_intervals; k++) intervals[k] = 0;
    intervals[0] = all;
    for (int p = 0; p < work->num_phases; p++) {
        const int64_t units = search->box.fewest[p * work->num_devices + i];
        if (units <= 0) continue;
        if (level->times[p].absent) return INFINITY;
        const double seconds = plan_time_s(&level->times[p], units);
        intervals[work->phases[p].interval] += seconds;
        *joules += level->times[p].dynamic_w * seconds;
        all += seconds;
    }
    return all;
}

/* The longest time of a device in each interval, over its levels. */
static void find_most_seconds(round_search *search, const round_node *node, int i)
{
    const plan_work *work = search->work;
    const int devices = work->num_devices;
    for (int k = 0; k < work->num_intervals; k++) search->box.seconds[k * devices + i][1] = 0;
    for (int l = node->first[i]; l <= node->last[i] && search->box.may_work[i]; l++) {
        if (!search->box.possible[search->first_level[i] + l]) continue;
        double sums[PLAN_MAX_PHASES] = {0};
        for (int p = 0; p < work->num_phases; p++) {
            const plan_phase *phase = &work->phases[p];
            const plan_time *time = &work->devices[i].levels[l].times[p];
            int64_t units = phase->cut < 0 ? (phase->device == i ? phase->units : 0) : 0;
            if (phase->cut >= 0 && phase->units > 0) {
                int64_t(*before)[2] = search->box.before + phase->cut * (devices + 1) + i;
                units = most_of(phase, before[0], before[1]);
            }
            if (!time->absent) sums[phase->interval] += plan_time_s(time, units);
        }
        for (int k = 0; k < work->num_intervals; k++)
            search->box.seconds[k * devices + i][1] = fmax(search->box.seconds[k * devices + i][1], sums[k]);
    }
}

/* Finds the levels of a device that are possible in the node, and their least seconds.  Returns 0 if it can neither work nor be off. */
static int look_at_device(round_search *search, round_node *node, int i, double *min_s, double *copy_s)
{
    const plan_work *work = search->work;
    const plan_device *device = &work->devices[i];
    round_box *box = &search->box;
    const int devices = work->num_devices;
    double intervals[PLAN_MAX_PHASES], joules;
    int must = search->works[i], may = must;
    for (int c = 0; c < work->num_cuts; c++) {
        must |= round_units(search, node, c, i)[0] > 0;
        may |= round_units(search, node, c, i)[1] > 0;
    }
    box->may_be_off[i] = (char)!must;
    *min_s = INFINITY;
    *copy_s = must ? device->copy_s + device->copy_per_unit_s * (double)node->units[2 * i] : 0;
    for (int k = 0; k < work->num_intervals; k++) box->seconds[k * devices + i][0] = must ? INFINITY : 0;
    box->idle_w[i] = must ? INFINITY : device->parked_w;
    int any = 0;
    for (int l = node->first[i]; l <= node->last[i] && may; l++) {
        const double all = fewest_seconds(search, node, i, l, intervals, &joules);
        const double limit = node->high_s - work->call_s - (work->copies_before ? device->copy_s : 0);
        char *possible = &box->possible[search->first_level[i] + l];
        *possible = (char)(all <= limit * (1 + 1e-13) || (isinf(limit) && !isinf(all)));
        if (!*possible) continue;
        any = 1;
        *min_s = fmin(*min_s, all);
        box->idle_w[i] = fmin(box->idle_w[i], device->levels[l].idle_w);
        for (int k = 0; k < work->num_intervals && must; k++)
            box->seconds[k * devices + i][0] = fmin(box->seconds[k * devices + i][0], intervals[k]);
    }
    box->may_work[i] = (char)any;
    if (!must) *min_s = 0;
    if (!any && must) return 0;
    if (any || !may) return 1;
    for (int c = 0; c < work->num_cuts; c++) round_units(search, node, c, i)[1] = 0; /* the device can only be off */
    return 1;
}

/* Removes levels that are not possible from the ends of the ranges. */
static void narrow_levels(const round_search *search, round_node *node)
{
    for (int i = 0; i < search->work->num_devices; i++) {
        const char *possible = search->box.possible + search->first_level[i];
        if (!search->box.may_work[i]) {
            node->last[i] = node->first[i];
            continue;
        }
        while (!possible[node->first[i]]) node->first[i]++;
        while (!possible[node->last[i]]) node->last[i]--;
    }
}

/*
 * A lower bound of the joules with a makespan `seconds`: least idle powers, energy of the fewest units, and host overhead while hosts wait.
 */
static double least_joules(round_search *search, const round_node *node, double seconds)
{
    const plan_work *work = search->work;
    const int devices = work->num_devices;
    double sum = work->base_w * seconds, intervals[PLAN_MAX_PHASES];
    for (int i = 0; i < devices; i++) {
        const plan_device *device = &work->devices[i];
        double least = search->box.may_be_off[i] ? device->parked_w * seconds : INFINITY;
        for (int l = node->first[i]; l <= node->last[i] && search->box.may_work[i]; l++) {
            double joules;
            if (!search->box.possible[search->first_level[i] + l]) continue;
            fewest_seconds(search, node, i, l, intervals, &joules);
            least = fmin(least, device->levels[l].idle_w * seconds + joules);
        }
        sum += least;
    }
    if (!(work->host_overhead_w > 0)) return sum;
    for (int k = 0; k < work->num_intervals; k++) {
        double accelerators = 0, hosts = 0;
        for (int i = 0; i < devices; i++) {
            const double *range = search->box.seconds[k * devices + i];
            double least = range[0] - (k == 0 && !work->copies_before
                                           ? work->devices[i].copy_s + work->devices[i].copy_per_unit_s * (double)node->units[2 * i]
                                           : 0);
            if (work->devices[i].host)
                hosts = fmax(hosts, range[1]);
            else
                accelerators = fmax(accelerators, least);
        }
        sum += work->host_overhead_w * fmax(0, accelerators - hosts);
    }
    return sum;
}

/* Nonzero: no choice of the node keeps the power cap. */
static int breaks_cap(const round_search *search, const round_node *node)
{
    const plan_work *work = search->work;
    if (isinf(search->limits->power_cap_w)) return 0;
    for (int k = 0; k < work->num_intervals; k++) {
        double watts = work->base_w;
        int accelerated = 0;
        for (int i = 0; i < work->num_devices; i++) {
            double least = search->box.may_be_off[i] ? work->devices[i].parked_w : INFINITY;
            for (int l = node->first[i]; l <= node->last[i] && search->box.may_work[i]; l++) {
                const plan_level *level = &work->devices[i].levels[l];
                double active = 0;
                if (!search->box.possible[search->first_level[i] + l]) continue;
                for (int p = 0; p < work->num_phases; p++)
                    if (work->phases[p].interval == k && search->box.fewest[p * work->num_devices + i] > 0) {
                        active = fmax(active, level->times[p].dynamic_w);
                        accelerated |= !work->devices[i].host;
                    }
                least = fmin(least, level->idle_w + active);
            }
            watts += least;
        }
        if (watts + (accelerated ? work->host_overhead_w : 0) > search->limits->power_cap_w) return 1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------ capacities */

/* Nonzero: a device can have n units of a cut within the node's makespan at some level, whatever other units it has. */
static int can_have(const round_search *search, const round_node *node, int cut, int i, int64_t n)
{
    const plan_work *work = search->work;
    const plan_device *device = &work->devices[i];
    const double limit = (node->high_s - work->call_s) * (1 + 1e-13);
    for (int l = node->first[i]; l <= node->last[i]; l++) {
        if (!search->box.possible[search->first_level[i] + l]) continue;
        double all = cut == 0 ? device->copy_s + device->copy_per_unit_s * (double)n : 0;
        int missing = 0;
        for (int p = 0; p < work->num_phases && all <= limit && !missing; p++) {
            const plan_phase *phase = &work->phases[p];
            int64_t units = search->box.fewest[p * work->num_devices + i];
            if (phase->cut == cut && phase->weight_sum == NULL && phase->units > 0) {
                const double part =
                    phase->whole ? (double)n : floor((double)phase->units * (double)n / (double)work->cut_units[cut] * (1 - 1e-15));
                if (part > (double)units) units = (int64_t)part;
            }
            missing = units > 0 && device->levels[l].times[p].absent;
            if (units > 0 && !missing) all += plan_time_s(&device->levels[l].times[p], units);
        }
        if (all <= limit && !missing) return 1;
    }
    return 0;
}

/* Returns nonzero if a range became smaller. */
static int narrow_capacities(const round_search *search, round_node *node)
{
    int changed = 0;
    for (int c = 0; c < search->work->num_cuts; c++)
        for (int i = 0; i < search->work->num_devices; i++) {
            int64_t *units = round_units(search, node, c, i), low = units[0], high = units[1];
            if (low == high || !search->box.may_work[i] || can_have(search, node, c, i, high)) continue;
            while (high - low > 1) { /* low is possible, high is not */
                const int64_t middle = low + (high - low) / 2;
                if (can_have(search, node, c, i, middle))
                    low = middle;
                else
                    high = middle;
            }
            units[1] = low;
            changed = 1;
        }
    return changed;
}

/* --------------------------------------------------------------------------------------------------------- the node */

/* Removes makespans at which no choice is better than the best; `joules` is a lower bound. */
static void narrow_makespan(const round_search *search, round_node *node, double joules)
{
    const double enough = search_enough(search->best), standing = search->box.standing_w;
    const int power = round_power_of_time(search->limits->objective);
    if (isinf(enough)) return;
    double most = enough;
    if (search->limits->objective != YOKE_OBJECTIVE_TIME) {
        most = INFINITY;
        if (power > 0 && joules > 0) most = power == 1 ? enough / joules : sqrt(enough / joules);
        if (standing > 0)
            most = fmin(most, power == 0 ? node->low_s + fmax(0, enough - joules) / standing : pow(enough / standing, 1.0 / (power + 1)));
    }
    node->high_s = fmin(node->high_s, most * (1 + 1e-13));
}

/* Narrows the node once.  Returns 0 if nothing is left. */
static int look_once(round_search *search, round_node *node, double *joules)
{
    const plan_work *work = search->work;
    const int devices = work->num_devices;
    if (!narrow_sums(search, node)) return 0;
    place_ranges(search, node);
    find_parts(search, node);
    double copies = 0, longest = 0, sum = work->call_s;
    search->box.standing_w = work->base_w;
    for (int i = 0; i < devices; i++) {
        double min_s, copy_s;
        if (!look_at_device(search, node, i, &min_s, &copy_s)) return 0;
        copies = fmax(copies, copy_s);
        longest = fmax(longest, min_s);
        search->box.standing_w += search->box.idle_w[i];
        if (work->host_overhead_w > 0 && search->limits->objective != YOKE_OBJECTIVE_TIME) find_most_seconds(search, node, i);
    }
    narrow_levels(search, node);
    if (work->copies_before) sum += copies;
    for (int k = 0; k < work->num_intervals; k++) {
        double interval = 0;
        for (int i = 0; i < devices; i++) interval = fmax(interval, search->box.seconds[k * devices + i][0]);
        sum += interval;
    }
    node->low_s = fmax(node->low_s, sum * (1 - 1e-14));
    if (breaks_cap(search, node)) return 0;
    *joules = search->limits->objective == YOKE_OBJECTIVE_TIME ? 0 : least_joules(search, node, node->low_s) * (1 - 1e-14);
    narrow_makespan(search, node, *joules);
    return node->low_s <= node->high_s;
}

/* Nonzero: the node is a single choice. */
static int is_single(const round_search *search, const round_node *node)
{
    const plan_work *work = search->work;
    for (int k = 0; k < work->num_cuts * work->num_devices; k++)
        if (node->units[2 * k] != node->units[2 * k + 1]) return 0;
    for (int i = 0; i < work->num_devices; i++)
        if (search->box.may_work[i] && node->first[i] != node->last[i]) return 0;
    return 1;
}

static void offer_single(round_search *search, const round_node *node)
{
    const plan_work *work = search->work;
    int64_t units[PLAN_MAX_CUTS * PLAN_MAX_DEVICES], levels[PLAN_MAX_DEVICES];
    for (int k = 0; k < work->num_cuts * work->num_devices; k++) units[k] = node->units[2 * k];
    for (int i = 0; i < work->num_devices; i++) levels[i] = work->devices[i].levels[node->first[i]].given;
    round_offer(search, units, levels);
}

/* Raises the lower end of the makespans to a bound of T by prices, which makes the node smaller.  Returns 0 if nothing is left. */
static int raise_makespan(round_search *search, round_node *node, int turns, double *joules)
{
    static const double narrow = 1.02;
    if (search->limits->objective == YOKE_OBJECTIVE_TIME || node->high_s <= node->low_s * narrow) return 1;
    node->low_s = fmax(node->low_s, round_bound_time(search, node, turns));
    if (node->low_s > node->high_s) return 0;
    *joules = least_joules(search, node, node->low_s) * (1 - 1e-14);
    narrow_makespan(search, node, *joules);
    return node->low_s <= node->high_s;
}

int round_look(round_search *search, round_node *node, int turns)
{
    double joules;
    const int power = round_power_of_time(search->limits->objective);
    for (int pass = 0; pass < 2; pass++) {
        if (!look_once(search, node, &joules)) return 0;
        if (!narrow_capacities(search, node)) break;
        if (pass == 1 && !look_once(search, node, &joules)) return 0;
    }
    if (!narrow_sums(search, node)) return 0; /* devices that can only be off now have no units */
    if (is_single(search, node)) {
        offer_single(search, node);
        return 0;
    }
    if (!raise_makespan(search, node, turns, &joules)) return 0;
    double bound = search->limits->objective == YOKE_OBJECTIVE_TIME ? node->low_s : joules * of_time(node->low_s, power);
    node->bound = fmax(node->bound, bound);
    if (node->bound >= search_enough(search->best)) return 0;
    const double priced = round_bound_objective(search, node, turns);
    node->bound = fmax(node->bound, priced);
    if (search->limits->objective == YOKE_OBJECTIVE_TIME) node->low_s = fmax(node->low_s, priced);
    if (node->bound >= search_enough(search->best)) return 0;
    round_choose_split(search, node);
    return 1;
}
