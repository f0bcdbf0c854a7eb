/* The profiled kernel and its sensor, real or simulated. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/append.h"
#include "common/console/interrupt.h"
#include "profile/kernel.h"
#include "profile/profile.h"

extern const char tool_profile_kernel_text[];

/* --------------------------------------------------------------------------------------------------- the meter */

static yoke_status power_w(double *watts, void *user)
{
    profile_work *work = user;
    yoke_status status = app_interrupt_check(work->context);
    return status ? status : yoke_meters_read(work->meter, work->meter_index, watts, NULL);
}

static yoke_status temperature_c(double *celsius, void *user)
{
    profile_work *work = user;
    return yoke_meters_read(work->meter, work->meter_index, NULL, celsius);
}

/* Fails with the reasons of each kind of meter why nothing can be profiled here. */
static yoke_status no_meter(yoke_context *context, const yoke_meters *meters)
{
    const yoke_meter_info *list = meters->others;
    char text[1200] = "";
    for (int64_t i = 0; i < meters->num_others; i++) {
        size_t length = strlen(text);
        if (list[i].usable || length + 100 > sizeof text) continue;
        snprintf(text + length, sizeof text - length, "\n  %s: %s%s%s", list[i].name, list[i].why_not, list[i].remedy[0] ? "; " : "",
                 list[i].remedy);
    }
    return yoke_fail(
        context, YOKE_ERROR_UNAVAILABLE,
        "no meter here shows power; to try the method without one: yoke profile --simulate hopper-instant; what each kind says:%s", text);
}

static yoke_status choose_meter(profile_work *work, const char *name, const char *pci)
{
    const yoke_meter_info *infos = work->meter->infos;
    int64_t count = work->meter->count, found = -1, number = 0;
    double watts = 0;
    char names[512] = "";
    for (int64_t i = 0; i < count; i++) {
        if (pci[0] != '\0' && name == NULL && strcmp(infos[i].pci, pci) != 0) continue;
        yoke_status status = yoke_meters_read(work->meter, i, &watts, NULL);
        if (status && status != YOKE_ERROR_UNAVAILABLE) return status;
        if (status) continue;
        app_append(names, sizeof names, "%s%s", names[0] != '\0' ? ", " : "", infos[i].name);
        if (found < 0) found = i;
        number++;
    }
    if (number > 1) return yoke_fail(work->context, YOKE_ERROR_INPUT, "several meters show power: choose one with --meter: %s", names);
    work->meter_index = found;
    if (found < 0) return YOKE_OK;
    snprintf(work->meter_name, sizeof work->meter_name, "%s", infos[found].name);
    snprintf(work->meter_text, sizeof work->meter_text, "%s", infos[found].description);
    work->gain_error = infos[found].gain_error;
    return YOKE_OK;
}

yoke_status profile_meter_open(profile_work *work, const char *name, const char *sysroot, const char *pci)
{
    const yoke_meter_options options = {.select = name, .sysroot = sysroot, .probe_s = -1};
    yoke_status status = yoke_meters_open(work->context, &options, &work->meter);
    if (!status) status = choose_meter(work, name, pci);
    if (!status && work->meter_index < 0)
        status = name ? yoke_fail(work->context, YOKE_ERROR_UNAVAILABLE, "%s shows no power, only energy; yoke info has the meters", name)
                      : no_meter(work->context, work->meter);
    work->subject.power_w = power_w;
    double celsius;
    if (!status && yoke_meters_read(work->meter, work->meter_index, NULL, &celsius) == YOKE_OK) work->subject.temperature_c = temperature_c;
    return status;
}

/* ----------------------------------------------------------------------------------------- kernels on a device */

static yoke_status launch_kernel(void *user)
{
    profile_work *work = user;
    const yoke_argument arguments[] = {yoke_argument_int64(work->n), yoke_argument_int64(work->rounds), yoke_argument_buffer(work->x),
                                       yoke_argument_buffer(work->y)};
    return yoke_queue_launch(work->queue, work->function, 4096, 256, work->n, arguments, 4);
}

