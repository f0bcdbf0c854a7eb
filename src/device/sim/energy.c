/* The power of simulated devices, and the readings of their meters. */
#include <math.h>

#include "device/sim/sim.h"

double sim_meter_update_s(const sim_domain *domain, double now_s)
{
    if (!(domain->period_s > 0)) return now_s;
    return fmin(floor(now_s / domain->period_s) * domain->period_s, now_s);
}

double sim_energy_j(const sim_domain *domain, double now_s) { return domain->since_j + domain->watts * (now_s - domain->since_s); }

double sim_energy_shown_j(const sim_domain *domain, double now_s)
{
    double update_s = sim_meter_update_s(domain, now_s);
    return update_s >= domain->since_s ? sim_energy_j(domain, update_s) : domain->shown_j;
}

/* Sets the power from now on. */
static void draw(sim_domain *domain, double now_s, double watts)
{
    if (!domain->powered || watts == domain->watts) return;
    domain->shown_j = sim_energy_shown_j(domain, now_s);
    domain->since_j = sim_energy_j(domain, now_s);
    domain->since_s = now_s;
    domain->watts = watts;
}

static double device_w(const sim_profile *device)
{
    const sim_level *level = &device->levels[device->launches > 0 ? device->busy_level : device->level];
    return (device->launches > 0 ? level->busy_w : level->idle_w) + (device->copies > 0 ? level->copy_w : 0);
}

double sim_least_w(const sim_profile *device)
{
    double least_w = device->levels[0].idle_w;
    for (int64_t i = 1; i < device->num_levels; i++) least_w = fmin(least_w, device->levels[i].idle_w);
    return least_w;
}

double sim_most_w(const sim_profile *device)
{
    double most_w = 0;
    for (int64_t i = 0; i < device->num_levels; i++) {
        const sim_level *level = &device->levels[i];
        most_w = fmax(most_w, fmax(level->idle_w, level->busy_w) + level->copy_w);
    }
    return most_w;
}

static double overhead_of(const sim_machine *machine, const sim_level *level)
{
    return isnan(level->hosting_w) ? machine->host_overhead_w : level->hosting_w;
}

double sim_most_overhead_w(const sim_machine *machine)
{
    double most_w = machine->host_overhead_w;
    for (int64_t i = 0; i < machine->count; i++)
        for (int64_t l = 0; l < machine->devices[i].num_levels; l++)
            most_w = fmax(most_w, overhead_of(machine, &machine->devices[i].levels[l]));
    return most_w;
}

/* The host overhead at the present frequencies: the largest of the CPUs' levels. */
static double overhead_w(const sim_machine *machine)
{
    double largest_w = NAN;
    for (int64_t i = 0; i < machine->count; i++) {
        const sim_profile *device = &machine->devices[i];
        if (device->device_class == YOKE_DEVICE_CPU) largest_w = fmax(largest_w, overhead_of(machine, &device->levels[device->level]));
    }
    return isnan(largest_w) ? machine->host_overhead_w : largest_w;
}

/* The power of host and memory depends on the activity of all devices. */
static void draw_shared(sim_machine *machine)
{
    int hosts = 0, accelerators = 0, copies = 0;
    for (int64_t i = 0; i < machine->count; i++) {
        const sim_profile *device = &machine->devices[i];
        hosts |= device->launches > 0 && device->device_class == YOKE_DEVICE_CPU;
        accelerators |= device->launches > 0 && device->device_class == YOKE_DEVICE_GPU;
        copies |= device->copies > 0;
    }
    const sim_domain *host = &machine->host, *dram = &machine->dram;
    draw(&machine->host, machine->host_s, host->idle_w + (accelerators && !hosts ? overhead_w(machine) : 0));
    /* A GPU computes in its own memory. */
    draw(&machine->dram, machine->host_s, (hosts ? dram->busy_w : dram->idle_w) + (copies ? dram->copy_w : 0));
}

void sim_energy_change(sim_machine *machine, sim_profile *device)
{
    if (!machine->powered) return;
    draw(&device->domain, machine->host_s, device_w(device));
    draw_shared(machine);
}

void sim_energy_start(sim_machine *machine)
{
    for (int64_t i = 0; i < machine->count; i++) draw(&machine->devices[i].domain, 0, device_w(&machine->devices[i]));
    draw_shared(machine);
}
