#include "adapt/distribution_devices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int fem_is_gpu(const fem_device *device) { return !device->host_functions; }

/* Appends a name to a list of them; 0 where it does not fit. */
static int append_name(char *names, size_t size, const char *name)
{
    size_t length = strlen(names);
    int added = snprintf(names + length, size - length, "%s%s", length ? "," : "", name);
    return added > 0 && (size_t)added < size - length;
}

/* All cores, and each GPU once: one card may be seen by several interfaces. */
static yoke_status automatic_names(yoke_context *context, fem_use use, char *names, size_t size)
{
    yoke_device_info *list;
    int64_t count;
    yoke_status status = YOKE_OK;
    names[0] = 0;
    if (use != FEM_USE_GPU) append_name(names, size, "openmp");
    if (use == FEM_USE_CPU) return YOKE_OK;
    status = yoke_devices_list(context, NULL, 1, &list, &count);
    if (status) return status;
    int gpus = 0;
    for (int64_t i = 0; i < count; i++) {
        int seen = !list[i].usable || list[i].device_class != YOKE_DEVICE_GPU || !list[i].double_precision;
        for (int64_t k = 0; k < i && !seen; k++) seen = list[k].usable && list[i].pci[0] && !strcmp(list[k].pci, list[i].pci);
        if (!seen) gpus += append_name(names, size, list[i].name);
    }
    if (!gpus && (use == FEM_USE_GPU || use == FEM_USE_BOTH)) {
        char reasons[1024] = "";
        for (int64_t i = 0; i < count; i++) {
            size_t length = strlen(reasons);
            if (!list[i].usable) snprintf(reasons + length, sizeof reasons - length, "; %s: %s", list[i].name, list[i].why_not);
        }
        status = yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "there is no usable GPU (`yoke info` says what to do)%s", reasons);
    }
    yoke_release(context, list);
    return status;
}

/* All devices of the simulated machine. */
static yoke_status simulated_names(yoke_context *context, char *names, size_t size)
{
    yoke_device_info *list;
    int64_t count;
    yoke_status status = yoke_devices_list(context, "sim", 0, &list, &count);
    if (status) return status;
    names[0] = 0;
    for (int64_t i = 0; i < count; i++)
        if (!strcmp(list[i].kind, "sim") && list[i].usable) append_name(names, size, list[i].name);
    yoke_release(context, list);
    return YOKE_OK;
}

yoke_status fem_distribution_open(yoke_context *context, const fem_distribution_options *o, fem_devices **devices)
{
    char names[FEM_MOST_DEVICES * 64];
    yoke_status status = YOKE_OK;
    if (o->machine) status = yoke_machine_read(context, o->machine);
    const char *list = o->devices && strcmp(o->devices, "auto") ? o->devices : NULL;
    if (!status && !list)
        status = o->machine ? simulated_names(context, names, sizeof names) : automatic_names(context, o->use, names, sizeof names);
    return status ? status : fem_devices_open(context, list ? list : names, devices);
}

yoke_status fem_distribution_select(const fem_devices *devices, const fem_distribution_options *o, int64_t *most)
{
    static const char *const names[] = {"auto", "cpu", "gpu", "both"};
    fem_use use = o->use;
    int cpus = 0, gpus = 0;
    for (int i = 0; i < devices->count; i++) {
        const fem_device *device = &devices->list[i];
        cpus += !fem_is_gpu(device);
        gpus += fem_is_gpu(device);
        int wanted = use == FEM_USE_CPU ? !fem_is_gpu(device) : use == FEM_USE_GPU ? fem_is_gpu(device) : 1;
        most[i] = wanted ? INT64_MAX : 0;
    }
    if ((use == FEM_USE_CPU && !cpus) || (use == FEM_USE_GPU && !gpus) || (use == FEM_USE_BOTH && (!cpus || !gpus)))
        return yoke_fail(devices->context, YOKE_ERROR_INPUT, "--case %s: among the devices %s there is no %s", names[use],
                         o->devices ? o->devices : "found", use == FEM_USE_CPU || (use == FEM_USE_BOTH && !cpus) ? "CPU" : "GPU");
    if (isnan(o->gpu_share)) return YOKE_OK;
    if (!cpus || !gpus || use == FEM_USE_CPU || use == FEM_USE_GPU)
        return yoke_fail(devices->context, YOKE_ERROR_INPUT, "--share needs a CPU and a GPU to share between; the devices are %s",
                         o->devices ? o->devices : "openmp (there is no usable GPU, see `yoke info`)");
    return YOKE_OK;
}

void fem_distribution_fixed(const fem_devices *devices, double gpu_share, double *shares)
{
    int gpus = 0, count = devices->count;
    for (int i = 0; i < count; i++) gpus += fem_is_gpu(&devices->list[i]);
    for (int i = 0; i < count; i++) shares[i] = fem_is_gpu(&devices->list[i]) ? gpu_share / gpus : (1 - gpu_share) / (count - gpus);
}
