/* What simulated devices draw, and what their meters show of it. */
#include <math.h>
#include <string.h>

#include "device/sim.h"

/* ---------------------------------------------------------------------------------------------- stretches */

static yoke_status make_room(yoke_context *context, sim_stretches *stretches)
{
    if (stretches->count < stretches->capacity) return YOKE_OK;
    int64_t capacity = 2 * stretches->capacity + 8;
    void *longer = NULL;
    yoke_status status = yoke_allocate_untouched(context, capacity, 2 * sizeof(double), &longer);
    if (status != YOKE_OK) return status;
    if (stretches->count > 0) memcpy(longer, stretches->ends, (size_t)stretches->count * 2 * sizeof(double));
    yoke_release(context, stretches->ends);
    stretches->ends = longer;
    stretches->capacity = capacity;
    return YOKE_OK;
}

/* Forgets all but the length of stretches that ended by then. */
static void drop_before(sim_stretches *stretches, double time_s)
{
    int64_t past = 0;
    while (past < stretches->count && stretches->ends[2 * past + 1] <= time_s) {
        stretches->before_s += stretches->ends[2 * past + 1] - stretches->ends[2 * past];
        past++;
    }
    if (past == 0) return;
    stretches->count -= past;
    memmove(stretches->ends, stretches->ends + 2 * past, (size_t)stretches->count * 2 * sizeof(double));
}

/* Adds [begin_s, end_s], which begins after all that was dropped; stretches that touch become one. */
static yoke_status add(yoke_context *context, sim_stretches *stretches, double begin_s, double end_s)
{
    if (!(end_s > begin_s)) return YOKE_OK;
    yoke_status status = make_room(context, stretches);
    if (status != YOKE_OK) return status;
    double *ends = stretches->ends;
    int64_t last = stretches->count; /* [first, last) touch the new one; most are added at the end */
    while (last > 0 && ends[2 * last - 2] > end_s) last--;
    int64_t first = last;
    while (first > 0 && ends[2 * first - 1] >= begin_s) first--;
    if (first < last) {
        begin_s = fmin(begin_s, ends[2 * first]);
        end_s = fmax(end_s, ends[2 * last - 1]);
    }
    memmove(ends + 2 * (first + 1), ends + 2 * last, (size_t)(stretches->count - last) * 2 * sizeof(double));
    ends[2 * first] = begin_s;
    ends[2 * first + 1] = end_s;
    stretches->count += 1 - (last - first);
    return YOKE_OK;
}

double sim_stretches_s(const sim_stretches *stretches, double time_s)
{
    double seconds = stretches->before_s;
    for (int64_t i = 0; i < stretches->count && stretches->ends[2 * i] < time_s; i++)
        seconds += fmin(stretches->ends[2 * i + 1], time_s) - stretches->ends[2 * i];
    return seconds;
}

/* ------------------------------------------------------------------------------------------------ domains */

/* The meter may still show an earlier time than the host's: what lies behind that is kept. */
static yoke_status note(const sim_machine *machine, sim_domain *domain, sim_stretches *stretches, double begin_s, double end_s)
{
    drop_before(stretches, sim_meter_update_s(domain, machine->host_s));
    return add(machine->context, stretches, begin_s, end_s);
}

yoke_status sim_energy_launch(sim_machine *machine, sim_profile *device, double begin_s, double end_s)
{
    yoke_status status = YOKE_OK;
    sim_domain *own = &device->domain, *dram = &machine->dram;
    if (own->powered) status = note(machine, own, &own->busy, begin_s, end_s);
    /* A GPU computes in memory of its own. */
    if (status == YOKE_OK && dram->powered && device->device_class == YOKE_DEVICE_CPU)
        status = note(machine, dram, &dram->busy, begin_s, end_s);
    return status;
}

yoke_status sim_energy_copy(sim_machine *machine, sim_profile *device, double begin_s, double end_s)
{
    yoke_status status = YOKE_OK;
    sim_domain *own = &device->domain, *dram = &machine->dram;
    if (own->powered) status = note(machine, own, &own->copying, begin_s, end_s);
    if (status == YOKE_OK && dram->powered) status = note(machine, dram, &dram->copying, begin_s, end_s);
    return status;
}

double sim_energy_j(const sim_domain *domain, double time_s)
{
    return domain->idle_w * time_s + (domain->busy_w - domain->idle_w) * sim_stretches_s(&domain->busy, time_s) +
           domain->copy_w * sim_stretches_s(&domain->copying, time_s);
}

double sim_meter_update_s(const sim_domain *domain, double now_s)
{
    if (!(domain->period_s > 0)) return now_s;
    return fmin(floor(now_s / domain->period_s) * domain->period_s, now_s);
}

void sim_domain_clear(yoke_context *context, sim_domain *domain)
{
    yoke_release(context, domain->busy.ends);
    yoke_release(context, domain->copying.ends);
    *domain = (sim_domain){0};
}
