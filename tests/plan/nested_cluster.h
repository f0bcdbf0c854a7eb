/*
 * nested_cluster.h - simulated clusters of nodes and devices, for partitions in two levels.
 */
#ifndef YOKE_TESTS_PLAN_NESTED_CLUSTER_H
#define YOKE_TESTS_PLAN_NESTED_CLUSTER_H

#include <stdbool.h>

#include "plan/partition/nested.h"
#include "yoke/plan.h"

enum { MAX_NODES = 40, MAX_DEVICES = 4 };

/* t(x) = start + per_block x + beyond max(x - memory, 0) for x blocks, and `jump` where x > memory. */
typedef struct device {
    double start, per_block, memory, beyond, jump;
} device;

typedef struct cluster {
    int64_t num_nodes, devices[MAX_NODES];
    device device[MAX_NODES][MAX_DEVICES];
    double noise;  /* relative, of each time */
    double shape;  /* times are longer by this part for each factor 2 between rows and columns */
    double side_s; /* what a block of half the perimeter of a node's rectangle costs its devices */
    uint64_t seed;
    int64_t calls;
    int64_t fail_call; /* the call, from 1, that fails; 0: none */
    double bad;        /* what device 1 of node 1 says instead of its seconds; 0: nothing else */
    yoke_context *context;
} cluster;

yoke_context *cluster_context(void);

double cluster_seconds(const device *d, double blocks);
bool cluster_are_disjoint(const yoke_rectangle *a, const yoke_rectangle *b);

/* For a square of blocks x blocks; the kernel is this cluster, and counts its calls. */
yoke_nested_options cluster_options(cluster *all, int64_t blocks, yoke_nested_strategy strategy);

/* The rectangles cover the matrix, devices have all columns of theirs, and the times are those of the partition.  Returns the longest. */
double cluster_check(const cluster *all, int64_t blocks, const yoke_nested_plan *plan);

/* The same with a plan made here.  *converged and *rounds may be NULL. */
double cluster_makespan(yoke_context *context, cluster *all, int64_t blocks, yoke_nested_strategy strategy, int *converged,
                        int64_t *rounds);

/* Nodes of one socket of one to eight cores, every fourth with a card that is fast while a matrix fits into its memory. */
void cluster_make(cluster *all, int64_t nodes);
/* One to twelve nodes of one to four devices, of random speeds and memories. */
void cluster_make_random(cluster *all, uint64_t *seed);

#endif
