#include "brute_round.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_problem.h"

/* ----------------------------------------------------------------------------------------------------- the cost */

/* round(units w(b) / w(all)), halves up, in whole numbers: the weights are whole. */
static int64_t units_before(const yoke_phase *phase, int64_t n, int64_t b)
{
    int64_t part = phase->weight_sum != NULL ? (int64_t)phase->weight_sum[b] : b,
            all = phase->weight_sum != NULL ? (int64_t)phase->weight_sum[n] : n;
    return all == 0 ? 0 : (2 * phase->units * part + all) / (2 * all);
}

static double phase_seconds(const yoke_phase *phase, const yoke_plan_time *time, int64_t units)
{
    const yoke_plan_level level = {.seconds_per_unit = time->seconds_per_unit, .num_points = time->num_points, .points = time->points};
    if (units == 0) return 0;
    return time->absent ? NAN : phase->calls * (time->start_seconds + brute_seconds(&level, units));
}

/* The one device that has units of any cut or phase of its own; -1: several, or none. */
static int64_t alone_at_work(const yoke_plan_problem *problem, const int64_t *units)
{
    const yoke_round *round = problem->round;
    int64_t found = -1;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < round->num_cuts; c++) sum += units[c * problem->num_devices + i];
        for (int64_t p = 0; p < round->num_phases; p++)
            if (round->phases[p].cut < 0 && round->phases[p].device == i) sum += round->phases[p].units;
        if (sum == 0) continue;
        if (found >= 0) return -1;
        found = i;
    }
    return found;
}

brute_cost brute_round_evaluate(const yoke_plan_problem *problem, const int64_t *units, const int64_t *levels)
{
    const yoke_round *round = problem->round;
    const int64_t devices = problem->num_devices;
    double T = 0, C = 0, joules = 0, idle_w = problem->base_power_w, overhead_w = 0, peak = 0, works[ROUND_PHASES][ROUND_DEVICES] = {{0}};
    double copy[ROUND_DEVICES] = {0};
    int64_t had[ROUND_PHASES][ROUND_DEVICES];
    const int64_t alone = alone_at_work(problem, units);
    brute_cost cost = {0};
    for (int64_t i = 0; i < devices; i++) {
        const yoke_plan_device *device = &problem->devices[i];
        const yoke_plan_level *level = &device->levels[levels[i]];
        bool working = false;
        for (int64_t c = 0; c < round->num_cuts; c++) {
            cost.used += !working && units[c * devices + i] > 0;
            working |= units[c * devices + i] > 0;
        }
        for (int64_t p = 0; p < round->num_phases; p++) {
            const yoke_phase *phase = &round->phases[p];
            had[p][i] = phase->cut < 0 && phase->device == i ? phase->units : 0;
            if (phase->cut >= 0) {
                int64_t before = 0, n = round->cut_units[phase->cut];
                for (int64_t j = 0; j < i; j++) before += units[phase->cut * devices + j];
                had[p][i] = units_before(phase, n, before + units[phase->cut * devices + i]) - units_before(phase, n, before);
            }
            working |= phase->cut < 0 && had[p][i] > 0;
            works[p][i] = phase_seconds(phase, &level->phases[p], had[p][i]);
            if (i == alone && level->phases[p].alone_factor > 0) works[p][i] *= level->phases[p].alone_factor;
            if (had[p][i] > 0) joules += level->phases[p].dynamic_power_w * works[p][i];
        }
        if (working) {
            copy[i] = device->copy_seconds + device->copy_seconds_per_unit * (double)units[i];
            joules += device->copy_joules_per_unit * (double)units[i];
            idle_w += level->idle_power_w;
        } else if (!device->removable) {
            idle_w += device->levels[brute_parks_anywhere(problem, device) ? levels[i] : brute_parked(device)].idle_power_w;
        }
        overhead_w = fmax(overhead_w, level->host_overhead_w);
        C = fmax(C, copy[i]);
    }
    overhead_w += problem->host_overhead_w;
    if (problem->copies_before) T = C;
    for (int64_t first = 0, last; first < round->num_phases; first = last + 1) {
        double longest = 0, hosts = 0, accelerators = 0, watts = idle_w;
        bool accelerated = false;
        for (last = first; last + 1 < round->num_phases && !round->phases[last].barrier;) last++;
        for (int64_t i = 0; i < devices; i++) {
            double sum = 0, dynamic_w = 0;
            for (int64_t p = first; p <= last; p++) {
                sum += works[p][i];
                if (had[p][i] > 0) dynamic_w = fmax(dynamic_w, problem->devices[i].levels[levels[i]].phases[p].dynamic_power_w);
            }
            if (isnan(sum)) return (brute_cost){NAN, NAN, NAN, 0};
            watts += dynamic_w;
            if (problem->devices[i].host)
                hosts = fmax(hosts, sum);
            else
                accelerators = fmax(accelerators, sum);
            accelerated |= !problem->devices[i].host && sum > 0;
            longest = fmax(longest, sum + (first == 0 && !problem->copies_before ? copy[i] : 0));
        }
        T += longest;
        joules += overhead_w * fmax(0, accelerators - hosts);
        peak = fmax(peak, watts + (accelerated ? overhead_w : 0));
    }
    for (int64_t p = 0; p < round->num_phases; p++) T += round->phases[p].calls * round->phases[p].call_seconds;
    cost.time_s = T;
    cost.energy_j = idle_w * T + joules;
    cost.peak_power_w = peak;
    return cost;
}

