/*
 * nvml.h - NVML opened for a site: functions for the meters (nvml.c) and frequencies (frequency/nvml.c) of NVIDIA GPUs.
 */
#ifndef YOKE_METER_VENDOR_NVML_H
#define YOKE_METER_VENDOR_NVML_H

#include "meter/meter.h"
#include "meter/vendor/nvml_api.h"

/*
 * NVML, loaded and initialised.  NVML counts initialisations, so meters and frequencies may each load it; its functions may be called
 * from several threads.
 */
typedef struct yoke_nvml {
    yoke_nvml_functions call; /* functions that are not required (nvml_api.h) may be NULL */
    void *library;            /* NULL: not loaded */
    unsigned int num_devices;
    char driver[80];               /* the driver's version, "550.54.15" */
    char why_not[METER_WHY_BYTES]; /* why it is not loaded or reports no GPU; "" if it does */
    char remedy[512];
} yoke_nvml;

/*
 * Opens libnvidia-ml.so.1, or the library that YOKE_NVML names ("": none; with a root other than "" only that is opened), initialises it
 * and counts GPUs.  Returns 1 if there is a GPU; otherwise 0, why_not and remedy have the reason, and nothing needs to be unloaded.
 */
int yoke_nvml_load(const meter_site *site, yoke_nvml *nvml);
/* Shuts NVML down, once for each load.  It accepts a struct that was not loaded. */
void yoke_nvml_unload(yoke_nvml *nvml);
/*
 * Handle, PCI address ("0000:3b:00.0") and model of one GPU.  index is NVML's own: not that of CUDA or of another process.  Returns 1;
 * otherwise 0, and `why` and `remedy` describe the failure for this GPU.
 */
int yoke_nvml_device(const yoke_nvml *nvml, unsigned int index, nvmlDevice_t *device, char pci[16], char model[96],
                     char why[METER_WHY_BYTES], char remedy[512]);
/* "Insufficient Permissions (NVML_ERROR 4)" and similar texts, as NVML reports them. */
void yoke_nvml_error_text(const yoke_nvml *nvml, nvmlReturn_t result, char *text, size_t bytes);
/* The remedy for an error of a call; "" if none is known. */
const char *yoke_nvml_remedy(nvmlReturn_t result);
/* Whether this error means that the device is lost (until a reset or reboot). */
int yoke_nvml_lost(nvmlReturn_t result);

#endif
