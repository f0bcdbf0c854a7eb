/*
 * sim.h - simulated devices: they compute real results, and the time of this work comes from a machine file.
 *
 * machine.c reads the file (docs/reference/machine-file.md), time.c has speed functions and noise, line.c the order of operations,
 * energy.c powers, sim.c the table of functions.
 */
#ifndef YOKE_DEVICE_SIM_SIM_H
#define YOKE_DEVICE_SIM_SIM_H

#include "device/host_kernels.h"

/* Seconds per unit, piecewise linear between points of ascending units, constant before the first and after the last. */
typedef struct sim_speed {
    int64_t num_points; /* at least 1 */
    double *units, *seconds_per_unit;
} sim_speed;

typedef struct sim_copy {
    double latency_s, bytes_per_s; /* bytes_per_s is infinite if the time of a copy does not depend on its length */
    double free_bytes;             /* bytes of each copy that take no time */
    int64_t engines;               /* 1: one copy at a time; 2: one in each direction; 0: any number */
} sim_copy;

typedef struct sim_fault {
    int64_t call;       /* number of the driver's call after opening that fails, from 1; 0: none */
    yoke_status status; /* DEVICE or DEVICE_MEMORY */
} sim_fault;

/* Hardware that draws power: constant from one change to the next. */
typedef struct sim_domain {
    int powered; /* nonzero: the file gives it a power; else nothing is recorded */
    double idle_w, busy_w,
        copy_w; /* for host and memory: idle, busy, and the addition of copies to either; a device has them for each level */
    double period_s, resolution_j, wrap_j; /* of its meter; 0: shows every change; none; never */
    double gain, gain_error;               /* the meter shows gain x E; gain_error is its stated error */
    double watts, since_s, since_j;        /* present power since a time, and the joules drawn until that time */
    double shown_j;                        /* joules drawn until the latest update of its meter that is not after since_s */
} sim_domain;

/* A device at one frequency. */
typedef struct sim_level {
    double frequency_hz; /* NaN: the file gives it none */
    sim_speed speed;
    double start_s; /* of every launch that has units */
    int powered;
    double idle_w, busy_w, copy_w;
    double hosting_w; /* of a CPU: the host overhead while it is at this level; NaN: that of the machine */
} sim_level;

typedef struct sim_profile { /* of a device, as described by the file, and its state */
    char name[48];           /* NAME of sim:NAME */
    char description[256];
    yoke_device_class device_class; /* CPU or GPU */
    int64_t memory_bytes, compute_units, threads;
    sim_level own; /* values of all levels that do not define their own */
    sim_copy copy;
    double noise, contention; /* a launch takes 1 + contention times as long while another device executes one */
    int64_t seed;
    sim_fault fault;
    sim_domain domain;
    sim_level *levels;        /* by ascending frequency; at least one */
    int64_t num_levels;       /* at least 1 */
    int64_t level;            /* of the present frequency: launches that begin use it */
    int64_t busy_level;       /* of the launch that began last */
    int64_t launches, copies; /* numbers that are in progress */
    int64_t copies_back;      /* number of these copies that go to the host */
} sim_profile;

/* An observer of the virtual clock while it advances: see run/machine/meter_sim.h. */
typedef struct sim_watch {
    double every_s, next_s; /* next_s: time of its next call */
    void (*moved)(void *user);
    void *user;
    struct sim_watch *next;
} sim_watch;

typedef struct sim_machine {
    yoke_context *context;
    char name[64], description[256];
    sim_profile *devices;
    int64_t count;
    sim_domain host, dram;              /* the host counts as busy even if it only hosts working GPUs */
    double host_overhead_w, contention; /* host_overhead_w: at levels that do not define their own */
    int host_described;                 /* nonzero: the file has the key "host" */
    int powered;                        /* nonzero: there is a domain with a power */
    double host_s;                      /* the host's virtual clock, which all devices share */
    sim_watch *watches;                 /* owned by their owners */
    struct sim_line *lines;
} sim_machine;

typedef struct sim_state { /* of a context */
    yoke_context *context;
    sim_machine *machine; /* NULL: no file was read */
} sim_state;

