/*
 * gpu.h - the common part of the meters of all vendors' GPUs: a library that stays open as long as one of them is open.
 */
#ifndef YOKE_METER_VENDOR_GPU_H
#define YOKE_METER_VENDOR_GPU_H

#include "meter/meter.h"

typedef struct gpu_library gpu_library;

/* A vendor; its own struct of the library begins with a gpu_library. */
typedef struct gpu_vendor {
    const char *kind;     /* of its meters: "nvml" */
    const char *name;     /* of its products: "NVIDIA GPUs" */
    size_t library_bytes; /* of its own struct */
    /*
     * Opens the library for a site.  Returns the number of GPUs; 0: nothing needs to be unloaded, and why_not and remedy have the reason.
     */
    unsigned int (*load)(gpu_library *library, const meter_site *site, const char **why_not, const char **remedy);
    void (*unload)(gpu_library *library);
    /* Appends one GPU's meter, or an entry with the reason why it has none.  Errors: MEMORY. */
    yoke_status (*find)(meter_list *list, gpu_library *library, unsigned int index);
} gpu_vendor;

struct gpu_library {
    const gpu_vendor *vendor;
    yoke_context *context;
    int users;
};

/* An open meter; a vendor's own struct of it begins with one. */
typedef struct gpu_meter {
    gpu_library *library;
    char pci[16];
} gpu_meter;

/* Calls the vendor's `find` for each GPU, or appends one unusable entry if there are none.  Errors: MEMORY. */
yoke_status gpu_find_all(const gpu_vendor *vendor, const meter_site *site, meter_list *list);

/*
 * Allocates a vendor's own struct of a meter, all zero except its gpu_meter.  It is the state of a domain whose close is gpu_meter_close.
 * Errors: MEMORY.
 */
yoke_status gpu_meter_create(gpu_library *library, const char *pci, size_t bytes, gpu_meter **meter);
void gpu_meter_close(void *meter);

/*
 * The name of a usable meter of the vendor at this address, or NULL.  Parts of a card are listed as separate GPUs, with the card's address.
 */
const char *gpu_already_metered(const meter_list *list, const gpu_vendor *vendor, const char *pci);

#endif
