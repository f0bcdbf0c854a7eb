#include "adapt/planning.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Units at which a device's time is given to the planner: so many geometrically up to a share of 1 / 32, then evenly. */
enum { SMALL_POINTS = 5, EVEN_POINTS = 32, MOST_POINTS = SMALL_POINTS + EVEN_POINTS };

/* What the planner is given, in one piece. */
typedef struct planned {
    yoke_plan_problem problem;
    yoke_plan_device devices[FEM_MOST_DEVICES];
    int number[FEM_MOST_DEVICES]; /* of a device of the problem among those of the run */
    yoke_plan_level levels[FEM_MOST_DEVICES][FEM_MOST_CLOCK_LEVELS];
    double points[FEM_MOST_DEVICES][FEM_MOST_CLOCK_LEVELS][MOST_POINTS][2];
} planned;

int fem_plan_wanted(const fem_plan_options *o) { return o->objective != YOKE_OBJECTIVE_TIME || !isnan(o->power_cap_w); }

const char *fem_objective_text(yoke_objective objective)
{
    static const char *const texts[] = {"time", "energy", "edp", "ed2p"};
    return texts[objective];
}

static int is_gpu(const fem_device *device) { return device->info->device_class != YOKE_DEVICE_CPU; }

/* ------------------------------------------------------------------------------------------------------ problem */

static int point_units(int64_t n, int64_t units[MOST_POINTS])
{
    int count = 0;
    for (int k = 0; k < MOST_POINTS; k++) {
        int small = k < SMALL_POINTS;
        double x = small ? pow((double)n / EVEN_POINTS, k / (double)SMALL_POINTS) : (double)n * (k - SMALL_POINTS + 1) / EVEN_POINTS;
        int64_t rounded = (int64_t)(x + 0.5);
        if (rounded >= 1 && (count == 0 || rounded > units[count - 1])) units[count++] = rounded;
    }
    return count;
}

/* Seconds of a device at many sizes, at its highest level; 0 where they are not known. */
static yoke_status sample(const fem_plan_site *site, int device, int count, const int64_t *units, double *seconds, int *known)
{
    double all[FEM_MOST_DEVICES];
    int64_t parts[FEM_MOST_DEVICES] = {0};
    *known = 1;
    for (int k = 0; k < count; k++) {
        parts[device] = units[k];
        yoke_status status = yoke_balancer_predict(site->prediction->balancer, parts, all);
        if (status) return status;
        seconds[k] = all[device];
        if (!(seconds[k] > 0)) *known = 0;
    }
    return YOKE_OK;
}

static void fill_device(const fem_plan_site *site, planned *p, int at, int device, int count, const int64_t *units, const double *seconds)
{
    const fem_device_powers *powers = &site->prediction->powers->device[device];
    for (int l = 0; l < powers->num_levels; l++) {
        for (int k = 0; k < count; k++) {
            p->points[at][l][k][0] = (double)units[k];
            p->points[at][l][k][1] = seconds[k] * powers->slowness[l];
        }
        p->levels[at][l] = (yoke_plan_level){.frequency_hz = powers->hz[l],
                                             .seconds_per_unit = seconds[count - 1] * powers->slowness[l] / (double)units[count - 1],
                                             .dynamic_power_w = powers->dynamic_w[l],
                                             .idle_power_w = powers->idle_w[l],
                                             .num_points = count,
                                             .points = &p->points[at][l][0][0]};
    }
    double start_s, per_unit_s;
    fem_prediction_copy_law(site->prediction, device, &start_s, &per_unit_s);
    p->number[at] = device;
    p->devices[at] = (yoke_plan_device){.name = site->devices->list[device].info->name,
                                        .host = !is_gpu(&site->devices->list[device]),
                                        .num_levels = powers->num_levels,
                                        .levels = p->levels[at],
                                        .copy_seconds = start_s,
                                        .copy_seconds_per_unit = per_unit_s,
                                        .max_units = site->most[device]};
}

