#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meter/vendor/gpu.h"
#include "meter/vendor/nvml.h"

/*
 * Energy of NVIDIA GPUs: the counter of millijoules if the card has one (Volta and newer), otherwise readings of power.
 *
 * Scopes: a card alone, or a module of GPU and CPU (GH200, GB200).  Queries of fields specify the scope; older functions do not, and return
 * the value of the module if there is one (github.com/ml-energy/zeus, pull request 172).
 */

/* The function or field that a meter reads. */
typedef enum nvml_source { ENERGY_FIELD, ENERGY_FUNCTION, POWER_INSTANT_FIELD, POWER_AVERAGE_FIELD, POWER_FUNCTION } nvml_source;

/* The library, which all open meters share. */
typedef struct nvml_library {
    gpu_library common;
    yoke_nvml nvml;
} nvml_library;

typedef struct nvml_meter {
    gpu_meter common;
    nvmlDevice_t device;
    nvml_source source;
} nvml_meter;

static const yoke_nvml *nvml_of(const nvml_meter *meter) { return &((const nvml_library *)meter->common.library)->nvml; }

/* ------------------------------------------------------------------------------------------------ reading */

/* Reads a field as a count.  FUNCTION_NOT_FOUND: the driver does not support fields; NO_DATA: the field is not a count. */
static nvmlReturn_t get_field(const yoke_nvml *nvml, nvmlDevice_t device, unsigned int id, unsigned int scope, uint64_t *number)
{
    nvmlFieldValue_t field;
    memset(&field, 0, sizeof field);
    field.fieldId = id;
    field.scopeId = scope;
    if (nvml->call.nvmlDeviceGetFieldValues == NULL) return NVML_ERROR_FUNCTION_NOT_FOUND;
    nvmlReturn_t result = nvml->call.nvmlDeviceGetFieldValues(device, 1, &field);
    if (result == NVML_SUCCESS) result = field.nvmlReturn;
    if (result != NVML_SUCCESS) return result;
    switch (field.valueType) {
    case NVML_VALUE_TYPE_UNSIGNED_INT:
        *number = field.value.uiVal;
        return NVML_SUCCESS;
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
        *number = field.value.ulVal;
        return NVML_SUCCESS;
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
        *number = field.value.ullVal;
        return NVML_SUCCESS;
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
        if (field.value.sllVal < 0) return NVML_ERROR_NO_DATA;
        *number = (uint64_t)field.value.sllVal;
        return NVML_SUCCESS;
    case NVML_VALUE_TYPE_DOUBLE:
        if (!(field.value.dVal >= 0 && field.value.dVal < 0x1p63)) return NVML_ERROR_NO_DATA;
        *number = (uint64_t)field.value.dVal;
        return NVML_SUCCESS;
    default:
        return NVML_ERROR_NO_DATA;
    }
}

/* Reads one number of a source: millijoules or milliwatts.  *call is the name of the function, for messages. */
static nvmlReturn_t get_number(const yoke_nvml *nvml, nvmlDevice_t device, nvml_source source, uint64_t *number, const char **call)
{
    unsigned long long millijoules = 0;
    unsigned int milliwatts = 0;
    nvmlReturn_t result;
    *call = "nvmlDeviceGetFieldValues";
    switch (source) {
    case ENERGY_FIELD:
        return get_field(nvml, device, NVML_FI_DEV_ENERGY, NVML_POWER_SCOPE_GPU, number);
    case POWER_INSTANT_FIELD:
        return get_field(nvml, device, NVML_FI_DEV_POWER_INSTANT, NVML_POWER_SCOPE_GPU, number);
    case POWER_AVERAGE_FIELD:
        return get_field(nvml, device, NVML_FI_DEV_POWER_AVERAGE, NVML_POWER_SCOPE_GPU, number);
    case ENERGY_FUNCTION:
        *call = "nvmlDeviceGetTotalEnergyConsumption";
        if (nvml->call.nvmlDeviceGetTotalEnergyConsumption == NULL) return NVML_ERROR_FUNCTION_NOT_FOUND;
        result = nvml->call.nvmlDeviceGetTotalEnergyConsumption(device, &millijoules);
        if (result == NVML_SUCCESS) *number = millijoules;
        return result;
    case POWER_FUNCTION:
        break;
    }
    *call = "nvmlDeviceGetPowerUsage";
    result = nvml->call.nvmlDeviceGetPowerUsage(device, &milliwatts);
    if (result == NVML_SUCCESS) *number = milliwatts;
    return result;
}

