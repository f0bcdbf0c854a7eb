/* network.h - networks known by name, and measurement of the network between the ranks. */
#ifndef BENCH_SCALING_NETWORK_H
#define BENCH_SCALING_NETWORK_H

#include "common/ranks/ranks.h"
#include "scaling/model.h"

/* Names, terminated by NULL. */
extern const char *const scaling_network_names[];
scaling_network scaling_network_of(int number);

/* Measurements on at least 2 MPI ranks. */
typedef struct scaling_sums {
    double sum_s;       /* median of a sum of three numbers over all ranks */
    double bytes_per_s; /* of a broadcast of 8 MB */
} scaling_sums;

/* Errors: MEMORY. */
yoke_status scaling_measure(yoke_context *context, app_ranks *ranks, scaling_sums *sums);

#endif