/* -------------------------------------------------------------------------------------------------- all choices */

typedef struct walk {
    const yoke_plan_problem *problem;
    brute_list *list;
    int64_t room, units[ROUND_CUTS * ROUND_DEVICES], levels[ROUND_DEVICES];
    bool failed;
} walk;

static void keep(walk *w)
{
    brute_list *list = w->list;
    if (list->count == w->room) {
        w->room = 2 * w->room + 1024;
        brute_cost *more = realloc(list->costs, (size_t)w->room * sizeof *more);
        w->failed = w->failed || more == NULL;
        if (more == NULL) return;
        list->costs = more;
    }
    brute_cost cost = brute_round_evaluate(w->problem, w->units, w->levels);
    if (!isnan(cost.time_s)) list->costs[list->count++] = cost;
}

static void choose_level(walk *w, int64_t i)
{
    if (w->failed) return;
    if (i == w->problem->num_devices || i == ROUND_DEVICES) {
        keep(w);
        return;
    }
    for (w->levels[i] = 0; w->levels[i] < w->problem->devices[i].num_levels; w->levels[i]++) choose_level(w, i + 1);
}

static void choose_units(walk *w, int64_t c, int64_t i, int64_t left)
{
    const int64_t devices = w->problem->num_devices;
    if (c == w->problem->round->num_cuts) {
        choose_level(w, 0);
        return;
    }
    for (int64_t n = i == devices - 1 ? left : 0; n <= left; n++) {
        if (c == 0 && n > w->problem->devices[i].max_units) return;
        w->units[c * devices + i] = n;
        if (i == devices - 1)
            choose_units(w, c + 1, 0, c + 1 < w->problem->round->num_cuts ? w->problem->round->cut_units[c + 1] : 0);
        else
            choose_units(w, c, i + 1, left - n);
    }
}

bool brute_round(const yoke_plan_problem *problem, brute_list *list)
{
    walk w = {.problem = problem, .list = list};
    *list = (brute_list){0};
    choose_units(&w, 0, 0, problem->round->cut_units[0]);
    if (w.failed) brute_free(list);
    return !w.failed;
}

/* ----------------------------------------------------------------------------------------------- random rounds */

static void draw_time(random_state *random, const random_round *drawn, double slow, double points[ROUND_POINTS][2], yoke_plan_time *time)
{
    *time = (yoke_plan_time){.seconds_per_unit = slow * random_ratio(random, 0.5, 2),
                             .start_seconds = random_chance(random, 0.4) ? random_uniform(random, 0, 5) : 0,
                             .dynamic_power_w = random_uniform(random, 1, 50)};
    if (!random_chance(random, 0.3)) return;
    time->num_points = random_whole(random, 1, ROUND_POINTS);
    time->points = points[0];
    double units = 0;
    for (int64_t k = 0; k < time->num_points; k++) {
        units += random_uniform(random, 0.5, (double)drawn->cut_units[0]);
        points[k][0] = units;
        points[k][1] = units * time->seconds_per_unit * random_ratio(random, 0.5, 2);
    }
}

