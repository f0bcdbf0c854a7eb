/* part_cpu_queue.c - how the CPU part gives its work to its device's queue, waits for it and measures it; interface memory. */
#include "operator/part_cpu.h"

#include <math.h>

static yoke_status keep(cpu_part *cpu, yoke_status status)
{
    if (status && !cpu->part.status) cpu->part.status = status;
    return status;
}

/* Host memory through which interface values leave and enter the part. */
static yoke_status make_interface(cpu_part *cpu)
{
    fem_part *part = &cpu->part;
    if (part->num_interface == 0) return YOKE_OK;
    int64_t bytes = (int64_t)part->num_interface * 6 * (int64_t)cpu_part_real_size(cpu);
    void **memory[2] = {&part->interface_own, &part->interface_total};
    for (int i = 0; i < 2; i++) {
        yoke_status status =
            part->device ? yoke_host_allocate(part->device, bytes, memory[i]) : yoke_allocate(part->context, bytes, 1, memory[i]);
        if (status) return status;
        cpu->bytes += bytes;
    }
    return YOKE_OK;
}

static void release_interface(fem_part *part)
{
    void *memory[2] = {part->interface_own, part->interface_total};
    for (int i = 0; i < 2; i++) {
        if (part->device && memory[i])
            yoke_host_release(part->device, memory[i]);
        else
            yoke_release(part->context, memory[i]);
    }
}

yoke_status cpu_part_queue_create(cpu_part *cpu)
{
    yoke_status status = yoke_allocate(cpu->part.context, CPU_TASKS, sizeof *cpu->tasks, (void **)&cpu->tasks);
    if (!status) status = make_interface(cpu);
    if (!cpu->queue) return status;
    yoke_event **single[] = {&cpu->half_done[0], &cpu->half_done[1], &cpu->dots_done, &cpu->interface_done};
    for (int i = 0; i < 4 && !status; i++) status = yoke_event_create(cpu->part.device, single[i]);
    for (int i = 0; i < CPU_INTERVALS && !status; i++) {
        status = yoke_event_create(cpu->part.device, &cpu->interval_begin[i]);
        if (!status) status = yoke_event_create(cpu->part.device, &cpu->interval_end[i]);
    }
    return status;
}

void cpu_part_queue_destroy(cpu_part *cpu)
{
    yoke_event *single[] = {cpu->half_done[0], cpu->half_done[1], cpu->dots_done, cpu->interface_done};
    for (int i = 0; i < 4; i++)
        if (single[i]) yoke_event_destroy(single[i]);
    for (int i = 0; i < CPU_INTERVALS; i++) {
        if (cpu->interval_begin[i]) yoke_event_destroy(cpu->interval_begin[i]);
        if (cpu->interval_end[i]) yoke_event_destroy(cpu->interval_end[i]);
    }
    release_interface(&cpu->part);
    yoke_release(cpu->part.context, cpu->tasks);
}

void cpu_part_record(cpu_part *cpu, yoke_event *event)
{
    if (cpu->queue && !cpu->part.status) keep(cpu, yoke_queue_record(cpu->queue, event));
}

void cpu_part_wait(cpu_part *cpu, yoke_event *event)
{
    if (cpu->queue && !cpu->part.status) keep(cpu, yoke_event_wait(event));
}

void cpu_part_finish(cpu_part *cpu)
{
    if (cpu->queue) keep(cpu, yoke_queue_finish(cpu->queue)); /* also after a failure: tasks may still be running */
}

/* The ring's next place.  On entering a half of it, what was started from there one round before must have run. */
static cpu_task *next_place(cpu_part *cpu)
{
    enum { HALF = CPU_TASKS / 2 };
    int64_t place = cpu->tasks_started++ % CPU_TASKS;
    if (place % HALF == 0) {
        cpu_part_record(cpu, cpu->half_done[place == 0]);
        cpu_part_wait(cpu, cpu->half_done[place != 0]);
    }
    return &cpu->tasks[place];
}

static void start(cpu_part *cpu, yoke_task_function *run, const cpu_task *task, int64_t units)
{
    cpu_task *place = next_place(cpu);
    if (cpu->part.status) return;
    *place = *task;
    place->cpu = cpu;
    if (cpu->queue)
        keep(cpu, yoke_queue_call(cpu->queue, run, place, units));
    else
        run(place);
}

void cpu_part_start(cpu_part *cpu, yoke_task_function *run, const cpu_task *task)
{
    if (!cpu->part.status) start(cpu, run, task, 0);
}

static void read_interval(cpu_part *cpu)
{
    int64_t i = cpu->intervals_read++ % CPU_INTERVALS;
    double seconds;
    if (!cpu->part.status && !keep(cpu, yoke_event_elapsed_s(cpu->interval_begin[i], cpu->interval_end[i], &seconds)))
        cpu->product_seconds += seconds;
}

void cpu_part_start_measured(cpu_part *cpu, yoke_task_function *run, const cpu_task *task, int64_t units)
{
    if (cpu->part.status) return;
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
    cpu_part_record(cpu, cpu->interval_begin[i]);
    if (!cpu->part.status) start(cpu, run, task, units);
    cpu_part_record(cpu, cpu->interval_end[i]);
    cpu->intervals_started++;
}

double cpu_part_measured_wait(cpu_part *cpu)
{
    cpu_part_finish(cpu);
    while (cpu->intervals_read < cpu->intervals_started) read_interval(cpu);
    return cpu->part.status || cpu->unmeasured ? (double)NAN : cpu->product_seconds;
}
