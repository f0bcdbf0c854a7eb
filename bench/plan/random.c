#include "plan/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int64_t random_whole(random_state *random, int64_t low, int64_t high)
{
    int64_t drawn = low + (int64_t)random_uniform(random, 0, (double)(high - low + 1));
    return drawn < high ? drawn : high;
}

bool random_chance(random_state *random, double probability) { return random_uniform(random, 0, 1) < probability; }

double random_ratio(random_state *random, double low, double high) { return low * exp(random_uniform(random, 0, log(high / low))); }

/* Units up to one and a half times all units, mostly whole numbers; seconds from a speed that varies from point to point. */
static void draw_points(const plan_shape *shape, random_state *random, yoke_plan_level *level, double (*points)[2])
{
    int64_t count = random_whole(random, 1, shape->points), cliff = random_whole(random, 1, count);
    double most = 1.5 * (double)shape->units, speed = 1 / level->seconds_per_unit;
    bool whole = random_chance(random, 0.75);
    for (int64_t k = 0, kept = 0; k < count; k++) {
        double units = random_ratio(random, fmin(0.5, most), most);
        if (whole) units = ceil(units);
        /* insertion sort by units, without duplicates */
        int64_t at = kept;
        while (at > 0 && points[at - 1][0] > units) at--;
        if (at > 0 && points[at - 1][0] >= units) continue;
        memmove(points[at + 1], points[at], (size_t)(kept - at) * sizeof *points);
        points[at][0] = units;
        level->num_points = ++kept;
    }
    for (int64_t k = 0; k < level->num_points; k++) {
        double factor = shape->falling ? random_ratio(random, 0.3, 3) : random_uniform(random, 0.9, 1.1);
        if (shape->cliffs && k == cliff) speed /= random_uniform(random, 2, 8);
        points[k][1] = points[k][0] / (speed * factor);
    }
    level->points = points[0];
}

/* Speeds decrease with the frequency, and powers decrease faster; occasionally a level is worse than another in every respect. */
static void draw_levels(const plan_shape *shape, random_state *random, int i, plan_random *drawn)
{
    yoke_plan_device *device = &drawn->devices[i];
    double l = drawn->problem.repetitions, speed = device->host ? random_ratio(random, 0.5, 2) : random_ratio(random, 0.7, 5);
    double unit = 4 / (double)(shape->units > 0 ? shape->units : 1) / l / speed;
    double dynamic = device->host ? random_uniform(random, 20, 200) : random_uniform(random, 40, 250);
    double idle = random_uniform(random, 10, 100), still = random_uniform(random, 0, 0.6), exponent = random_uniform(random, 1, 3);
    for (int64_t k = 0; k < device->num_levels; k++) {
        double frequency = 1 - 0.6 * (double)k / (double)(device->num_levels > 1 ? device->num_levels - 1 : 1);
        double noise = random_chance(random, 0.9) ? 0.03 : 0.5;
        yoke_plan_level *level = &drawn->levels[i][k];
        *level = (yoke_plan_level){
            .frequency_hz = 2e9 * frequency,
            .seconds_per_unit = unit / (still + (1 - still) * frequency) * random_uniform(random, 1 - noise, 1 + noise),
            .dynamic_power_w = dynamic * pow(frequency, exponent) * random_uniform(random, 1 - noise, 1 + noise),
            .idle_power_w = idle * random_uniform(random, 0.8, 1) * (0.5 + 0.5 * frequency),
        };
        if (shape->starts && random_chance(random, 0.8)) level->start_seconds = random_ratio(random, 1e-3, 0.5) / l;
        if (shape->whole_numbers) {
            level->seconds_per_unit = (double)random_whole(random, 1, 4);
            level->dynamic_power_w = (double)random_whole(random, 0, 5);
            level->idle_power_w = (double)random_whole(random, 0, 3);
            if (shape->starts) level->start_seconds = (double)random_whole(random, 0, 6);
        }
        if (shape->points > 0 && shape->units > 0) draw_points(shape, random, level, drawn->points[i][k]);
    }
}

