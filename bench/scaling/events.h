/* events.h - an iteration of yoke fem on simulated ranks: each rank has its own clock, and every message is simulated. */
#ifndef BENCH_SCALING_EVENTS_H
#define BENCH_SCALING_EVENTS_H

#include "scaling/graph.h"
#include "scaling/model.h"

typedef struct scaling_simulated {
    double iteration_s;                                /* mean of several iterations after a first one */
    double work_s;                                     /* of the rank with most elements */
    double largest;                                    /* elements of that rank divided by the mean */
    double neighbours, most_neighbours;                /* on the finest level */
    double messages, bytes, most_messages, most_bytes; /* as in scaling_terms */
    int64_t simulated;                                 /* messages, including those of collective operations */
} scaling_simulated;

/*
 * mesh: a brick of trees, which this function divides equally among the ranks.  noise: each piece of work takes longer by a random fraction
 * up to this.  Collective operations are as in MPI libraries: dissemination in rounds for sums (Bruck), messages one by one at rank 0.
 * Errors: MEMORY.
 */
yoke_status scaling_simulate(yoke_context *context, const scaling_network *network, const scaling_machine *machine,
                             const scaling_solver *solver, scaling_mesh *mesh, double noise, scaling_simulated *simulated);

#endif
