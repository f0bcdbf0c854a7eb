/*
 * versions.h - speed of a GPU's product as a function of the size, for the three versions of the kernel (Clarke, sect. 1.6 and fig. 1.4),
 * in core and out of core.
 */
#ifndef BENCH_DENSE_VERSIONS_H
#define BENCH_DENSE_VERSIONS_H

#include "gemm/gemm.h"

/*
 * A simulated card for products of one size: speed of products, of copies in each direction, and memory.  Both speeds are 1/16 of those of
 * a GeForce GTX 680 (about 900 GFLOP/s of floats and 2 GB behind 6 GB/s), and the memory holds 1/256 of the numbers: products with 1/16 of
 * the sides have the same ratio of copies to products.
 */
typedef struct bench_card {
    double flops_per_s, bytes_per_s, memory_bytes;
    int engines;
} bench_card;

typedef struct bench_versions_options {
    const char *device;    /* name; NULL: the simulated card */
    bench_card card;       /* engines is set for each curve */
    const char *directory; /* for the file of the simulated machine */
    int64_t memory_bytes;  /* limit of the device's memory; 0: none */
    int64_t depth;         /* rows of a panel of B */
    int64_t repeats;       /* the shortest one counts */
} bench_versions_options;

/* A point of a curve. */
typedef struct bench_versions_row {
    int64_t n;
    int version, engines; /* engines 0: a real device */
    double seconds, flops_per_s;
    char by[48]; /* as in dense_part */
    int out_of_core;
    double error, limit; /* of Freivalds' check */
} bench_versions_row;

/*
 * Measures a point, with a context of its own; outer: for error messages.  Errors: those of the device and of dense_gemm; NUMERIC (the
 * product is wrong).
 */
yoke_status bench_versions_measure(yoke_context *outer, const bench_versions_options *options, int64_t n, int version, int engines,
                                   bench_versions_row *row);

#endif
