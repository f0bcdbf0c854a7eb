/* Plans for the machines of PEACH (Ge et al. 2014) and of Lang and Ruenger (2014): their shares and energies follow from the planner. */
#include "state.h"

#include <math.h>
#include <stdbool.h>

#include "yoke/plan.h"

enum { UNITS = 1000000 };

/* PEACH, tables V and VI: rates in units of work per second, powers in W. */
typedef struct peach_system {
    double base_w, cpu_rate, cpu_w, gpu_rate, gpu_w, host_overhead_w;
    double fastest, cheapest;                  /* share of the GPU (13, and the least of (12)) */
    double joules_at_fastest, joules_cheapest; /* per unit of work */
} peach_system;

static const peach_system systems[] = {
    {165.7, 293.0, 239.4, 1052.4, 128.6, 30.0, 0.7822209, 1.0, 0.39668500074327334, 0.3081527936145952},
    {201.4, 293.0, 239.4, 302.53, 117.8, 28.0, 0.50800128, 0.50800128, 0.9379880106795627, 0.9379880106795627},
};

static yoke_plan *plan_of(yoke_context *context, const yoke_plan_problem *problem, yoke_objective objective)
{
    const yoke_plan_options options = {.objective = objective, .bare = 1};
    yoke_plan *plan = NULL;
    assert_int_equal(yoke_plan_create(context, problem, &options, &plan), YOKE_OK);
    assert_true(plan->feasible && plan->optimal);
    return plan;
}

static void both_peach_systems_get_the_shares_of_table_VI(void **state)
{
    for (size_t k = 0; k < sizeof systems / sizeof systems[0]; k++) {
        const peach_system *s = &systems[k];
        const yoke_plan_level levels[] = {{.frequency_hz = NAN, .seconds_per_unit = 1 / s->cpu_rate, .dynamic_power_w = s->cpu_w},
                                          {.frequency_hz = NAN, .seconds_per_unit = 1 / s->gpu_rate, .dynamic_power_w = s->gpu_w}};
        const yoke_plan_device devices[] = {{.name = "cpu", .host = 1, .num_levels = 1, .levels = &levels[0], .max_units = INT64_MAX},
                                            {.name = "gpu", .num_levels = 1, .levels = &levels[1], .max_units = INT64_MAX}};
        const yoke_plan_problem problem = {.units = UNITS,
                                           .repetitions = 1,
                                           .base_power_w = s->base_w,
                                           .host_overhead_w = s->host_overhead_w,
                                           .num_devices = 2,
                                           .devices = devices};
        yoke_plan *fastest = plan_of(*state, &problem, YOKE_OBJECTIVE_TIME), *cheapest = plan_of(*state, &problem, YOKE_OBJECTIVE_ENERGY);
        assert_true(fabs((double)fastest->best.units[1] / UNITS - s->fastest) < 2e-6);
        assert_true(fabs((double)cheapest->best.units[1] / UNITS - s->cheapest) < 2e-6);
        assert_true(fabs(fastest->best.energy_j / UNITS / s->joules_at_fastest - 1) < 1e-5);
        assert_true(fabs(cheapest->best.energy_j / UNITS / s->joules_cheapest - 1) < 1e-5);
        assert_true(cheapest->best.energy_j <= fastest->best.energy_j);
        yoke_release(*state, fastest);
        yoke_release(*state, cheapest);
    }
}

/*
 * The travelling salesman on system I (table VIII; over frequencies by the laws of sect. VII-A): P_OH is 30 W at 2.6 GHz and 10 W at 1.2 GHz (sect. VII-B), on
 * a straight line between.
 */
enum { CPU_LEVELS = 8, GPU_LEVELS = 4, TOUR_UNITS = 20000 };

typedef struct tours {
    yoke_plan_level cpu[CPU_LEVELS], gpu[GPU_LEVELS];
    yoke_plan_device devices[2];
    yoke_plan_problem problem;
} tours;

