/*
 * machine.h - machines made from seeds, and what is true of them: a CPU and a GPU with starts, cliffs, frequencies, noise, contention and copies.
 */
#ifndef BENCH_CALIBRATE_MACHINE_H
#define BENCH_CALIBRATE_MACHINE_H

#include "yoke/yoke.h"

enum { CALIBRATE_DEVICES = 2, CALIBRATE_MAX_LEVELS = 16, CALIBRATE_UNIT_BYTES = 8, MADE_CONTENTIONS = 4 };

/* By how much devices slow each other down, ascending: that of a machine is one of these. */
extern const double made_contentions[MADE_CONTENTIONS];

/* At one frequency: a launch on x units takes start_s + x s(x), where s is inner_s up to from_units, outer_s from to_units on, and linear in between. */
typedef struct made_level {
    double hz, start_s, inner_s, outer_s, idle_w, busy_w;
} made_level;

typedef struct made_device {
    int num_levels;
    made_level levels[CALIBRATE_MAX_LEVELS]; /* ascending */
    double from_units, to_units;
    double noise;                     /* relative standard deviation of a launch */
    double contention;                /* so much longer beside the other device */
    double latency_s, byte_s, copy_w; /* of copies; of the GPU only */
} made_device;

typedef struct made_machine {
    made_device devices[CALIBRATE_DEVICES]; /* a CPU and a GPU */
    double base_w, host_overhead_w;
} made_machine;

/* The same machine for the same seed. */
void made_machine_create(uint64_t seed, made_machine *machine);
/* As a machine file.  Errors: those of files. */
yoke_status made_machine_write(yoke_context *context, const made_machine *machine, const char *path);
/* Seconds of a launch alone, without noise. */
double made_seconds(const made_device *device, int level, double units);
/* Time and energy of units[i] on device i at levels[i]: each copies, then works, and is slowed down for as long as both work. */
void made_cost(const made_machine *machine, const int *levels, const int64_t *units, double *time_s, double *energy_j);
/* A number from [0, 1), and the next state. */
double made_random(uint64_t *state);

#endif
