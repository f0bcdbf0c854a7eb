/* The work that is measured: kernels of profile/kernel.h in pieces of equal size. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "profile/kernel.h"

extern const char tool_profile_kernel_text[];

enum { LONGEST_COPY = 1 << 26, LONGEST_BUFFER = 1 << 27 };

static bool is_simulated(const calibrate_device *d) { return strcmp(d->info->kind, "sim") == 0; }

/*
 * A unit is 131 thousand operations, 128 items gone over 128 times, or 12 kB of memory that move, 1024 items gone over once.  As many as fit into a buffer
 * and an eighth of the device's memory.  What a simulated device computes takes no time of its own: it computes nothing, whatever the units.
 */
static yoke_status set_unit(const calibration *c, calibrate_device *d)
{
    int64_t unused = 0, all = 0;
    bool simulated = is_simulated(d);
    yoke_status status = yoke_device_memory(d->device, &unused, &all);
    int64_t most = all > 0 && all / 8 < LONGEST_BUFFER ? all / 8 : LONGEST_BUFFER;
    bool memory = strcmp(c->kernel, "triad") == 0;
    d->unit_items = simulated ? 0 : memory ? 1024 : 128;
    d->unit_bytes = simulated ? 8 : 2 * d->unit_items * (int64_t)sizeof(float);
    d->rounds = simulated || memory ? 1 : 128;
    d->most_units = simulated ? (int64_t)1 << 40 : most / (d->unit_bytes / 2) > 1 ? most / (d->unit_bytes / 2) : 1;
    d->buffer_bytes = simulated || most < LONGEST_COPY ? LONGEST_COPY : most;
    if (most < LONGEST_COPY) d->buffer_bytes = most < 1 << 20 ? 1 << 20 : most;
    return status;
}

void calibrate_hash(const calibrate_device *d, char hash[17])
{
    uint64_t sum = 14695981039346656037u; /* FNV-1a */
    char unit[64];
    snprintf(unit, sizeof unit, "%lld %lld", (long long)d->unit_items, (long long)d->rounds);
    const char *const texts[] = {tool_profile_kernel_text, unit};
    for (int i = 0; i < 2; i++)
        for (const char *p = texts[i]; *p; p++) sum = (sum ^ (unsigned char)*p) * 1099511628211u;
    snprintf(hash, 17, "%016llx", (unsigned long long)sum);
}

static yoke_status open_one(calibration *c, const char *name, calibrate_device *d)
{
    static const yoke_host_kernel kernels[] = {{"profile_triad", profile_triad}, {"profile_fma", profile_fma}};
    const char *const texts[] = {tool_profile_kernel_text};
    const yoke_program_source source = {
        .name = "profile/kernel.h", .texts = texts, .num_texts = 1, .host_kernels = kernels, .num_host_kernels = 2};
    yoke_status status = yoke_device_open(c->context, name, &d->device);
    if (status) return status;
    d->info = yoke_device_info_get(d->device);
    d->host = d->info->device_class == YOKE_DEVICE_CPU;
    d->copy_start_s = d->copy_seconds_per_byte = d->copy_power_w = d->error = d->worst = NAN;
    status = set_unit(c, d);
    if (!status) status = yoke_queue_create(d->device, 0, &d->queue);
    if (!status) status = yoke_program_create(d->device, &source, &d->program);
    if (!status)
        status = yoke_program_function(d->program, strcmp(c->kernel, "triad") == 0 ? "profile_triad" : "profile_fma", &d->function);
    if (!status) status = yoke_event_create(d->device, &d->begin);
    if (!status) status = yoke_event_create(d->device, &d->end);
    if (!status) status = yoke_host_allocate(d->device, LONGEST_COPY, &d->pinned);
    if (!status) status = yoke_buffer_create(d->device, d->buffer_bytes, &d->x);
    if (!status) status = yoke_buffer_create(d->device, d->buffer_bytes, &d->y);
    if (!status) memset(d->pinned, 0, LONGEST_COPY);
    if (!status) status = yoke_queue_clear(d->queue, d->x, 0, d->buffer_bytes);
    if (!status) status = yoke_queue_clear(d->queue, d->y, 0, d->buffer_bytes);
    return status ? status : yoke_queue_finish(d->queue);
}

