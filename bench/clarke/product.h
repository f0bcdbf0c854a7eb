/*
 * product.h - the product of two matrices as computed by the cluster of Clarke and others, actually computed with small blocks so that it
 * can be checked.
 *
 * A, B and C are distributed over the nodes' rectangles.  In step k a node receives the blocks of pivot column k of A in its rows and those
 * of pivot row k of B in its columns from the nodes that have them, one message from each.  Then each of its devices updates its columns of
 * C.
 */
#ifndef CLARKE_PRODUCT_H
#define CLARKE_PRODUCT_H

#include "clarke/cluster.h"

/* Messages of all steps, without what a node has itself. */
typedef struct clarke_traffic {
    int64_t messages, blocks;
    double seconds;         /* of the product: successive steps, each as long as its slowest node needs to receive and compute */
    double communication_s; /* the part of these by which the product takes longer than without a network */
} clarke_traffic;

/* For a plan for `blocks` blocks along a side; node_s [nodes]: seconds of its devices in a step. */
void clarke_communicate(const clarke_cluster *cluster, int64_t blocks, const yoke_rectangle *nodes, const double *node_s,
                        clarke_traffic *traffic);

/*
 * Multiplies two matrices of small integers, with blocks of edge x edge numbers, according to a plan, and applies Freivalds' check, which
 * is exact here.  *wrong: the result of clarke_wrong.  *sent: messages and blocks that were copied.
 * Errors: MEMORY; INTERNAL (the plan's rectangles or columns do not cover the matrix).
 */
yoke_status clarke_multiply(yoke_context *context, const clarke_cluster *cluster, int64_t blocks, int64_t edge,
                            const yoke_nested_plan *plan, int64_t *wrong, clarke_traffic *sent);

/*
 * Returns the number of differing entries of C x and A (B x), for two vectors x of random integers; A, B and C are side x side, row by row;
 * memory: 4 side numbers.  Sums of integers below 2^53 are exact, so the number is 0 if C = A B.
 */
int64_t clarke_wrong(int64_t side, const double *a, const double *b, const double *c, double *memory);

#endif
