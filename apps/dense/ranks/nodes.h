/*
 * nodes.h - which rank has which blocks of C: equal parts at first, then by the measured speeds of the ranks, where that pays (methods: docs/methods/partition.md).
 */
#ifndef DENSE_NODES_H
#define DENSE_NODES_H

#include "ranks/grid.h"

typedef enum dense_partition {
    DENSE_PARTITION_FPM,       /* speeds are functions of the blocks, of which each partition adds a point */
    DENSE_PARTITION_CPM_MULTI, /* constant speeds, of the latest partition */
    DENSE_PARTITION_CPM,       /* constant speeds, of the first steps: there is one repartition at most */
    DENSE_PARTITION_EVEN       /* equal parts */
} dense_partition;

/* What a rank did in a step. */
typedef struct dense_node_report {
    double seconds;      /* at work on its blocks; 0: it had none */
    double transfer_s;   /* from the start of messages of the next pivots until they had arrived; 0: there were none */
    double wait_s;       /* of that, after its work was done */
    double bytes;        /* that were received */
    double filling;      /* seconds of a byte of new memory, until it is filled; 0: not measured */
    double memory_bytes; /* that this rank may have, of what its machine has; 0: not known */
    double predicted_s;  /* `seconds`, as the rank's own models predicted them; NaN: they did not */
} dense_node_report;

/* What is decided after a step. */
typedef struct dense_node_decision {
    int moves;          /* nonzero: from the next step on there is another partition */
    double imbalance;   /* of the step: (longest - shortest) / shortest of the ranks with blocks */
    double predicted_s; /* longest rank in the next step; NaN: nothing was asked */
    double gain_s;      /* that the best other partition saves in all steps that are left; NaN */
    double cost_s;      /* of moving there; NaN */
} dense_node_decision;

typedef struct dense_nodes dense_nodes;

/* first [ranks]: what dense_nodes_start said, which A and B keep; limit: imbalance up to which nothing is changed.  Errors: MEMORY. */
yoke_status dense_nodes_create(yoke_context *context, const dense_grid *grid, const yoke_rectangle *first, dense_partition partition,
                               double limit, dense_nodes **nodes);
void dense_nodes_destroy(dense_nodes *nodes);

/* Equal parts: rectangles [ranks] of blocks.  Errors: MEMORY. */
yoke_status dense_nodes_start(yoke_context *context, const dense_grid *grid, yoke_rectangle *rectangles);

/* Learns how long messages take, of an exchange during which nobody works, and how much memory ranks have.  reports [ranks] */
void dense_nodes_messages(dense_nodes *nodes, const dense_node_report *reports);

/* C has moved, which took so long. */
void dense_nodes_moved(dense_nodes *nodes, double seconds);

/*
 * Learns what the ranks [ranks] did in a step with this partition, and decides that of the next step: rectangles [ranks] change where it moves.
 * Errors: MEMORY, NUMERIC.
 */
yoke_status dense_nodes_decide(dense_nodes *nodes, int64_t step, const dense_node_report *reports, yoke_rectangle *rectangles,
                               dense_node_decision *decision);

#endif
