/*
 * meter_sim.h - the meters of a simulated machine: one for each device, and for host and memory, to which the machine file gives a power
 * (docs/reference/machine-file.md).
 */
#ifndef YOKE_RUN_METER_SIM_H
#define YOKE_RUN_METER_SIM_H

#include "device/sim/sim.h"
#include "meter/meter.h"

/* Finds nothing if the context has no machine file, or one without powers. */
extern const meter_kind run_meter_sim;

/*
 * The virtual clock of the context's machine, if a machine file with powers was read: then *time is written and 1 is returned, else 0.
 * The clock is valid as long as the context.
 */
int run_meter_sim_time(yoke_context *context, meter_time *time);

/*
 * An observer of the virtual clock while it advances, like the sampling thread with a real clock.  Each time the clock has advanced by
 * every_s (> 0), also between the ends of one long wait, `moved` is called on the thread that advances it.  It must not wait for a device
 * itself.  During a wait longer than a million times every_s it is called a million times, evenly spread.
 * The structure belongs to the caller and stays at its place from begin to end.
 */
typedef struct run_sim_watch {
    double every_s;
    void (*moved)(void *user);
    void *user;
    sim_machine *machine; /* this and the following are set by run_sim_watch_begin */
    sim_watch inner;
} run_sim_watch;
/* Does nothing if run_meter_sim_time would return 0. */
void run_sim_watch_begin(yoke_context *context, run_sim_watch *watch);
void run_sim_watch_end(run_sim_watch *watch);

#endif