static meter_result read_meter(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    const nvml_meter *meter = state;
    const yoke_nvml *nvml = nvml_of(meter);
    const char *call;
    char error[160];
    uint64_t number = 0;
    nvmlReturn_t result = get_number(nvml, meter->device, meter->source, &number, &call);
    if (result == NVML_SUCCESS) {
        sample->time_s = NAN; /* NVML's own times are on the wall clock */
        sample->count = number;
        sample->power_w = (double)number * 1e-3;
        sample->energy_j = NAN;
        return METER_READ;
    }
    yoke_nvml_error_text(nvml, result, error, sizeof error);
    snprintf(why, METER_WHY_BYTES, "GPU %s%s: %s: %s", meter->common.pci, yoke_nvml_lost(result) ? " is lost" : "", call, error);
    return yoke_nvml_lost(result) ? METER_GONE : METER_FAILED;
}

/* Present power, for power profiles: the instantaneous one if the driver reports it. */
static meter_result read_power(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    nvml_meter meter = *(const nvml_meter *)state;
    meter.source = POWER_INSTANT_FIELD;
    meter_result result = read_meter(&meter, sample, why);
    if (result != METER_FAILED) return result;
    meter.source = POWER_FUNCTION;
    return read_meter(&meter, sample, why);
}

/* ------------------------------------------------------------------------------------------- properties of a card */

/*
 * The sensors of a generation, by compute capability: the period of updates, the window of instantaneous power and of
 * nvmlDeviceGetPowerUsage, and the largest deviation of a card's gain from 1 that was found.
 *
 * Source: Z. Yang, K. Adamek, W. Armour, "Accurate and convenient energy measurements for GPUs: a detailed study of NVIDIA GPU's built-in
 * power sensor" (SC24, arXiv 2312.02741) and its data sheet: A100 -5.8 %, RTX 3090 -4.5 to -5.6 %, A5000 -7 %, RTX 4090 -5.2 %, RTX 2060S
 * +12.8 %.  For generations of which no card was measured, it is the 5 % that NVIDIA states.  NaN: not known.
 */
typedef struct nvml_generation {
    int capability; /* 10 major + minor, of the first card of this kind */
    const char *name;
    double period_s, instant_window_s, usage_window_s, gain_error;
} nvml_generation;

static const nvml_generation generations[] = {
    {100, "Blackwell or newer", 0.1, NAN, 1, 0.05},
    {90, "Hopper", 0.1, 0.025, 1, 0.05},
    {89, "Ada", 0.1, 0.1, 1, 0.06},
    {81, "GA10x", 0.1, 0.1, 1, 0.07},
    {80, "GA100", 0.1, 0.025, 0.025, 0.06},
    {75, "Turing", 0.1, 0.1, 0.1, 0.13},
    {70, "Volta", 0.02, 0.01, 0.01, 0.05},
    {60, "Pascal", 0.02, 0.01, 0.01, 0.05},
    {0, "Maxwell or older", NAN, NAN, NAN, 0.05}, /* a low-pass filter, not a window */
};
static const nvml_generation unknown_generation = {0, "unknown", 0.1, NAN, NAN, 0.13};

static const nvml_generation *find_generation(const yoke_nvml *nvml, nvmlDevice_t device)
{
    int major = 0, minor = 0;
    if (nvml->call.nvmlDeviceGetCudaComputeCapability == NULL ||
        nvml->call.nvmlDeviceGetCudaComputeCapability(device, &major, &minor) != NVML_SUCCESS || major < 1 || major > 1000 || minor < 0)
        return &unknown_generation;
    const nvml_generation *generation = generations;
    while (10 * major + (minor < 10 ? minor : 9) < generation->capability) generation++;
    return generation;
}

/* A GPU while its meter is set up. */
typedef struct nvml_card {
    const yoke_nvml *nvml;
    nvmlDevice_t device;
    unsigned int index;
    char pci[16], model[96];
    const nvml_generation *generation;
    nvml_source source;
    int module; /* nonzero: the source reports the energy or power of the whole module */
    int mig, virtual_gpu;
    char why[METER_WHY_BYTES], remedy[512];
} nvml_card;

/* Whether the GPU belongs to a module, which its functions without a scope report. */
static int in_module(const nvml_card *card)
{
    uint64_t number;
    return get_field(card->nvml, card->device, NVML_FI_DEV_ENERGY, NVML_POWER_SCOPE_MODULE, &number) == NVML_SUCCESS ||
           get_field(card->nvml, card->device, NVML_FI_DEV_POWER_INSTANT, NVML_POWER_SCOPE_MODULE, &number) == NVML_SUCCESS ||
           get_field(card->nvml, card->device, NVML_FI_DEV_POWER_AVERAGE, NVML_POWER_SCOPE_MODULE, &number) == NVML_SUCCESS ||
           strstr(card->model, "GH200") != NULL; /* with a driver that does not support scopes */
}

