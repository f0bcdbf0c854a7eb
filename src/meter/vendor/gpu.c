#include "meter/vendor/gpu.h"

#include <stdio.h>
#include <string.h>

static void release(gpu_library *library)
{
    if (--library->users > 0) return;
    library->vendor->unload(library);
    yoke_release(library->context, library);
}

yoke_status gpu_find_all(const gpu_vendor *vendor, const meter_site *site, meter_list *list)
{
    gpu_library *library;
    const char *why_not = NULL, *remedy = NULL;
    yoke_status status = yoke_allocate(list->context, 1, vendor->library_bytes, &library);
    if (status != YOKE_OK) return status;
    /* This function counts as a user, so that the library stays open until all cards were examined. */
    *library = (gpu_library){.vendor = vendor, .context = list->context, .users = 1};
    const unsigned int count = vendor->load(library, site, &why_not, &remedy);
    if (count == 0) status = meter_list_add_missing(list, vendor->kind, vendor->kind, vendor->name, why_not, remedy);
    for (unsigned int i = 0; i < count && status == YOKE_OK; i++) status = vendor->find(list, library, i);
    release(library);
    return status;
}

yoke_status gpu_meter_create(gpu_library *library, const char *pci, size_t bytes, gpu_meter **out)
{
    gpu_meter *meter;
    yoke_status status = yoke_allocate(library->context, 1, bytes, &meter);
    if (status != YOKE_OK) return status;
    meter->library = library;
    snprintf(meter->pci, sizeof meter->pci, "%s", pci);
    library->users++;
    *out = meter;
    return YOKE_OK;
}

void gpu_meter_close(void *state)
{
    gpu_meter *meter = state;
    gpu_library *library = meter->library;
    yoke_release(library->context, meter);
    release(library);
}

const char *gpu_already_metered(const meter_list *list, const gpu_vendor *vendor, const char *pci)
{
    for (int64_t i = 0; i < list->count; i++) {
        const yoke_meter_info *info = &list->domains[i].info;
        if (info->usable && strcmp(info->kind, vendor->kind) == 0 && strcmp(info->pci, pci) == 0) return info->name;
    }
    return NULL;
}
