/*
 * partition.h - divides a matrix into rectangles for nodes and devices.  Part of yoke.h.
 */
#ifndef YOKE_PARTITION_H
#define YOKE_PARTITION_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows [row, row + rows) and columns [column, column + columns) of a matrix of blocks. */
typedef struct yoke_rectangle {
    int64_t row, column, rows, columns;
} yoke_rectangle;

/*
 * Arranges a matrix of rows x columns blocks in columns of rectangles of given relative areas (>= 0, one > 0) with the least sum of half
 * perimeters (communication-minimising, CMA; Beaumont et al. 2001, as in Clarke sect. 1.9), rounded so that they cover the matrix exactly.
 * rectangles [count]: in the order of areas, 0 x 0 for an area of 0, else at least one block.  If no exact height or width is below a
 * block, each is within one block of it.  half_perimeter: sum for the unit square before rounding; may be NULL.  The time is proportional
 * to count^2 times the number of columns.
 * Errors: ARGUMENT (no area above 0, an area that is negative or not finite; more areas than blocks; a side not of 1 to 10^9 blocks),
 * MEMORY.
 */
YOKE_API yoke_status yoke_plan_columns(yoke_context *context, int64_t count, const double *areas, int64_t rows, int64_t columns,
                                       yoke_rectangle *rectangles, double *half_perimeter);

/*
 * Times the kernel on all devices that have columns, at the same time, so that the times include the effect of shared resources.
 * rows [num_nodes]: those of the nodes' rectangles.  columns: those of the devices, first all of node 0, then of node 1 and so on.
 * Writes the seconds of each device that has columns.
 */
typedef yoke_status yoke_plan_kernel(void *user, const int64_t *rows, const int64_t *columns, double *seconds);

/*
 * The strategies of Clarke, sect. 1.9: INPA with IDPA inside; the same with constant speeds, measured once or iterated; all devices alike.
 */
typedef enum yoke_nested_strategy {
    YOKE_NESTED_FPM,
    YOKE_NESTED_SINGLE_CPM,
    YOKE_NESTED_MULTIPLE_CPM,
    YOKE_NESTED_HOMOGENEOUS
} yoke_nested_strategy;

/* The seconds that a node took for a number of blocks. */
typedef struct yoke_nested_point {
    int64_t node;
    double blocks, seconds;
} yoke_nested_point;

typedef struct yoke_nested_options {
    int64_t blocks;         /* the matrix has blocks x blocks, or blocks x columns; at most 10^9 */
    int64_t num_nodes;      /* at least 1, at most the number of blocks */
    const int64_t *devices; /* [num_nodes], each at least 1 */
    yoke_nested_strategy strategy;
    double node_tolerance, device_tolerance; /* eps of INPA and IDPA: (longest - shortest) / shortest; 0: 0.05 */
    int64_t max_rounds;                      /* of INPA, and of each IDPA in it; at most 1000; 0: 20 */
    yoke_plan_kernel *kernel;                /* measures, or simulates */
    void *user;
    int64_t columns; /* of the matrix, in blocks; at most 10^9; 0: as many as rows */
    /*
     * Number of blocks that fit the memory of each node [num_nodes], and of each device (those of node 0, then of node 1 and so on), as
     * these report it; 0 or NaN: not known; NULL: none is known.  Only FPM reads them: shares stay within the limits until a share near
     * the limit was measured.  Blocks beyond a limit are assumed to be slower from there on, unless measurements show another place.
     */
    const double *node_blocks, *device_blocks;
    /*
     * Measurements from elsewhere, instead of the kernel (NULL): at least one point of each node, the points of a node in the order of
     * time.  Each node then has one device.  The time of a node is predicted by models of its points, but is at least message_s for each
     * block of half a perimeter (messages that arrive meanwhile).  Limits are never exceeded if there is room within them.  In *plan
     * "measured" then means predicted.
     */
    const yoke_nested_point *points;
    int64_t num_points;
    double message_s; /* s; 0: messages take no time */
} yoke_nested_options;

/*
 * The first balanced partition, or else of the measured partitions the one whose longest device takes least (single CPM and homogeneous:
 * the last one).  A node that is too slow for a block, or a device that is too slow for a column, has none.
 */
typedef struct yoke_nested_plan {
    const yoke_rectangle *nodes;          /* [num_nodes] */
    const int64_t *const *device_columns; /* [num_nodes][devices]: columns of the node's rectangle for each of its devices */
    const double *node_s;                 /* [num_nodes]: time of the longest device of the node, as measured; 0 if it has no block */
    double imbalance;                     /* of the nodes with blocks: (longest - shortest) / shortest */
    double measuring_s;                   /* sum over the kernel's calls of the time of their longest device */
    int64_t rounds, kernel_calls;         /* of INPA; calls of the kernel for all nodes */
    int64_t timings;                      /* number of times of single devices in those calls */
    int converged;                        /* nonzero: the imbalance of the nodes is within the tolerance */
} yoke_nested_plan;

/*
 * Computes a two-level partition: rectangles for nodes, and columns of these for the devices of a node.  All knowledge of the nodes comes
 * from the kernel's times.
 * *plan is freed with yoke_release.
 * Errors: ARGUMENT (also points outside their contract, and limits below 0), MEMORY, NUMERIC (seconds not above 0), those of the kernel.
 */
YOKE_API yoke_status yoke_plan_nested(yoke_context *context, const yoke_nested_options *options, yoke_nested_plan **plan);

#ifdef __cplusplus
}
#endif

#endif
