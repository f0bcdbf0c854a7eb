/* cpu_queue.c - passes the CPU subdomain's work to its device's queue, waits for it and measures it; interface memory. */
#include "operator/subdomain/cpu.h"

#include <math.h>

static yoke_status keep(cpu_subdomain *cpu, yoke_status status)
{
    if (status && !cpu->subdomain.status) cpu->subdomain.status = status;
    return status;
}

/* Allocates host memory for the interface values that leave and enter the subdomain. */
static yoke_status make_interface(cpu_subdomain *cpu)
{
    fem_subdomain *subdomain = &cpu->subdomain;
    if (subdomain->num_interface == 0) return YOKE_OK;
    int64_t bytes = (int64_t)subdomain->num_interface * 6 * (int64_t)cpu_subdomain_real_size(cpu);
    void **memory[2] = {&subdomain->interface_own, &subdomain->interface_total};
    for (int i = 0; i < 2; i++) {
        yoke_status status = subdomain->device ? yoke_host_allocate(subdomain->device, bytes, memory[i])
                                               : yoke_allocate(subdomain->context, bytes, 1, memory[i]);
        if (status) return status;
        cpu->bytes += bytes;
    }
    return YOKE_OK;
}

static void release_interface(fem_subdomain *subdomain)
{
    void *memory[2] = {subdomain->interface_own, subdomain->interface_total};
    for (int i = 0; i < 2; i++) {
        if (subdomain->device && memory[i])
            yoke_host_release(subdomain->device, memory[i]);
        else
            yoke_release(subdomain->context, memory[i]);
    }
}

yoke_status cpu_subdomain_queue_create(cpu_subdomain *cpu)
{
    yoke_status status = yoke_allocate(cpu->subdomain.context, CPU_TASKS, sizeof *cpu->tasks, &cpu->tasks);
    if (!status) status = make_interface(cpu);
    if (!cpu->queue) return status;
    yoke_event **single[] = {&cpu->half_done[0], &cpu->half_done[1], &cpu->dots_done, &cpu->interface_done};
    for (int i = 0; i < 4 && !status; i++) status = yoke_event_create(cpu->subdomain.device, single[i]);
    for (int i = 0; i < CPU_INTERVALS && !status; i++) {
        status = yoke_event_create(cpu->subdomain.device, &cpu->interval_begin[i]);
        if (!status) status = yoke_event_create(cpu->subdomain.device, &cpu->interval_end[i]);
    }
    return status;
}

void cpu_subdomain_queue_destroy(cpu_subdomain *cpu)
{
    yoke_event *single[] = {cpu->half_done[0], cpu->half_done[1], cpu->dots_done, cpu->interface_done};
    for (int i = 0; i < 4; i++)
        if (single[i]) yoke_event_destroy(single[i]);
    for (int i = 0; i < CPU_INTERVALS; i++) {
        if (cpu->interval_begin[i]) yoke_event_destroy(cpu->interval_begin[i]);
        if (cpu->interval_end[i]) yoke_event_destroy(cpu->interval_end[i]);
    }
    release_interface(&cpu->subdomain);
    yoke_release(cpu->subdomain.context, cpu->tasks);
}

void cpu_subdomain_record(cpu_subdomain *cpu, yoke_event *event)
{
    if (cpu->queue && !cpu->subdomain.status) keep(cpu, yoke_queue_record(cpu->queue, event));
}

void cpu_subdomain_wait(cpu_subdomain *cpu, yoke_event *event)
{
    if (cpu->queue && !cpu->subdomain.status) keep(cpu, yoke_event_wait(event, NULL));
}

void cpu_subdomain_finish(cpu_subdomain *cpu)
{
    if (cpu->queue) keep(cpu, yoke_queue_finish(cpu->queue)); /* also after a failure: tasks may still be running */
}

/*
 * Returns the next entry of the ring.  On entering a half of the ring, the tasks that were started from that half one round before must
 * have run.
 */
static cpu_task *next_place(cpu_subdomain *cpu)
{
    enum { HALF = CPU_TASKS / 2 };
    int64_t place = cpu->tasks_started++ % CPU_TASKS;
    if (place % HALF == 0) {
        cpu_subdomain_record(cpu, cpu->half_done[place == 0]);
        cpu_subdomain_wait(cpu, cpu->half_done[place != 0]);
    }
    return &cpu->tasks[place];
}

static void start(cpu_subdomain *cpu, yoke_task_function *run, const cpu_task *task, int64_t units)
{
    cpu_task *place = next_place(cpu);
    if (cpu->subdomain.status) return;
    *place = *task;
    place->cpu = cpu;
    if (!cpu->queue) {
        run(place);
        return;
    }
    keep(cpu, fem_mark_begin(&cpu->profile, task->kernel));
    if (!cpu->subdomain.status) keep(cpu, yoke_queue_call(cpu->queue, run, place, units));
    keep(cpu, fem_mark_end(&cpu->profile));
}

void cpu_subdomain_start(cpu_subdomain *cpu, yoke_task_function *run, const cpu_task *task)
{
    if (!cpu->subdomain.status) start(cpu, run, task, 0);
}

static void read_interval(cpu_subdomain *cpu)
{
    int64_t i = cpu->intervals_read++ % CPU_INTERVALS;
    double seconds;
    if (!cpu->subdomain.status && !keep(cpu, yoke_event_elapsed_s(cpu->interval_begin[i], cpu->interval_end[i], &seconds)))
        cpu->product_seconds += seconds;
}

void cpu_subdomain_start_measured(cpu_subdomain *cpu, yoke_task_function *run, const cpu_task *task, int64_t units)
{
    if (cpu->subdomain.status) return;
    if (cpu->unmeasured) {
        start(cpu, run, task, units);
        return;
    }
    if (!cpu->queue) {
        double begin = yoke_clock_s();
        start(cpu, run, task, units);
        cpu->product_seconds += yoke_clock_s() - begin;
        return;
    }
    if (cpu->intervals_started - cpu->intervals_read == CPU_INTERVALS) read_interval(cpu);
    int64_t i = cpu->intervals_started % CPU_INTERVALS;
    cpu_subdomain_record(cpu, cpu->interval_begin[i]);
    if (!cpu->subdomain.status) start(cpu, run, task, units);
    cpu_subdomain_record(cpu, cpu->interval_end[i]);
    cpu->intervals_started++;
}

double cpu_subdomain_measured_wait(cpu_subdomain *cpu)
{
    cpu_subdomain_finish(cpu);
    while (cpu->intervals_read < cpu->intervals_started) read_interval(cpu);
    return cpu->subdomain.status || cpu->unmeasured ? (double)NAN : cpu->product_seconds;
}