/* Reads a machine file.  Errors: INPUT (file, key, what was expected), MEMORY, SYSTEM. */
yoke_status sim_machine_create(yoke_context *context, const char *path, sim_machine **machine);
void sim_machine_destroy(sim_machine *machine);

/* The machine of the context, or NULL if no file was read.  Allocates nothing if no devices were requested. */
sim_machine *sim_machine_of(yoke_context *context);

/* The level of the device whose frequency is nearest. */
int64_t sim_nearest_level(const sim_profile *device, double frequency_hz);

/* -------------------------------------------------------------------------------------------------- line.c */

/* A point in a queue that is reached, or will be reached. */
typedef struct sim_mark {
    int64_t holders; /* number of events and operations that refer to it */
    int reached;
    double time_s;
} sim_mark;

yoke_status sim_mark_create(yoke_context *context, sim_mark **mark); /* with one holder */
void sim_mark_release(yoke_context *context, sim_mark *mark);        /* by a holder; NULL allowed */

typedef enum sim_operation_kind { SIM_LAUNCH, SIM_COPY, SIM_RECORD, SIM_WAIT } sim_operation_kind;

typedef struct sim_operation {
    sim_operation_kind kind;
    int64_t units;  /* of a launch */
    int back;       /* of a copy, nonzero: to the host */
    double factor;  /* of a launch: noise */
    double seconds; /* of a copy */
    sim_mark *mark; /* of RECORD and WAIT, one holder of it */
} sim_operation;

/* The operations of a queue that are not done yet, in order.  The first operation may be running. */
typedef struct sim_line {
    sim_machine *machine;
    sim_profile *device;
    sim_operation *operations; /* a ring */
    int64_t first, count, capacity;
    int running;
    double from_s, left_s, slows; /* the running operation has left_s of work since from_s, which takes `slows` times as long, */
    double until_s;               /* and ends at until_s */
    struct sim_line *next;
} sim_line;

/* Creates a queue with room for some operations.  Errors: MEMORY. */
yoke_status sim_line_open(sim_line *line, sim_machine *machine, sim_profile *device);
/* Cancels the remaining operations; those that wait for it continue. */
void sim_line_close(sim_line *line);
/* Takes ownership of the operation, including its mark, also on failure.  Errors: MEMORY. */
yoke_status sim_line_add(sim_line *line, const sim_operation *operation);

/*
 * Advances the host's clock to time_s, unless it is there already, calls all observers on the way, and lets the devices continue until
 * then.
 */
void sim_machine_wait(sim_machine *machine, double time_s);
/* The host waits until the line has finished, or the mark is reached. */
void sim_line_finish(sim_line *line);
void sim_mark_wait(sim_machine *machine, const sim_mark *mark);
/* The host waits until the first of all running operations ends.  Returns zero if none runs. */
int sim_machine_pass(sim_machine *machine);

/* Launches that begin from now on use that level. */
void sim_set_level(sim_machine *machine, sim_profile *device, int64_t level);

/* ------------------------------------------------------------------------------------------------ energy.c */

/* Call it if something has begun or ended on the device: its power and those of host and memory change, at the host's time. */
void sim_energy_change(sim_machine *machine, sim_profile *device);
/* The powers of a machine whose clock stands at 0. */
void sim_energy_start(sim_machine *machine);

/* Joules drawn until now_s, which is the host's time, and until the latest update of the meter. */
double sim_energy_j(const sim_domain *domain, double now_s);
double sim_energy_shown_j(const sim_domain *domain, double now_s);

/* The time of the latest update of the domain's meter, at the host's time now_s. */
double sim_meter_update_s(const sim_domain *domain, double now_s);

/* The idle device's least power, and the device's greatest, at any level. */
double sim_least_w(const sim_profile *device);
double sim_most_w(const sim_profile *device);
/* The greatest host overhead, at any level of the CPUs. */
double sim_most_overhead_w(const sim_machine *machine);

/* -------------------------------------------------------------------------------------------------- time.c */

/* Random numbers by splitmix64 (Steele, Lea and Flood 2014), the same on every machine. */
typedef struct sim_random {
    uint64_t state;
} sim_random;

double sim_seconds_per_unit(const sim_speed *speed, double units);
/* 1 + N(0, sigma), never below 0; uses no random number if sigma is 0. */
double sim_noise_factor(sim_random *random, double sigma);

#endif
