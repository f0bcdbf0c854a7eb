/*
 * devices.h - the devices on which a run works.
 */
#ifndef FEM_OPERATOR_DECOMPOSITION_DEVICES_H
#define FEM_OPERATOR_DECOMPOSITION_DEVICES_H

#include "operator/subdomain/programs.h"

enum { FEM_MAX_DEVICES = 64 };

typedef struct fem_device {
    yoke_device *device;
    yoke_queue *queue;
    const yoke_device_info *info; /* borrowed from the device */
    fem_programs *programs;       /* for its device subdomains, so that they are compiled once; NULL if host_functions is set */
    int host_functions;           /* nonzero: it runs fem_subdomain_cpu; zero: fem_subdomain_device */
    int inlined;           /* its queue works on the calling thread: it is called after the other devices have been given their work */
    int failed;            /* nonzero: it gets no more work */
    int short_of_memory;   /* nonzero: its elements did not fit; fem_solve then sets most_elements */
    char why[512];         /* reason of the failure */
    int64_t most_elements; /* number that fits; INT64_MAX: no limit known */
} fem_device;

typedef struct fem_devices {
    yoke_context *context;
    /* The run to which the devices belong, in its order, if it records which kernels are at work; otherwise NULL.  Borrowed. */
    yoke_run *profiled;
    int borrowed; /* nonzero: the devices stay open, and are not closed here */
    int count;
    fem_device list[FEM_MAX_DEVICES]; /* in the order of the elements */
} fem_devices;

/*
 * Opens devices by a list of names separated by commas ("openmp,cuda:0"); NULL: "openmp".  The first openmp device gets an inline queue.
 * Devices with drivers of their own are opened before threads are bound, so that the drivers' threads are not bound.
 * Errors: INPUT (empty or duplicate name, more than FEM_MAX_DEVICES, no such device), UNAVAILABLE, DEVICE, MEMORY.
 */
yoke_status fem_devices_open(yoke_context *context, const char *names, fem_devices **devices);
/* The same for devices that are open and must outlive it; [count], at most FEM_MAX_DEVICES.  Errors: DEVICE, MEMORY. */
yoke_status fem_devices_take(yoke_context *context, yoke_device *const *list, int count, fem_devices **devices);
void fem_devices_close(fem_devices *devices);

#endif
