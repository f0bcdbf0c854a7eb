#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meter/vendor/amdsmi.h"
#include "meter/vendor/gpu.h"

/*
 * Energy of AMD GPUs: the accumulator of the card's firmware, else readings of the socket's power.  Cards are matched by PCI address: the
 * order of AMD SMI is not that of HIP.
 */

/* The library, which all open meters share. */
typedef struct amd_library {
    gpu_library common;
    yoke_amd amd;
} amd_library;

typedef struct amd_meter {
    gpu_meter common;
    uint32_t index;
    int integrated;
} amd_meter;

/* ------------------------------------------------------------------------------------------------ reading */

static meter_result read_meter(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    const amd_meter *meter = state;
    const yoke_amd *amd = &((const amd_library *)meter->common.library)->amd;
    uint64_t count = 0;
    double resolution_j = 0, power_w = NAN;
    char error[160];
    int status =
        meter->integrated ? yoke_amd_power(amd, meter->index, &power_w) : yoke_amd_energy(amd, meter->index, &count, &resolution_j);
    if (status == 0) {
        sample->time_s = NAN; /* the library's time is that of the firmware's last update, on another clock */
        sample->count = count;
        sample->power_w = power_w;
        sample->energy_j = NAN;
        return METER_READ;
    }
    int lost = yoke_amd_lost(amd, status);
    yoke_amd_error_text(amd, status, error, sizeof error);
    snprintf(why, METER_WHY_BYTES, "GPU %s%s: %s cannot be read: %s", meter->common.pci, lost ? " is lost" : "",
             meter->integrated ? "power" : "the energy counter", error);
    return lost ? METER_GONE : METER_FAILED;
}

/* Present power, for power profiles. */
static meter_result read_power(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    amd_meter meter = *(const amd_meter *)state;
    meter.integrated = 1;
    return read_meter(&meter, sample, why);
}

/* ------------------------------------------------------------------------------------------------- domains */

/*
 * The libraries report 15.3 uJ per count.  The kernel's drivers, which are their source, use 2^-16 J = 15.2588 uJ (kgd_pp_interface.h:
 * "15.259uJ (2^-16) units"), and no firmware counts in decimal steps.  So 15.3 is 2^-16 J rounded, and 0.27 % too high.  A clearly
 * different number is that of firmware that is not known here, and is used as reported.
 */
static double unit_of(double resolution_j)
{
    const double kernel = 0x1p-16;
    return fabs(resolution_j / kernel - 1) < 0.005 ? kernel : resolution_j;
}

static void describe(const yoke_amd *amd, uint32_t index, const char *pci, const char *model, double resolution_j, meter_domain *domain)
{
    yoke_meter_info *info = &domain->info;
    const double most_w = yoke_amd_most_power(amd, index);
    const int integrated = isnan(resolution_j);
    snprintf(info->description, sizeof info->description, "%s, %.80s, by %s: %s; all partitions of the card", pci, model,
             amd->rocm ? "ROCm SMI" : "AMD SMI",
             integrated ? "no energy counter: socket power, integrated; the sensor's error is not published, 5 % are assumed"
                        : "energy counter; its unit is known to 0.3 %, the sensor's own error is not published");
    snprintf(info->covers, sizeof info->covers, "gpu-%s", pci);
    snprintf(info->pci, sizeof info->pci, "%s", pci);
    info->source = YOKE_ENERGY_MEASURED;
    info->usable = 1;
    info->integrated = integrated;
    info->resolution_j = integrated ? NAN : unit_of(resolution_j);
    info->period_s = NAN; /* not documented: measured while opening */
    info->gain_error = integrated ? 0.05 : 0.003;
    domain->quantity = integrated ? METER_POWER : METER_COUNTER;
    domain->unit_j = info->resolution_j;
    domain->range = 0;
    domain->rank = 10;
    domain->most_w = isnan(most_w) ? 3000 : 2 * most_w; /* limits hold on average only */
    domain->quantum_w = 1;
    domain->window_s = NAN;
    domain->always_moves = 1;
}

static yoke_status add_gpu(meter_list *list, gpu_library *library, uint32_t index, const char *pci, const char *model, double resolution_j)
{
    meter_domain domain;
    gpu_meter *meter;
    char name[64];
    yoke_status status = gpu_meter_create(library, pci, sizeof(amd_meter), &meter);
    if (status != YOKE_OK) return status;
    amd_meter *own = (amd_meter *)meter;
    own->index = index;
    own->integrated = isnan(resolution_j);
    snprintf(name, sizeof name, "amdsmi:%u", (unsigned)index);
    meter_domain_start(&domain, "amdsmi", name);
    describe(&((const amd_library *)library)->amd, index, pci, model, resolution_j, &domain);
    domain.read = read_meter;
    domain.read_power = read_power;
    domain.close = gpu_meter_close;
    domain.state = meter;
    return meter_list_add(list, &domain);
}

static yoke_status add_unusable(meter_list *list, const yoke_amd *amd, uint32_t index, const char *description, int status)
{
    char name[64], why[METER_WHY_BYTES], error[160];
    snprintf(name, sizeof name, "amdsmi:%u", (unsigned)index);
    if (status == AMDSMI_STATUS_NOT_SUPPORTED)
        return meter_list_add_missing(list, "amdsmi", name, description,
                                      "this GPU shows neither energy nor power (a virtual function, or old)",
                                      "measure on the host, or use a wattmeter and declare the powers (--declare)");
    yoke_amd_error_text(amd, status, error, sizeof error);
    snprintf(why, sizeof why, "this GPU cannot be read: %s", error);
    return meter_list_add_missing(list, "amdsmi", name, description, why, yoke_amd_remedy(amd, status));
}

static yoke_status find_gpu(meter_list *list, gpu_library *library, unsigned int index)
{
    const yoke_amd *amd = &((const amd_library *)library)->amd;
    char pci[16] = "", model[96], description[256];
    uint64_t count;
    double resolution_j = NAN, power_w;
    int status = yoke_amd_pci(amd, index, pci);
    if (status != 0) return add_unusable(list, amd, index, "AMD GPU", status);
    if (gpu_already_metered(list, library->vendor, pci)) return YOKE_OK; /* a partition: each reports the energy of the whole card */
    yoke_amd_model(amd, index, model);
    snprintf(description, sizeof description, "%s, %.80s", pci, model);
    int counter = yoke_amd_energy(amd, index, &count, &resolution_j);
    if (counter == 0) return add_gpu(list, library, index, pci, model, resolution_j);
    status = yoke_amd_power(amd, index, &power_w);
    if (status == 0) return add_gpu(list, library, index, pci, model, NAN);
    return add_unusable(list, amd, index, description, status != AMDSMI_STATUS_NOT_SUPPORTED ? status : counter);
}

static unsigned int load(gpu_library *library, const meter_site *site, const char **why_not, const char **remedy)
{
    yoke_amd *amd = &((amd_library *)library)->amd;
    *why_not = amd->why_not;
    *remedy = amd->remedy;
    return yoke_amd_load(site, amd) ? amd->num_gpus : 0;
}

static void unload(gpu_library *library) { yoke_amd_unload(&((amd_library *)library)->amd); }

static const gpu_vendor amd_gpus = {"amdsmi", "AMD GPUs", sizeof(amd_library), load, unload, find_gpu};

static yoke_status find(const meter_site *site, meter_list *list) { return gpu_find_all(&amd_gpus, site, list); }

const meter_kind meter_amdsmi = {"amdsmi", find};
