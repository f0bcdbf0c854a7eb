/*
 * program.h - kernels from one source text, compiled for a device.
 */
#ifndef DENSE_PROGRAM_H
#define DENSE_PROGRAM_H

#include "yoke/yoke.h"

/* A text in the dialect.  Its options select the type of numbers for which it becomes a kernel. */
typedef struct dense_program {
    const char *name, *text;
    const char *options[2];      /* for kernels[0], kernels[1] */
    yoke_host_kernel kernels[2]; /* the same kernels, compiled into this program */
} dense_program;

/*
 * Creates kernel 0 or 1 of the text on this device.  Release the program with yoke_program_destroy, also after an error.  Errors: those of
 * the device.
 */
yoke_status dense_program_create(yoke_device *device, const dense_program *of, int which, yoke_program **program, yoke_function **function);

#endif
