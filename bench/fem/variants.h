/*
 * variants.h - the product y = A u on one device in the four stages of Lang and Ruenger 2013, Alg. 3, through the device API.
 */
#ifndef BENCH_FEM_VARIANTS_H
#define BENCH_FEM_VARIANTS_H

#include "fem/elements.h"

typedef enum fem_bench_variant {
    FEM_BENCH_BLAS,  /* 1: o2el_vector, o2el_matrix; the vendor's dspmv, one call per element; el2o_vector */
    FEM_BENCH_EACH,  /* 2: the same with a kernel of yoke, one launch per element */
    FEM_BENCH_ALL,   /* 3: the same with one launch for all elements */
    FEM_BENCH_FUSED, /* 4: one kernel does everything, one launch per colour */
    FEM_BENCH_VARIANTS
} fem_bench_variant;

typedef struct fem_bench_device fem_bench_device; /* the elements on a device */

/*
 * Copies matrices and tables to the device, and creates there what the variants need in addition.  device and elements are borrowed.
 * Errors: DEVICE_MEMORY, DEVICE, UNAVAILABLE (no double precision), MEMORY.
 */
yoke_status fem_bench_device_create(const fem_device *device, const fem_bench_elements *elements, fem_bench_device **out);
void fem_bench_device_destroy(fem_bench_device *bench); /* NULL allowed */

/* Copies u [num_nodes][components] to the device, or y from it; both wait. */
yoke_status fem_bench_device_write(fem_bench_device *bench, const double *u);
yoke_status fem_bench_device_read(fem_bench_device *bench, double *y);
/*
 * Starts y = A u on the device.  With `transfers`, as in the papers, u is copied from the host before each product and y back after it
 * (zeros, in separate host memory: write u again afterwards).
 */
yoke_status fem_bench_device_product(fem_bench_device *bench, fem_bench_variant variant, int transfers);
yoke_status fem_bench_device_finish(fem_bench_device *bench);

/*
 * Bytes per second of STREAM's triad (24 bytes for each of `count` triples), the best of several runs: with the threads of the host's
 * cores, on other devices with a kernel.  Errors: as above.
 */
yoke_status fem_bench_triad(yoke_context *context, const fem_device *device, int64_t count, double *bytes_per_s);

#endif
