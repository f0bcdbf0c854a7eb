/*
 * blas.h - the vendor's BLAS as a program of the front (YOKE_BLAS): its functions are slots of the backend's table.
 */
#ifndef YOKE_DEVICE_BLAS_H
#define YOKE_DEVICE_BLAS_H

#include "device/device.h"

/* Nonzero: the source requests BLAS. */
int yoke_blas_is(const yoke_program_source *source);
/* Creates the program.  Errors: UNAVAILABLE (devices of this kind have no BLAS). */
yoke_status yoke_blas_check(const yoke_device *device);
/* Finds a function by name.  Errors: ARGUMENT (BLAS has no such function). */
yoke_status yoke_blas_function(const yoke_device *device, const char *name);
/*
 * Starts a function whose name yoke_blas_function found.  The arguments' kinds and the device of their buffers were checked before.
 * Errors: ARGUMENT (which), those of the backend.
 */
yoke_status yoke_blas_launch(yoke_queue *queue, const char *name, const yoke_argument *arguments, int64_t num_arguments);

#endif