static void draw_phase(random_state *random, random_round *drawn, int p)
{
    const int64_t cuts = drawn->round.num_cuts;
    yoke_phase *phase = &drawn->phases[p];
    *phase = (yoke_phase){.work = "work",
                          .calls = random_chance(random, 0.3) ? random_uniform(random, 0.5, 4) : 1,
                          .cut = random_chance(random, 0.1) && p > 0 ? -1 : random_whole(random, 0, cuts - 1),
                          .device = random_whole(random, 0, drawn->problem.num_devices - 1),
                          .barrier = random_chance(random, 0.6),
                          .call_seconds = random_chance(random, 0.2) ? random_uniform(random, 0, 3) : 0};
    const int64_t n = phase->cut >= 0 ? drawn->cut_units[phase->cut] : 4;
    phase->units = random_chance(random, 0.5) ? n : random_whole(random, 0, 2 * n);
    if (phase->cut < 0 || n == 0 || !random_chance(random, 0.3)) return;
    for (int64_t k = 0; k < n; k++)
        drawn->weights[p][k + 1] = drawn->weights[p][k] + (double)random_whole(random, random_chance(random, 0.3) ? 0 : 1, 9);
    if (drawn->weights[p][n] > 0) phase->weight_sum = drawn->weights[p];
}

static void draw_devices(random_state *random, random_round *drawn)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    const int levels = (int)random_whole(random, 1, ROUND_LEVELS);
    const bool kernels = random_chance(random, 0.85), removable = random_chance(random, 0.4), limits = random_chance(random, 0.3);
    for (int i = 0; i < drawn->problem.num_devices; i++) {
        drawn->devices[i] = (yoke_plan_device){.name = names[i],
                                               .host = i == 0 || random_chance(random, 0.3),
                                               .removable = removable && random_chance(random, 0.6),
                                               .num_levels = random_whole(random, 1, levels),
                                               .levels = drawn->levels[i],
                                               .copy_seconds = random_chance(random, 0.3) ? random_uniform(random, 0, 10) : 0,
                                               .copy_seconds_per_unit = random_chance(random, 0.3) ? random_uniform(random, 0, 2) : 0,
                                               .copy_joules_per_unit = random_chance(random, 0.3) ? random_uniform(random, 0, 50) : 0,
                                               .max_units = limits ? random_whole(random, 0, drawn->cut_units[0]) : INT64_MAX};
        double slow[ROUND_PHASES];
        for (int p = 0; p < drawn->round.num_phases; p++) slow[p] = random_ratio(random, 0.5, 8);
        for (int l = 0; l < drawn->devices[i].num_levels; l++) {
            drawn->levels[i][l] =
                (yoke_plan_level){.frequency_hz = 1e9, .idle_power_w = random_uniform(random, 0, 30), .phases = drawn->times[i][l]};
            for (int p = 0; p < drawn->round.num_phases; p++)
                draw_time(random, drawn, slow[p], drawn->points[i][l][p], &drawn->times[i][l][p]);
        }
        for (int p = 0; p < drawn->round.num_phases && !kernels; p++)
            if (random_chance(random, 0.2) && drawn->phases[p].cut >= 0)
                for (int l = 0; l < drawn->devices[i].num_levels; l++) drawn->times[i][l][p].absent = 1;
    }
}

static double count_choices(const random_round *drawn)
{
    double count = 1;
    for (int64_t i = 0; i < drawn->problem.num_devices; i++) count *= (double)drawn->devices[i].num_levels;
    for (int64_t c = 0; c < drawn->round.num_cuts; c++)
        for (int64_t i = 1; i < drawn->problem.num_devices; i++) count *= (double)(drawn->cut_units[c] + i) / (double)i;
    return count;
}

/* A third of the rounds, with numbers of their own. */
static void draw_contention(int64_t number, random_round *drawn)
{
    random_state random = {(uint64_t)number * 0xd1342543de82ef95u + 5};
    random_uniform(&random, 0, 1);
    for (int i = 0; i < drawn->problem.num_devices && number % 3 == 1; i++)
        for (int l = 0; l < drawn->devices[i].num_levels; l++)
            for (int p = 0; p < drawn->round.num_phases; p++)
                if (random_chance(&random, 0.8)) drawn->times[i][l][p].alone_factor = random_uniform(&random, 0.4, 1);
}

