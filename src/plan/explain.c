/*
 * explain.c - describes a plan in words: the choice, its uncertainty, the alternatives it was compared with, and the binding limit.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "plan/alternatives.h"

static const char *const objective_words[] = {"time", "energy", "energy times time", "energy times time squared"};

static const char *name_of(const yoke_plan_problem *problem, int64_t device)
{
    return problem->devices[device].name != NULL ? problem->devices[device].name : "device without a name";
}

static double objective_of(yoke_objective objective, const yoke_plan_choice *choice)
{
    plan_cost cost = {.time_s = choice->time_s, .energy_j = choice->energy_j};
    return plan_objective_value(objective, &cost);
}

static double uncertainty_of(yoke_objective objective, const yoke_plan_choice *choice)
{
    plan_cost cost = {.time_s = choice->time_s,
                      .energy_j = choice->energy_j,
                      .time_uncertainty_s = choice->time_uncertainty_s,
                      .energy_uncertainty_j = choice->energy_uncertainty_j};
    return plan_objective_uncertainty(objective, &cost);
}

/* ------------------------------------------------------------------------------------------------ the choice */

static void print_frequency(plan_text *text, double frequency_hz)
{
    if (frequency_hz >= 1e9)
        plan_print(text, " at %.4g GHz", frequency_hz / 1e9);
    else if (frequency_hz > 0)
        plan_print(text, " at %.4g MHz", frequency_hz / 1e6);
}

static void print_part(const plan_work *work, const yoke_plan_choice *best, int64_t device, plan_text *text)
{
    const yoke_plan_problem *problem = work->problem;
    plan_print(text, "  %s:", name_of(problem, device));
    for (int c = 0, count = 0; c < work->num_cuts; c++) {
        const int64_t units = best->units[c * problem->num_devices + device];
        if (units == 0) continue;
        plan_print(text, "%s %lld units", count++ > 0 ? "," : "", (long long)units);
        if (work->num_cuts > 1) plan_print(text, " of cut %d", c);
        plan_print(text, " (%.4g %%)", 100 * ((double)units / (double)work->cut_units[c]));
    }
    print_frequency(text, problem->devices[device].levels[best->levels[device]].frequency_hz);
    plan_print(text, "\n");
}

static void print_idle(const plan_work *work, const yoke_plan *plan, plan_text *text)
{
    int64_t count = 0;
    for (int64_t i = 0; i < work->problem->num_devices; i++)
        if (!plan_has_units(plan, &plan->best, i))
            plan_print(text, "%s%s", count++ > 0 ? ", " : "  without units: ", name_of(work->problem, i));
    if (count > 0) plan_print(text, "\n");
}

static void print_best(const plan_work *work, const yoke_plan *plan, plan_text *text)
{
    const yoke_plan_choice *best = &plan->best;
    plan_print(text, "Least %s: %.4g s", objective_words[plan->objective], best->time_s);
    if (best->time_uncertainty_s > 0) plan_print(text, " +- %.2g s", best->time_uncertainty_s);
    if (isnan(best->energy_j))
        plan_print(text, "; its energy is not known, as some powers are not");
    else {
        plan_print(text, ", %.4g J", best->energy_j);
        if (best->energy_uncertainty_j > 0) plan_print(text, " +- %.2g J", best->energy_uncertainty_j);
        if (best->time_s > 0)
            plan_print(text, " (%.4g W on average, %.4g W at the peak of the calls)", best->energy_j / best->time_s, best->peak_power_w);
    }
    plan_print(text, ".\n");
    for (int64_t i = 0; i < work->problem->num_devices; i++)
        if (plan_has_units(plan, best, i)) print_part(work, best, i, text);
    print_idle(work, plan, text);
}

