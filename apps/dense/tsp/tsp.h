/*
 * tsp.h - random-restart hill climbing for the travelling salesman problem, on the devices of a run.
 */
#ifndef DENSE_TSP_H
#define DENSE_TSP_H

#include "share/share.h"
#include "tsp/cities.h"

enum { DENSE_MAX_RESTARTS = 1000000000 };

typedef struct dense_tsp_options {
    int64_t restarts; /* 1 .. DENSE_MAX_RESTARTS */
    int64_t seed;
    int64_t check;           /* number of restarts that are climbed again on the host and compared */
    dense_progress progress; /* units: restarts */
} dense_tsp_options;

typedef struct dense_tour {
    yoke_context *context;
    int32_t *city;      /* [cities] in the order of the tour, numbered from 0 */
    int64_t length;     /* of the closed tour */
    int64_t restart;    /* the first one that gave this length, from 0 */
    int64_t times;      /* number of restarts that gave it */
    double mean;        /* of the lengths over all restarts */
    double evaluations; /* exchanges of two edges that were evaluated in all restarts */
} dense_tour;

/*
 * Finds the shortest tour of all restarts.  Each restart begins with a random tour and applies the best exchange of two edges (2-opt) until
 * none makes the tour shorter.  The result depends only on cities, seed and number of restarts, not on the devices.
 * Errors: ARGUMENT, those of dense_sharing_do, NUMERIC (the tour of a device differs from that of the host).
 */
yoke_status dense_tsp(yoke_run *run, const dense_cities *cities, const dense_tsp_options *options, dense_tour *tour, dense_shared *shared);
void dense_tour_destroy(dense_tour *tour);

/*
 * Only opens the search, for trials (dense_sharing_try).  All arguments must outlive it.  The work is named after the number of cities.
 * Errors: as above.
 */
typedef struct dense_tsp_state dense_tsp_state;
yoke_status dense_tsp_open(yoke_run *run, const dense_cities *cities, const dense_tsp_options *options, dense_tsp_state **tsp);
dense_sharing *dense_tsp_sharing(dense_tsp_state *tsp);
/* The name of the work in models and stores. */
const char *dense_tsp_work(const dense_tsp_state *tsp);
void dense_tsp_close(dense_tsp_state *tsp);

/* Length of the closed tour that visits the cities in this order. */
int64_t dense_tour_length(const dense_cities *cities, const int32_t *city);

/* Writes a TOUR file of TSPLIB.  Errors: INPUT, SYSTEM, MEMORY. */
yoke_status dense_tour_write(const dense_cities *cities, const dense_tour *tour, const char *path);

#endif
