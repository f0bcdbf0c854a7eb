/*
 * published.c - the three-case rule of Lang and Ruenger (2014, sect. 4.3), as published.
 *
 * Let t be the seconds per unit, E* = (dynamic + idle) t the joules per unit (for the accelerator including the copy's, divided by the
 * repetitions; eq. 36, 39), and P* the idle power of the host.  1.  E*_c < E*_g: all on the host; 2.  E*_c > E*_g + P*_c t_g: all on the
 * accelerator; 3. otherwise shares of equal time (eq. 26).  The minimum of eq. 37 is sharing if E*_c < E*_g + P*_c (t_g + t_c): between the
 * two bounds case 2 is not the minimum.
 */
#include <math.h>
#include <stddef.h>

#include "plan/alternatives.h"

/* The quantities of the rule for a pair of levels. */
typedef struct rule {
    double t_host, t_accelerator;       /* s per unit and call */
    double e_host, e_accelerator;       /* J per unit and call */
    double idle_host, idle_accelerator; /* W; 0 if the accelerator is removed when it has no units */
} rule;

static const plan_device *device_of_kind(const plan_work *work, int host)
{
    for (int i = 0; i < work->num_devices; i++)
        if (!work->devices[i].host == !host) return &work->devices[i];
    return NULL;
}

int plan_published_applies(const plan_work *work)
{
    return work->problem->round == NULL && work->num_devices == 2 && work->powers_known && device_of_kind(work, 1) != NULL &&
           device_of_kind(work, 0) != NULL;
}

/* Seconds per unit of one call; for a time given by points, with all units on the device. */
static double seconds_per_unit(const plan_work *work, const plan_level *level)
{
    double n = (double)(work->units > 0 ? work->units : 1);
    return level->times->speed.count > 0 ? yoke_speed_seconds(&level->times->speed, n) / n : level->times->per_unit_s / work->repetitions;
}

static rule rule_of(const plan_work *work, const plan_device *host, const plan_level *c, const plan_device *accelerator,
                    const plan_level *g)
{
    rule r = {.t_host = seconds_per_unit(work, c), .t_accelerator = seconds_per_unit(work, g), .idle_host = c->idle_w};
    r.e_host = (c->times->dynamic_w + c->idle_w) * r.t_host + host->copy_j / work->repetitions;
    r.e_accelerator = (g->times->dynamic_w + g->idle_w) * r.t_accelerator + accelerator->copy_j / work->repetitions;
    r.idle_accelerator = accelerator->removable ? 0 : g->idle_w;
    return r;
}

static int case_of(const rule *r)
{
    if (r->e_host < r->e_accelerator) return 1;
    return r->e_host > r->e_accelerator + r->idle_host * r->t_accelerator ? 2 : 3;
}

/* Eq. 26. */
static double share_of(const rule *r) { return 1 / (1 + r->t_accelerator / r->t_host); }

/* Joules per unit and call of the three cases by eq. 37. */
static void energies(const rule *r, double joules[4])
{
    double share = share_of(r);
    joules[1] = r->e_host + r->idle_accelerator * r->t_host;
    joules[2] = r->e_accelerator + r->idle_host * r->t_accelerator;
    joules[3] = share * r->e_accelerator + (1 - share) * r->e_host;
}

static void describe(const rule *r, plan_text *text)
{
    static const char *const ways[] = {"", "all on the host", "all on the accelerator", "shared by eq. 26"};
    int chosen = case_of(r), least = 3;
    double joules[4];
    energies(r, joules);
    for (int way = 1; way <= 2; way++)
        if (joules[way] < joules[least]) least = way;
    plan_print(text, "case %d: %s", chosen, ways[chosen]);
    if (joules[least] < joules[chosen] * (1 - 1e-9))
        plan_print(text, "; not the minimum of eq. 37: %s needs %.4g J a unit and call, this %.4g J", ways[least], joules[least],
                   joules[chosen]);
}

static void choose(const plan_work *work, const plan_device *host, const plan_device *accelerator, const plan_level *c, const plan_level *g,
                   plan_result *result)
{
    rule r = rule_of(work, host, c, accelerator, g);
    int way = case_of(&r);
    double share = way == 1 ? 0 : way == 2 ? 1 : share_of(&r);
    /* If there are more units than a double can count, the host has the rounding remainder. */
    double units = floor(share * (double)work->units + 0.5);
    int64_t moved = way == 2 || units >= (double)work->units ? work->units : (int64_t)units;
    result->units[accelerator->given] = moved;
    result->units[host->given] = work->units - moved;
    result->levels[host->given] = moved < work->units ? c->given : host->levels[host->parked].given;
    result->levels[accelerator->given] = moved > 0 ? g->given : accelerator->levels[accelerator->parked].given;
    result->cost = plan_cost_of(work, result->units, result->levels);
    result->feasible = plan_fits(work, result->units);
}

void plan_published(const plan_work *work, plan_result *result, plan_text *text)
{
    const plan_device *host = device_of_kind(work, 1), *accelerator = device_of_kind(work, 0);
    rule chosen = {0};
    int found = 0;
    *result = (plan_result){.gap = NAN, .binding = "", .nearest = NAN};
    for (int c = 0; c < host->num_levels; c++)
        for (int g = 0; g < accelerator->num_levels; g++) {
            plan_result candidate = *result;
            choose(work, host, accelerator, &host->levels[c], &accelerator->levels[g], &candidate);
            int better = candidate.feasible > result->feasible || candidate.cost.energy_j < result->cost.energy_j * (1 - PLAN_ROUNDING);
            if (found && (candidate.feasible < result->feasible || !better)) continue;
            found = 1;
            *result = candidate;
            chosen = rule_of(work, host, &host->levels[c], accelerator, &accelerator->levels[g]);
        }
    describe(&chosen, text);
    if (!result->feasible) plan_print(text, "; it does not fit into a device's memory");
}
