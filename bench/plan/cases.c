#include "plan/cases.h"

#include <math.h>

#include "common/console/interrupt.h"
#include "common/console/numbers.h"

/* 8 devices with 10 levels each and constant speeds must take less than 5 ms, with any other costs.  There is no goal for points. */
#define GOAL_S 5e-3
#define LINEAR .devices = 8, .hosts = 2, .levels = 10
#define ROUND(devices_, levels_, phases_) .devices = devices_, .hosts = 1, .levels = levels_, .starts = 1, .copies = 1, .phases = phases_
#define ALL_COSTS LINEAR, .starts = 1, .host_overhead = 1, .removable = 1, .limits = 1, .copies = 1

const plan_case plan_cases[] = {
    {.name = "8 x 10", .shape = {.units = 10000, LINEAR}, .goal_s = GOAL_S},
    {.name = "8 x 10", .shape = {.units = 1000000, LINEAR}, .goal_s = GOAL_S},
    {.name = "8 x 10, starts", .shape = {.units = 10000, LINEAR, .starts = 1}, .goal_s = GOAL_S},
    {.name = "8 x 10, host overhead", .shape = {.units = 10000, LINEAR, .host_overhead = 1}, .goal_s = GOAL_S},
    {.name = "8 x 10, removable", .shape = {.units = 10000, LINEAR, .removable = 1}, .goal_s = GOAL_S},
    {.name = "8 x 10, copies", .shape = {.units = 10000, LINEAR, .copies = 1}, .goal_s = GOAL_S},
    {.name = "8 x 10, most costs", .shape = {.units = 10000, LINEAR, .starts = 1, .host_overhead = 1, .limits = 1}, .goal_s = GOAL_S},
    {.name = "8 x 10, all costs", .shape = {.units = 10000, ALL_COSTS}, .goal_s = GOAL_S},
    {.name = "8 x 10, all costs", .shape = {.units = 1000000, ALL_COSTS}, .goal_s = GOAL_S},
    {.name = "8 x 10, all, alike", .shape = {.units = 10000, ALL_COSTS, .alike = 1}, .goal_s = GOAL_S},
    {.name = "8 x 10, slowdown 1.2", .shape = {.units = 10000, ALL_COSTS}, .max_slowdown = 1.2, .goal_s = GOAL_S},
    {.name = "8 + 4",
     .shape = {.units = 10000, .devices = 2, .hosts = 1, .levels = 8, .starts = 1, .host_overhead = 1, .removable = 1, .copies = 1},
     .second_levels = 4,
     .goal_s = GOAL_S},
    {.name = "8 + 4, front",
     .shape = {.units = 10000, .devices = 2, .hosts = 1, .levels = 8, .starts = 1, .host_overhead = 1, .removable = 1},
     .second_levels = 4,
     .pareto = 1,
     .goal_s = NAN},
    {.name = "4 x 3, points",
     .shape = {.units = 10000, .devices = 4, .hosts = 1, .levels = 3, .points = 8, .cliffs = 1, .starts = 1, .host_overhead = 1},
     .goal_s = NAN},
    {.name = "2 x 5, one phase", .shape = {.units = 10000, .devices = 2, .hosts = 1, .levels = 5, .starts = 1}, .goal_s = NAN},
    {.name = "round 2 x 5 x 4", .shape = {.units = 100000, ROUND(2, 5, 4)}, .goal_s = NAN},
    {.name = "round 3 x 10 x 5", .shape = {.units = 1000000, ROUND(3, 10, 5)}, .goal_s = 0.1},
    {.name = "round 8 x 10 x 4", .shape = {.units = 1000000, ROUND(8, 10, 4)}, .goal_s = 1},
    {.name = "round, slowdown 1.1", .shape = {.units = 1000000, ROUND(8, 10, 4)}, .max_slowdown = 1.1, .goal_s = 1},
};
const int num_plan_cases = sizeof plan_cases / sizeof plan_cases[0];

/* Plans a problem, which is the same for all objectives. */
static yoke_status plan_one(yoke_context *context, const plan_case *timed, yoke_objective objective, uint64_t state, double *seconds,
                            double *nodes, plan_figures *figures)
{
    static plan_random drawn;
    random_state random = {state};
    yoke_plan *plan = NULL;
    const yoke_plan_options options = {.objective = objective, .max_slowdown = timed->max_slowdown, .pareto = timed->pareto, .bare = 1};
    plan_random_draw(&timed->shape, &random, &drawn);
    if (timed->second_levels > 0) drawn.devices[1].num_levels = timed->second_levels;
    double begin = yoke_clock_s();
    yoke_status status = yoke_plan_create(context, &drawn.problem, &options, &plan);
    *seconds = yoke_clock_s() - begin;
    if (status) return status;
    *nodes = (double)plan->nodes;
    if (plan->feasible) {
        figures->feasible++;
        figures->optimal += plan->optimal && (plan->front_optimal || !timed->pareto);
        if (!plan->optimal && !(plan->gap <= figures->gap)) figures->gap = plan->gap;
    }
    yoke_release(context, plan);
    return YOKE_OK;
}

yoke_status plan_case_run(yoke_context *context, const plan_case *timed, yoke_objective objective, int64_t problems, uint64_t seed,
                          plan_figures *figures)
{
    void *memory = NULL;
    *figures = (plan_figures){0};
    yoke_status status = yoke_allocate(context, 2 * problems, sizeof(double), &memory);
    if (status) return status;
    double *seconds = memory, *nodes = seconds + problems;
    for (int64_t k = 0; k < problems && !status; k++) {
        status = plan_one(context, timed, objective, seed * 0x9e3779b97f4a7c15u + (uint64_t)k * 0xd1342543de82ef95u, &seconds[k], &nodes[k],
                          figures);
        if (!status) status = app_interrupt_check(context);
    }
    if (!status) {
        app_sort(seconds, problems);
        app_sort(nodes, problems);
        figures->median_s = seconds[problems / 2];
        figures->p99_s = seconds[(problems - 1) * 99 / 100];
        figures->max_s = seconds[problems - 1];
        figures->nodes = nodes[problems / 2];
        figures->max_nodes = nodes[problems - 1];
        if (figures->feasible > 0) figures->optimal /= figures->feasible;
        figures->feasible /= (double)problems;
    }
    yoke_release(context, memory);
    return status;
}
