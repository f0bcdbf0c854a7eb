/*
 * cities.h - instances of the travelling salesman problem: cities in the plane, and integer distances between them.
 */
#ifndef DENSE_TSP_CITIES_H
#define DENSE_TSP_CITIES_H

#include "yoke/yoke.h"

enum { DENSE_MAX_CITIES = 20000, DENSE_MAX_DISTANCE = (1 << 29) - 1, DENSE_NAME = 128 };

/* The distance functions of coordinates (Reinelt, TSPLIB 95, sect. 2). */
typedef enum dense_metric { DENSE_EUC_2D, DENSE_CEIL_2D, DENSE_MAN_2D, DENSE_MAX_2D, DENSE_ATT } dense_metric;

typedef struct dense_cities {
    yoke_context *context;
    char name[DENSE_NAME];
    dense_metric metric;
    int32_t count;     /* 1 .. DENSE_MAX_CITIES */
    double *x, *y;     /* [count] */
    int32_t *distance; /* [count][count], symmetric, 0 .. DENSE_MAX_DISTANCE */
} dense_cities;

/*
 * Reads a TSPLIB file: EDGE_WEIGHT_TYPE EUC_2D, CEIL_2D, MAN_2D, MAX_2D or ATT, with a NODE_COORD_SECTION.
 * Errors: INPUT (the line, what is wrong there and what was expected; distances beyond DENSE_MAX_DISTANCE; too many cities for the memory),
 * MEMORY.
 */
yoke_status dense_cities_read(yoke_context *context, const char *path, dense_cities *cities);

/* Creates cities at random positions in a square with sides of 1000, EUC_2D.  Errors: INPUT (count), MEMORY. */
yoke_status dense_cities_random(yoke_context *context, int64_t count, uint64_t seed, dense_cities *cities);

/* Allowed for a structure that is all zero. */
void dense_cities_destroy(dense_cities *cities);

/*
 * For readers: dense_cities_create allocates memory for the cities, and dense_cities_measure computes their distances when x and y are set.
 * Errors: INPUT, MEMORY.
 */
yoke_status dense_cities_create(yoke_context *context, int64_t count, dense_cities *cities);
yoke_status dense_cities_measure(dense_cities *cities);

#endif
