/*
 * improve.c - choices for a round: relaxed parts rounded to whole units, and choices found by moving units and changing levels.
 */
#include <math.h>
#include <string.h>

#include "plan/round/round.h"

static int is_at_work(const round_search *search, const int64_t *units, int i)
{
    int at_work = search->works[i];
    for (int c = 0; c < search->work->num_cuts; c++) at_work |= units[c * search->work->num_devices + i] > 0;
    return at_work;
}

void round_offer(round_search *search, const int64_t *units, const int64_t *levels)
{
    const plan_work *work = search->work;
    const search_limits *limits = search->limits;
    search_best *best = search->best;
    plan_result candidate = {.feasible = 1};
    for (int c = 0; c < work->num_cuts; c++) { /* those that fit nowhere were omitted */
        int64_t left = work->cut_units[c];
        for (int i = 0; i < work->num_devices; i++) left -= units[c * work->num_devices + i];
        if (left != 0) return;
    }
    memcpy(candidate.units, units, (size_t)(work->num_cuts * work->num_devices) * sizeof *units);
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        candidate.levels[i] = is_at_work(search, units, i) ? levels[i] : device->levels[device->parked].given;
    }
    candidate.cost = plan_cost_of(work, candidate.units, candidate.levels);
    if (!(candidate.cost.time_s <= limits->deadline_s) || candidate.cost.peak_w > limits->power_cap_w) return;
    if (!plan_better(work, limits->objective, &candidate, &best->result)) return;
    candidate.nodes = best->result.nodes;
    best->result = candidate;
    best->value = plan_objective_value(limits->objective, &candidate.cost);
}

static void rank(round_search *search, round_trial *t)
{
    const search_limits *limits = search->limits;
    const plan_cost cost = plan_cost_of(search->work, t->units, t->levels);
    search->evaluations--;
    t->excess = t->value = INFINITY;
    t->time_s = cost.time_s;
    if (isnan(cost.time_s)) return;
    t->excess = 0;
    if (cost.time_s > limits->deadline_s) t->excess += cost.time_s / limits->deadline_s - 1;
    if (cost.peak_w > limits->power_cap_w) t->excess += cost.peak_w / limits->power_cap_w - 1;
    t->value = plan_objective_value(limits->objective, &cost);
}

static int is_better(const round_trial *a, const round_trial *b)
{
    const double room = 1e-13;
    if (a->excess != b->excess) return a->excess < b->excess * (1 - room);
    if (fabs(a->value - b->value) > room * fabs(b->value)) return a->value < b->value;
    return a->time_s < b->time_s * (1 - room);
}

static int64_t max_units(const round_search *search, int cut, int i)
{
    const int64_t n = search->work->cut_units[cut];
    return cut == 0 && search->limits->most[i] < n ? search->limits->most[i] : search->limits->most[i] == 0 && cut == 0 ? 0 : n;
}

/* Moves units from one device to another, or half of them to a third (or from a third).  Keeps the better choice. */
static int try_move(round_search *search, int cut, int from, int to, int third, int64_t step, round_trial *t)
{
    const int devices = search->work->num_devices;
    int64_t *units = t->units + cut * devices;
    const round_trial before = *t;
    const int64_t half = third >= 0 ? step / 2 : 0;
    if (units[from] < step || units[to] + step > max_units(search, cut, to) || search->evaluations <= 0) return 0;
    units[from] -= step;
    units[to] += step - half;
    if (third >= 0) {
        units[third] += half;
        if (half == 0 || units[third] > max_units(search, cut, third)) {
            *t = before;
            return 0;
        }
    }
    rank(search, t);
    if (is_better(t, &before)) return 1;
    *t = before;
    return 0;
}

