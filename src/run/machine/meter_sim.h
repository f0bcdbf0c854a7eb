/*
 * meter_sim.h - the meters of a simulated machine: one for each device, and for host and memory, that the machine file gives a power
 * (docs/reference/machine-file.md).
 */
#ifndef YOKE_RUN_METER_SIM_H
#define YOKE_RUN_METER_SIM_H

#include "device/sim/sim.h"
#include "meter/meter.h"

/* Finds nothing where the context has no machine file, or one without powers. */
extern const meter_kind run_meter_sim;

/*
 * The virtual clock of the context's machine, if a machine file was read that has powers: then *time is filled and 1 is returned, else 0.
 * The clock is valid as long as the context.
 */
int run_meter_sim_time(yoke_context *context, meter_time *time);

/*
 * Who wants to look at the virtual clock while it moves, as the watching thread does with a real one: each time it has moved by every_s (> 0),
 * and so between the ends of one long wait too, `moved` is called on the thread that moves it.  It must not wait for a device itself.
 * A wait longer than a million times every_s is looked at a million times, evenly spread.
 * The structure is the caller's and stays where it is from begin to end.
 */
typedef struct run_sim_watch {
    double every_s;
    void (*moved)(void *user);
    void *user;
    sim_machine *machine; /* the rest is run_sim_watch_begin's */
    sim_watch inner;
} run_sim_watch;
/* Does nothing where run_meter_sim_time would return 0. */
void run_sim_watch_begin(yoke_context *context, run_sim_watch *watch);
void run_sim_watch_end(run_sim_watch *watch);

#endif