static yoke_status finish_kernel(double *start_s, double *end_s, void *user)
{
    profile_work *work = user;
    (void)start_s;
    (void)end_s;
    return yoke_queue_finish(work->queue);
}

/* Chooses the number of rounds such that a run takes the requested time. */
static yoke_status set_duration(profile_work *work, double seconds)
{
    double taken = 0;
    work->rounds = 1;
    for (int i = 0; i < 12; i++) {
        yoke_status status = YOKE_OK;
        double begin = 0;
        for (int k = 0; k < 3 && !status; k++) { /* the last of three counts: frequencies have risen, and code is loaded */
            begin = yoke_clock_s();
            status = launch_kernel(work);
            if (!status) status = yoke_queue_finish(work->queue);
        }
        if (!status) status = app_interrupt_check(work->context);
        if (status) return status;
        taken = yoke_clock_s() - begin;
        if (fabs(taken / seconds - 1) < 0.05) return YOKE_OK;
        int64_t rounds = (int64_t)fmin(1e12, fmax(1, round((double)work->rounds * fmin(100, seconds / fmax(taken, 1e-7)))));
        if (rounds == work->rounds) return YOKE_OK;
        work->rounds = rounds;
    }
    return YOKE_OK;
}

const char *profile_kernel_pci(const profile_work *work) { return work->device ? yoke_device_info_get(work->device)->pci : ""; }

yoke_status profile_kernel_check(yoke_context *context, const char *kernel)
{
    if (kernel == NULL || strcmp(kernel, "triad") == 0 || strcmp(kernel, "fma") == 0) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "unknown kernel %s; there are: triad (memory), fma (arithmetic); or --exec LIB:FUNC",
                     kernel);
}

yoke_status profile_kernel_open(profile_work *work, const char *kernel, const char *device, double seconds)
{
    static const yoke_host_kernel kernels[] = {{"profile_triad", profile_triad}, {"profile_fma", profile_fma}};
    const char *const texts[] = {tool_profile_kernel_text};
    const yoke_program_source source = {
        .name = "profile/kernel.h", .texts = texts, .num_texts = 1, .host_kernels = kernels, .num_host_kernels = 2};
    const bool memory = strcmp(kernel, "triad") == 0;
    yoke_status status = yoke_device_open(work->context, device, &work->device);
    if (status) return status;
    if (strcmp(yoke_device_info_get(work->device)->kind, "sim") == 0)
        return yoke_fail(work->context, YOKE_ERROR_INPUT,
                         "%s is simulated and has no sensor of power; use --simulate for a simulated sensor", device);
    work->n = (int64_t)1 << (memory ? 25 : 22);
    int64_t bytes = work->n * (int64_t)sizeof(float);
    status = yoke_queue_create(work->device, 0, &work->queue);
    if (!status) status = yoke_program_create(work->device, &source, &work->program);
    if (!status) status = yoke_program_function(work->program, memory ? "profile_triad" : "profile_fma", &work->function);
    if (!status) status = yoke_buffer_create(work->device, bytes, &work->x);
    if (!status) status = yoke_buffer_create(work->device, bytes, &work->y);
    if (!status) status = yoke_queue_clear(work->queue, work->x, 0, bytes);
    if (!status) status = yoke_queue_clear(work->queue, work->y, 0, bytes);
    if (!status) status = set_duration(work, seconds);
    snprintf(work->name, sizeof work->name, "%s on %s", kernel, device);
    work->subject.launch = launch_kernel;
    work->subject.finish = finish_kernel;
    work->subject.user = work;
    return status;
}

/* ------------------------------------------------------------------------------------- functions of a library */

/* Calls the function on request. */
static void *serve(void *user)
{
    profile_work *work = user;
    pthread_mutex_lock(&work->lock);
    for (;;) {
        while (!work->wanted && !work->ended) pthread_cond_wait(&work->changed, &work->lock);
        if (work->ended) break;
        work->wanted = false;
        pthread_mutex_unlock(&work->lock);
        double start = yoke_clock_s();
        work->call();
        double end = yoke_clock_s();
        pthread_mutex_lock(&work->lock);
        work->start_s = start;
        work->end_s = end;
        work->done = true;
        pthread_cond_broadcast(&work->changed);
    }
    pthread_mutex_unlock(&work->lock);
    return NULL;
}

