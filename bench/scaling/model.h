/*
 * model.h - what an iteration of yoke fem costs on many ranks: its operations, and a closed formula of their seconds.
 *
 * The mesh is a uniform cube of q2 elements, the solver conjugate gradients with multigrid (docs/methods/decomposition.md, "Ranks").  One list of operations
 * is what both the formula and the simulation of each rank (events.h) go through.
 */
#ifndef BENCH_SCALING_MODEL_H
#define BENCH_SCALING_MODEL_H

#include <stdbool.h>

#include "yoke/yoke.h"

/* A message occupies sender and receiver for overhead_s each, arrives latency_s later, and its bytes pass one after another at the receiver. */
typedef struct scaling_network {
    const char *name, *text;
    double latency_s, overhead_s, bytes_per_s;
} scaling_network;

/* Seconds of an iteration for an element: on the finest level (q2), and on each level of q1 below it. */
typedef struct scaling_machine {
    double fine_s, coarse_s;
} scaling_machine;

typedef struct scaling_solver {
    int64_t gathered; /* a level of at most so many elements lies on rank 0, and all coarser ones */
    int64_t aligned;  /* cuts are aligned so that the mesh can be coarsened so often; further levels lie on rank 0, too */
} scaling_solver;

enum { SCALING_MAX_LEVELS = 24, SCALING_MAX_OPERATIONS = 16 * SCALING_MAX_LEVELS };

/* Level 0 is q2 on the mesh, level 1 q1 on it, and each further one has an eighth of the elements.  The last one lies on rank 0. */
typedef struct scaling_levels {
    int count;
    double elements[SCALING_MAX_LEVELS]; /* of all ranks */
    double granule;                      /* elements of the finest level between two possible cuts */
} scaling_levels;

void scaling_make_levels(double elements, const scaling_solver *solver, scaling_levels *levels);

typedef enum scaling_kind {
    SCALING_PRODUCT,  /* work on a level; values of shared nodes travel meanwhile */
    SCALING_EXCHANGE, /* values of shared nodes alone */
    SCALING_REDUCE,   /* numbers of each rank to all ranks, which add them in order (MPI_Allgather) */
    SCALING_AGREE,    /* one number over all ranks (MPI_Allreduce) */
    SCALING_GATHER,   /* owned values of the last level to rank 0 (MPI_Gatherv) */
    SCALING_LAST,     /* rank 0 solves there */
    SCALING_SPREAD    /* values of the last level, shared ones too, from rank 0 (MPI_Scatterv) */
} scaling_kind;

typedef struct scaling_operation {
    scaling_kind kind;
    int level;
    double bytes;     /* for a shared node; REDUCE: of a rank */
    double element_s; /* PRODUCT: seconds for an element */
} scaling_operation;

/* The operations of an iteration, in order; returns their number. */
int scaling_iteration(const scaling_machine *machine, const scaling_levels *levels, scaling_operation operations[SCALING_MAX_OPERATIONS]);

/* How many nodes an element has along a side: 2 for q2. */
double scaling_intervals(int level);
/* Seconds of rank 0 for the last level with all that are coarser: 1 + 1/8 + ... levels. */
double scaling_last_s(const scaling_machine *machine, const scaling_levels *levels);

/* Seconds of an iteration, of the rank that has most, by what they go to. */
typedef struct scaling_terms {
    double work_s;      /* of n elements, where all ranks have as many */
    double imbalance_s; /* cuts only between granules: more on one rank */
    double halo_s;      /* messages between neighbours, as far as they are not hidden behind work */
    double reduction_s; /* sums over all ranks, and agreement */
    double gather_s;    /* the last level to and from rank 0 */
    double last_s;      /* its solution there, while all others wait */
    double total_s;
    double messages, bytes, most_messages,
        most_bytes; /* sent in an iteration, by all ranks and by the one that sends most (without collectives but the gathering) */
} scaling_terms;

/* For `ranks` ranks, 1 or more, which are cubes; `elements` in all. */
void scaling_formula(const scaling_network *network, const scaling_machine *machine, const scaling_solver *solver, double elements,
                     int64_t ranks, scaling_terms *terms);

/* Which of imbalance, halo, reductions, gathering and last level takes longest: its name. */
const char *scaling_largest(const scaling_terms *terms);

#endif
