#include "random_problem.h"

#include <math.h>
#include <stdio.h>

static random_state state_of(int64_t number, uint64_t stream)
{
    random_state random = {(uint64_t)number * 0x9e3779b97f4a7c15u + stream * 0xd1342543de82ef95u};
    random_uniform(&random, 0, 1);
    return random;
}

void random_problem_draw(int64_t number, double most_choices, plan_random *drawn)
{
    static const int64_t max_units[] = {40, 24, 14, 9, 7};
    random_state random = state_of(number, 1);
    plan_shape shape = {.devices = (int)random_whole(&random, 2, random_chance(&random, 0.1) ? 6 : 4), .levels_differ = 1};
    /* Two hosts in most cases, so that one of them may finish first. */
    shape.hosts = random_chance(&random, 0.6) ? 2 : (int)random_whole(&random, 0, 2);
    shape.levels = (int)random_whole(&random, 1, 4);
    shape.starts = random_chance(&random, 0.5);
    shape.host_overhead = random_chance(&random, 0.6);
    shape.removable = random_chance(&random, 0.5);
    shape.limits = random_chance(&random, 0.3);
    shape.copies = random_chance(&random, 0.6);
    shape.points = random_chance(&random, 0.4) ? (int)random_whole(&random, 1, 8) : 0;
    shape.cliffs = random_chance(&random, 0.5);
    shape.falling = random_chance(&random, 0.3);
    shape.whole_numbers = random_chance(&random, 0.15);
    shape.alike = random_chance(&random, 0.1);
    shape.contention = number % 3 == 1;
    shape.level_overheads = number % 4 == 2;
    shape.units = random_whole(&random, random_chance(&random, 0.05) ? 0 : 4, max_units[shape.devices - 2]);
    plan_random_draw(&shape, &random, drawn);
    while (brute_count(&drawn->problem) > most_choices && shape.units > 2) {
        shape.units = shape.units * 3 / 4;
        plan_random_draw(&shape, &random, drawn);
    }
}

void random_larger_draw(int64_t number, int64_t most, plan_random *drawn)
{
    random_state random = state_of(number, 2);
    plan_shape shape = {.devices = (int)random_whole(&random, 2, 3), .levels_differ = 1};
    shape.hosts = (int)random_whole(&random, 1, 2);
    shape.levels = shape.devices == 2 ? 4 : 2;
    shape.starts = random_chance(&random, 0.7);
    shape.host_overhead = random_chance(&random, 0.7);
    shape.removable = random_chance(&random, 0.5);
    shape.limits = random_chance(&random, 0.3);
    shape.copies = random_chance(&random, 0.6);
    shape.units = shape.devices == 2 ? random_whole(&random, most / 8, most) : random_whole(&random, 40, 120);
    shape.points = number % 2 == 0 ? 0 : (int)random_whole(&random, 2, 10);
    shape.cliffs = number % 3 == 0;
    shape.falling = number % 5 == 0;
    plan_random_draw(&shape, &random, drawn);
}

void random_choice_draw(int64_t number, const yoke_plan_problem *problem, int64_t *units, int64_t *levels)
{
    random_state random = state_of(number, 5);
    int64_t left = problem->units;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        units[i] = random_chance(&random, 0.3) ? 0 : random_whole(&random, 0, left);
        left -= units[i];
        levels[i] = units[i] == 0 ? brute_parked(&problem->devices[i]) : random_whole(&random, 0, problem->devices[i].num_levels - 1);
    }
    if (random_chance(&random, 0.8)) units[0] += left;
    if (units[0] > 0 && left > 0) levels[0] = random_whole(&random, 0, problem->devices[0].num_levels - 1);
}

