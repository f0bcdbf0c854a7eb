/*
 * backends.h - the built-in kinds of device of libyoke.
 */
#ifndef YOKE_DEVICE_BACKENDS_H
#define YOKE_DEVICE_BACKENDS_H

#include "yoke/backend.h"

extern const yoke_backend yoke_backend_openmp;
extern const yoke_backend yoke_backend_opencl;
extern const yoke_backend yoke_backend_cuda;
extern const yoke_backend yoke_backend_sim;

/* Whether all installed OpenCL drivers are PoCL's, which makes devices of CPUs: checks their names, and opens none. */
int yoke_opencl_makes_cpus_only(void);

/* The text of yoke/dialect.h, which precedes the texts of every compiled program. */
extern const char yoke_dialect_text[];

#endif
