#include "common/devices.h"

#include <stdio.h>
#include <string.h>

static yoke_status append(yoke_context *context, const char *name, char *names, size_t size)
{
    size_t length = strlen(names);
    int added = snprintf(names + length, size - length, "%s%s", length > 0 ? "," : "", name);
    if (added > 0 && (size_t)added < size - length) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_ARGUMENT, "there are more devices here than fit into a list; name those to use");
}

/* An interface before this one has the same card. */
static bool seen_before(const yoke_device_info *list, int64_t i)
{
    for (int64_t k = 0; k < i; k++)
        if (list[k].usable && list[i].pci[0] != '\0' && strcmp(list[k].pci, list[i].pci) == 0) return true;
    return false;
}

yoke_status app_devices_automatic(yoke_context *context, bool simulated, bool cpu, bool gpu, char *names, size_t size, int *gpus)
{
    yoke_device_info *list = NULL;
    int64_t count = 0;
    int found = 0;
    names[0] = '\0';
    /* What is not looked for is not asked: a vendor's library costs time, and may fail. */
    yoke_status status =
        simulated || !gpu ? yoke_devices_list(context, "sim", 0, &list, &count) : yoke_devices_list(context, NULL, 1, &list, &count);
    if (!status && cpu && !simulated) status = append(context, "openmp", names, size);
    for (int64_t i = 0; i < count && !status; i++) {
        bool is_gpu = list[i].device_class == YOKE_DEVICE_GPU, is_simulated = strcmp(list[i].kind, "sim") == 0;
        if (!list[i].usable || is_simulated != simulated) continue;
        if (simulated ? (is_gpu ? !gpu : !cpu) : (!gpu || !is_gpu || !list[i].double_precision || seen_before(list, i))) continue;
        status = append(context, list[i].name, names, size);
        found += is_gpu;
    }
    yoke_release(context, list);
    if (!status && gpus != NULL) *gpus = found;
    return status;
}