static void explain_no_source(nvml_card *card, nvmlReturn_t result)
{
    char error[160];
    yoke_nvml_error_text(card->nvml, result, error, sizeof error);
    if (card->virtual_gpu) {
        snprintf(card->why, sizeof card->why, "GPU %s is a virtual GPU (vGPU), which has no meter: %s", card->pci, error);
        snprintf(card->remedy, sizeof card->remedy, "measure on the host, or have the whole card passed through");
    } else if (result == NVML_ERROR_NOT_SUPPORTED) {
        snprintf(card->why, sizeof card->why, "GPU %s (%.60s) shows neither energy nor power", card->pci, card->model);
        snprintf(card->remedy, sizeof card->remedy, "%s",
                 card->mig ? "MIG is on, and this process may see a slice only: ask for access to the whole card"
                           : "use a wattmeter and declare the powers (--declare)");
    } else {
        snprintf(card->why, sizeof card->why, "GPU %s: energy and power cannot be read: %s", card->pci, error);
        snprintf(card->remedy, sizeof card->remedy, "%s", yoke_nvml_remedy(result));
    }
}

/* Selects the best source that can be read now: counters before powers, the GPU alone before a module.  Returns 1, or 0 with the reason. */
static int choose_source(nvml_card *card)
{
    static const nvml_source sources[] = {ENERGY_FIELD, ENERGY_FUNCTION, POWER_INSTANT_FIELD, POWER_AVERAGE_FIELD, POWER_FUNCTION};
    nvmlReturn_t worst = NVML_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        uint64_t number;
        const char *call;
        nvmlReturn_t result = get_number(card->nvml, card->device, sources[i], &number, &call);
        if (result == NVML_SUCCESS) {
            card->source = sources[i];
            card->module = (sources[i] == ENERGY_FUNCTION || sources[i] == POWER_FUNCTION) && in_module(card);
            return 1;
        }
        /* An old driver may not support a source; the reason is the last error of another kind. */
        if (result != NVML_ERROR_NOT_SUPPORTED && result != NVML_ERROR_FUNCTION_NOT_FOUND && result != NVML_ERROR_INVALID_ARGUMENT)
            worst = result;
    }
    explain_no_source(card, worst);
    return 0;
}

/* Queries the properties of the card. */
static void ask_card(nvml_card *card)
{
    const yoke_nvml_functions *call = &card->nvml->call;
    unsigned int current = 0, pending = 0;
    nvmlGpuVirtualizationMode_t mode = NVML_GPU_VIRTUALIZATION_MODE_NONE;
    card->generation = find_generation(card->nvml, card->device);
    card->mig = call->nvmlDeviceGetMigMode != NULL && call->nvmlDeviceGetMigMode(card->device, &current, &pending) == NVML_SUCCESS &&
                current == NVML_DEVICE_MIG_ENABLE;
    card->virtual_gpu = call->nvmlDeviceGetVirtualizationMode != NULL &&
                        call->nvmlDeviceGetVirtualizationMode(card->device, &mode) == NVML_SUCCESS &&
                        mode == NVML_GPU_VIRTUALIZATION_MODE_VGPU;
}

/* ------------------------------------------------------------------------------------------------- domains */

/* An upper bound of the power: twice the greatest limit that can be set, since limits hold on average only. */
static double most_power(const nvml_card *card)
{
    unsigned int least = 0, most = 0;
    if (card->module) return 6000; /* the module's limit is not that of the GPU */
    if (card->nvml->call.nvmlDeviceGetPowerManagementLimitConstraints == NULL ||
        card->nvml->call.nvmlDeviceGetPowerManagementLimitConstraints(card->device, &least, &most) != NVML_SUCCESS || most < 10000 ||
        most > 10000000)
        return 3000;
    return most * 2e-3;
}

static const char *source_text(nvml_source source)
{
    switch (source) {
    case ENERGY_FIELD:
        return "energy counter, scope GPU";
    case ENERGY_FUNCTION:
        return "energy counter";
    case POWER_INSTANT_FIELD:
        return "no energy counter: instantaneous power, scope GPU";
    case POWER_AVERAGE_FIELD:
        return "no energy counter: power of 1 s, scope GPU";
    case POWER_FUNCTION:
        break;
    }
    return "no energy counter: power usage";
}

static double window_of(const nvml_card *card)
{
    if (card->source == POWER_INSTANT_FIELD) return card->generation->instant_window_s;
    return card->source == POWER_AVERAGE_FIELD ? 1 : card->generation->usage_window_s;
}