/* *known: nonzero where all that may work are known. */
static yoke_status fill(const fem_plan_site *site, const fem_work *work, planned *p, int *known)
{
    int64_t units[MOST_POINTS];
    double seconds[MOST_POINTS], idle_w = 0;
    int count = point_units(work->elements, units), at = 0;
    yoke_status status = YOKE_OK;
    *known = 1;
    for (int i = 0; i < site->devices->count && !status && *known; i++) {
        if (site->most[i] == 0) {
            const fem_device_powers *powers = &site->prediction->powers->device[i];
            idle_w += powers->idle_w[powers->num_levels - 1]; /* it is there, and draws what it draws */
            continue;
        }
        status = sample(site, i, count, units, seconds, known);
        if (!status && *known) fill_device(site, p, at++, i, count, units, seconds);
    }
    p->problem = (yoke_plan_problem){.units = work->elements,
                                     .repetitions = fem_prediction_repetitions(site->prediction, work, site->balanced),
                                     .copies_before = 1,
                                     .base_power_w = site->prediction->powers->base_w + idle_w,
                                     .hosting_power_w = site->prediction->powers->hosting_w,
                                     .num_devices = at,
                                     .devices = p->devices};
    *known = *known && at > 0;
    return status;
}

/* The deadline is for the whole solve, the planner's for products of levels that are shared. */
static yoke_status plan_options(const fem_plan_site *site, const fem_work *work, yoke_plan_options *options)
{
    const fem_plan_options *o = site->options;
    double a, b, alone_s;
    *options = (yoke_plan_options){.objective = o->objective};
    if (!isnan(o->max_slowdown)) options->max_slowdown = o->max_slowdown;
    if (!isnan(o->power_cap_w)) options->power_cap_w = o->power_cap_w;
    if (isnan(o->deadline_s)) return YOKE_OK;
    yoke_status status = fem_prediction_alone_s(site->prediction, work, site->balanced, &alone_s);
    fem_prediction_overhead(site->prediction, site->balanced, &a, &b);
    double products = work->products;
    for (int l = 0; l < work->num_levels; l++) products += work->levels[l].products;
    double left = (o->deadline_s - b * products) / a - alone_s;
    options->deadline_s = left > 0 ? left : 1e-300; /* less than nothing is left: nothing meets it */
    return status;
}

/* ------------------------------------------------------------------------------------------------------- choice */

/* A plan's choice with the whole solve's cost. */
static yoke_status weigh(const fem_plan_site *site, const fem_work *work, const planned *p, const yoke_plan_choice *from,
                         fem_alternative *to)
{
    const fem_prediction *prediction = site->prediction;
    fem_cost cost;
    *to = (fem_alternative){.time_s = NAN, .energy_j = NAN};
    snprintf(to->name, sizeof to->name, "%s", from->name);
    snprintf(to->note, sizeof to->note, "%s", from->note);
    for (int i = 0; i < site->devices->count; i++) to->levels[i] = prediction->powers->device[i].num_levels - 1;
    for (int k = 0; k < p->problem.num_devices; k++) {
        to->units[p->number[k]] = from->units[k];
        to->levels[p->number[k]] = (int)from->levels[k];
    }
    yoke_status status = fem_prediction_cost(prediction, work, to->units, to->levels, &cost);
    if (status) return status;
    to->time_s = cost.time_s + cost.copy_s;
    to->energy_j = cost.energy_j + fem_prediction_standing_w(prediction, to->levels) * cost.copy_s;
    return YOKE_OK;
}

static double value(const fem_plan_site *site, const fem_alternative *a)
{
    static const int powers_of_time[] = {1, 0, 1, 2};
    double product = site->options->objective == YOKE_OBJECTIVE_TIME ? 1 : a->energy_j;
    return product * pow(a->time_s, powers_of_time[site->options->objective]);
}

static int allowed(const fem_plan_site *site, const fem_alternative *a, double min_s)
{
    int hosts = 0, gpus = 0;
    for (int i = 0; i < site->devices->count; i++) {
        hosts |= a->units[i] > 0 && !is_gpu(&site->devices->list[i]);
        gpus |= a->units[i] > 0 && is_gpu(&site->devices->list[i]);
    }
    if (site->both && !(hosts && gpus)) return 0;
    return isnan(site->options->max_slowdown) || a->time_s <= site->options->max_slowdown * min_s * (1 + 1e-9);
}