/* Tries moves between all pairs of devices (and, if requested, all triples) with one step.  Returns nonzero if any choice is better. */
static int move_all(round_search *search, int64_t step, int triples, round_trial *t)
{
    const int devices = search->work->num_devices;
    int better = 0;
    for (int c = 0; c < search->work->num_cuts; c++)
        for (int i = 0; i < devices; i++)
            for (int j = 0; j < devices; j++) {
                if (i == j) continue;
                while (try_move(search, c, i, j, -1, step, t)) better = 1;
                for (int k = 0; k < devices && triples; k++)
                    if (k != i && k != j && try_move(search, c, i, j, k, step, t)) better = 1;
            }
    return better;
}

static void move_units(round_search *search, int64_t first_step, round_trial *t)
{
    const int triples = search->work->num_devices <= 10;
    for (int64_t step = first_step; step > 0 && search->evaluations > 0; step /= 4)
        for (int turn = 0; turn < 8 && move_all(search, step, triples, t); turn++) continue;
}

static int64_t largest_cut(const plan_work *work)
{
    int64_t most = 1;
    for (int c = 0; c < work->num_cuts; c++) most = work->cut_units[c] > most ? work->cut_units[c] : most;
    return most;
}

/* Omits each device, one after the other, and distributes its units over the others in proportion. */
static int leave_out(round_search *search, round_trial *t)
{
    const plan_work *work = search->work;
    const int devices = work->num_devices;
    int better = 0;
    for (int i = 0; i < devices && search->evaluations > 0; i++) {
        const round_trial before = *t;
        if (!is_at_work(search, t->units, i) || search->works[i]) continue;
        for (int c = 0; c < work->num_cuts; c++) {
            int64_t *units = t->units + c * devices, left = units[i], moved = units[i];
            const int64_t others = work->cut_units[c] - moved;
            units[i] = 0;
            for (int turn = 0; turn < 2; turn++) /* the second turn distributes the rounding remainder */
                for (int j = 0; j < devices && left > 0; j++) {
                    int64_t more = turn == 0 && others > 0
                                       ? (int64_t)((double)moved * ((double)before.units[c * devices + j] / (double)others))
                                       : left;
                    if (j == i || units[j] == 0) continue;
                    if (more > left) more = left;
                    if (more > max_units(search, c, j) - units[j]) more = max_units(search, c, j) - units[j];
                    units[j] += more;
                    left -= more;
                }
            units[i] = left; /* units that no other device has room for */
        }
        rank(search, t);
        move_units(search, largest_cut(work) / 64 + 1, t);
        if (is_better(t, &before))
            better = 1;
        else
            *t = before;
    }
    return better;
}

/* Tries the other levels of each device; if `moving`, units are moved after each change. */
static int change_levels(round_search *search, int moving, round_trial *t)
{
    const plan_work *work = search->work;
    int better = 0;
    for (int i = 0; i < work->num_devices; i++) {
        if (!is_at_work(search, t->units, i)) continue;
        for (int l = search->limits->first_level[i]; l <= search->limits->last_level[i] && search->evaluations > 0; l++) {
            const round_trial before = *t;
            if (work->devices[i].levels[l].given == t->levels[i]) continue;
            t->levels[i] = work->devices[i].levels[l].given;
            rank(search, t);
            if (moving) {
                const int64_t own = before.units[i] / 4;
                move_units(search, own > 0 ? own : 1, t);
            }
            if (is_better(t, &before))
                better = 1;
            else
                *t = before;
        }
    }
    return better;
}

/* Takes a part of the remaining evaluations, so that some are left for later choices.  Returns the rest. */
static int64_t take_evaluations(round_search *search, int parts)
{
    const int64_t own = search->evaluations / parts, rest = search->evaluations - own;
    search->evaluations = own;
    return rest;
}

static round_trial trial_of(round_search *search, const int64_t *units, const int64_t *levels)
{
    round_trial t;
    memcpy(t.units, units, (size_t)(search->work->num_cuts * search->work->num_devices) * sizeof *units);
    memcpy(t.levels, levels, (size_t)search->work->num_devices * sizeof *levels);
    rank(search, &t);
    return t;
}

