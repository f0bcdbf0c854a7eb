/* The measured work: kernels of profile/kernel.h on pieces of equal size. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "profile/kernel.h"

extern const char tool_profile_kernel_text[];

enum { LONGEST_BUFFER = 1 << 27, MAX_DEVICES = 64 };

/* The kernel on one device. */
typedef struct device_trial {
    yoke_device *device; /* belongs to the run */
    yoke_queue *queue;
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *x, *y;
    yoke_event *begin, *end;
    int64_t unit_items, rounds; /* items per unit, and number of passes over them; 0 items: simulated */
    int64_t unit_bytes, max_units;
} device_trial;

typedef struct calibration {
    yoke_context *context;
    yoke_run *run;
    const char *kernel;
    const yoke_run_device *devices; /* borrowed from run */
    int64_t num_devices;
    device_trial trials[MAX_DEVICES];
} calibration;

static bool is_triad(const calibration *c) { return strcmp(c->kernel, "triad") == 0; }

/*
 * A unit is 131 thousand operations (128 passes over 128 items), or 12 kB of memory traffic (one pass over 1024 items).  The number of
 * units is as large as a buffer and an eighth of the device's memory allow.  A simulated device is not tried: its unit is that of its
 * machine file.
 */
static yoke_status set_unit(const calibration *c, const yoke_device_info *info, device_trial *t)
{
    int64_t unused = 0, all = 0;
    bool simulated = strcmp(info->kind, "sim") == 0;
    yoke_status status = yoke_device_memory(t->device, &unused, &all);
    int64_t most = all > 0 && all / 8 < LONGEST_BUFFER ? all / 8 : LONGEST_BUFFER;
    t->unit_items = simulated ? 0 : is_triad(c) ? 1024 : 128;
    t->unit_bytes = simulated ? 8 : 2 * t->unit_items * (int64_t)sizeof(float);
    t->rounds = simulated || is_triad(c) ? 1 : 128;
    t->max_units = simulated ? (int64_t)1 << 40 : most / (t->unit_bytes / 2) > 1 ? most / (t->unit_bytes / 2) : 1;
    return status;
}

static yoke_status open_one(const calibration *c, const yoke_run_device *device, device_trial *t)
{
    static const yoke_host_kernel kernels[] = {{"profile_triad", profile_triad}, {"profile_fma", profile_fma}};
    const char *const texts[] = {tool_profile_kernel_text};
    const yoke_program_source source = {
        .name = "profile/kernel.h", .texts = texts, .num_texts = 1, .host_kernels = kernels, .num_host_kernels = 2};
    t->device = device->device;
    yoke_status status = set_unit(c, device->info, t);
    const int64_t bytes = t->max_units * t->unit_bytes / 2;
    if (t->unit_items == 0) return status;
    if (!status) status = yoke_queue_create(t->device, 0, &t->queue);
    if (!status) status = yoke_program_create(t->device, &source, &t->program);
    if (!status) status = yoke_program_function(t->program, is_triad(c) ? "profile_triad" : "profile_fma", &t->function);
    if (!status) status = yoke_event_create(t->device, &t->begin);
    if (!status) status = yoke_event_create(t->device, &t->end);
    if (!status) status = yoke_buffer_create(t->device, bytes, &t->x);
    if (!status) status = yoke_buffer_create(t->device, bytes, &t->y);
    if (!status) status = yoke_queue_clear(t->queue, t->x, 0, bytes);
    if (!status) status = yoke_queue_clear(t->queue, t->y, 0, bytes);
    return status ? status : yoke_queue_finish(t->queue);
}

/* An entry of the store is valid for this text and these units. */
static yoke_status name_work(calibration *c)
{
    char unit[64];
    const char *const texts[] = {tool_profile_kernel_text, unit};
    const device_trial *t = &c->trials[0];
    snprintf(unit, sizeof unit, "%lld %lld", (long long)t->unit_items, (long long)t->rounds);
    return yoke_run_work(c->run, c->kernel, texts, 2);
}

