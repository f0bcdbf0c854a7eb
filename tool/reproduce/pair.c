#include "reproduce/pair.h"

#include <math.h>
#include <string.h>

/* A question to the planner; the problem points to members of the same object. */
typedef struct pair_question {
    yoke_plan_level levels[2];
    yoke_plan_device devices[2];
    yoke_plan_problem problem;
} pair_question;

static void ask(const reproduce_pair *pair, pair_question *question)
{
    const reproduce_device *of[2] = {&pair->host, &pair->accelerator};
    for (int i = 0; i < 2; i++) {
        question->levels[i] = (yoke_plan_level){.frequency_hz = NAN,
                                                .seconds_per_unit = of[i]->seconds_per_unit,
                                                .dynamic_power_w = of[i]->dynamic_power_w,
                                                .idle_power_w = of[i]->idle_power_w};
        question->devices[i] = (yoke_plan_device){.name = i == 0 ? "host" : "accelerator",
                                                  .host = i == 0,
                                                  .removable = of[i]->removable,
                                                  .num_levels = 1,
                                                  .levels = &question->levels[i],
                                                  .copy_joules_per_unit = of[i]->copy_joules_per_unit,
                                                  .max_units = INT64_MAX};
    }
    question->problem = (yoke_plan_problem){.units = pair->units,
                                            .repetitions = pair->repetitions,
                                            .copies_before = 1,
                                            .base_power_w = pair->base_power_w,
                                            .host_overhead_w = pair->host_overhead_w,
                                            .num_devices = 2,
                                            .devices = question->devices};
}

static void take(const reproduce_pair *pair, const yoke_plan_choice *choice, bool optimal, reproduce_outcome *outcome)
{
    *outcome = (reproduce_outcome){.accelerator_units = choice->units[1],
                                   .share = (double)choice->units[1] / (double)pair->units,
                                   .time_s = choice->time_s,
                                   .energy_j = choice->energy_j,
                                   .optimal = optimal};
}

yoke_status reproduce_best(reproduce_report *report, const reproduce_pair *pair, yoke_objective objective, reproduce_outcome *outcome)
{
    yoke_context *context = reproduce_context(report);
    const yoke_plan_options options = {.objective = objective, .bare = 1};
    pair_question question;
    yoke_plan *plan = NULL;
    ask(pair, &question);
    yoke_status status = yoke_plan_create(context, &question.problem, &options, &plan);
    if (status != YOKE_OK) return status;
    if (plan->feasible && plan->optimal)
        take(pair, &plan->best, true, outcome);
    else
        status = yoke_fail(context, YOKE_ERROR_INTERNAL, "the planner did not prove a plan of %lld units for two devices to be the best",
                           (long long)pair->units);
    yoke_release(context, plan);
    return status;
}

yoke_status reproduce_given(reproduce_report *report, const reproduce_pair *pair, int64_t accelerator_units, reproduce_outcome *outcome)
{
    const yoke_plan_options options = {.objective = YOKE_OBJECTIVE_ENERGY};
    const int64_t units[2] = {pair->units - accelerator_units, accelerator_units};
    pair_question question;
    yoke_plan_choice choice;
    ask(pair, &question);
    yoke_status status = yoke_plan_evaluate(reproduce_context(report), &question.problem, &options, units, NULL, &choice);
    if (status == YOKE_OK) take(pair, &choice, false, outcome);
    return status;
}

yoke_status reproduce_alternative(reproduce_report *report, const reproduce_pair *pair, yoke_objective objective, const char *name,
                                  reproduce_outcome *outcome)
{
    yoke_context *context = reproduce_context(report);
    const yoke_plan_options options = {.objective = objective};
    pair_question question;
    yoke_plan *plan = NULL;
    ask(pair, &question);
    yoke_status status = yoke_plan_create(context, &question.problem, &options, &plan);
    if (status != YOKE_OK) return status;
    const yoke_plan_choice *found = NULL;
    for (int64_t i = 0; i < plan->num_alternatives; i++)
        if (strcmp(plan->alternatives[i].name, name) == 0) found = &plan->alternatives[i];
    if (found != NULL)
        take(pair, found, false, outcome);
    else
        status = yoke_fail(context, YOKE_ERROR_INTERNAL, "the plan has no alternative %s", name);
    yoke_release(context, plan);
    return status;
}

yoke_status reproduce_balance(reproduce_report *report, double host_s, double accelerator_s, int accelerators, int64_t units, double *share)
{
    enum { MAX_ACCELERATORS = 8 };
    static const char *const names[MAX_ACCELERATORS + 1] = {"host", "1", "2", "3", "4", "5", "6", "7", "8"};
    yoke_context *context = reproduce_context(report);
    yoke_plan_level host = {.frequency_hz = NAN, .seconds_per_unit = host_s, .dynamic_power_w = NAN, .idle_power_w = NAN},
                    accelerator = host;
    yoke_plan_device devices[MAX_ACCELERATORS + 1];
    if (accelerators < 1 || accelerators > MAX_ACCELERATORS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%d accelerators; from 1 to %d are possible", accelerators, MAX_ACCELERATORS);
    accelerator.seconds_per_unit = accelerator_s;
    for (int i = 0; i <= accelerators; i++)
        devices[i] = (yoke_plan_device){
            .name = names[i], .host = i == 0, .num_levels = 1, .levels = i == 0 ? &host : &accelerator, .max_units = INT64_MAX};
    const yoke_plan_problem problem = {
        .units = units, .repetitions = 1, .base_power_w = NAN, .host_overhead_w = NAN, .num_devices = accelerators + 1, .devices = devices};
    const yoke_plan_options options = {.objective = YOKE_OBJECTIVE_TIME, .bare = 1};
    yoke_plan *plan = NULL;
    yoke_status status = yoke_plan_create(context, &problem, &options, &plan);
    if (status != YOKE_OK) return status;
    *share = 1 - (double)plan->best.units[0] / (double)units;
    yoke_release(context, plan);
    return YOKE_OK;
}
