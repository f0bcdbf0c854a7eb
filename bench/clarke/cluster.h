/*
 * cluster.h - simulated nodes like those of the experiment of Clarke and others, sect. 1.9, and the network between them.
 *
 * The chapter states the numbers of cores and cards of its nodes (Table 1.3), but not their speeds.  So speeds are derived from known
 * properties of the hardware: a core does 90 % of 4 double operations per cycle; in products of matrices, transfers included, a Tesla T10
 * does 60 GFLOPS and a C2050 250 GFLOPS as long as C fits into its memory of 4 and 2.6 GB (with error correction); blocks beyond that are
 * transferred there and back in every step at 3 GB/s.  A node's processor slows down if the node's parts of the three matrices exceed its
 * memory: the excess is paged at 0.1 GB/s, a tenth of it in every step.
 */
#ifndef CLARKE_CLUSTER_H
#define CLARKE_CLUSTER_H

#include <stdbool.h>

#include "yoke/yoke.h"

enum { CLARKE_MAX_NODES = 90, CLARKE_BLOCK = 128 };

typedef struct clarke_card {
    const char *name;
    double operations_per_s, memory_bytes, bus_bytes_per_s, call_seconds;
} clarke_card;

typedef struct clarke_node {
    const char *kind; /* "Adonis" */
    int cores;
    double processor; /* operations/s; 0: not used */
    double memory_bytes;
    const clarke_card *card; /* NULL: none */
} clarke_node;

/* A message takes latency + bytes / rate. */
typedef struct clarke_network {
    double latency_s, bytes_per_s;
} clarke_network;

typedef struct clarke_cluster {
    int64_t num_nodes, devices[CLARKE_MAX_NODES]; /* the processor comes first, if it is used */
    clarke_node nodes[CLARKE_MAX_NODES];
    clarke_network network;
    int64_t blocks; /* blocks along a side of the matrix, which determine in how many steps a node has a part of the pivots itself */
    bool work_only; /* clarke_step omits the messages, as the chapter's kernel does */
} clarke_cluster;

/* Table 1.3: 90 nodes with 432 cores and 12 cards.  InfiniBand of 20 Gbit/s: 3 us, 1.5 GB/s. */
void clarke_grenoble(clarke_cluster *cluster);
/* Eight of these nodes that differ as much as the nodes of the cluster. */
void clarke_eight(clarke_cluster *cluster);

/* Bytes of a block, and operations of its update in a step. */
double clarke_block_bytes(void);
double clarke_block_operations(void);

/* Seconds of work of each device in a step; the arguments are those of a yoke_plan_kernel. */
void clarke_work(const clarke_cluster *cluster, const int64_t *rows, const int64_t *columns, double *seconds);

/*
 * Numbers of blocks of C for which the nodes state to have memory (together with as many blocks of A and B if the processor is used), and
 * the same for their devices; 0: not stated.  node_blocks [num_nodes], device_blocks [sum of devices].  stated: the stated fraction of the
 * true numbers.
 */
void clarke_limits(const clarke_cluster *cluster, double stated, double *node_blocks, double *device_blocks);

/* A yoke_plan_kernel of the cluster (user): the work, and the mean time of the messages that the node receives in a step. */
yoke_status clarke_step(void *user, const int64_t *rows, const int64_t *columns, double *seconds);

#endif
