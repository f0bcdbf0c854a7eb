/*
 * sim.h - simulated devices: what they compute is real, the time that it takes is what a machine file says.
 *
 * sim_machine.c reads the file (docs/machine-file.md), sim_time.c has speed functions and noise, sim.c the table of functions.
 */
#ifndef YOKE_DEVICE_SIM_H
#define YOKE_DEVICE_SIM_H

#include "device/host_kernels.h"

/* Seconds per unit, piecewise linear between points of ascending units, constant before the first and behind the last. */
typedef struct sim_speed {
    int64_t num_points; /* at least 1 */
    double *units, *seconds_per_unit;
} sim_speed;

typedef struct sim_copy {
    double latency_s, bytes_per_s; /* bytes_per_s is infinite where no copy takes time for its length */
} sim_copy;

typedef struct sim_fault {
    int64_t call;       /* this call of the driver after opening fails, counted from 1; 0: none */
    yoke_status status; /* DEVICE or DEVICE_MEMORY */
} sim_fault;

typedef struct sim_profile { /* of a device, as the file describes it */
    char name[48];           /* NAME of sim:NAME */
    char description[256];
    yoke_device_class device_class; /* CPU or GPU */
    int64_t memory_bytes, compute_units, threads;
    sim_speed speed;
    double start_s; /* of every launch that has units */
    sim_copy copy;
    double noise;
    int64_t seed;
    sim_fault fault;
} sim_profile;

typedef struct sim_machine {
    yoke_context *context;
    char name[64], description[256];
    sim_profile *devices;
    int64_t count;
    double host_s; /* the host's virtual clock, which all devices share */
} sim_machine;

typedef struct sim_state { /* of a context */
    yoke_context *context;
    sim_machine *machine; /* NULL: no file was read */
} sim_state;

/* Errors: INPUT (file, key, what was expected), MEMORY, SYSTEM. */
yoke_status sim_machine_create(yoke_context *context, const char *path, sim_machine **machine);
void sim_machine_destroy(sim_machine *machine);

/* ---------------------------------------------------------------------------------------------- sim_time.c */

/* Random numbers by splitmix64 (Steele, Lea and Flood 2014), the same on every machine. */
typedef struct sim_random {
    uint64_t state;
} sim_random;

double sim_seconds_per_unit(const sim_speed *speed, double units);
/* 1 + N(0, sigma), never below 0; draws nothing where sigma is 0. */
double sim_noise_factor(sim_random *random, double sigma);

#endif