static void draw_device(const plan_shape *shape, random_state *random, int i, plan_random *drawn)
{
    yoke_plan_device *device = &drawn->devices[i];
    double units = (double)(shape->units > 0 ? shape->units : 1);
    snprintf(drawn->names[i], sizeof drawn->names[i], "%s%d", i < shape->hosts ? "cpu" : "gpu", i);
    *device = (yoke_plan_device){
        .name = drawn->names[i],
        .host = i < shape->hosts,
        .num_levels = shape->levels_differ ? random_whole(random, 1, shape->levels) : shape->levels,
        .levels = drawn->levels[i],
        .max_units = INT64_MAX,
    };
    if (shape->removable) device->removable = random_chance(random, device->host ? 0.2 : 0.6);
    if (shape->limits && random_chance(random, 0.6)) device->max_units = (int64_t)(units * random_uniform(random, 0.1, 1));
    if (shape->copies && random_chance(random, device->host ? 0.2 : 0.8)) {
        if (random_chance(random, 0.7)) device->copy_seconds = shape->whole_numbers ? 1 : random_ratio(random, 1e-3, 0.3);
        if (random_chance(random, 0.7)) device->copy_seconds_per_unit = shape->whole_numbers ? 1 : random_ratio(random, 1e-3, 1) / units;
        if (random_chance(random, 0.7)) device->copy_joules_per_unit = shape->whole_numbers ? 2 : random_ratio(random, 0.1, 60) / units;
    }
    draw_levels(shape, random, i, drawn);
}

/*
 * Similar to the levels of a multigrid method: a device is slower on some levels, and start costs are more important if there are fewer
 * units.
 */
static void draw_round(const plan_shape *shape, random_state *random, plan_random *drawn)
{
    drawn->round = (yoke_round){.num_cuts = 1, .cut_units = &drawn->problem.units, .num_phases = shape->phases, .phases = drawn->phases};
    drawn->problem.round = &drawn->round;
    for (int p = 0; p < shape->phases; p++)
        drawn->phases[p] = (yoke_phase){
            .calls = drawn->problem.repetitions * (p == 0 ? 1 : 2), .units = shape->units >> 3 * p, .barrier = 1, .call_seconds = 1e-6};
    for (int i = 0; i < shape->devices; i++)
        for (int p = 0; p < shape->phases; p++) {
            const double slow = p == 0 ? 1 : random_uniform(random, 0.8, 1.6);
            for (int k = 0; k < drawn->devices[i].num_levels; k++) {
                const yoke_plan_level *level = &drawn->levels[i][k];
                drawn->times[i][k][p] = (yoke_plan_time){.seconds_per_unit = slow * level->seconds_per_unit,
                                                         .start_seconds = level->start_seconds / shape->phases,
                                                         .dynamic_power_w = level->dynamic_power_w};
                drawn->levels[i][k].phases = drawn->times[i][k];
            }
        }
}

static double draw_alone(random_state *random) { return random_chance(random, 0.8) ? random_uniform(random, 0.5, 1) : 0; }

/* Draws by how much a level is faster alone; in a round, each phase has a factor of its own. */
static void draw_contention(random_state *random, plan_random *drawn)
{
    for (int64_t i = 0; i < drawn->problem.num_devices; i++)
        for (int64_t k = 0; k < drawn->devices[i].num_levels; k++) {
            drawn->levels[i][k].alone_factor = draw_alone(random);
            for (int64_t p = 0; drawn->problem.round != NULL && p < drawn->round.num_phases; p++)
                drawn->times[i][k][p].alone_factor = draw_alone(random);
        }
}

static void draw_overheads(const plan_shape *shape, random_state *random, plan_random *drawn)
{
    for (int i = 0; i < shape->hosts; i++) {
        const double most_w = random_uniform(random, 5, 80);
        for (int64_t k = 0; k < drawn->devices[i].num_levels; k++)
            drawn->levels[i][k].host_overhead_w =
                shape->whole_numbers ? (double)random_whole(random, 0, 4) : most_w * fmax(0, random_uniform(random, -0.3, 1));
    }
}

void plan_random_draw(const plan_shape *shape, random_state *random, plan_random *drawn)
{
    memset(drawn, 0, sizeof *drawn);
    yoke_plan_problem *problem = &drawn->problem;
    *problem = (yoke_plan_problem){
        .units = shape->units,
        .repetitions = shape->whole_numbers || random_chance(random, 0.3) ? 1 : random_ratio(random, 0.5, 100),
        .copies_before = random_chance(random, 0.5),
        .base_power_w = random_chance(random, 0.6) ? random_uniform(random, 10, 150) : 0,
        .num_devices = shape->devices,
        .devices = drawn->devices,
    };
    if (shape->host_overhead) problem->host_overhead_w = random_uniform(random, 5, 80);
    if (shape->whole_numbers) {
        problem->base_power_w = (double)random_whole(random, 0, 5);
        if (shape->host_overhead) problem->host_overhead_w = (double)random_whole(random, 0, 4);
    }
    for (int i = 0; i < shape->devices; i++) {
        draw_device(shape, random, i, drawn);
        int first = i < shape->hosts ? 0 : shape->hosts;
        if (!shape->alike || first == i) continue;
        drawn->devices[i] = drawn->devices[first];
        drawn->devices[i].name = drawn->names[i];
    }
    if (shape->phases > 0) draw_round(shape, random, drawn);
    if (shape->contention) draw_contention(random, drawn);
    if (shape->level_overheads) draw_overheads(shape, random, drawn);
}