static void describe(const nvml_card *card, meter_domain *domain)
{
    yoke_meter_info *info = &domain->info;
    snprintf(info->description, sizeof info->description, "%s, %.40s (%s), driver %.16s: %s%s%s", card->pci, card->model,
             card->generation->name, card->nvml->driver[0] != '\0' ? card->nvml->driver : "not known", source_text(card->source),
             card->module ? "; of the WHOLE MODULE, with CPU and memory: no other is offered" : "",
             card->mig ? "; MIG: the whole card" : "");
    snprintf(info->covers, sizeof info->covers, "%s-%s", card->module ? "module" : "gpu", card->pci);
    snprintf(info->pci, sizeof info->pci, "%s", card->pci);
    info->source = YOKE_ENERGY_MEASURED;
    info->usable = 1;
    info->integrated = card->source != ENERGY_FIELD && card->source != ENERGY_FUNCTION;
    info->resolution_j = info->integrated ? NAN : 1e-3;
    info->period_s = card->generation->period_s;
    info->gain_error = card->generation->gain_error;
    domain->quantity = info->integrated ? METER_POWER : METER_COUNTER;
    domain->unit_j = 1e-3;
    domain->range = 0;
    domain->rank = 10;
    domain->most_w = most_power(card);
    domain->quantum_w = 1e-3;
    domain->window_s = window_of(card);
    domain->always_moves = 1;
}

/* Degrees Celsius, for power profiles that keep the temperature within a range. */
static meter_result read_temperature(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    const nvml_meter *meter = state;
    const yoke_nvml *nvml = nvml_of(meter);
    char error[160];
    unsigned int celsius = 0;
    nvmlReturn_t result = NVML_ERROR_FUNCTION_NOT_FOUND;
    if (nvml->call.nvmlDeviceGetTemperature != NULL)
        result = nvml->call.nvmlDeviceGetTemperature(meter->device, NVML_TEMPERATURE_GPU, &celsius);
    if (result == NVML_SUCCESS) {
        sample->power_w = celsius;
        return METER_READ;
    }
    yoke_nvml_error_text(nvml, result, error, sizeof error);
    snprintf(why, METER_WHY_BYTES, "GPU %s: nvmlDeviceGetTemperature: %s", meter->common.pci, error);
    return yoke_nvml_lost(result) ? METER_GONE : METER_FAILED;
}

static yoke_status add_card(meter_list *list, gpu_library *library, const nvml_card *card)
{
    meter_domain domain;
    gpu_meter *meter;
    char name[64];
    yoke_status status = gpu_meter_create(library, card->pci, sizeof(nvml_meter), &meter);
    if (status != YOKE_OK) return status;
    nvml_meter *own = (nvml_meter *)meter;
    own->device = card->device;
    own->source = card->source;
    snprintf(name, sizeof name, "nvml:%u", card->index);
    meter_domain_start(&domain, "nvml", name);
    describe(card, &domain);
    domain.read = read_meter;
    domain.read_power = read_power;
    domain.read_temperature = read_temperature;
    domain.close = gpu_meter_close;
    domain.state = meter;
    return meter_list_add(list, &domain);
}

static yoke_status find_card(meter_list *list, gpu_library *library, unsigned int index)
{
    const yoke_nvml *nvml = &((const nvml_library *)library)->nvml;
    nvml_card card = {.nvml = nvml, .index = index};
    char name[64], description[256];
    snprintf(name, sizeof name, "nvml:%u", index);
    if (!yoke_nvml_device(nvml, index, &card.device, card.pci, card.model, card.why, card.remedy))
        return meter_list_add_missing(list, "nvml", name, "NVIDIA GPU", card.why, card.remedy);
    snprintf(description, sizeof description, "%s, %.60s", card.pci, card.model);
    const char *other = gpu_already_metered(list, library->vendor, card.pci);
    if (other != NULL) {
        snprintf(card.why, sizeof card.why, "GPU %u is a part of the card at %s (MIG); only the whole card has an energy", index, card.pci);
        snprintf(card.remedy, sizeof card.remedy, "use %s, which measures the whole card", other);
        return meter_list_add_missing(list, "nvml", name, description, card.why, card.remedy);
    }
    ask_card(&card);
    if (!choose_source(&card)) return meter_list_add_missing(list, "nvml", name, description, card.why, card.remedy);
    return add_card(list, library, &card);
}

static unsigned int load(gpu_library *library, const meter_site *site, const char **why_not, const char **remedy)
{
    yoke_nvml *nvml = &((nvml_library *)library)->nvml;
    *why_not = nvml->why_not;
    *remedy = nvml->remedy;
    return yoke_nvml_load(site, nvml) ? nvml->num_devices : 0;
}

static void unload(gpu_library *library) { yoke_nvml_unload(&((nvml_library *)library)->nvml); }

static const gpu_vendor nvidia = {"nvml", "NVIDIA GPUs", sizeof(nvml_library), load, unload, find_card};

static yoke_status find(const meter_site *site, meter_list *list) { return gpu_find_all(&nvidia, site, list); }

const meter_kind meter_nvml = {"nvml", find};
