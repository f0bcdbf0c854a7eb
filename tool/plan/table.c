/* Prints a plan and its front as tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/console/options.h"
#include "plan/plan.h"

/* ------------------------------------------------------------------------------------------------ the plan */

static const char *frequency_text(double frequency_hz, char text[32])
{
    if (frequency_hz >= 1e9)
        snprintf(text, 32, "%.4g GHz", frequency_hz / 1e9);
    else if (frequency_hz > 0)
        snprintf(text, 32, "%.4g MHz", frequency_hz / 1e6);
    else
        strcpy(text, "-");
    return text;
}

/* Writes "0.2746 s" or "not known". */
static const char *quantity_text(double value, double uncertainty, const char *unit, char text[64])
{
    if (isnan(value))
        strcpy(text, "not known");
    else if (uncertainty > 0)
        snprintf(text, 64, "%.5g +- %.2g %s", value, uncertainty, unit);
    else
        snprintf(text, 64, "%.5g %s", value, unit);
    return text;
}

static int widest_name(const yoke_plan_problem *problem)
{
    size_t widest = strlen("device");
    for (int64_t i = 0; i < problem->num_devices; i++)
        if (strlen(problem->devices[i].name) > widest) widest = strlen(problem->devices[i].name);
    return (int)widest;
}

static void print_parts(app_terminal *terminal, const plan_answer *answer)
{
    const yoke_plan_problem *problem = answer->problem;
    const yoke_plan_choice *best = &answer->plan->best;
    int width = widest_name(problem);
    app_print(terminal, "  %-*s  %19s  %8s  %s\n", width, "device", "units", "share", "frequency");
    for (int64_t i = 0; i < problem->num_devices; i++) {
        char text[32];
        double share = problem->units > 0 ? 100 * ((double)best->units[i] / (double)problem->units) : 0;
        app_print(terminal, "  %-*s  %19lld  %6.2f %%  %s\n", width, problem->devices[i].name, (long long)best->units[i], share,
                  frequency_text(best->units[i] > 0 ? problem->devices[i].levels[best->levels[i]].frequency_hz : NAN, text));
    }
}

static void print_power(app_terminal *terminal, const yoke_plan_choice *best)
{
    char text[64];
    const double mean_w = best->time_s > 0 ? best->energy_j / best->time_s : (double)NAN;
    if (isnan(best->peak_power_w) && isnan(mean_w)) {
        app_print(terminal, "power: not known\n");
        return;
    }
    if (!(best->time_s > 0)) { /* no units: no call has a peak */
        app_print(terminal, "power: %s without work\n", quantity_text(best->peak_power_w, 0, "W", text));
        return;
    }
    app_print(terminal, "power: %s at the peak of the calls", quantity_text(best->peak_power_w, 0, "W", text));
    app_print(terminal, ", %s on average\n", quantity_text(mean_w, 0, "W", text));
}

static void print_costs(app_terminal *terminal, const yoke_plan *plan)
{
    char text[64];
    const yoke_plan_choice *best = &plan->best;
    app_print(terminal, "time: %s\n", quantity_text(best->time_s, best->time_uncertainty_s, "s", text));
    app_print(terminal, "energy: %s\n", quantity_text(best->energy_j, best->energy_uncertainty_j, "J", text));
    print_power(terminal, best);
    if (plan->optimal)
        app_print(terminal, "optimal: yes\n");
    else if (isnan(plan->gap))
        app_print(terminal, "optimal: not known\n");
    else
        app_print(terminal, "optimal: to %.2g %%%s\n", 100 * plan->gap, plan->tie ? " (a tie within the uncertainty)" : "");
}

/* Writes "+12.3 %" relative to the best value, or "" if this is not known. */
static const char *change_text(double value, double best, char text[32])
{
    double percent = 100 * (value / best - 1);
    text[0] = '\0';
    if (!isnan(percent) && isfinite(percent)) snprintf(text, 32, "%+.1f %%", fabs(percent) < 0.05 ? 0.0 : percent);
    return text;
}

static void print_alternatives(app_terminal *terminal, const yoke_plan *plan)
{
    size_t width = strlen("alternative");
    for (int64_t i = 0; i < plan->num_alternatives; i++)
        if (strlen(plan->alternatives[i].name) > width) width = strlen(plan->alternatives[i].name);
    app_print(terminal, "\n  %-*s  %12s  %10s  %12s\n", (int)width, "alternative", "time", "", "energy");
    for (int64_t i = 0; i < plan->num_alternatives; i++) {
        const yoke_plan_choice *other = &plan->alternatives[i];
        char time[64], energy[64], slower[32], more[32];
        if (isnan(other->time_s)) {
            app_print(terminal, "  %-*s  cannot be done: %s\n", (int)width, other->name, other->note);
            continue;
        }
        app_print(terminal, "  %-*s  %12s  %10s  %12s  %10s%s%s\n", (int)width, other->name, quantity_text(other->time_s, 0, "s", time),
                  change_text(other->time_s, plan->best.time_s, slower), quantity_text(other->energy_j, 0, "J", energy),
                  change_text(other->energy_j, plan->best.energy_j, more), other->note[0] ? "  " : "", other->note);
    }
}

void plan_print_answer(app_terminal *terminal, const plan_answer *answer)
{
    const int64_t units = answer->problem->units, phases = answer->problem->round != NULL ? answer->problem->round->num_phases : 0;
    const char *of_units = units == 1 ? "unit" : "units";
    if (phases > 0)
        app_print(terminal, "%lld %s, %lld %s after one distribution; least %s\n", (long long)units, of_units, (long long)phases,
                  phases == 1 ? "phase" : "phases", app_objective_names[answer->plan->objective]);
    else
        app_print(terminal, "%lld %s, %.6g %s after one distribution; least %s\n", (long long)units, of_units, answer->problem->repetitions,
                  answer->problem->repetitions == 1 ? "call" : "calls", app_objective_names[answer->plan->objective]);
    if (answer->plan->feasible) {
        print_parts(terminal, answer);
        print_costs(terminal, answer->plan);
    }
    print_alternatives(terminal, answer->plan);
}

void plan_print_front(app_terminal *terminal, const plan_answer *answer)
{
    const yoke_plan_problem *problem = answer->problem;
    if (!answer->plan->feasible) return;
    app_print(terminal, "\n  %12s  %12s  %12s  units (frequency)\n", "time, s", "energy, J", "peak, W");
    for (int64_t k = 0; k < answer->plan->num_front; k++) {
        const yoke_plan_choice *choice = &answer->plan->front[k];
        app_print(terminal, "  %12.6g  %12.6g  %12.6g ", choice->time_s, choice->energy_j, choice->peak_power_w);
        for (int64_t i = 0; i < problem->num_devices; i++) {
            char text[32];
            if (choice->units[i] == 0) continue;
            app_print(terminal, " %s %lld (%s)", problem->devices[i].name, (long long)choice->units[i],
                      frequency_text(problem->devices[i].levels[choice->levels[i]].frequency_hz, text));
        }
        app_print(terminal, "\n");
    }
    if (answer->plan->num_front > 0 && !answer->plan->front_optimal) app_print(terminal, "  not all of these are proved to be optimal\n");
}
