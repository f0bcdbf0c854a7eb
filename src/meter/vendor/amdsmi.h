/*
 * amdsmi.h - AMD's two libraries for management behind one interface, which the meters of AMD GPUs call.
 */
#ifndef YOKE_METER_VENDOR_AMDSMI_H
#define YOKE_METER_VENDOR_AMDSMI_H

#include <stddef.h>

#include "meter/meter.h"
#include "meter/vendor/amdsmi_api.h"

enum { YOKE_AMD_MAX_GPUS = 128 };

/* One of the two libraries, loaded and initialised; both count their initialisations. */
typedef struct yoke_amd {
    yoke_amdsmi_functions smi;    /* used if `rocm` is 0 */
    yoke_rocm_smi_functions rsmi; /* used if `rocm` is 1 */
    int loaded, rocm;
    uint32_t version; /* first word of AMD SMI's version; 0: not known */
    uint32_t num_gpus;
    amdsmi_processor_handle processors[YOKE_AMD_MAX_GPUS]; /* of AMD SMI */
    char why_not[METER_WHY_BYTES], remedy[512];
} yoke_amd;

/*
 * Opens libamd_smi.so, or, if that does not exist or cannot be initialised, librocm_smi64.so.  YOKE_AMDSMI and YOKE_ROCM_SMI name other
 * libraries ("" none; with a root other than "" only these are opened).  Returns 1 if there is a GPU, otherwise 0 with the reason.
 */
int yoke_amd_load(const meter_site *site, yoke_amd *amd);
void yoke_amd_unload(yoke_amd *amd);

/*
 * Functions for one GPU.  Each returns the library's status, 0 for success.  AMDSMI_STATUS_NOT_SUPPORTED and RSMI_STATUS_NOT_SUPPORTED
 * are both 2, which is also returned if the library has no such function or reports that there is no such number.
 */
int yoke_amd_pci(const yoke_amd *amd, uint32_t index, char pci[16]);
void yoke_amd_model(const yoke_amd *amd, uint32_t index, char model[96]);
int yoke_amd_energy(const yoke_amd *amd, uint32_t index, uint64_t *count, double *resolution_j);
int yoke_amd_power(const yoke_amd *amd, uint32_t index, double *power_w);
/* The greatest power limit that can be set, W; NaN if it is not reported. */
double yoke_amd_most_power(const yoke_amd *amd, uint32_t index);

/* "DRM error (AMD SMI status 6)". */
void yoke_amd_error_text(const yoke_amd *amd, int status, char *text, size_t bytes);
const char *yoke_amd_remedy(const yoke_amd *amd, int status);
/* Whether the device is permanently lost. */
int yoke_amd_lost(const yoke_amd *amd, int status);

#endif
