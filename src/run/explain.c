/* The latest decision in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"

enum { TEXT_BYTES = 16384 };

static void append(char *text, const char *format, ...) YOKE_PRINTF(2, 3);
static void append(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, TEXT_BYTES - length, format, arguments);
    va_end(arguments);
}

static int count_working(const run_plan *plan, int num_devices)
{
    int count = 0;
    for (int i = 0; i < num_devices; i++) count += plan->units[0][i] > 0;
    return count;
}

static const char *why_text(const run_plan *plan, int num_devices)
{
    if (plan->decision == YOKE_RUN_STARTED && count_working(plan, num_devices) == 1)
        return "only one device may work, and it was never measured with this work";
    static const char *const texts[] = {"the shares are fixed",
                                        "some device was never measured with this work, so every device that may work gets some of it",
                                        "frequencies are tried whose times or powers are not known yet",
                                        "by the balancer, for least time",
                                        "the planner's best",
                                        "kept from the round before"};
    return texts[plan->decision];
}

static void append_parts(const yoke_run *run, char *text)
{
    const run_plan *plan = run->plan;
    for (int i = 0; i < run->num_devices; i++) {
        const run_device *d = &run->devices[i];
        double share = plan->cut_units[0] > 0 ? 100.0 * (double)plan->units[0][i] / (double)plan->cut_units[0] : 0;
        append(text, "  %-16s %12lld units, %6.2f %%", d->info->name, (long long)plan->units[0][i], share);
        if (!isnan(run->frequency_hz[i])) append(text, ", %.4g GHz", run->frequency_hz[i] / 1e9);
        if (plan->units[0][i] > 0 && !isnan(run->measured_s[i])) append(text, ", %.4g s", run->measured_s[i]);
        if (plan->units[0][i] > 0 && !isnan(plan->predicted_s[i])) append(text, " (predicted %.4g s)", plan->predicted_s[i]);
        const char *rests = run_why_rests(run, plan, i);
        int works = run_is_active(run, i) && (plan->allowed >> i & 1);
        append(text, "%s%s%s%s\n", works ? "" : ", left out: ", works ? "" : d->why, rests[0] != '\0' ? ", rests: " : "", rests);
    }
}

static void append_interval(double value, double uncertainty, const char *unit, char *text)
{
    if (isnan(uncertainty))
        append(text, "%.4g %s (+- not known)", value, unit);
    else
        append(text, "%.4g +- %.2g %s", value, uncertainty, unit);
}

static void append_cost(const yoke_run *run, double regret, char *text)
{
    const yoke_cost *predicted = &run->plan->predicted, *measured = &run->measured;
    if (!isnan(predicted->time_s)) {
        append(text, "predicted: ");
        append_interval(predicted->time_s, predicted->time_uncertainty_s, "s", text);
        if (!isnan(predicted->energy_j)) append(text, ", ");
        if (!isnan(predicted->energy_j)) append_interval(predicted->energy_j, predicted->energy_uncertainty_j, "J", text);
        append(text, "\n");
    }
    if (!isnan(measured->time_s)) {
        append(text, "measured: %.4g s", measured->time_s);
        if (!isnan(measured->energy_j))
            append(text, ", %.4g J (%s)", measured->energy_j, yoke_energy_kind_text(run->energy_kind));
        else
            append(text, "; energy not metered");
        append(text, "\n");
    }
    if (!isnan(regret)) append(text, "regret: %.2f %% above the best shares by what is known now\n", 100 * regret);
}

static void append_limit(const yoke_run *run, char *text)
{
    const run_plan *plan = run->plan;
    if (plan->feasible) return;
    int power = strcmp(plan->binding, "power-cap") == 0;
    append(text, "the %s of %.4g %s cannot be met; the nearest that can is %.4g %s, and this is %s\n", power ? "power cap" : plan->binding,
           power ? run->options.power_cap_w : run->options.deadline_s, power ? "W" : "s", plan->nearest, power ? "W" : "s",
           power ? "as fast as possible with that" : "as fast as possible");
}

/* Appends the balancer's explanation of its latest decision. */
static yoke_status append_balancer(const yoke_run *run, char *text)
{
    const run_work *work = &run->run_works[run->plan->works[0]];
    char *line = NULL;
    if (work->balancer == NULL || (run->plan->decision != YOKE_RUN_BALANCED && run->plan->decision != YOKE_RUN_STARTED)) return YOKE_OK;
    yoke_status status = yoke_balancer_explain(work->balancer, &line);
    if (status == YOKE_OK) append(text, "balancer: %s\n", line);
    yoke_release(run->context, line);
    return status;
}

yoke_status yoke_run_explain(yoke_run *run, char **text_out)
{
    void *memory = NULL;
    double regret = NAN;
    if (run == NULL || text_out == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_explain: an argument is NULL");
    yoke_status status = run_regret(run, &regret);
    if (status == YOKE_OK) status = yoke_allocate(run->context, TEXT_BYTES, 1, &memory);
    if (status != YOKE_OK) return status;
    char *text = memory;
    const run_plan *plan = run->plan;
    if (!run->has_plan) {
        append(text, "nothing was planned yet\n");
        *text_out = text;
        return YOKE_OK;
    }
    append(text, "%s, %lld units, least %s: %s", run->run_works[plan->works[0]].name, (long long)plan->cut_units[0],
           run_objective_text(run->options.objective), why_text(plan, run->num_devices));
    if (plan->decision == YOKE_RUN_KEPT) append(text, ", as the best would gain %.2g %%", 100 * plan->gain);
    if (plan->decision == YOKE_RUN_PLANNED && plan->optimal) append(text, ", proved to be optimal");
    if (plan->decision == YOKE_RUN_PLANNED && !plan->optimal && plan->gap > 0)
        append(text, ", no other is better by more than %.2g %%", 100 * plan->gap);
    append(text, "%s%s\n", plan->note[0] != '\0' ? "; " : "", plan->note);
    append_parts(run, text);
    status = append_balancer(run, text);
    if (status != YOKE_OK) {
        yoke_release(run->context, memory);
        return status;
    }
    append_limit(run, text);
    append_cost(run, regret, text);
    for (int a = 0; a < plan->num_alternatives; a++) {
        const run_alternative *it = &plan->alternatives[a];
        if (isnan(it->time_s)) {
            append(text, "alternative %s: not possible%s%s\n", it->name, it->note[0] != '\0' ? ": " : "", it->note);
            continue;
        }
        append(text, "alternative %s: %.4g s", it->name, it->time_s);
        if (!isnan(it->energy_j)) append(text, ", %.4g J", it->energy_j);
        append(text, "%s\n", it->feasible ? "" : " (beyond a limit)");
    }
    *text_out = text;
    return YOKE_OK;
}
