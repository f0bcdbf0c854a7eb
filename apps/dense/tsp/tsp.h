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
    int64_t check;           /* so many restarts are climbed again on the host and compared */
    dense_progress progress; /* units: restarts */
} dense_tsp_options;

typedef struct dense_tour {
    yoke_context *context;
    int32_t *city;      /* [cities] from 0, in their order */
    int64_t length;     /* of the closed tour */
    int64_t restart;    /* the first one that gave this length, from 0 */
    int64_t times;      /* restarts that gave it */
    double mean;        /* length over all restarts */
    double evaluations; /* exchanges of two edges that were weighed in all restarts */
} dense_tour;

/*
 * The shortest tour of all restarts: each begins with a random tour and takes the best exchange of two edges (2-opt) until none makes it shorter.  The result depends
 * on cities, seed and number of restarts only, not on the devices.
 * Errors: ARGUMENT, those of dense_sharing_do, NUMERIC (a device's tour is not what the host finds).
 */
yoke_status dense_tsp(yoke_run *run, const dense_cities *cities, const dense_tsp_options *options, dense_tour *tour, dense_shared *shared);
void dense_tour_destroy(dense_tour *tour);

/* Only opened, for trials (dense_sharing_try).  All outlives it.  The work is named after the number of cities.  Errors: as above. */
typedef struct dense_tsp_state dense_tsp_state;
yoke_status dense_tsp_open(yoke_run *run, const dense_cities *cities, const dense_tsp_options *options, dense_tsp_state **tsp);
dense_sharing *dense_tsp_sharing(dense_tsp_state *tsp);
/* Its name, in models and stores. */
const char *dense_tsp_work(const dense_tsp_state *tsp);
void dense_tsp_close(dense_tsp_state *tsp);

/* Length of the closed tour through the cities in this order. */
int64_t dense_tour_length(const dense_cities *cities, const int32_t *city);

/* Writes a TOUR file of TSPLIB.  Errors: INPUT, SYSTEM, MEMORY. */
yoke_status dense_tour_write(const dense_cities *cities, const dense_tour *tour, const char *path);

#endif
