/*
 * model.h - the cost of an iteration of yoke fem on many ranks: its operations, and a closed formula for their seconds.
 *
 * The mesh is a uniform cube of q2 elements, the solver is conjugate gradients with multigrid (docs/methods/decomposition.md, "Ranks").
 * Both the formula and the simulation of each rank (events.h) use the same list of operations.
 */
#ifndef BENCH_SCALING_MODEL_H
#define BENCH_SCALING_MODEL_H

#include <stdbool.h>

#include "yoke/yoke.h"

/*
 * A message occupies sender and receiver for overhead_s each and arrives after latency_s; at the receiver, the bytes of messages pass one
 * after another.
 */
typedef struct scaling_network {
    const char *name, *text;
    double latency_s, overhead_s, bytes_per_s;
} scaling_network;

/* Seconds per iteration and element: on the finest level (q2), and on each level of q1 below it. */
typedef struct scaling_machine {
    double fine_s, coarse_s;
} scaling_machine;

typedef struct scaling_solver {
    int64_t gathered; /* levels with at most this number of elements, and all coarser ones, are on rank 0 */
    int64_t aligned;  /* cuts are aligned so that the mesh can be coarsened this number of times; further levels are also on rank 0 */
} scaling_solver;

enum { SCALING_MAX_LEVELS = 24, SCALING_MAX_OPERATIONS = 16 * SCALING_MAX_LEVELS };

/* Level 0 is q2 on the mesh, level 1 q1 on it, and each further level has an eighth of the elements.  The last one is on rank 0. */
typedef struct scaling_levels {
    int count;
    double elements[SCALING_MAX_LEVELS]; /* of all ranks */
    double granule;                      /* elements of the finest level between two possible cuts */
} scaling_levels;

void scaling_make_levels(double elements, const scaling_solver *solver, scaling_levels *levels);

typedef enum scaling_kind {
    SCALING_PRODUCT,  /* work on a level; meanwhile values of shared nodes are sent */
    SCALING_EXCHANGE, /* only values of shared nodes */
    SCALING_REDUCE,   /* numbers of each rank to all ranks, which add them in order (MPI_Allgather) */
    SCALING_AGREE,    /* one number over all ranks (MPI_Allreduce) */
    SCALING_GATHER,   /* owned values of the last level to rank 0 (MPI_Gatherv) */
    SCALING_LAST,     /* solution of the last level on rank 0 */
    SCALING_SPREAD    /* values of the last level, including shared ones, from rank 0 (MPI_Scatterv) */
} scaling_kind;

typedef struct scaling_operation {
    scaling_kind kind;
    int level;
    double bytes;     /* per shared node; REDUCE: per rank */
    double element_s; /* PRODUCT: seconds for an element */
} scaling_operation;

/* Lists the operations of an iteration in order.  Returns their number. */
int scaling_iteration(const scaling_machine *machine, const scaling_levels *levels, scaling_operation operations[SCALING_MAX_OPERATIONS]);

/* Number of intervals between nodes along a side of an element: 2 for q2. */
double scaling_intervals(int level);
/* Seconds of rank 0 for the last level and all coarser ones: 1 + 1/8 + ... levels. */
double scaling_last_s(const scaling_machine *machine, const scaling_levels *levels);

/* Seconds of an iteration on the rank with most elements, by purpose. */
typedef struct scaling_terms {
    double work_s;      /* of n elements if all ranks have the same number */
    double imbalance_s; /* more elements on one rank because cuts are only between granules */
    double halo_s;      /* messages between neighbours, as far as they are not hidden by work */
    double reduction_s; /* sums over all ranks, and agreement */
    double gather_s;    /* moving the last level to and from rank 0 */
    double last_s;      /* its solution there, while all others wait */
    double total_s;
    double messages, bytes, most_messages,
        most_bytes; /* sent in an iteration, by all ranks and by the rank that sends most (collective operations: only gathering) */
} scaling_terms;

/* For `ranks` (at least 1) ranks, which are cubes; `elements` in total. */
void scaling_formula(const scaling_network *network, const scaling_machine *machine, const scaling_solver *solver, double elements,
                     int64_t ranks, scaling_terms *terms);

/* Name of the largest of imbalance, halo, reductions, gathering and last level. */
const char *scaling_largest(const scaling_terms *terms);

#endif
