/*
 * machine.h - a simulated machine of a CPU and a GPU that is twice as fast, and a run on it.
 */
#ifndef DENSE_TESTS_MACHINE_H
#define DENSE_TESTS_MACHINE_H

#include "device/machine_text.h"
#include "unit.h"

/* cpu, gpu: further members of their objects, each with a comma before it. */
static inline void open_machine(yoke_context **context, failing *memory, const char *cpu, const char *gpu, const yoke_run_options *options,
                                yoke_run **run)
{
    char text[600];
    snprintf(text, sizeof text,
             "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-3%s}, "
             "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-3%s}]}",
             cpu, gpu);
    *memory = (failing){0};
    *context = machine(text, memory);
    if (yoke_run_create(*context, options, run)) fail_msg("%s", yoke_last_error(*context));
}

#endif
