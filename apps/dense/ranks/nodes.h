/*
 * nodes.h - assigns blocks of C to ranks: equal parts at first, then by the measured speeds of the ranks if that pays off (methods:
 * docs/methods/partition.md).
 */
#ifndef DENSE_NODES_H
#define DENSE_NODES_H

#include "ranks/grid.h"

typedef enum dense_partition {
    DENSE_PARTITION_FPM,       /* speeds are functions of the number of blocks; each partition adds a point to them */
    DENSE_PARTITION_CPM_MULTI, /* constant speeds, measured with the latest partition */
    DENSE_PARTITION_CPM,       /* constant speeds, measured in the first steps: there is one repartition at most */
    DENSE_PARTITION_EVEN       /* equal parts */
} dense_partition;

/* Measurements of a rank in a step. */
typedef struct dense_node_report {
    double seconds;      /* of work on its blocks; 0: it had none */
    double transfer_s;   /* from the start of messages of the next pivots until they had arrived; 0: there were none */
    double wait_s;       /* the part of transfer_s after its work was done */
    double bytes;        /* received */
    double filling;      /* seconds per byte to fill newly allocated memory; 0: not measured */
    double memory_bytes; /* of its machine's memory, that this rank may use; 0: not known */
    double predicted_s;  /* prediction of `seconds` by the rank's own models; NaN: there is none */
} dense_node_report;

/* The decision after a step. */
typedef struct dense_node_decision {
    int moves;          /* nonzero: from the next step on there is another partition */
    double imbalance;   /* of the step: (longest - shortest) / shortest of the ranks with blocks */
    double predicted_s; /* of the longest rank in the next step; NaN: not predicted */
    double gain_s;      /* time that the best other partition saves in all remaining steps; NaN: not predicted */
    double cost_s;      /* time of moving to it; NaN: not predicted */
} dense_node_decision;

typedef struct dense_nodes dense_nodes;

/*
 * first [ranks]: the rectangles of dense_nodes_start, which A and B keep.  limit: imbalance up to which the partition is not changed.
 * Errors: MEMORY.
 */
yoke_status dense_nodes_create(yoke_context *context, const dense_grid *grid, const yoke_rectangle *first, dense_partition partition,
                               double limit, dense_nodes **nodes);
void dense_nodes_destroy(dense_nodes *nodes);

/* Creates equal parts: rectangles [ranks] of blocks.  Errors: MEMORY. */
yoke_status dense_nodes_start(yoke_context *context, const dense_grid *grid, yoke_rectangle *rectangles);

/* Records how long messages take, from an exchange during which no rank works, and how much memory ranks have.  reports [ranks] */
void dense_nodes_messages(dense_nodes *nodes, const dense_node_report *reports);

/* Records that C was moved, and the time it took. */
void dense_nodes_moved(dense_nodes *nodes, double seconds);

/*
 * Records the measurements of the ranks in a step with this partition, reports [ranks], and decides on the partition of the next step.
 * rectangles [ranks] are changed if decision->moves is nonzero.
 * Errors: MEMORY, NUMERIC.
 */
yoke_status dense_nodes_decide(dense_nodes *nodes, int64_t step, const dense_node_report *reports, yoke_rectangle *rectangles,
                               dense_node_decision *decision);

#endif
