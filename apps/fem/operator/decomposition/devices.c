#include "operator/decomposition/devices.h"

#include <string.h>

static int is_openmp(const char *name) { return !strncmp(name, "openmp", 6) && (name[6] == 0 || name[6] == ':'); }

static void nothing(void *user) { (void)user; }

/* Splits the list into names, in place. */
static yoke_status split(yoke_context *context, char *list, fem_devices *devices, const char **names)
{
    for (char *name = list; name;) {
        char *comma = strchr(name, ',');
        if (comma) *comma = 0;
        if (!*name) return yoke_fail(context, YOKE_ERROR_INPUT, "the list of devices has an empty name: expected names like openmp,cuda:0");
        if (devices->count == FEM_MAX_DEVICES)
            return yoke_fail(context, YOKE_ERROR_INPUT, "the list names more than %d devices", FEM_MAX_DEVICES);
        for (int i = 0; i < devices->count; i++)
            if (!strcmp(names[i], name)) return yoke_fail(context, YOKE_ERROR_INPUT, "device %s is named twice", name);
        names[devices->count++] = name;
        name = comma ? comma + 1 : NULL;
    }
    return YOKE_OK;
}

/* Creates the device's queue, and determines whether it runs host functions or kernels. */
static yoke_status prepare(fem_devices *devices, int number)
{
    fem_device *d = &devices->list[number];
    d->info = yoke_device_info_get(d->device);
    d->most_elements = INT64_MAX;
    int inlined = !strcmp(d->info->kind, "openmp");
    for (int i = 0; i < devices->count; i++) inlined = inlined && !devices->list[i].inlined;
    d->inlined = inlined;
    yoke_status status = yoke_queue_create(d->device, inlined ? YOKE_QUEUE_INLINE : 0, &d->queue);
    if (!status && d->info->device_class == YOKE_DEVICE_CPU) {
        yoke_status runs = yoke_queue_call(d->queue, nothing, NULL, 0); /* a CPU used through OpenCL runs only kernels */
        d->host_functions = runs == YOKE_OK;
        if (runs != YOKE_ERROR_UNAVAILABLE) status = runs;
    }
    if (!status && !d->host_functions) status = fem_programs_create(devices->context, d->device, &d->programs);
    return status;
}

static yoke_status open_one(yoke_context *context, fem_devices *devices, int number, const char *name)
{
    fem_device *d = &devices->list[number];
    yoke_status status = yoke_device_open(context, name, &d->device);
    if (status) return status;
    d->info = yoke_device_info_get(d->device);
    for (int i = 0; i < devices->count; i++) { /* a device may be given by its name and by its address */
        const fem_device *other = &devices->list[i];
        if (i != number && other->device && !strcmp(other->info->name, d->info->name))
            return yoke_fail(context, YOKE_ERROR_INPUT, "device %s is named twice: %s is the same", d->info->name, name);
    }
    return prepare(devices, number);
}

yoke_status fem_devices_take(yoke_context *context, yoke_device *const *list, int count, fem_devices **out)
{
    fem_devices *devices;
    yoke_status status = yoke_allocate(context, 1, sizeof *devices, &devices);
    if (status) return status;
    devices->context = context;
    devices->borrowed = 1;
    devices->count = count;
    for (int i = 0; i < count; i++) devices->list[i].device = list[i];
    for (int i = 0; i < count && !status; i++) status = prepare(devices, i);
    if (status)
        fem_devices_close(devices);
    else
        *out = devices;
    return status;
}

yoke_status fem_devices_open(yoke_context *context, const char *list, fem_devices **out)
{
    const char *names[FEM_MAX_DEVICES];
    fem_devices *devices;
    char *copy = NULL;
    if (!list) list = "openmp";
    yoke_status status = yoke_allocate(context, 1, sizeof *devices, &devices);
    if (status) return status;
    devices->context = context;
    status = yoke_allocate(context, (int64_t)strlen(list) + 1, 1, &copy);
    if (!status) {
        strcpy(copy, list);
        status = split(context, copy, devices, names);
    }
    for (int openmp = 0; openmp < 2; openmp++)
        for (int i = 0; i < devices->count && !status; i++)
            if (is_openmp(names[i]) == openmp) status = open_one(context, devices, i, names[i]);
    yoke_release(context, copy);
    if (status)
        fem_devices_close(devices);
    else
        *out = devices;
    return status;
}

void fem_devices_close(fem_devices *devices)
{
    if (!devices) return;
    for (int i = devices->count - 1; i >= 0; i--) {
        fem_programs_destroy(devices->list[i].programs);
        yoke_queue_destroy(devices->list[i].queue);
        if (!devices->borrowed) yoke_device_close(devices->list[i].device);
    }
    yoke_release(devices->context, devices);
}
