/*
 * measure.h - vectors whose pages lie on this or that NUMA node, and what threads that are bound to nodes take to work on them.
 */
#ifndef BENCH_NUMA_MEASURE_H
#define BENCH_NUMA_MEASURE_H

#include <hwloc.h>
#include <stdbool.h>

#include "yoke/yoke.h"

enum { NUMA_MAX_NODES = 64 };

/* Thread t belongs to node t / threads_per_node, as Alg. 4.7 of Lang's dissertation has it. */
typedef struct numa_machine {
    hwloc_topology_t topology;
    int nodes, threads_per_node;
    bool pretended;
    hwloc_obj_t node[NUMA_MAX_NODES]; /* with cores and memory */
} numa_machine;

/*
 * pretend: 0, or as how many nodes (2 to 64) a machine with one node is to be used, all of which are that one then: to try the program.
 * Errors: SYSTEM.
 */
yoke_status numa_machine_load(yoke_context *context, int pretend, numa_machine *machine);
void numa_machine_unload(numa_machine *machine);

typedef enum numa_placement {
    NUMA_RIGHT,       /* each thread's numbers on its node: it touched them first */
    NUMA_WRONG,       /* on the next node: a thread there touched them first */
    NUMA_INTERLEAVED, /* pages on all nodes in turn */
    NUMA_PLACEMENTS,
} numa_placement;

/* "right", "wrong", "interleaved". */
const char *numa_placement_name(numa_placement placement);

/* Three vectors, each with an interval of whole pages for each thread. */
typedef struct numa_vectors {
    const numa_machine *machine;
    int64_t interval; /* numbers */
    double *a, *b, *c;
    size_t bytes; /* of each */
} numa_vectors;

/* numbers: at least, of each vector.  Errors: MEMORY, SYSTEM (pages cannot be interleaved, threads not be bound). */
yoke_status numa_vectors_create(yoke_context *context, const numa_machine *machine, numa_placement placement, int64_t numbers,
                                numa_vectors *vectors);
void numa_vectors_destroy(numa_vectors *vectors);

/* The part of all stretches that do not lie where the placement wants them, as the system says; NaN: it does not say. */
double numa_misplaced(const numa_vectors *vectors, numa_placement placement);

/*
 * Seconds of `passes` times a = b + 3 c, or, with `product`, times the product of b and c, whose value is in *sum (else a number of a).
 * b is 1 and c is 2 everywhere.
 */
double numa_run(const numa_vectors *vectors, bool product, int64_t passes, double *sum);
/* What *sum must be. */
double numa_expected(const numa_vectors *vectors, bool product);

/* Mean, and half width of its 95 % interval (Student's t; NaN for one number). */
void numa_mean(int64_t count, const double *values, double *mean, double *interval);

#endif
