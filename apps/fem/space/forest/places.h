/* places.h - numbers of places: a hash table whose keys are an entity (tree, face, edge, vertex, ...) and a place on it. */
#ifndef FEM_SPACE_FOREST_PLACES_H
#define FEM_SPACE_FOREST_PLACES_H

#include "yoke/yoke.h"
#include <stdint.h>

typedef struct fem_place {
    uint64_t place;
    uint32_t entity;
    int32_t number; /* -1: not set so far; unused entries have lower values */
} fem_place;

/* All zero before the start. */
typedef struct fem_places {
    yoke_context *context;
    fem_place *entry; /* [mask + 1], a power of two */
    uint64_t mask;
    int64_t used;
} fem_places;

/* Creates an empty table for the expected number of places; it grows if there are more.  Errors: MEMORY. */
yoke_status fem_places_start(fem_places *places, yoke_context *context, int64_t expected);
void fem_places_end(fem_places *places);

/* The number of a place, -1 at first, to be read or written immediately; NULL if there is no memory for the place. */
int32_t *fem_places_number(fem_places *places, uint32_t entity, uint64_t place);
/* Whether the table has the place. */
int fem_places_has(const fem_places *places, uint32_t entity, uint64_t place);

#endif
