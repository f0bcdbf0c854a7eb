/*
 * product.h - the product of two matrices as the cluster of Clarke and others computes it, carried out on small blocks so that it can be checked.
 *
 * A, B and C lie in the nodes' rectangles.  In step k a node receives the blocks of pivot column k of A in its rows, and those of pivot row k of B in its
 * columns, from the nodes that have them, a message from each; then each of its devices updates its columns of C.
 */
#ifndef CLARKE_PRODUCT_H
#define CLARKE_PRODUCT_H

#include "clarke/cluster.h"

/* What is sent in all steps, without what a node has itself. */
typedef struct clarke_traffic {
    int64_t messages, blocks;
    double seconds;         /* of the product: steps one after another, each as long as its slowest node receives and computes */
    double communication_s; /* of that: what it is longer than without a network */
} clarke_traffic;

/* Of a plan for so many blocks a side; node_s [nodes]: seconds of its devices in a step. */
void clarke_communicate(const clarke_cluster *cluster, int64_t blocks, const yoke_rectangle *nodes, const double *node_s,
                        clarke_traffic *traffic);

/*
 * Multiplies two matrices of small whole numbers, with blocks of edge x edge numbers, by a plan, and compares with Freivalds' check, which is exact here:
 * *wrong: what clarke_wrong finds.  *sent: messages and blocks that were copied.
 * Errors: MEMORY; INTERNAL (the plan's rectangles or columns do not cover the matrix).
 */
yoke_status clarke_multiply(yoke_context *context, const clarke_cluster *cluster, int64_t blocks, int64_t edge,
                            const yoke_nested_plan *plan, int64_t *wrong, clarke_traffic *sent);

/*
 * Entries of C x and A (B x) that differ, for two x of random whole numbers; A, B and C are side x side, row by row; memory: 4 side numbers.  Sums of
 * whole numbers below 2^53 are exact, so there are none where C = A B.
 */
int64_t clarke_wrong(int64_t side, const double *a, const double *b, const double *c, double *memory);

#endif
