/*
 * sim.h - simulated devices: what they compute is real, the time that it takes is what a machine file says.
 *
 * sim_machine.c reads the file (docs/machine-file.md), sim_time.c has speed functions and noise, sim_energy.c powers, sim.c the table of
 * functions.
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
    double free_bytes;             /* of each copy take no time */
} sim_copy;

typedef struct sim_fault {
    int64_t call;       /* this call of the driver after opening fails, counted from 1; 0: none */
    yoke_status status; /* DEVICE or DEVICE_MEMORY */
} sim_fault;

/* When something runs, as disjoint stretches of time in ascending order: begin, end, begin, end, ... */
typedef struct sim_stretches {
    double *ends;
    int64_t count, capacity; /* of stretches */
    double before_s;         /* length of those that were dropped, all of which ended before the first one here */
} sim_stretches;

/* What draws power: E(t) = idle_w t + (busy_w - idle_w) x seconds busy + copy_w x seconds copying, exactly. */
typedef struct sim_domain {
    int powered; /* nonzero: the file gives it a power; else nothing is kept */
    double idle_w, busy_w, copy_w;
    double period_s, resolution_j, wrap_j; /* of its meter; 0: shows every change; none; never */
    double gain, gain_error;               /* the meter shows gain x E; gain_error is what it states of that */
    sim_stretches busy, copying;
} sim_domain;

typedef struct sim_profile { /* of a device, as the file describes it, and what it has drawn */
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
    sim_domain domain;
} sim_profile;

/* Somebody who looks at the virtual clock while it moves: see run/meter_sim.h. */
typedef struct sim_watch {
    double every_s, next_s; /* next_s: when it is called */
    void (*moved)(void *user);
    void *user;
    struct sim_watch *next;
} sim_watch;

typedef struct sim_machine {
    yoke_context *context;
    char name[64], description[256];
    sim_profile *devices;
    int64_t count;
    sim_domain host, dram;
    int powered;        /* nonzero: there is a domain with a power */
    double host_s;      /* the host's virtual clock, which all devices share */
    sim_watch *watches; /* their owners' */
} sim_machine;

typedef struct sim_state { /* of a context */
    yoke_context *context;
    sim_machine *machine; /* NULL: no file was read */
} sim_state;

/* Errors: INPUT (file, key, what was expected), MEMORY, SYSTEM. */
yoke_status sim_machine_create(yoke_context *context, const char *path, sim_machine **machine);
void sim_machine_destroy(sim_machine *machine);

/* The machine of the context, or NULL where no file was read.  Allocates nothing where nobody asked for devices. */
sim_machine *sim_machine_of(yoke_context *context);

/* The host's clock goes to time_s, unless it is there already, past all who watch. */
void sim_machine_wait(sim_machine *machine, double time_s);

/* -------------------------------------------------------------------------------------------- sim_energy.c */

/* The device runs a launch, or copies, from begin_s to end_s: its own domain and, where that has powers, the memory's.  Errors: MEMORY. */
yoke_status sim_energy_launch(sim_machine *machine, sim_profile *device, double begin_s, double end_s);
yoke_status sim_energy_copy(sim_machine *machine, sim_profile *device, double begin_s, double end_s);

/* Seconds of the stretches before time_s, and joules of a domain; time_s not before the latest update of its meter, on the host's clock. */
double sim_stretches_s(const sim_stretches *stretches, double time_s);
double sim_energy_j(const sim_domain *domain, double time_s);

/* When the domain's meter was updated last, at the host's time now_s. */
double sim_meter_update_s(const sim_domain *domain, double now_s);

void sim_domain_clear(yoke_context *context, sim_domain *domain);

/* ---------------------------------------------------------------------------------------------- sim_time.c */

/* Random numbers by splitmix64 (Steele, Lea and Flood 2014), the same on every machine. */
typedef struct sim_random {
    uint64_t state;
} sim_random;

double sim_seconds_per_unit(const sim_speed *speed, double units);
/* 1 + N(0, sigma), never below 0; draws nothing where sigma is 0. */
double sim_noise_factor(sim_random *random, double sigma);

#endif
