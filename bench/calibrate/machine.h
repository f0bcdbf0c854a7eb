/*
 * machine.h - machines generated from seeds, and their true times and energies: a CPU and a GPU with starts, cliffs, frequencies, noise,
 * contention and copies.
 */
#ifndef BENCH_CALIBRATE_MACHINE_H
#define BENCH_CALIBRATE_MACHINE_H

#include "yoke/yoke.h"

enum { CALIBRATE_DEVICES = 2, CALIBRATE_MAX_LEVELS = 16, CALIBRATE_UNIT_BYTES = 8, MADE_CONTENTIONS = 4 };

/* Fractions by which devices slow each other down, in ascending order; each machine has one of them. */
extern const double made_contentions[MADE_CONTENTIONS];

/*
 * At one frequency, a launch on x units takes start_s + x s(x), where s is inner_s up to from_units, outer_s from to_units on, and linear
 * in between.
 */
typedef struct made_level {
    double hz, start_s, inner_s, outer_s, idle_w, busy_w;
} made_level;

typedef struct made_device {
    int num_levels;
    made_level levels[CALIBRATE_MAX_LEVELS]; /* ascending */
    double from_units, to_units;
    double noise;                     /* relative standard deviation of a launch */
    double contention;                /* relative increase of time while the other device works */
    double latency_s, byte_s, copy_w; /* of copies, only for the GPU */
} made_device;

typedef struct made_machine {
    made_device devices[CALIBRATE_DEVICES]; /* a CPU and a GPU */
    double base_w, host_overhead_w;
} made_machine;

/* The same seed gives the same machine. */
void made_machine_create(uint64_t seed, made_machine *machine);
/* Writes a machine file.  Errors: those of files. */
yoke_status made_machine_write(yoke_context *context, const made_machine *machine, const char *path);
/* Seconds of a launch alone, without noise. */
double made_seconds(const made_device *device, int level, double units);
/* Time and energy of units[i] on device i at levels[i]: each device copies, then works, and is slowed down while both work. */
void made_cost(const made_machine *machine, const int *levels, const int64_t *units, double *time_s, double *energy_j);
/* Returns a number in [0, 1) and advances the state. */
double made_random(uint64_t *state);

#endif