void random_constraints_draw(int64_t number, const brute_list *list, yoke_plan_options *options)
{
    random_state random = state_of(number, 3);
    const brute_limits none = {INFINITY, INFINITY};
    const brute_cost *fastest = brute_best(list, YOKE_OBJECTIVE_TIME, none), *frugal = brute_best(list, YOKE_OBJECTIVE_ENERGY, none);
    if (fastest == NULL || !(fastest->time_s > 0)) return;
    double least_w = brute_least_power(list, INFINITY), most_w = fmax(fastest->peak_power_w, frugal->peak_power_w);
    if (random_chance(&random, 0.5)) options->power_cap_w = fmax(least_w + random_uniform(&random, -0.05, 1.2) * (most_w - least_w), 1e-3);
    if (random_chance(&random, 0.5))
        options->deadline_s = fmax(fastest->time_s + random_uniform(&random, -0.1, 1.3) * (frugal->time_s - fastest->time_s), 1e-3);
    bool exact = random_chance(&random, 0.1);
    if (random_chance(&random, 0.5) || (options->power_cap_w <= 0 && options->deadline_s <= 0))
        options->max_slowdown = exact ? 1 : random_uniform(&random, 1, 1.5);
}

void random_order_draw(int64_t number, const plan_random *drawn, yoke_plan_problem *problem, yoke_plan_device *devices, int *order)
{
    random_state random = state_of(number, 4);
    int count = (int)drawn->problem.num_devices;
    for (int k = 0; k < count; k++) {
        int j = (int)random_whole(&random, 0, k);
        order[k] = order[j];
        order[j] = k;
    }
    for (int k = 0; k < count; k++) devices[k] = drawn->devices[order[k]];
    *problem = drawn->problem;
    problem->devices = devices;
}

static void print_level(const yoke_plan_level *level)
{
    printf("        {.frequency_hz = %.17g, .seconds_per_unit = %.17g, .start_seconds = %.17g, .dynamic_power_w = %.17g, .idle_power_w = "
           "%.17g",
           level->frequency_hz, level->seconds_per_unit, level->start_seconds, level->dynamic_power_w, level->idle_power_w);
    if (level->alone_factor > 0) printf(", .alone_factor = %.17g", level->alone_factor);
    if (level->host_overhead_w > 0) printf(", .host_overhead_w = %.17g", level->host_overhead_w);
    if (level->num_points > 0) {
        printf(",\n         .num_points = %lld, .points = (const double[]){", (long long)level->num_points);
        for (int64_t k = 0; k < 2 * level->num_points; k++) printf("%s%.17g", k > 0 ? ", " : "", level->points[k]);
        printf("}");
    }
    printf("},\n");
}

void random_problem_print(const yoke_plan_problem *problem, const yoke_plan_options *options)
{
    for (int64_t i = 0; i < problem->num_devices; i++) {
        printf("static const yoke_plan_level levels_%lld[] = {\n", (long long)i);
        for (int64_t l = 0; l < problem->devices[i].num_levels; l++) print_level(&problem->devices[i].levels[l]);
        printf("};\n");
    }
    printf("static const yoke_plan_device devices[] = {\n");
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const yoke_plan_device *d = &problem->devices[i];
        printf("    {.name = \"%s\", .host = %d, .removable = %d, .num_levels = %lld, .levels = levels_%lld, .copy_seconds = %.17g,\n"
               "     .copy_seconds_per_unit = %.17g, .copy_joules_per_unit = %.17g, .max_units = %lld},\n",
               d->name, d->host, d->removable, (long long)d->num_levels, (long long)i, d->copy_seconds, d->copy_seconds_per_unit,
               d->copy_joules_per_unit, (long long)d->max_units);
    }
    printf(
        "};\nstatic const yoke_plan_problem problem = {.units = %lld, .repetitions = %.17g, .copies_before = %d, .base_power_w = %.17g,\n"
        "    .host_overhead_w = %.17g, .num_devices = %lld, .devices = devices};\n",
        (long long)problem->units, problem->repetitions, problem->copies_before, problem->base_power_w, problem->host_overhead_w,
        (long long)problem->num_devices);
    printf("static const yoke_plan_options options = {.objective = %d, .deadline_s = %.17g, .max_slowdown = %.17g, .power_cap_w = %.17g, "
           ".pareto = "
           "%d, .bare = %d};\n",
           (int)options->objective, options->deadline_s, options->max_slowdown, options->power_cap_w, options->pareto, options->bare);
}
