/*
 * backends.h - the kinds of device that libyoke has built in.
 */
#ifndef YOKE_DEVICE_BACKENDS_H
#define YOKE_DEVICE_BACKENDS_H

#include "yoke/backend.h"

extern const yoke_backend yoke_backend_openmp;
extern const yoke_backend yoke_backend_opencl;
extern const yoke_backend yoke_backend_cuda;
extern const yoke_backend yoke_backend_sim;

/* Whether all OpenCL drivers that are installed are PoCL's, which makes devices of CPUs: looks at their names, and opens none. */
int yoke_opencl_makes_cpus_only(void);

/* The text of yoke/dialect.h, which stands before the texts of every program that is compiled. */
extern const char yoke_dialect_text[];

#endif
