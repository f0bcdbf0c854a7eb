/* sim_fixture.h - a context with a machine file, and its devices with a few queues each. */
#ifndef TESTS_DEVICE_SIM_FIXTURE_H
#define TESTS_DEVICE_SIM_FIXTURE_H

#include "device/sim/sim.h"
#include "machine_text.h"
#include "unit.h"

enum { QUEUES = 3 };

typedef struct device {
    yoke_device *device;
    yoke_queue *queues[QUEUES];
    yoke_buffer *buffer;
    yoke_program *program;
    yoke_function *function;
} device;

device open_device(yoke_context *context, const char *name);
void close_device(device *d);

/* Asked for on one of the queues: a launch, or a copy of up to 1000 bytes to the device or back. */
yoke_status launch(device *d, int queue, int64_t units);
yoke_status copy(device *d, int queue, int64_t bytes);
yoke_status copy_back(device *d, int queue, int64_t bytes);
/* Waits for all queues. */
void finish(device *d);

/* To 1e-12. */
void expect(double found, double expected, const char *what);

static inline double host_s(yoke_context *context) { return sim_machine_of(context)->host_s; }

static inline double device_j(yoke_context *context, int i)
{
    const sim_machine *all = sim_machine_of(context);
    return sim_energy_j(&all->devices[i].domain, all->host_s);
}

static inline void wait_until(yoke_context *context, double time_s)
{
    assert_int_equal(yoke_machine_sleep(context, time_s - host_s(context)), YOKE_OK);
}

/* Ends a test: nothing may be left. */
static inline void close_all(yoke_context *context, const failing *memory)
{
    yoke_context_destroy(context);
    assert_int_equal(memory->outstanding, 0);
}

static inline void set_level(yoke_context *context, int64_t level)
{
    sim_machine *all = sim_machine_of(context);
    sim_set_level(all, &all->devices[0], level);
}

#endif
