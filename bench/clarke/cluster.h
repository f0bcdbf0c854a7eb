/*
 * cluster.h - simulated nodes like those of the experiment of Clarke and others, sect. 1.9, and the network between them.
 *
 * The chapter prints how many cores and cards its nodes use (Table 1.3), not how fast they are.  So speeds are made of what is known of the hardware: a
 * core does 90 % of 4 double operations in a cycle; a Tesla T10 does 60 and a C2050 250 GFLOPS in products of matrices, transfers included, while C fits
 * its memory of 4 and 2.6 GB (with error correction); blocks beyond are carried there and back in every step at 3 GB/s.  A node's processor slows down
 * where the node's parts of three matrices exceed its memory: what is beyond is paged at 0.1 GB/s, a tenth of it in every step.
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
    int64_t num_nodes, devices[CLARKE_MAX_NODES]; /* the processor first, where it is used */
    clarke_node nodes[CLARKE_MAX_NODES];
    clarke_network network;
    int64_t blocks; /* a side of the matrix: of how many of its steps a node has a part of the pivots itself */
    bool work_only; /* clarke_step leaves out the messages, as the chapter's kernel does */
} clarke_cluster;

/* Table 1.3: 90 nodes with 432 cores and 12 cards.  InfiniBand of 20 Gbit/s: 3 us, 1.5 GB/s. */
void clarke_grenoble(clarke_cluster *cluster);
/* Eight of these nodes, as different as they are there. */
void clarke_eight(clarke_cluster *cluster);

/* A block's bytes and the operations of its update in a step. */
double clarke_block_bytes(void);
double clarke_block_operations(void);

/* Seconds of work of each device in a step; arguments as those of a yoke_plan_kernel. */
void clarke_work(const clarke_cluster *cluster, const int64_t *rows, const int64_t *columns, double *seconds);

/*
 * How many blocks of C the nodes say that they have memory for (beside as many of A and of B, where the processor is used), and their devices; 0: they say nothing.
 * node_blocks [num_nodes], device_blocks [sum of devices].  stated: part of what is true that they say.
 */
void clarke_limits(const clarke_cluster *cluster, double stated, double *node_blocks, double *device_blocks);

/* A yoke_plan_kernel of the cluster, which is user: work, and the mean time of the messages that the node receives in a step. */
yoke_status clarke_step(void *user, const int64_t *rows, const int64_t *columns, double *seconds);

#endif
