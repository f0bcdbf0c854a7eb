#include "worker.h"

#include <math.h>

#include "unit.h"

static void nothing(const yoke_group *group, void *const *arguments)
{
    (void)group;
    (void)arguments;
}

static const yoke_host_kernel kernels[] = {{"nothing", nothing}};
static const yoke_program_source source = {.name = "one kernel", .host_kernels = kernels, .num_host_kernels = 1};

static void ok(worker *w, yoke_status status)
{
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(w->context));
}

void worker_open(worker *w, failing *memory, const char *machine_text, const yoke_run_options *options)
{
    *w = (worker){.context = machine(machine_text, memory)};
    ok(w, yoke_run_create(w->context, options, &w->run));
    ok(w, yoke_run_devices(w->run, &w->devices, &w->num_devices));
    assert_true(w->num_devices <= WORKER_DEVICES);
    for (int64_t i = 0; i < w->num_devices; i++) {
        yoke_device *device = w->devices[i].device;
        ok(w, yoke_queue_create(device, 0, &w->queues[i]));
        ok(w, yoke_program_create(device, &source, &w->programs[i]));
        ok(w, yoke_program_function(w->programs[i], "nothing", &w->functions[i]));
        ok(w, yoke_event_create(device, &w->begin[i]));
        ok(w, yoke_event_create(device, &w->end[i]));
    }
}

void worker_close(worker *w)
{
    for (int64_t i = 0; i < w->num_devices; i++) {
        yoke_event_destroy(w->begin[i]);
        yoke_event_destroy(w->end[i]);
        yoke_program_destroy(w->programs[i]);
        yoke_queue_destroy(w->queues[i]);
    }
    yoke_run_destroy(w->run);
    yoke_context_destroy(w->context);
}

static int64_t before(const yoke_round *round, const yoke_phase *phase, int64_t unit)
{
    double part = phase->weight_sum != NULL ? phase->weight_sum[unit] / phase->weight_sum[round->cut_units[phase->cut]]
                                            : (double)unit / (double)round->cut_units[phase->cut];
    return (int64_t)floor((double)phase->units * part + 0.5);
}

static int64_t phase_units(const worker *w, const yoke_round *round, const yoke_phase *phase, int64_t device)
{
    if (phase->cut < 0) return phase->device == device ? phase->units : 0;
    const int64_t *first = w->assignment->first[phase->cut];
    return round->cut_units[phase->cut] == 0 ? 0 : before(round, phase, first[device + 1]) - before(round, phase, first[device]);
}

/* A call of a phase on all devices; *failed: the device that failed, or -1. */
static yoke_status call(worker *w, const yoke_round *round, int64_t p, int64_t *failed)
{
    yoke_status status = YOKE_OK;
    int64_t units[WORKER_DEVICES];
    *failed = -1;
    for (int64_t i = 0; i < w->num_devices && status == YOKE_OK; i++) {
        units[i] = w->devices[i].active ? phase_units(w, round, &round->phases[p], i) : 0;
        *failed = i;
        if (units[i] > 0) status = yoke_queue_record(w->queues[i], w->begin[i]);
        if (units[i] > 0 && status == YOKE_OK) status = yoke_queue_launch(w->queues[i], w->functions[i], 1, 1, units[i], NULL, 0);
        if (units[i] > 0 && status == YOKE_OK) status = yoke_queue_record(w->queues[i], w->end[i]);
    }
    for (int64_t i = 0; i < w->num_devices && status == YOKE_OK; i++) {
        double *seconds = &w->seconds[p * w->num_devices + i];
        *seconds = NAN;
        *failed = i;
        if (units[i] > 0) status = yoke_queue_finish(w->queues[i]);
        if (units[i] > 0 && status == YOKE_OK) status = yoke_event_elapsed_s(w->begin[i], w->end[i], seconds);
    }
    return status;
}

yoke_status worker_round(worker *w, const yoke_round *round)
{
    const yoke_run_report report = {.seconds = w->seconds};
    int64_t failed = -1;
    for (;;) {
        yoke_status status = yoke_run_plan(w->run, round, 1, &w->assignment);
        if (status == YOKE_OK) status = yoke_run_begin(w->run);
        if (status != YOKE_OK) return status;
        for (int64_t p = 0; p < round->num_phases && status == YOKE_OK; p++)
            for (int64_t k = 0; k < (int64_t)round->phases[p].calls && status == YOKE_OK; k++) {
                status = call(w, round, p, &failed);
                if (status == YOKE_OK && w->extra_s > 0) status = yoke_machine_sleep(w->context, w->extra_s);
            }
        if (status == YOKE_OK) return yoke_run_end(w->run, &report, &w->measured);
        if (status != YOKE_ERROR_DEVICE) return status;
        for (int64_t i = 0; i < w->num_devices; i++)
            if (i != failed && w->devices[i].active) ok(w, yoke_queue_finish(w->queues[i]));
        char why[200];
        snprintf(why, sizeof why, "%s", yoke_last_error(w->context));
        status = yoke_run_fail(w->run, failed, why);
        if (status != YOKE_OK) return status;
        ok(w, yoke_run_devices(w->run, &w->devices, &w->num_devices));
    }
}

void worker_rounds(worker *w, int64_t n, int rounds)
{
    const yoke_phase phase = {.work = "work", .calls = 1, .units = n, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    for (int k = 0; k < rounds; k++) ok(w, worker_round(w, &round));
}

int64_t worker_units(const worker *w, int64_t device) { return w->assignment->first[0][device + 1] - w->assignment->first[0][device]; }

yoke_status worker_try(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    worker *w = user;
    yoke_status status = yoke_queue_record(w->queues[device], w->begin[device]);
    for (int64_t k = 0; k < calls && status == YOKE_OK; k++)
        status = yoke_queue_launch(w->queues[device], w->functions[device], 1, 1, units, NULL, 0);
    if (status == YOKE_OK) status = yoke_queue_record(w->queues[device], w->end[device]);
    if (status == YOKE_OK) status = yoke_queue_finish(w->queues[device]);
    if (status == YOKE_OK) status = yoke_event_elapsed_s(w->begin[device], w->end[device], seconds);
    *seconds /= (double)calls;
    return status;
}
