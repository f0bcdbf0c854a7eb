/*
 * round_weights.c - weights of the devices in the mean that an interval is at least as long as.
 *
 * The best weights are the multipliers of the linear problem: only devices that an interval waits for have any, and a unit more costs the same on all
 * devices.  From weights by how late a device is in the best choice so far, those of devices at which a unit costs too much fall, the others rise.
 */
#include <math.h>
#include <string.h>

#include "plan/round.h"

/* Seconds of a device in each wait with other units of cut 0 (by so much more). */
static void waits_of(const round_search *search, const plan_result *choice, int i, int l, double more, double *waits, double *joules)
{
    const plan_work *work = search->work;
    const plan_device *device = &work->devices[i];
    const double n = (double)choice->units[i] + more;
    for (int w = 0; w < search->num_waits; w++) waits[w] = 0;
    *joules = device->copy_j * n;
    if (n > 0) waits[work->copies_before ? work->num_intervals : 0] = device->copy_s + device->copy_per_unit_s * n;
    int64_t before[PLAN_MOST_CUTS] = {0};
    for (int j = 0; j < i; j++)
        for (int c = 0; c < work->num_cuts; c++) before[c] += choice->units[c * work->num_devices + j];
    for (int p = 0; p < work->num_phases; p++) {
        const plan_phase *phase = &work->phases[p];
        const plan_time *time = &device->levels[l].times[p];
        if (phase->units == 0 || time->absent) continue;
        double units = phase->cut < 0 ? (phase->device == i ? (double)phase->units : 0) : 0;
        if (phase->cut >= 0) units = (double)plan_phase_units(phase, before[phase->cut], choice->units[phase->cut * work->num_devices + i]);
        if (phase->cut >= 0) units += more * (double)phase->units / (double)work->cut_units[0];
        if (!(units > 0)) continue;
        const double seconds =
            time->start_s + (time->speed.count == 0 ? time->per_unit_s * units : time->calls * yoke_speed_seconds(&time->speed, units));
        waits[phase->interval] += seconds;
        *joules += time->dynamic_w * seconds;
    }
}

/* What a unit more costs on each device, in each wait and above; how late each is. */
typedef struct margins {
    double late[PLAN_MOST_PHASES + 1][PLAN_MOST_DEVICES], slope[PLAN_MOST_PHASES + 1][PLAN_MOST_DEVICES], joules[PLAN_MOST_DEVICES];
} margins;

static void find_margins(const round_search *search, const plan_result *choice, margins *m)
{
    const plan_work *work = search->work;
    const double n = (double)work->units, step = fmax(1, 1e-4 * n);
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        double here[PLAN_MOST_PHASES + 1], more[PLAN_MOST_PHASES + 1], joules, more_j;
        int l = 0;
        for (int k = 0; k < device->num_levels; k++)
            if (device->levels[k].given == choice->levels[i]) l = k;
        if (choice->units[i] == 0) l = device->num_levels - 1;
        const double base = choice->units[i] == 0 ? step : 0;
        waits_of(search, choice, i, l, base, here, &joules);
        waits_of(search, choice, i, l, base + step, more, &more_j);
        for (int w = 0; w < search->num_waits; w++) {
            m->late[w][i] = here[w];
            m->slope[w][i] = (more[w] - here[w]) / step * n;
        }
        m->joules[i] = search->limits->objective == YOKE_OBJECTIVE_TIME ? 0 : (more_j - joules) / step * n;
    }
}

static void normalise(const round_search *search, double *weights)
{
    const int devices = search->work->num_devices;
    double sum = 0;
    for (int i = 0; i < devices; i++) sum += weights[i];
    for (int i = 0; i < devices; i++) weights[i] = sum > 0 ? weights[i] / sum * (1 - 1e-14) : 1.0 / devices;
}

static void start_weights(round_search *search, const margins *m)
{
    const int devices = search->work->num_devices;
    for (int w = 0; w < search->num_waits; w++) {
        double longest = 0, *weights = search->weights + w * devices;
        for (int i = 0; i < devices; i++) longest = fmax(longest, m->late[w][i]);
        for (int i = 0; i < devices; i++) {
            const double late = longest > 0 ? m->late[w][i] / longest : 1;
            weights[i] = pow(late, 64) + 1e-4;
            if (m->slope[w][i] > 0) weights[i] /= m->slope[w][i];
        }
        normalise(search, weights);
    }
}

/* One step towards equal margins; second: what a second costs.  Sets the first group's price to the mean margin. */
static void level_margins(round_search *search, const margins *m, double second)
{
    const int devices = search->work->num_devices;
    double margin[PLAN_MOST_DEVICES], mean = 0;
    for (int i = 0; i < devices; i++) {
        margin[i] = m->joules[i];
        for (int w = 0; w < search->num_waits; w++) margin[i] += second * search->weights[w * devices + i] * m->slope[w][i];
        mean += margin[i] / devices;
    }
    search->prices[0] = mean;
    for (int w = 0; w < search->num_waits; w++) {
        for (int i = 0; i < devices; i++) {
            const double ratio = margin[i] > 0 ? mean / margin[i] : 2;
            search->weights[w * devices + i] *= fmin(2, fmax(0.5, sqrt(ratio)));
        }
        normalise(search, search->weights + w * devices);
    }
}

void round_find_weights(round_search *search, round_node *root)
{
    enum { TURNS = 8, STEPS = 6 };
    const plan_work *work = search->work;
    const int64_t count = search->num_waits * work->num_devices;
    double best = -INFINITY, kept[(PLAN_MOST_PHASES + 1) * PLAN_MOST_DEVICES], kept_price = 0;
    margins m;
    if (!search->best->result.feasible) return;
    find_margins(search, &search->best->result, &m);
    start_weights(search, &m);
    const double second = search->limits->objective == YOKE_OBJECTIVE_TIME
                              ? 1
                              : search->best->result.cost.energy_j / fmax(search->best->result.cost.time_s, 1e-300);
    for (int turn = 0; turn < TURNS; turn++) {
        round_weigh(search);
        const double bound = round_price(search, root, 12);
        if (bound > best) {
            best = bound;
            kept_price = search->prices[0];
            memcpy(kept, search->weights, (size_t)count * sizeof *kept);
        }
        for (int step = 0; step < STEPS; step++) level_margins(search, &m, second);
    }
    memcpy(search->weights, kept, (size_t)count * sizeof *kept);
    search->prices[0] = kept_price;
    round_weigh(search);
}