yoke_status calibrate_open(calibration *c, const char *names)
{
    while (*names) {
        char name[64];
        size_t length = strcspn(names, ",");
        if (length == 0 || length >= sizeof name || c->num_devices == CALIBRATE_MOST_DEVICES)
            return yoke_fail(c->context, YOKE_ERROR_INPUT, "--devices: expected at most %d names between commas, found %.80s",
                             CALIBRATE_MOST_DEVICES, names);
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        names += length + (names[length] == ',');
        for (int i = 0; i < c->num_devices; i++)
            if (strcmp(c->devices[i].info->name, name) == 0)
                return yoke_fail(c->context, YOKE_ERROR_INPUT, "--devices: %s is there twice", name);
        yoke_status status = open_one(c, name, &c->devices[c->num_devices++]);
        if (status) status = calibrate_fail(c, c->num_devices - 1, status, NULL);
        if (status) return status;
    }
    if (c->num_devices > 0) return YOKE_OK;
    if (c->num_failed > 0) return yoke_fail(c->context, YOKE_ERROR_DEVICE, "%s", c->failure);
    return yoke_fail(c->context, YOKE_ERROR_INPUT, "--devices: expected names between commas, found none");
}

static void close_one(yoke_context *context, calibrate_device *d)
{
    if (!d->device) return;
    yoke_release(context, d->model);
    yoke_buffer_destroy(d->x);
    yoke_buffer_destroy(d->y);
    yoke_event_destroy(d->begin);
    yoke_event_destroy(d->end);
    yoke_queue_destroy(d->queue);
    yoke_program_destroy(d->program);
    if (d->pinned) yoke_host_release(d->device, d->pinned);
    yoke_device_close(d->device);
}

void calibrate_close(calibration *c)
{
    for (int i = 0; i < c->num_devices; i++) close_one(c->context, &c->devices[i]);
    yoke_clocks_close(c->clocks);
    yoke_meter_close(c->meter);
}

yoke_status calibrate_fail(calibration *c, int device, yoke_status status, bool *failed)
{
    calibrate_device *d = &c->devices[device];
    if (failed) *failed = false;
    if ((status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) || !d->device) return status;
    char why[400];
    snprintf(why, sizeof why, "%s", yoke_last_error(c->context));
    yoke_log(c->context, YOKE_LOG_WARNING, "%s failed and is left out: %s", d->info->name, why);
    if (c->num_failed++ == 0) snprintf(c->failure, sizeof c->failure, "%s failed and was left out: %s", d->info->name, why);
    close_one(c->context, d);
    c->num_devices--;
    memmove(d, d + 1, (size_t)(c->num_devices - device) * sizeof *d);
    memset(&c->devices[c->num_devices], 0, sizeof *d);
    if (failed) *failed = true;
    return YOKE_OK;
}

static yoke_argument long_argument(int64_t value) { return (yoke_argument){.kind = YOKE_ARGUMENT_INT64, .value.int64 = value}; }
static yoke_argument buffer_argument(yoke_buffer *buffer) { return (yoke_argument){.kind = YOKE_ARGUMENT_BUFFER, .value.buffer = buffer}; }

static yoke_status launch(calibrate_device *d, int64_t units)
{
    int64_t items = units * d->unit_items, groups = items > 0 ? (items + 255) / 256 : 1;
    const yoke_argument arguments[] = {long_argument(items), long_argument(d->rounds), buffer_argument(d->x), buffer_argument(d->y)};
    return yoke_queue_launch(d->queue, d->function, groups < 4096 ? groups : 4096, 256, units, arguments, 4);
}

yoke_status calibrate_call(calibrate_device *d, int64_t units, double *seconds)
{
    double begin_s = yoke_device_clock_s(d->device);
    yoke_status status = launch(d, units);
    if (!status) status = yoke_queue_finish(d->queue);
    *seconds = yoke_device_clock_s(d->device) - begin_s;
    return status;
}

yoke_status calibrate_copy(calibrate_device *d, int64_t bytes, double *seconds)
{
    double begin_s = yoke_device_clock_s(d->device);
    yoke_status status = yoke_queue_write(d->queue, d->x, 0, bytes, d->pinned);
    if (!status) status = yoke_queue_finish(d->queue);
    *seconds = yoke_device_clock_s(d->device) - begin_s;
    return status;
}

yoke_status calibrate_together(calibration *c, const int64_t *units, int64_t calls, double *seconds, int *device)
{
    yoke_status status = YOKE_OK;
    int n = c->num_devices;
    for (*device = 0; *device < n; ++*device) {
        status = yoke_queue_record(c->devices[*device].queue, c->devices[*device].begin);
        if (status) return status;
    }
    for (int64_t k = 0; k < calls; k++)
        for (*device = 0; *device < n; ++*device) {
            status = launch(&c->devices[*device], units[*device]);
            if (status) return status;
        }
    for (*device = 0; *device < n; ++*device) {
        status = yoke_queue_record(c->devices[*device].queue, c->devices[*device].end);
        if (status) return status;
    }
    for (*device = 0; *device < n; ++*device) {
        const calibrate_device *d = &c->devices[*device];
        status = yoke_queue_finish(d->queue);
        if (!status) status = yoke_event_elapsed_s(d->begin, d->end, &seconds[*device]);
        if (status) return status;
        seconds[*device] /= (double)calls;
    }
    return YOKE_OK;
}