static yoke_status add(const fem_plan_site *site, const fem_work *work, const planned *p, const yoke_plan_choice *from, fem_choice *choice)
{
    if (!from->units || choice->num_alternatives == FEM_MOST_ALTERNATIVES) return YOKE_OK;
    yoke_status status = weigh(site, work, p, from, &choice->alternatives[choice->num_alternatives]);
    if (!status) choice->num_alternatives++;
    return status;
}

/* The best that is allowed comes first. */
static void put_best_first(const fem_plan_site *site, fem_choice *choice)
{
    double min_s = INFINITY;
    int best = -1;
    for (int k = 0; k < choice->num_alternatives; k++) min_s = fmin(min_s, choice->alternatives[k].time_s);
    for (int k = 0; k < choice->num_alternatives; k++) {
        const fem_alternative *a = &choice->alternatives[k];
        if (!strcmp(a->name, "published") || !allowed(site, a, min_s)) continue;
        if (best < 0 || value(site, a) < value(site, &choice->alternatives[best])) best = k;
    }
    if (best <= 0) return;
    fem_alternative first = choice->alternatives[best];
    choice->alternatives[best] = choice->alternatives[0];
    choice->alternatives[0] = first;
}

static const char *case_text(const fem_plan_site *site, const fem_alternative *a)
{
    int hosts = 0, gpus = 0;
    for (int i = 0; i < site->devices->count; i++) {
        hosts |= a->units[i] > 0 && !is_gpu(&site->devices->list[i]);
        gpus |= a->units[i] > 0 && is_gpu(&site->devices->list[i]);
    }
    return hosts && gpus ? "both" : gpus ? "gpu" : "cpu";
}

