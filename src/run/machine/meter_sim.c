#include "run/machine/meter_sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/sim/sim.h"

/* The source of a domain's values. */
typedef struct reading {
    yoke_context *context;
    const sim_machine *machine;
    const sim_domain *domain;
} reading;

static sim_machine *powered_machine(yoke_context *context)
{
    sim_machine *machine = sim_machine_of(context);
    return machine != NULL && machine->powered ? machine : NULL;
}

/* ------------------------------------------------------------------------------------------------- reading */

/* Joules at the meter's latest update, with its gain. */
static double shown_j(const reading *from) { return from->domain->gain * sim_energy_shown_j(from->domain, from->machine->host_s); }

static meter_result read_energy(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    (void)why;
    sample->time_s = NAN;
    sample->energy_j = shown_j(state);
    return METER_READ;
}

/* Number of counts after which the counter starts again; at most 2^64. */
static double counts_of(const sim_domain *domain)
{
    return domain->wrap_j > 0 ? floor(domain->wrap_j / domain->resolution_j + 0.5) : 0x1p64;
}

static meter_result read_counter(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    (void)why;
    const reading *from = state;
    sample->time_s = NAN;
    sample->count = (uint64_t)fmod(floor(shown_j(from) / from->domain->resolution_j), counts_of(from->domain));
    return METER_READ;
}

static void close_reading(void *state) { yoke_release(((reading *)state)->context, state); }

/* ------------------------------------------------------------------------------------------------- finding */

static yoke_status add_domain(const meter_site *site, meter_list *list, const sim_machine *machine, const sim_domain *domain,
                              double least_w, double most_w, const char *name, const char *what)
{
    char full[64];
    void *state = NULL;
    if (!domain->powered) return YOKE_OK;
    yoke_status status = yoke_allocate(site->context, 1, sizeof(reading), &state);
    if (status != YOKE_OK) return status;
    *(reading *)state = (reading){site->context, machine, domain};
    snprintf(full, sizeof full, "sim:%s", name);
    meter_domain found;
    meter_domain_start(&found, "sim", full);
    snprintf(found.info.description, sizeof found.info.description, "%s of the simulated machine %s", what, machine->name);
    snprintf(found.info.covers, sizeof found.info.covers, "%s", full);
    found.info.source = YOKE_ENERGY_SIMULATED;
    found.info.usable = 1;
    found.info.resolution_j = domain->resolution_j;
    found.info.period_s = domain->period_s;
    found.info.gain_error = domain->gain_error;
    found.quantity = METER_ENERGY;
    found.read = read_energy;
    if (domain->resolution_j > 0) {
        found.quantity = METER_COUNTER;
        found.unit_j = domain->resolution_j;
        found.read = read_counter;
    }
    if (domain->wrap_j > 0) {
        found.info.wrap_j = domain->wrap_j;
        found.range = (uint64_t)counts_of(domain);
    }
    /* A tenth more, so that rounding does not look like a fault. */
    found.most_w = fmax(1.1 * domain->gain * most_w, 1);
    found.always_moves = domain->gain * least_w * 0.5 > domain->resolution_j && domain->period_s <= 0.5;
    found.close = close_reading;
    found.state = state;
    return meter_list_add(list, &found);
}

static yoke_status find(const meter_site *site, meter_list *list)
{
    const sim_machine *machine = powered_machine(site->context);
    if (machine == NULL) return YOKE_OK;
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; status == YOKE_OK && i < machine->count; i++) {
        const sim_profile *device = &machine->devices[i];
        char what[80];
        snprintf(what, sizeof what, "the device %s", device->name);
        status = add_domain(site, list, machine, &device->domain, sim_least_w(device), sim_most_w(device), device->name, what);
    }
    const sim_domain *host = &machine->host, *dram = &machine->dram;
    if (status == YOKE_OK)
        status = machine->host_described
                     ? add_domain(site, list, machine, host, host->idle_w, host->busy_w, "host", "the host, without devices and memory,")
                     : add_domain(site, list, machine, host, 0, host->busy_w, "hosting", "the host, only while GPUs work and it waits,");
    if (status == YOKE_OK)
        status =
            add_domain(site, list, machine, dram, dram->idle_w, fmax(dram->idle_w, dram->busy_w) + dram->copy_w, "dram", "the main memory");
    return status;
}

const meter_kind run_meter_sim = {"sim", find};

/* --------------------------------------------------------------------------------------------------- clock */

static double now_s(void *user) { return ((const sim_machine *)user)->host_s; }

static double suspended_s(void *user)
{
    (void)user;
    return 0;
}

int run_meter_sim_time(yoke_context *context, meter_time *time)
{
    sim_machine *machine = powered_machine(context);
    if (machine == NULL) return 0;
    *time = (meter_time){.now_s = now_s, .suspended_s = suspended_s, .virtual_time = 1, .user = machine};
    return 1;
}

void run_sim_watch_begin(yoke_context *context, run_sim_watch *watch)
{
    sim_machine *machine = powered_machine(context);
    watch->machine = machine;
    if (machine == NULL) return;
    watch->inner = (sim_watch){.every_s = watch->every_s,
                               .next_s = machine->host_s + watch->every_s,
                               .moved = watch->moved,
                               .user = watch->user,
                               .next = machine->watches};
    machine->watches = &watch->inner;
}

void run_sim_watch_end(run_sim_watch *watch)
{
    sim_machine *machine = watch->machine;
    if (machine == NULL) return;
    for (sim_watch **place = &machine->watches; *place != NULL; place = &(*place)->next)
        if (*place == &watch->inner) {
            *place = watch->inner.next;
            break;
        }
    watch->machine = NULL;
}