static yoke_status launch_call(void *user)
{
    profile_work *work = user;
    pthread_mutex_lock(&work->lock);
    work->wanted = true;
    work->done = false;
    pthread_cond_broadcast(&work->changed);
    pthread_mutex_unlock(&work->lock);
    return YOKE_OK;
}

static yoke_status finish_call(double *start_s, double *end_s, void *user)
{
    profile_work *work = user;
    pthread_mutex_lock(&work->lock);
    while (!work->done) pthread_cond_wait(&work->changed, &work->lock);
    *start_s = work->start_s;
    *end_s = work->end_s;
    pthread_mutex_unlock(&work->lock);
    return app_interrupt_check(work->context);
}

yoke_status profile_library_open(profile_work *work, const char *text)
{
    char path[4096];
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0' || (size_t)(colon - text) >= sizeof path)
        return yoke_fail(work->context, YOKE_ERROR_INPUT, "--exec %s: expected LIB:FUNC, a shared library and a function void f(void)",
                         text);
    snprintf(path, sizeof path, "%.*s", (int)(colon - text), text);
    work->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (work->library == NULL) {
        const char *why = dlerror();
        return yoke_fail(work->context, YOKE_ERROR_INPUT,
                         "--exec: the library %s cannot be loaded: %s (a name without a slash is looked for in "
                         "the system's directories; ./NAME is one here)",
                         path, why ? why : "unknown");
    }
    void *symbol = dlsym(work->library, colon + 1);
    if (symbol == NULL) return yoke_fail(work->context, YOKE_ERROR_INPUT, "--exec: %s has no function %s", path, colon + 1);
    memcpy(&work->call, &symbol, sizeof symbol); /* POSIX: object and function pointers have the same representation */
    if (pthread_mutex_init(&work->lock, NULL) != 0 || pthread_cond_init(&work->changed, NULL) != 0 ||
        pthread_create(&work->thread, NULL, serve, work) != 0)
        return yoke_fail(work->context, YOKE_ERROR_SYSTEM, "a thread for the function cannot be made; the system is out of resources");
    work->threaded = true;
    snprintf(work->name, sizeof work->name, "%.200s", text);
    work->subject.launch = launch_call;
    work->subject.finish = finish_call;
    work->subject.user = work;
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------------- simulated */

yoke_status profile_simulated_open(profile_work *work, const char *text)
{
    app_simulated_options options;
    yoke_status status = app_simulated_preset(work->context, text, &options);
    if (!status) status = app_simulated_create(work->context, &options, &work->simulated);
    if (status) return status;
    work->subject = app_simulated_subject(work->simulated);
    work->gain_error = NAN;
    snprintf(work->name, sizeof work->name, "simulated kernel");
    snprintf(work->meter_name, sizeof work->meter_name, "simulated");
    snprintf(work->meter_text, sizeof work->meter_text, "simulated sensor %.200s", text);
    return YOKE_OK;
}

void profile_work_close(profile_work *work)
{
    if (work->threaded) {
        pthread_mutex_lock(&work->lock);
        work->ended = true;
        pthread_cond_broadcast(&work->changed);
        pthread_mutex_unlock(&work->lock);
        pthread_join(work->thread, NULL);
        pthread_cond_destroy(&work->changed);
        pthread_mutex_destroy(&work->lock);
    }
    if (work->library) dlclose(work->library);
    if (work->device) {
        yoke_queue_destroy(work->queue);
        yoke_buffer_destroy(work->x);
        yoke_buffer_destroy(work->y);
        yoke_program_destroy(work->program);
        yoke_device_close(work->device);
    }
    yoke_meters_close(work->meter);
    app_simulated_destroy(work->simulated);
}
