#include "run/machine/frequency_sim.h"

#include <math.h>
#include <stdio.h>

#include "device/sim/sim.h"

/* The state of a frequency domain: the device to which it belongs, and the level to be restored. */
typedef struct simulated_domain {
    yoke_context *context;
    sim_machine *machine;
    sim_profile *device;
    int saved;
    int64_t saved_level;
} simulated_domain;

/* No guard is needed, as nothing remains after the process; closing restores the level. */
static yoke_status save(frequency_entry *entry, frequency_book *book)
{
    (void)book;
    simulated_domain *domain = entry->state;
    if (!domain->saved) domain->saved_level = domain->device->level;
    domain->saved = 1;
    return YOKE_OK;
}

static yoke_status set(frequency_entry *entry, double hz)
{
    const simulated_domain *domain = entry->state;
    sim_set_level(domain->machine, domain->device, sim_nearest_level(domain->device, hz));
    return YOKE_OK;
}

static double read_hz(frequency_entry *entry, double *asked_hz)
{
    const simulated_domain *domain = entry->state;
    *asked_hz = domain->device->levels[domain->device->level].frequency_hz;
    return *asked_hz;
}

static void mark(frequency_entry *entry) { (void)entry; }

static void why(frequency_entry *entry, char text[METER_WHY_BYTES])
{
    (void)entry;
    text[0] = '\0'; /* a requested frequency is always reached */
}

static void restore(void *state)
{
    simulated_domain *domain = state;
    if (domain->saved) sim_set_level(domain->machine, domain->device, domain->saved_level);
    yoke_release(domain->context, domain);
}

static const frequency_functions functions = {save, set, read_hz, mark, why, restore};

static yoke_status add(yoke_context *context, frequency_list *list, sim_machine *machine, sim_profile *device)
{
    frequency_entry entry;
    char name[64];
    void *state = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(simulated_domain), &state);
    if (status != YOKE_OK) return status;
    *(simulated_domain *)state = (simulated_domain){.context = context, .machine = machine, .device = device};
    snprintf(name, sizeof name, "sim:%s", device->name);
    frequency_entry_start(&entry, "sim", name);
    yoke_frequency_info *info = &entry.info;
    snprintf(info->description, sizeof info->description, "frequency of the device %s of the simulated machine %s", device->name,
             machine->name);
    info->settable = 1;
    info->current_hz = device->levels[device->level].frequency_hz;
    info->min_hz = device->levels[0].frequency_hz;
    info->max_hz = device->levels[device->num_levels - 1].frequency_hz;
    info->num_levels = device->num_levels;
    for (int64_t i = 0; i < device->num_levels; i++) info->levels_hz[i] = device->levels[i].frequency_hz;
    entry.functions = &functions;
    entry.state = state;
    return frequency_list_add(list, &entry);
}

yoke_status run_frequency_sim_find(yoke_context *context, frequency_list *list)
{
    sim_machine *machine = sim_machine_of(context);
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; machine != NULL && i < machine->count && status == YOKE_OK; i++)
        if (!isnan(machine->devices[i].levels[0].frequency_hz)) status = add(context, list, machine, &machine->devices[i]);
    return status;
}