static void print_sureness(const yoke_plan *plan, plan_text *text)
{
    if (plan->tie && !plan->optimal)
        plan_print(text, "No choice is better by more than %.2g %%, which is within the uncertainty.\n", 100 * plan->gap);
    else if (plan->optimal)
        plan_print(text, "It is the optimum of the model: no other choice is better.\n");
    else if (isnan(plan->gap))
        plan_print(text, "The search ended after %lld steps; how much better another choice may be is not known.\n",
                   (long long)plan->nodes);
    else
        plan_print(text, "The search ended after %lld steps; no other choice is better by more than %.2g %%.\n", (long long)plan->nodes,
                   100 * plan->gap);
}

/* ------------------------------------------------------------------------------------------------ the comparison */

static void print_change(plan_text *text, const char *what, double value, double best)
{
    double percent = 100 * (value / best - 1);
    if (!isfinite(percent)) return; /* the best value is 0 */
    if (fabs(percent) < 0.05)
        plan_print(text, ", the same %s", what);
    else
        plan_print(text, ", %.3g %% %s %s", fabs(percent), percent > 0 ? "more" : "less", what);
}

static void print_alternative(const yoke_plan *plan, const yoke_plan_choice *other, plan_text *text)
{
    plan_print(text, "  %s: ", other->name);
    if (isnan(other->time_s))
        plan_print(text, "cannot be done");
    else if (plan->feasible && plan_same_choice(plan, other, &plan->best))
        plan_print(text, "the same choice");
    else {
        plan_print(text, "%.4g s", other->time_s);
        if (!isnan(other->energy_j)) plan_print(text, ", %.4g J", other->energy_j);
        if (plan->feasible) print_change(text, "time", other->time_s, plan->best.time_s);
        if (plan->feasible) print_change(text, "energy", other->energy_j, plan->best.energy_j);
    }
    plan_print(text, "%s%s\n", other->note[0] != '\0' ? "; " : "", other->note);
}

static void print_alternatives(const yoke_plan *plan, plan_text *text)
{
    plan_print(text, "Compared with:\n");
    for (int64_t i = 0; i < plan->num_alternatives; i++)
        if (strcmp(plan->alternatives[i].name, "best") != 0) print_alternative(plan, &plan->alternatives[i], text);
}

/* Nonzero: the alternative is the same choice as the plan's or as an earlier alternative. */
static int is_repeated(const yoke_plan *plan, int64_t number)
{
    for (int64_t i = 0; i < number; i++)
        if (plan->alternatives[i].feasible && plan_same_choice(plan, &plan->alternatives[i], &plan->alternatives[number])) return 1;
    return plan_same_choice(plan, &plan->alternatives[number], &plan->best);
}

/* Lists the choices that are equal to the plan's within uncertainty. */
static void print_tie(const yoke_plan *plan, plan_text *text)
{
    if (!plan->tie) return;
    double value = objective_of(plan->objective, &plan->best), own = uncertainty_of(plan->objective, &plan->best);
    plan_print(text, "A tie: this choice (%s)", plan->best.name);
    for (int64_t i = 0; i < plan->num_alternatives; i++) {
        const yoke_plan_choice *other = &plan->alternatives[i];
        if (!other->feasible || is_repeated(plan, i)) continue;
        double theirs = uncertainty_of(plan->objective, other), apart = fabs(objective_of(plan->objective, other) - value);
        if (apart <= fmax(sqrt(own * own + theirs * theirs), PLAN_ROUNDING * fabs(value)))
            plan_print(text, " and %s", strcmp(other->name, "best") == 0 ? "the exact optimum" : other->name);
    }
    plan_print(
        text,
        " differ in %s by no more than their uncertainties; the fastest was taken, among equally fast ones that with the fewest devices.\n",
        objective_words[plan->objective]);
}

/* Compares the published rule with the true minimum, if they differ. */
static void print_published(const yoke_plan *plan, plan_text *text)
{
    if (plan->objective != YOKE_OBJECTIVE_ENERGY || !plan->feasible) return;
    for (int64_t i = 0; i < plan->num_alternatives; i++) {
        const yoke_plan_choice *other = &plan->alternatives[i];
        if (strcmp(other->name, "published") != 0 || isnan(other->energy_j) || plan_same_choice(plan, other, &plan->best)) continue;
        double more = 100 * (other->energy_j / plan->best.energy_j - 1);
        if (!(more >= 0.05) || isinf(more)) continue;
        plan_print(
            text,
            "The published rule (Lang and Ruenger 2014, sect. 4.3) differs from the true minimum: its choice needs %.3g %% more energy.\n",
            more);
    }
}

