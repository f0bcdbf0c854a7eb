/*
 * Power in addition to that of the devices' meters: of memory, and of a host that waits for accelerators (PEACH's P_OH), which depends on
 * the host's frequency.
 *
 * In a round the energy (J) of others is memory_w x seconds of hosts + overhead_w x seconds of accelerators alone, with one overhead for
 * each level of the host.
 */
#include <math.h>

#include "run/run.h"

/* Overheads that differ by less than this part are taken as equal. */
static const double alike = 0.02;
/* If accelerators work alone for less than this part of the hosts' time, the round shows nothing about a level's overhead. */
static const double brief = 0.02;

double run_others_above_j(const yoke_run *run, const double *busy, double seconds, const yoke_energy *total, double *uncertainty)
{
    uint64_t at_work = 0, resting = 0;
    double uncertain = 0, of_own, joules = total->value_j - run_all_own_j(run, 0, &of_own) - run->base_w * seconds;
    for (int i = 0; i < run->num_devices; i++)
        if (busy[i] > 0 || run->devices[i].accelerator) at_work |= run->devices[i].meters;
    for (int i = 0; i < run->num_devices; i++) {
        const run_device *d = &run->devices[i];
        if ((d->meters & (at_work | resting)) != 0 || d->meters == 0 || isnan(d->powers[d->level].idle_w)) continue;
        resting |= d->meters; /* a host that rests: its additional power serves the accelerators */
        joules += run_own_j(run, i, &uncertain) - d->powers[d->level].idle_w * seconds;
    }
    run_all_own_j(run, resting, &of_own);
    *uncertainty = fmax(0, total->uncertainty_j - of_own);
    return joules;
}

int run_serving_host(const yoke_run *run)
{
    for (int i = 0; i < run->num_devices; i++)
        if (!run->devices[i].accelerator && run_is_active(run, i)) return i;
    return -1;
}

/* Solves the least-squares problem: each level's overhead follows from memory_w, so that one equation is left for memory_w. */
static void solve(run_others *o, const int *used)
{
    double squares = o->hosts_squares, joules = o->hosts_j;
    for (int l = 0; l < RUN_MAX_LEVELS; l++) {
        if (!used[l]) continue;
        squares -= o->products[l] * o->products[l] / o->waits_squares[l];
        joules -= o->products[l] * o->waits_j[l] / o->waits_squares[l];
    }
    o->memory_w = squares > 1e-9 * o->hosts_squares ? fmax(0, joules / squares) : 0;
    for (int l = 0; l < RUN_MAX_LEVELS; l++)
        o->overhead_w[l] = used[l] ? (o->waits_j[l] - o->memory_w * o->products[l]) / o->waits_squares[l] : 0;
}

void run_others_learn(yoke_run *run, const int *levels, double host_s, double accelerator_s, double joules, double uncertain_j)
{
    run_others *o = &run->others;
    const int host = run_serving_host(run), level = host >= 0 ? levels[host] : 0;
    double alone_s = fmax(0, accelerator_s - host_s);
    int used[RUN_MAX_LEVELS], again = 1;
    if (alone_s < brief * host_s) {
        joules -= o->overhead_w[level] * alone_s;
        alone_s = 0;
    }
    o->hosts_squares += host_s * host_s;
    o->hosts_j += host_s * joules;
    o->waits_squares[level] += alone_s * alone_s;
    o->products[level] += host_s * alone_s;
    o->waits_j[level] += alone_s * joules;
    o->uncertain_squares[level] += alone_s * alone_s * uncertain_j * uncertain_j;
    for (int l = 0; l < RUN_MAX_LEVELS; l++) used[l] = o->waits_squares[l] > 0;
    while (again) { /* until no overhead is negative */
        again = 0;
        solve(o, used);
        for (int l = 0; l < RUN_MAX_LEVELS; l++) {
            again |= o->overhead_w[l] < 0;
            used[l] = used[l] && !(o->overhead_w[l] < 0);
        }
    }
}

/* Half width of the interval of a level's overhead; 0: it was not measured. */
static double uncertain_w(const run_others *o, int level)
{
    return o->waits_squares[level] > 0 ? sqrt(o->uncertain_squares[level]) / o->waits_squares[level] : 0;
}

/* Mean overhead of the levels that were measured.  *differ: nonzero: the levels differ, so that one overhead does not hold for all. */
static double common_w(const run_others *o, int *differ)
{
    double weight = 0, sum = 0, least = INFINITY, most = 0, uncertain = 0;
    for (int l = 0; l < RUN_MAX_LEVELS; l++) {
        if (!(o->waits_squares[l] > 0)) continue;
        weight += o->waits_squares[l];
        sum += o->waits_squares[l] * o->overhead_w[l];
        least = fmin(least, o->overhead_w[l]);
        most = fmax(most, o->overhead_w[l]);
        uncertain = fmax(uncertain, uncertain_w(o, l));
    }
    *differ = most - least > fmax(alike * most, sqrt(2) * uncertain);
    return weight > 0 ? sum / weight : o->overhead_w[0];
}

void run_host_overheads(const yoke_run *run, double watts[RUN_MAX_LEVELS])
{
    const run_others *o = &run->others;
    const int host = run_serving_host(run), count = host >= 0 ? run->devices[host].num_levels : 1;
    const double *hz = host >= 0 ? run->devices[host].hz : NULL;
    int differ;
    const double common = common_w(o, &differ);
    for (int l = 0; l < RUN_MAX_LEVELS; l++) watts[l] = common;
    for (int l = 0; l < count && differ; l++) {
        int below = l, above = l;
        while (below >= 0 && !(o->waits_squares[below] > 0)) below--;
        while (above < count && !(o->waits_squares[above] > 0)) above++;
        if (below < 0) below = above;
        if (above >= count) above = below;
        const double part = above > below ? (hz[l] - hz[below]) / (hz[above] - hz[below]) : 0;
        watts[l] = (1 - part) * o->overhead_w[below] + part * o->overhead_w[above];
    }
}
