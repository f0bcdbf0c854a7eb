/* Sums the results of rounds. */
#include <math.h>
#include <stdio.h>

#include "share/sharing.h"

void dense_share_add_round(dense_sharing *s, const yoke_cost *measured)
{
    dense_shared *all = s->shared;
    const yoke_assignment *a = s->assignment;
    dense_round round = {.decision = a->decision, .predicted = a->predicted, .measured = *measured};
    double longest = 0, shortest = INFINITY;
    if (s->alone < 0) s->decision = a->decision;
    for (int i = 0; i < s->count; i++) {
        const dense_share_device *d = &s->device[i];
        round.part[i] = (dense_round_part){d->units, a->frequency_hz[i]};
        if (s->alone < 0) s->beside[i] = d->units;
        if (d->units == 0) continue;
        round.units += d->units;
        longest = fmax(longest, d->busy_s);
        shortest = fmin(shortest, d->busy_s);
    }
    round.imbalance = longest > shortest ? (longest - shortest) / shortest : 0;
    if (s->alone >= 0) {
        s->trial = s->alone;
        s->trial_s = longest / (double)round.units;
    }
    if (s->alone < 0) s->rate = longest > 0 ? (double)round.units / longest : 0;
    if (all->num_rounds < DENSE_MAX_ROUNDS) all->round[all->num_rounds] = round;
    all->num_rounds++;
    all->predicted_s += round.predicted.time_s;
    all->predicted_j += round.predicted.energy_j;
    all->measured_s += measured->time_s;
    all->measured_j += measured->energy_j;
    if (!isnan(round.predicted.time_s)) {
        all->told_predicted_s += round.predicted.time_s;
        all->told_s += measured->time_s;
    }
    all->kind = a->energy.kind;
    snprintf(all->why_no_energy, sizeof all->why_no_energy, "%s", a->energy.why_not);
}

static void add_range(dense_part *part, int64_t first, int64_t last)
{
    const int told = part->num_ranges >= 1 && part->num_ranges <= DENSE_MAX_RANGES;
    dense_range *latest = told ? &part->range[part->num_ranges - 1] : NULL;
    part->units += last - first;
    if (latest && latest->last == first)
        latest->last = last;
    else if (part->num_ranges++ < DENSE_MAX_RANGES)
        part->range[part->num_ranges - 1] = (dense_range){first, last};
}

yoke_status dense_share_add_energies(dense_sharing *s, double all_s)
{
    yoke_status status = dense_share_get_devices(s);
    for (int i = 0; i < s->count && !status; i++) {
        const yoke_run_device *of = &s->list[i];
        const double busy_s = s->device[i].busy_s;
        s->shared->part[i].energy_j += of->idle_w * all_s + (busy_s > 0 ? of->dynamic_w * busy_s : 0);
    }
    snprintf(s->shared->powers, sizeof s->shared->powers, "%s", s->assignment->powers);
    return status;
}

yoke_status dense_share_add_piece(dense_sharing *s, int i, double seconds)
{
    dense_share_device *d = &s->device[i];
    const int64_t units = d->last - d->first;
    if (!d->done) return dense_share_push(s, d->first, d->last);
    s->done += units;
    d->units += units;
    d->busy_s += seconds;
    add_range(&s->shared->part[i], d->first, d->last);
    if (seconds > 0) s->shared->part[i].seconds += seconds;
    return YOKE_OK;
}

void dense_share_tell_parts(dense_sharing *s)
{
    s->shared->num_parts = s->count;
    for (int i = 0; i < s->count; i++) {
        dense_part *part = &s->shared->part[i];
        part->device = s->list[i].info->name;
        part->accelerator = s->list[i].accelerator;
        part->by = s->kernel->by && part->units ? s->kernel->by(s->kernel->user, i, part->accelerator) : "";
        const char *rests = s->device[i].why_rests;
        part->why = !s->list[i].active ? s->list[i].why : rests ? rests : "";
    }
}