static void make_tours(tours *t, bool constant)
{
    static const double mhz[GPU_LEVELS] = {614, 640, 666, 705};
    for (int k = 0; k < CPU_LEVELS; k++) {
        const double ghz = 1.2 + 0.2 * k;
        t->cpu[k] = (yoke_plan_level){.frequency_hz = 1e9 * ghz,
                                      .seconds_per_unit = 2.6 / 2507 / ghz,
                                      .dynamic_power_w = 99.7 * (124 * ghz - 100.23) / (124 * 2.6 - 100.23),
                                      .host_overhead_w = constant ? 0 : 20 * (ghz - 1.2) / 1.4};
    }
    for (int k = 0; k < GPU_LEVELS; k++)
        t->gpu[k] = (yoke_plan_level){.frequency_hz = 1e6 * mhz[k],
                                      .seconds_per_unit = (1.495 * 705 - 1.78) / (1.495 * mhz[k] - 1.78) / 47298,
                                      .dynamic_power_w = 92.7 * (0.337 * mhz[k] - 109) / (0.337 * 705 - 109)};
    t->devices[0] = (yoke_plan_device){.name = "cpu", .host = 1, .num_levels = CPU_LEVELS, .levels = t->cpu, .max_units = INT64_MAX};
    t->devices[1] = (yoke_plan_device){.name = "gpu", .num_levels = GPU_LEVELS, .levels = t->gpu, .max_units = INT64_MAX};
    t->problem = (yoke_plan_problem){.units = TOUR_UNITS,
                                     .repetitions = 1,
                                     .base_power_w = 165.7,
                                     .host_overhead_w = constant ? 30 : 10,
                                     .num_devices = 2,
                                     .devices = t->devices};
}

/* Eq. 7 and 11 for all (f_C, f_G, alpha): where the least energy is. */
static double least_of_all(const tours *t, int64_t *gpu_units, int *cpu_level, int *gpu_level)
{
    double least = INFINITY;
    for (int c = 0; c < CPU_LEVELS; c++)
        for (int g = 0; g < GPU_LEVELS; g++)
            for (int64_t n = 0; n <= TOUR_UNITS; n++) {
                const double cpu_s = t->cpu[c].seconds_per_unit * (double)(TOUR_UNITS - n), gpu_s = t->gpu[g].seconds_per_unit * (double)n;
                const double joules = 165.7 * fmax(cpu_s, gpu_s) + t->cpu[c].dynamic_power_w * cpu_s + t->gpu[g].dynamic_power_w * gpu_s +
                                      (t->problem.host_overhead_w + t->cpu[c].host_overhead_w) * fmax(0, gpu_s - cpu_s);
                if (!(joules < least)) continue;
                least = joules;
                *gpu_units = n;
                *cpu_level = c;
                *gpu_level = g;
            }
    return least;
}

static void host_overhead_by_frequency_decides_for_the_travelling_salesman(void **state)
{
    static tours t;
    int64_t share[2];
    for (int constant = 0; constant < 2; constant++) {
        int cpu = 0, gpu = 0;
        make_tours(&t, constant);
        const double least = least_of_all(&t, &share[constant], &cpu, &gpu);
        yoke_plan *plan = plan_of(*state, &t.problem, YOKE_OBJECTIVE_ENERGY);
        assert_int_equal(plan->best.units[1], share[constant]);
        assert_int_equal(plan->best.levels[0], cpu);
        assert_int_equal(plan->best.levels[1], gpu);
        assert_true(fabs(plan->best.energy_j / least - 1) < 1e-12);
        assert_int_equal(cpu, 0);
        yoke_release(*state, plan);
    }
    assert_int_equal(share[0], TOUR_UNITS);                                     /* table VIII: all on the GPU at 1.2 GHz */
    assert_true(share[1] > 0.97 * TOUR_UNITS && share[1] < 0.985 * TOUR_UNITS); /* with 30 W at all frequencies it is not */
}

/* The 2014 paper's machine: 1.70 and 1.69 us per element; idle powers are part of E*. */
static yoke_plan_problem elements(double cpu_uj, double gpu_uj, yoke_plan_level *levels, yoke_plan_device *devices)
{
    const double cpu_idle_w = 84.3, gpu_idle_w = 78.0;
    levels[0] = (yoke_plan_level){.frequency_hz = NAN, .seconds_per_unit = 1.70e-6, .idle_power_w = cpu_idle_w};
    levels[1] = (yoke_plan_level){.frequency_hz = NAN, .seconds_per_unit = 1.69e-6, .idle_power_w = gpu_idle_w};
    levels[0].dynamic_power_w = cpu_uj / 1.70 - cpu_idle_w;
    levels[1].dynamic_power_w = gpu_uj / 1.69 - gpu_idle_w;
    devices[0] = (yoke_plan_device){.name = "cpu", .host = 1, .num_levels = 1, .levels = &levels[0], .max_units = INT64_MAX};
    devices[1] = (yoke_plan_device){.name = "gpu", .removable = 1, .num_levels = 1, .levels = &levels[1], .max_units = INT64_MAX};
    return (yoke_plan_problem){.units = UNITS, .repetitions = 1, .num_devices = 2, .devices = devices};
}