/* ------------------------------------------------------------------------------------------------ limits */

static yoke_status print_limits(plan_work *work, const yoke_plan *plan, plan_text *text)
{
    const yoke_plan_options *options = &work->options;
    plan_result free_choice;
    plan_request request = plan_request_of(work);
    if (!(options->deadline_s > 0) && !(options->max_slowdown > 0) && !(options->power_cap_w > 0)) return YOKE_OK;
    request.deadline_s = request.power_cap_w = INFINITY;
    yoke_status status = plan_search(work, &request, &free_choice);
    if (status != YOKE_OK) return status;
    plan_print(text, "Limits:");
    if (options->deadline_s > 0) plan_print(text, " deadline %.4g s;", options->deadline_s);
    if (options->max_slowdown > 0) plan_print(text, " at most %.4g times the least time;", options->max_slowdown);
    if (options->power_cap_w > 0) plan_print(text, " power cap %.4g W;", options->power_cap_w);
    double value = objective_of(plan->objective, &plan->best), unlimited = plan_objective_value(plan->objective, &free_choice.cost);
    if (unlimited >= value * (1 - 1e-9))
        plan_print(text, " they cost nothing.\n");
    else {
        plan_print(text, " without them %.4g s", free_choice.cost.time_s);
        if (!isnan(free_choice.cost.energy_j)) plan_print(text, " and %.4g J", free_choice.cost.energy_j);
        plan_print(text, ", %.3g %% less %s.\n", 100 * (1 - unlimited / value), objective_words[plan->objective]);
    }
    return YOKE_OK;
}

static void print_infeasible(const plan_work *work, const yoke_plan *plan, plan_text *text)
{
    const yoke_plan_options *options = &work->options;
    plan_print(text, "There is no such plan: ");
    if (strcmp(plan->binding, "deadline") == 0)
        plan_print(text, "the deadline of %.6g s cannot be met; the least time%s is %.6g s.\n", options->deadline_s,
                   options->power_cap_w > 0 ? " under the power cap" : "", plan->nearest);
    else if (strcmp(plan->binding, "kernel") == 0)
        plan_print(text, "no device that may have units has a kernel for each phase.\n");
    else if (strcmp(plan->binding, "memory") != 0 && isnan(plan->nearest))
        plan_print(text, "the power cap of %.6g W cannot be kept, not even without work.\n", options->power_cap_w);
    else if (strcmp(plan->binding, "power-cap") == 0)
        plan_print(text, "the power cap of %.6g W cannot be kept%s; %.6g W could be.\n", options->power_cap_w,
                   options->deadline_s > 0 ? " within the deadline" : "", plan->nearest);
    else
        plan_print(text, "%lld units do not fit into the devices' memories; %.0f units would.\n", (long long)work->units, plan->nearest);
}

yoke_status plan_explain(plan_work *work, yoke_plan *plan)
{
    void *memory = NULL;
    int64_t room = 4096 + 512 * (work->num_cuts * work->problem->num_devices + plan->num_alternatives);
    yoke_status status = plan_keep(work, plan, room, 1, &memory);
    if (status != YOKE_OK) return status;
    plan_text text = {.bytes = memory, .room = room};
    if (plan->feasible) {
        print_best(work, plan, &text);
        print_sureness(plan, &text);
        print_tie(plan, &text);
    } else
        print_infeasible(work, plan, &text);
    print_alternatives(plan, &text);
    print_published(plan, &text);
    if (plan->feasible) status = print_limits(work, plan, &text);
    if (status != YOKE_OK) return status;
    if (text.used > 0 && text.bytes[text.used - 1] == '\n') text.bytes[text.used - 1] = '\0';
    plan->decision = text.bytes;
    return YOKE_OK;
}
