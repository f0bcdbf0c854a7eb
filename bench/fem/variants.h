/*
 * variants.h - the product y = A u on one device in the four stages of Lang and Ruenger 2013, Alg. 3, through the device API.
 */
#ifndef BENCH_FEM_VARIANTS_H
#define BENCH_FEM_VARIANTS_H

#include "fem/elements.h"

typedef enum fem_bench_variant {
    FEM_BENCH_BLAS,  /* 1: o2el_vector, o2el_matrix; the vendor's dspmv, one call an element; el2o_vector */
    FEM_BENCH_EACH,  /* 2: the same with a kernel of our own, one launch an element */
    FEM_BENCH_ALL,   /* 3: the same with one launch for all elements */
    FEM_BENCH_FUSED, /* 4: one kernel does everything, one launch for each colour */
    FEM_BENCH_VARIANTS
} fem_bench_variant;

typedef struct fem_bench_device fem_bench_device; /* the elements on a device */

/*
 * Copies matrices and tables to the device, and makes there what the variants need besides.  device and elements are borrowed.
 * Errors: DEVICE_MEMORY, DEVICE, UNAVAILABLE (no double precision), MEMORY.
 */
yoke_status fem_bench_device_create(const fem_device *device, const fem_bench_elements *elements, fem_bench_device **out);
void fem_bench_device_destroy(fem_bench_device *bench); /* NULL allowed */

/* u [num_nodes][components] to the device, y from there; both wait. */
yoke_status fem_bench_device_write(fem_bench_device *bench, const double *u);
yoke_status fem_bench_device_read(fem_bench_device *bench, double *y);
/*
 * Starts y = A u on the device; with `transfers` as in the papers, where u comes from the host before and y goes back to it after each product
 * (zeros, to and from memory of its own: write u again afterwards).
 */
yoke_status fem_bench_device_product(fem_bench_device *bench, fem_bench_variant variant, int transfers);
yoke_status fem_bench_device_finish(fem_bench_device *bench);

/*
 * Bytes per second of STREAM's triad (24 bytes for each of `count` triples): the best of several.  On the host's cores by their threads, on
 * other devices by a kernel.  Errors: as above.
 */
yoke_status fem_bench_triad(yoke_context *context, const fem_device *device, int64_t count, double *bytes_per_s);

#endif
