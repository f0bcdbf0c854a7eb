/*
 * registry.h - the kinds of device that a context knows.
 */
#ifndef YOKE_DEVICE_REGISTRY_H
#define YOKE_DEVICE_REGISTRY_H

#include "yoke/backend.h"

/* The backend of this kind, started, and its state.  Errors: INPUT (no such kind; the text lists the kinds), any failure of its start. */
yoke_status yoke_registry_find(yoke_context *context, const char *kind, size_t kind_length, const yoke_backend **backend, void **state);

/* The name of the usable device with this PCI address ("0000:3b:00.0", in any case).  Errors: INPUT, UNAVAILABLE, MEMORY. */
yoke_status yoke_registry_find_pci(yoke_context *context, const char *address, char name[64]);

/* The number of kinds that open vendors' drivers. */
enum { YOKE_REGISTRY_VENDORS = 2 };

/*
 * As yoke_devices_list, without the kinds of vendors that were neither listed nor opened on this context before: their drivers are not
 * opened, and `others` names these kinds.
 */
yoke_status yoke_registry_list_asked(yoke_context *context, yoke_device_info **list, int64_t *count,
                                     const char *others[YOKE_REGISTRY_VENDORS], int *num_others);

#endif