static void append(char *text, size_t size, const char *format, ...) YOKE_PRINTF(3, 4);
static void append(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

static void append_parts(const fem_plan_site *site, const fem_alternative *a, char *text, size_t size)
{
    for (int i = 0; i < site->devices->count; i++) {
        double hz = site->prediction->powers->device[i].hz[a->levels[i]];
        append(text, size, "%s%s %lld", i ? ", " : "", site->devices->list[i].info->name, (long long)a->units[i]);
        if (!isnan(hz)) append(text, size, " at %.4g GHz", hz / 1e9);
    }
    append(text, size, ": %.4g s, %.4g J", a->time_s, a->energy_j);
}

static int differ(const fem_plan_site *site, const fem_alternative *a, const fem_alternative *b)
{
    int64_t all = 0, other = 0;
    for (int i = 0; i < site->devices->count; i++) {
        all += a->units[i];
        other += a->units[i] > b->units[i] ? a->units[i] - b->units[i] : 0;
    }
    return other * 100 > all || strcmp(case_text(site, a), case_text(site, b)) != 0;
}

/* Objective, what was chosen, what was weighed, and where the rule of 2014 would have gone astray. */
static yoke_status explain(const fem_plan_site *site, const yoke_plan *plan, fem_choice *choice)
{
    enum { SIZE = 6000 };
    const fem_alternative *best = &choice->alternatives[0];
    yoke_status status = yoke_allocate(site->context, SIZE, 1, &choice->decision);
    if (status) return status;
    char *text = choice->decision;
    append(text, SIZE, "least %s (powers %s), case %s: ", fem_objective_text(site->options->objective),
           fem_powers_source_text(site->prediction->powers->source), case_text(site, best));
    append_parts(site, best, text, SIZE);
    for (int k = 1; k < choice->num_alternatives; k++) {
        append(text, SIZE, "; %s ", choice->alternatives[k].name);
        append_parts(site, &choice->alternatives[k], text, SIZE);
    }
    for (int k = 1; k < choice->num_alternatives; k++) {
        const fem_alternative *a = &choice->alternatives[k];
        if (strcmp(a->name, "published") != 0 || !differ(site, a, best)) continue;
        append(text, SIZE, "; the rule of the 2014 paper takes case %s (%s), which costs %+.1f %% energy and %+.1f %% time",
               case_text(site, a), a->note, 100 * (a->energy_j / best->energy_j - 1), 100 * (a->time_s / best->time_s - 1));
    }
    if (plan->tie) append(text, SIZE, "; a tie");
    if (!plan->optimal && plan->gap > 0) append(text, SIZE, "; no other share is better by more than %.2g %%", 100 * plan->gap);
    return YOKE_OK;
}

static void take_balanced(const fem_plan_site *site, fem_choice *choice)
{
    for (int i = 0; i < site->devices->count; i++) {
        choice->units[i] = site->balanced[i];
        choice->levels[i] = site->prediction->powers->device[i].num_levels - 1;
    }
}

static yoke_status cap_fails(const fem_plan_site *site, const yoke_plan *plan)
{
    return yoke_fail(site->context, YOKE_ERROR_INPUT, "--power-cap %g: the machine cannot work with so little; %.4g W can be kept",
                     site->options->power_cap_w, plan->nearest);
}

/* What cannot be met as to time is said, and then it is as fast as can be: *aim is changed. */
static yoke_status create_plan(const fem_plan_site *site, const fem_work *work, const planned *p, fem_plan_options *aim, yoke_plan **plan)
{
    yoke_plan_options options;
    yoke_status status = plan_options(site, work, &options);
    if (!status) status = yoke_plan_create(site->context, &p->problem, &options, plan);
    if (status || (*plan)->feasible) return status;
    if (!strcmp((*plan)->binding, "power-cap")) {
        status = cap_fails(site, *plan);
    } else {
        yoke_log(site->context, YOKE_LOG_WARNING, "the %s cannot be met for the next step; it is solved as fast as can be",
                 (*plan)->binding);
        options = (yoke_plan_options){.objective = YOKE_OBJECTIVE_TIME, .power_cap_w = options.power_cap_w};
        aim->objective = YOKE_OBJECTIVE_TIME;
        aim->max_slowdown = NAN;
    }
    yoke_release(site->context, *plan);
    *plan = NULL;
    if (!status) status = yoke_plan_create(site->context, &p->problem, &options, plan);
    if (status || (*plan)->feasible) return status;
    return !strcmp((*plan)->binding, "power-cap")
               ? cap_fails(site, *plan)
               : yoke_fail(site->context, YOKE_ERROR_DEVICE_MEMORY, "the elements do not fit the devices");
}

yoke_status fem_plan_choose(const fem_plan_site *asked, const fem_work *work, fem_choice *choice)
{
    fem_plan_options aim = *asked->options;
    fem_plan_site now = *asked;
    const fem_plan_site *site = &now;
    planned *p = NULL;
    yoke_plan *plan = NULL;
    int known = 0;
    now.options = &aim;
    *choice = (fem_choice){.decision = NULL};
    take_balanced(site, choice);
    yoke_status status = yoke_allocate(site->context, 1, sizeof *p, &p);
    if (!status) status = fill(site, work, p, &known);
    if (!status && known) status = create_plan(site, work, p, &aim, &plan);
    if (!status && plan) status = add(site, work, p, &plan->best, choice);
    for (int k = 0; plan && !status && k < plan->num_alternatives; k++)
        if (strcmp(plan->alternatives[k].name, "best") != 0 &&
            (plan->alternatives[k].feasible || !strcmp(plan->alternatives[k].name, "published")))
            status = add(site, work, p, &plan->alternatives[k], choice);
    if (!status && choice->num_alternatives) {
        put_best_first(site, choice);
        memcpy(choice->units, choice->alternatives[0].units, sizeof choice->units);
        memcpy(choice->levels, choice->alternatives[0].levels, sizeof choice->levels);
        status = explain(site, plan, choice);
    }
    yoke_release(site->context, plan);
    yoke_release(site->context, p);
    return status;
}
