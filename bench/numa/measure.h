/* measure.h - vectors whose pages are on given NUMA nodes, and the time that threads bound to nodes need to process them. */
#ifndef BENCH_NUMA_MEASURE_H
#define BENCH_NUMA_MEASURE_H

#include <hwloc.h>
#include <stdbool.h>

#include "yoke/yoke.h"

enum { NUMA_MAX_NODES = 64 };

/* Thread t belongs to node t / threads_per_node, as in Alg. 4.7 of Lang's dissertation. */
typedef struct numa_machine {
    hwloc_topology_t topology;
    int nodes, threads_per_node;
    bool pretended;
    hwloc_obj_t node[NUMA_MAX_NODES]; /* with cores and memory */
} numa_machine;

/*
 * pretend: 0, or the number of nodes (2 to 64) that a machine with one node pretends to have, to try the program.
 * Errors: SYSTEM.
 */
yoke_status numa_machine_load(yoke_context *context, int pretend, numa_machine *machine);
void numa_machine_unload(numa_machine *machine);

typedef enum numa_placement {
    NUMA_RIGHT,       /* each thread's numbers are on its node, because it touches them first */
    NUMA_WRONG,       /* they are on the next node, because a thread there touches them first */
    NUMA_INTERLEAVED, /* pages are interleaved over all nodes */
    NUMA_PLACEMENTS,
} numa_placement;

/* "right", "wrong", "interleaved". */
const char *numa_placement_name(numa_placement placement);

/* Three vectors, each with an interval of whole pages for each thread. */
typedef struct numa_vectors {
    const numa_machine *machine;
    int64_t interval; /* in numbers */
    double *a, *b, *c;
    size_t bytes; /* of each vector */
} numa_vectors;

/* numbers: minimum length of each vector.  Errors: MEMORY, SYSTEM (pages cannot be interleaved, or threads cannot be bound). */
yoke_status numa_vectors_create(yoke_context *context, const numa_machine *machine, numa_placement placement, int64_t numbers,
                                numa_vectors *vectors);
void numa_vectors_destroy(numa_vectors *vectors);

/* Fraction of all intervals that are not where the placement requires them, according to the system; NaN: not known. */
double numa_misplaced(const numa_vectors *vectors, numa_placement placement);

/*
 * Seconds of `passes` computations of a = b + 3 c or, with `product`, of the inner product of b and c; *sum: its value (otherwise a number
 * of a). b is 1 and c is 2 everywhere.
 */
double numa_run(const numa_vectors *vectors, bool product, int64_t passes, double *sum);
/* The expected value of *sum. */
double numa_expected(const numa_vectors *vectors, bool product);

/* Mean, and half width of its 95 % interval (Student's t; NaN for one number). */
void numa_mean(int64_t count, const double *values, double *mean, double *interval);

#endif
