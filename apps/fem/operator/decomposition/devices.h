/*
 * devices.h - the devices that a run works on.
 */
#ifndef FEM_OPERATOR_DECOMPOSITION_DEVICES_H
#define FEM_OPERATOR_DECOMPOSITION_DEVICES_H

#include "operator/subdomain/programs.h"

enum { FEM_MAX_DEVICES = 64 };

typedef struct fem_device {
    yoke_device *device;
    yoke_queue *queue;
    const yoke_device_info *info; /* borrowed from the device */
    fem_programs *programs;       /* for its device subdomains, so that they are compiled once; NULL where host_functions is set */
    int host_functions;           /* runs fem_subdomain_cpu; else fem_subdomain_device */
    int inlined;                  /* its queue works on the calling thread: it is called after the others have been given their work */
    int failed;                   /* gets nothing any more */
    int short_of_memory;          /* could not hold its elements; fem_solve makes most_elements of it */
    char why[512];                /* what failed */
    int64_t most_elements;        /* that fit; INT64_MAX: no limit known */
} fem_device;

typedef struct fem_devices {
    yoke_context *context;
    yoke_run
        *profiled; /* the run that they are devices of, in its order, where it is told which kernels are at work; else NULL.  Borrowed */
    int borrowed;  /* nonzero: the devices are open longer, and are not closed here */
    int count;
    fem_device list[FEM_MAX_DEVICES]; /* in the order of the elements */
} fem_devices;

/*
 * Opens devices by a list of names separated by commas ("openmp,cuda:0"), NULL: "openmp".  The first openmp device gets an inline queue;
 * devices with drivers of their own are opened before threads are bound, so that the drivers' threads are not.
 * Errors: INPUT (empty or double name, more than FEM_MAX_DEVICES, no such device), UNAVAILABLE, DEVICE, MEMORY.
 */
yoke_status fem_devices_open(yoke_context *context, const char *names, fem_devices **devices);
/* The same of devices that are open and must be open longer; [count], at most FEM_MAX_DEVICES.  Errors: DEVICE, MEMORY. */
yoke_status fem_devices_take(yoke_context *context, yoke_device *const *list, int count, fem_devices **devices);
void fem_devices_close(fem_devices *devices);

#endif