static yoke_status open_all(calibration *c)
{
    yoke_status status = yoke_run_devices(c->run, &c->devices, &c->num_devices);
    for (int64_t i = 0; i < c->num_devices && !status; i++) {
        status = open_one(c, &c->devices[i], &c->trials[i]);
        if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) continue;
        char why[400];
        snprintf(why, sizeof why, "%s", yoke_last_error(c->context));
        status = yoke_run_fail(c->run, i, why);
    }
    if (!status) status = yoke_run_devices(c->run, &c->devices, &c->num_devices);
    return status ? status : name_work(c);
}

void calibrate_close(void *user)
{
    calibration *c = user;
    for (int64_t i = 0; i < c->num_devices; i++) {
        device_trial *t = &c->trials[i];
        yoke_buffer_destroy(t->x);
        yoke_buffer_destroy(t->y);
        yoke_event_destroy(t->begin);
        yoke_event_destroy(t->end);
        yoke_queue_destroy(t->queue);
        yoke_program_destroy(t->program);
    }
    yoke_release(c->context, c);
}

static yoke_status launch(device_trial *t, int64_t units, int64_t calls)
{
    const int64_t items = units * t->unit_items, groups = (items + 255) / 256;
    const yoke_argument arguments[] = {yoke_argument_int64(items), yoke_argument_int64(t->rounds), yoke_argument_buffer(t->x),
                                       yoke_argument_buffer(t->y)};
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < calls && !status; k++)
        status = yoke_queue_launch(t->queue, t->function, groups < 4096 ? groups : 4096, 256, units, arguments, 4);
    return status;
}

static yoke_status try_alone(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    calibration *c = user;
    device_trial *t = &c->trials[device];
    double begin_s = yoke_device_clock_s(t->device);
    yoke_status status = launch(t, units, calls);
    if (!status) status = yoke_queue_finish(t->queue);
    *seconds = (yoke_device_clock_s(t->device) - begin_s) / (double)calls;
    return status;
}

static yoke_status try_together(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed)
{
    calibration *c = user;
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; i < c->num_devices && !status; i++) {
        if (units[i] == 0) continue;
        *failed = i;
        status = yoke_queue_record(c->trials[i].queue, c->trials[i].begin);
    }
    for (int64_t k = 0; k < calls; k++)
        for (int64_t i = 0; i < c->num_devices && !status; i++) {
            if (units[i] == 0) continue;
            *failed = i;
            status = launch(&c->trials[i], units[i], 1);
        }
    for (int64_t i = 0; i < c->num_devices && !status; i++) {
        if (units[i] == 0) continue;
        *failed = i;
        status = yoke_queue_record(c->trials[i].queue, c->trials[i].end);
    }
    for (int64_t i = 0; i < c->num_devices && !status; i++) {
        device_trial *t = &c->trials[i];
        if (units[i] == 0) continue;
        *failed = i;
        status = yoke_queue_finish(t->queue);
        if (!status) status = yoke_event_elapsed_s(t->begin, t->end, &seconds[i]);
        seconds[i] /= (double)calls;
    }
    return status;
}

yoke_status calibrate_open(yoke_context *context, yoke_run *run, const void *settings, app_calibrate_trial *trial)
{
    calibration *c = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *c, &c);
    if (status) return status;
    *c = (calibration){.context = context, .run = run, .kernel = settings};
    *trial = (app_calibrate_trial){
        .work = settings, .max_units = (int64_t)1 << 40, .difference = NAN, .alone = try_alone, .together = try_together, .user = c};
    status = open_all(c);
    for (int64_t i = 0; i < c->num_devices && !status; i++) {
        const device_trial *t = &c->trials[i];
        if (!c->devices[i].active) continue;
        if (t->max_units < trial->max_units) trial->max_units = t->max_units;
        if ((double)t->unit_bytes > trial->memory_bytes_per_unit) trial->memory_bytes_per_unit = (double)t->unit_bytes;
    }
    trial->copy_bytes_per_unit = trial->memory_bytes_per_unit;
    return status;
}
