/*
 * program.h - kernels of one text, compiled for a device.
 */
#ifndef DENSE_PROGRAM_H
#define DENSE_PROGRAM_H

#include "yoke/yoke.h"

/* A text in the dialect, which its options make a kernel of one or another type of numbers. */
typedef struct dense_program {
    const char *name, *text;
    const char *options[2];      /* for kernels[0], kernels[1] */
    yoke_host_kernel kernels[2]; /* the same, compiled into this program */
} dense_program;

/* Kernel 0 or 1 of the text, on this device.  The program is given back with yoke_program_destroy, also after an error.  Errors: those of the device. */
yoke_status dense_program_create(yoke_device *device, const dense_program *of, int which, yoke_program **program, yoke_function **function);

#endif