/* A quarter of the rounds. */
static void draw_overheads(int64_t number, random_round *drawn)
{
    random_state random = {(uint64_t)number * 0xd1342543de82ef95u + 6};
    random_uniform(&random, 0, 1);
    for (int i = 0; i < drawn->problem.num_devices && number % 4 == 2; i++)
        for (int l = 0; l < drawn->devices[i].num_levels && drawn->devices[i].host; l++)
            drawn->levels[i][l].host_overhead_w = random_chance(&random, 0.7) ? random_uniform(&random, 0, 60) : 0;
}

void random_round_draw(int64_t number, double most_choices, random_round *drawn)
{
    random_state random = {(uint64_t)number * 0x9e3779b97f4a7c15u + 77};
    random_uniform(&random, 0, 1);
    memset(drawn, 0, sizeof *drawn);
    drawn->problem = (yoke_plan_problem){.copies_before = random_chance(&random, 0.5),
                                         .base_power_w = random_uniform(&random, 0, 40),
                                         .host_overhead_w = random_chance(&random, 0.4) ? random_uniform(&random, 0, 40) : 0,
                                         .num_devices = random_whole(&random, random_chance(&random, 0.1) ? 1 : 2, 3),
                                         .devices = drawn->devices,
                                         .round = &drawn->round};
    drawn->round = (yoke_round){.num_cuts = random_chance(&random, 0.3) ? 2 : 1,
                                .cut_units = drawn->cut_units,
                                .num_phases = random_whole(&random, 1, ROUND_PHASES),
                                .phases = drawn->phases};
    for (int c = 0; c < ROUND_CUTS; c++) drawn->cut_units[c] = random_whole(&random, random_chance(&random, 0.05) ? 0 : 2, 12);
    for (int p = 0; p < drawn->round.num_phases; p++) draw_phase(&random, drawn, p);
    draw_devices(&random, drawn);
    draw_contention(number, drawn);
    draw_overheads(number, drawn);
    while (count_choices(drawn) > most_choices)
        for (int i = 0; i < drawn->problem.num_devices; i++) /* fewer levels */
            if (drawn->devices[i].num_levels > 1)
                drawn->devices[i].num_levels--;
            else if (drawn->round.num_cuts == 1 || count_choices(drawn) <= most_choices)
                return;
            else if (i + 1 == drawn->problem.num_devices)
                return;
}

static void print_phases(const random_round *drawn)
{
    for (int64_t p = 0; p < drawn->round.num_phases; p++) {
        const yoke_phase *phase = &drawn->phases[p];
        printf("phase %lld: calls %.17g cut %lld device %lld units %lld barrier %d call %.17g weights", (long long)p, phase->calls,
               (long long)phase->cut, (long long)phase->device, (long long)phase->units, phase->barrier, phase->call_seconds);
        for (int64_t k = 0; phase->weight_sum != NULL && k <= drawn->cut_units[phase->cut]; k++) printf(" %g", phase->weight_sum[k]);
        printf("\n");
    }
}

void random_round_print(const random_round *drawn, const yoke_plan_options *options)
{
    const yoke_plan_problem *problem = &drawn->problem;
    printf("before %d base %.17g host overhead %.17g cuts %lld: %lld %lld\n", problem->copies_before, problem->base_power_w,
           problem->host_overhead_w, (long long)drawn->round.num_cuts, (long long)drawn->cut_units[0], (long long)drawn->cut_units[1]);
    if (options != NULL)
        printf("objective %d deadline %.17g slowdown %.17g cap %.17g\n", (int)options->objective, options->deadline_s,
               options->max_slowdown, options->power_cap_w);
    print_phases(drawn);
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const yoke_plan_device *d = &drawn->devices[i];
        printf("device %lld: host %d removable %d copy %.17g %.17g %.17g most %lld\n", (long long)i, d->host, d->removable, d->copy_seconds,
               d->copy_seconds_per_unit, d->copy_joules_per_unit, (long long)d->max_units);
        for (int64_t l = 0; l < d->num_levels; l++) {
            printf("  level %lld: idle %.17g\n", (long long)l, d->levels[l].idle_power_w);
            for (int64_t p = 0; p < drawn->round.num_phases; p++) {
                const yoke_plan_time *t = &d->levels[l].phases[p];
                printf("    phase %lld: absent %d start %.17g per unit %.17g watts %.17g alone %.17g points", (long long)p, t->absent,
                       t->start_seconds, t->seconds_per_unit, t->dynamic_power_w, t->alone_factor);
                for (int64_t k = 0; k < 2 * t->num_points; k++) printf(" %.17g", t->points[k]);
                printf("\n");
            }
        }
    }
}