void round_improve(round_search *search, const int64_t *units, const int64_t *levels, int parts)
{
    const int64_t rest = take_evaluations(search, parts), step = largest_cut(search->work) / 4;
    round_trial t = trial_of(search, units, levels);
    for (int turn = 0; turn < 6 && search->evaluations > 0; turn++) {
        move_units(search, step > 0 ? step : 1, &t);
        if (!change_levels(search, 0, &t) && !leave_out(search, &t) && !change_levels(search, 1, &t)) break;
    }
    search->evaluations += rest;
    round_offer(search, t.units, t.levels);
}

void round_polish(round_search *search, const int64_t *units, const int64_t *levels)
{
    enum { FEW = 1500 };
    static const double near = 0.02;
    const plan_work *work = search->work;
    round_trial t = trial_of(search, units, levels);
    round_offer(search, units, levels);
    if (t.excess > near || t.value > search->best->value * (1 + (t.excess > 0 ? 0 : near)) || search->evaluations < FEW) return;
    const int64_t rest = search->evaluations - FEW, first = largest_cut(work) / 256 + 1;
    search->evaluations = FEW;
    for (int turn = 0; turn < 3; turn++) {
        for (int64_t step = first; step > 0; step /= 4)
            for (int k = 0; k < 4 && move_all(search, step, 0, &t); k++) continue;
        if (!change_levels(search, 0, &t)) break;
    }
    search->evaluations += rest;
    round_offer(search, t.units, t.levels);
}

/* The number of units whose weight is nearest to a part of the group's weight. */
static int64_t units_until(const round_group *group, int64_t n, double part)
{
    if (group->weight_sum == NULL) return (int64_t)floor(part * (double)n + 0.5);
    int64_t low = 0, high = n; /* sum[low] <= target */
    const double target = part * group->weight_sum[n];
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (group->weight_sum[middle] <= target)
            low = middle;
        else
            high = middle;
    }
    return high <= n && group->weight_sum[high] - target < target - group->weight_sum[low] ? high : low;
}

/* Units of one cut.  Units that do not fit are given to devices that have room. */
static void round_cut(const round_search *search, int cut, int64_t *units)
{
    const plan_work *work = search->work;
    const int devices = work->num_devices;
    const int64_t n = work->cut_units[cut];
    int g = cut;
    for (int k = 0; k < search->num_groups && search->groups[g].num_terms == 0; k++)
        if (search->groups[k].cut == cut && search->groups[k].num_terms > 0) g = k;
    const double *parts = search->relaxed.mixed + g * devices;
    double sum = 0;
    int64_t before = 0, left = n;
    for (int i = 0; i < devices; i++) {
        sum += parts[i];
        int64_t until = search->groups[g].num_terms > 0 ? units_until(&search->groups[g], n, fmin(1, sum)) : n;
        if (i + 1 == devices) until = n;
        units[i] = parts[i] > 0 && until > before ? until - before : 0;
        if (units[i] > max_units(search, cut, i)) units[i] = max_units(search, cut, i);
        if (units[i] > left) units[i] = left;
        left -= units[i];
        if (until > before) before = until;
    }
    for (int turn = 0; turn < 2; turn++) /* devices at work come first */
        for (int i = 0; i < devices && left > 0; i++) {
            int64_t room = max_units(search, cut, i) - units[i];
            if (turn == 0 && units[i] == 0) continue;
            if (room > left) room = left;
            units[i] += room;
            left -= room;
        }
}

void round_from_relaxed(const round_search *search, int64_t *units, int64_t *levels)
{
    const plan_work *work = search->work;
    for (int c = 0; c < work->num_cuts; c++) round_cut(search, c, units + c * work->num_devices);
    for (int i = 0; i < work->num_devices; i++) {
        const int l = search->relaxed.levels[i] >= 0 ? search->relaxed.levels[i] : search->limits->last_level[i];
        levels[i] = work->devices[i].levels[l].given;
    }
}
