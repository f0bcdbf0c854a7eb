/*
 * network.h - networks that are known by name, and measuring the one that ranks are on.
 */
#ifndef BENCH_SCALING_NETWORK_H
#define BENCH_SCALING_NETWORK_H

#include "common/ranks/ranks.h"
#include "scaling/model.h"

/* Their names, ended by NULL. */
extern const char *const scaling_network_names[];
scaling_network scaling_network_of(int number);

/* What was measured on the ranks of MPI, at least 2. */
typedef struct scaling_sums {
    double sum_s;       /* median of a sum of three numbers over all ranks */
    double bytes_per_s; /* of a broadcast of 8 MB */
} scaling_sums;

/* Errors: MEMORY. */
yoke_status scaling_measure(yoke_context *context, app_ranks *ranks, scaling_sums *sums);

#endif
