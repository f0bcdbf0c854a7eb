/*
 * alternatives.c - choices with which a plan is compared: each device alone, all devices in least time, the published rule.
 */
#include "plan/alternatives.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

void plan_print(plan_text *text, const char *format, ...)
{
    char line[YOKE_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    yoke_format_text(line, format, arguments);
    va_end(arguments);
    int64_t length = (int64_t)strlen(line), left = text->room - 1 - text->used;
    if (length > left) length = left > 0 ? left : 0;
    memcpy(text->bytes + text->used, line, (size_t)length);
    text->used += length;
    text->bytes[text->used] = '\0';
}

int plan_fits(const plan_work *work, const int64_t *units)
{
    for (int i = 0; i < work->num_devices; i++)
        if (units[work->devices[i].given] > work->devices[i].most) return 0;
    return 1;
}

/* The alternatives of a plan while they are collected, and the limits that they are checked against. */
typedef struct gathering {
    plan_work *work;
    yoke_plan *plan;
    yoke_plan_choice *choices;
    int64_t count;
    double deadline_s, power_cap_w;
} gathering;

/* An alternative that fits the memories has its numbers even if it violates a limit; its note names that limit. */
static yoke_status add(gathering *all, const char *name, const plan_result *result, const char *note)
{
    yoke_plan_choice *choice = &all->choices[all->count];
    yoke_status status = plan_keep_choice(all->work, all->plan, name, result, choice);
    if (status != YOKE_OK) return status;
    plan_text text = {.bytes = choice->note, .room = (int64_t)sizeof choice->note};
    plan_print(&text, "%s", note);
    if (result->feasible && result->cost.time_s > all->deadline_s * (1 + PLAN_ROUNDING)) {
        choice->feasible = 0;
        plan_print(&text, "%smisses the deadline of %.4g s", text.used > 0 ? "; " : "", all->deadline_s);
    } else if (result->feasible && result->cost.peak_w > all->power_cap_w * (1 + PLAN_ROUNDING)) {
        choice->feasible = 0;
        plan_print(&text, "%sbreaks the power cap: %.4g W", text.used > 0 ? "; " : "", result->cost.peak_w);
    }
    all->count++;
    return YOKE_OK;
}

/* Searches under the limits, or, if they cannot be met, without them. */
static yoke_status search(const gathering *all, plan_request request, plan_result *result)
{
    request.deadline_s = all->deadline_s;
    request.power_cap_w = all->power_cap_w;
    yoke_status status = plan_search(all->work, &request, result);
    if (status != YOKE_OK || result->feasible || strcmp(result->binding, "memory") == 0) return status;
    request.deadline_s = request.power_cap_w = INFINITY;
    return plan_search(all->work, &request, result);
}

static yoke_status add_single(gathering *all, int64_t device)
{
    int allowed[PLAN_MAX_DEVICES] = {0};
    char name[sizeof all->choices->name], note[64] = "";
    plan_text title = {.bytes = name, .room = (int64_t)sizeof name}, text = {.bytes = note, .room = (int64_t)sizeof note};
    plan_result result;
    const yoke_plan_device *source = &all->work->problem->devices[device];
    plan_request request = plan_request_of(all->work);
    allowed[device] = 1;
    request.allowed = allowed;
    yoke_status status = search(all, request, &result);
    if (status != YOKE_OK) return status;
    plan_print(&title, "only:%s", source->name != NULL ? source->name : "");
    if (!result.feasible) plan_print(&text, "at most %lld units fit", (long long)source->max_units);
    return add(all, name, &result, note);
}

/* Least time with all devices; the slowdown is relative to it. */
static yoke_status find_balanced(gathering *all, plan_result *balanced)
{
    const yoke_plan_options *options = &all->work->options;
    plan_request request = plan_request_of(all->work);
    request.objective = YOKE_OBJECTIVE_TIME;
    request.deadline_s = INFINITY;
    yoke_status status = plan_search(all->work, &request, balanced);
    if (status != YOKE_OK) return status;
    if (balanced->feasible && options->max_slowdown > 0)
        all->deadline_s = fmin(all->deadline_s, options->max_slowdown * balanced->cost.time_s);
    if (balanced->feasible || isinf(request.power_cap_w)) return YOKE_OK;
    request.power_cap_w = INFINITY;
    return plan_search(all->work, &request, balanced);
}

static yoke_status add_balanced(gathering *all, const plan_result *balanced)
{
    char note[64] = "";
    plan_text text = {.bytes = note, .room = (int64_t)sizeof note};
    if (!balanced->feasible) plan_print(&text, "at most %.0f units fit", balanced->nearest);
    return add(all, "balanced", balanced, note);
}

static yoke_status add_published(gathering *all)
{
    char note[sizeof all->choices->note] = "";
    plan_text text = {.bytes = note, .room = (int64_t)sizeof note};
    plan_result result;
    plan_published(all->work, &result, &text);
    return add(all, "published", &result, note);
}

static void add_best(gathering *all)
{
    yoke_plan_choice *choice = &all->choices[all->count++];
    *choice = all->plan->best;
    memset(choice->name, 0, sizeof choice->name);
    memcpy(choice->name, "best", sizeof "best");
}

yoke_status plan_alternatives(plan_work *work, yoke_plan *plan)
{
    void *memory = NULL;
    plan_result balanced;
    plan_request limits = plan_request_of(work);
    yoke_status status = plan_keep(work, plan, work->num_devices + 3, sizeof(yoke_plan_choice), &memory);
    if (status != YOKE_OK) return status;
    gathering all = {.work = work, .plan = plan, .choices = memory, .deadline_s = limits.deadline_s, .power_cap_w = limits.power_cap_w};
    status = find_balanced(&all, &balanced);
    for (int64_t i = 0; status == YOKE_OK && i < work->num_devices; i++) status = add_single(&all, i);
    if (status == YOKE_OK) status = add_balanced(&all, &balanced);
    if (status == YOKE_OK && plan_published_applies(work)) status = add_published(&all);
    if (status != YOKE_OK) return status;
    if (plan->feasible) add_best(&all);
    plan->alternatives = all.choices;
    plan->num_alternatives = all.count;
    return YOKE_OK;
}
