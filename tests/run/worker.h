/* worker.h - an application of a run on simulated devices: it launches what it was assigned and reports what it took. */
#ifndef TESTS_RUN_WORKER_H
#define TESTS_RUN_WORKER_H

#include "device/machine_text.h"
#include "yoke/yoke.h"

enum { WORKER_DEVICES = 8, WORKER_PHASES = 4 };

typedef struct worker {
    yoke_context *context;
    yoke_run *run;
    int64_t num_devices;
    const yoke_run_device *devices;
    yoke_queue *queues[WORKER_DEVICES];
    yoke_program *programs[WORKER_DEVICES];
    yoke_function *functions[WORKER_DEVICES];
    yoke_event *begin[WORKER_DEVICES], *end[WORKER_DEVICES];
    const yoke_assignment *assignment; /* of the latest round */
    double seconds[WORKER_PHASES * WORKER_DEVICES];
    yoke_cost measured;
    double extra_s; /* that the application takes after each call of a phase */
} worker;

/* A run on the machine that the text describes; fails the test where it cannot be made. */
void worker_open(worker *w, failing *memory, const char *machine_text, const yoke_run_options *options);
void worker_close(worker *w);
/* One round: plans, works (an interval is a wait for all), reports.  Where a device fails it is taken out, and the round is worked again. */
yoke_status worker_round(worker *w, const yoke_round *round);
/* So many rounds of one phase with n units. */
void worker_rounds(worker *w, int64_t n, int rounds);
/* Units of device i in the latest round. */
int64_t worker_units(const worker *w, int64_t device);
/* A trial for yoke_run_calibrate, whose user is the worker: so many calls of one device alone. */
yoke_status worker_try(void *user, int64_t device, int64_t units, int64_t calls, double *seconds);

#endif