static double energy_of_shares(yoke_context *context, const yoke_plan_problem *problem, int64_t gpu)
{
    const int64_t units[] = {UNITS - gpu, gpu};
    yoke_plan_choice choice;
    assert_int_equal(yoke_plan_evaluate(context, problem, NULL, units, NULL, &choice), YOKE_OK);
    return choice.energy_j * 1e6 / UNITS;
}

/* 286 uJ on the CPU, 260 + 84.3 W x 1.69 us = 402.5 on the GPU with the CPU idle: case 3, shared by eq. 26 (0.5015). */
static void sharing_is_best_for_the_elements_of_the_2014_paper(void **state)
{
    yoke_plan_level levels[2];
    yoke_plan_device devices[2];
    yoke_plan_problem problem = elements(286, 260, levels, devices);
    yoke_plan *plan = plan_of(*state, &problem, YOKE_OBJECTIVE_ENERGY);
    assert_true(fabs((double)plan->best.units[1] / UNITS - 1 / (1 + 1.69 / 1.70)) < 2e-6);
    assert_true(fabs(energy_of_shares(*state, &problem, 0) - 286) < 1e-6);
    assert_true(fabs(energy_of_shares(*state, &problem, UNITS) - 402.467) < 1e-6);
    assert_true(fabs(plan->best.energy_j * 1e6 / UNITS - 272.96) < 0.01);
    yoke_release(*state, plan);
}

/* The published case 2 (GPU only where E*_c > E*_g + P*_c t_g) is not the least of its own eq. 37: here it takes 402.5 uJ, sharing needs 354.7. */
static void the_published_second_case_is_not_the_minimum(void **state)
{
    yoke_plan_level levels[2];
    yoke_plan_device devices[2];
    yoke_plan_problem problem = elements(450, 260, levels, devices);
    assert_true(450 > 260 + 84.3 * 1.69);
    yoke_plan *plan = plan_of(*state, &problem, YOKE_OBJECTIVE_ENERGY);
    assert_true(fabs(plan->best.energy_j * 1e6 / UNITS - 354.72) < 0.01);
    assert_true(fabs(energy_of_shares(*state, &problem, UNITS) - 402.467) < 1e-6);
    assert_true(fabs((double)plan->best.units[1] / UNITS - 0.50147) < 1e-4);
    yoke_release(*state, plan);
}

/* 814 uJ to copy an element pay from the 16th call on, at 51 uJ saved per call. */
static void copying_pays_from_sixteen_calls_on(void **state)
{
    yoke_plan_level levels[2];
    yoke_plan_device devices[2];
    yoke_plan_problem problem = elements(286, 235, levels, devices);
    /* The CPU idles beside the GPU at no cost, and time does not matter: only joules of elements count. */
    levels[0].idle_power_w = levels[1].idle_power_w = 0;
    levels[0].dynamic_power_w = 286 / 1.70;
    levels[1].dynamic_power_w = (286 - 51) / 1.69;
    devices[1].copy_joules_per_unit = 814e-6;
    for (int calls = 10; calls <= 20; calls++) {
        problem.repetitions = calls;
        yoke_plan *plan = plan_of(*state, &problem, YOKE_OBJECTIVE_ENERGY);
        assert_int_equal(plan->best.units[1], calls >= 16 ? UNITS : 0);
        yoke_release(*state, plan);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(both_peach_systems_get_the_shares_of_table_VI),
    cmocka_unit_test(host_overhead_by_frequency_decides_for_the_travelling_salesman),
    cmocka_unit_test(sharing_is_best_for_the_elements_of_the_2014_paper),
    cmocka_unit_test(the_published_second_case_is_not_the_minimum),
    cmocka_unit_test(copying_pays_from_sixteen_calls_on),
};

UNIT_MAIN(tests, state_start, state_end)
