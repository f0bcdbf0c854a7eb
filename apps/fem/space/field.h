/*
 * field.h - the scalar field of a run's solution, kept for evaluation elsewhere on the same coarse mesh.
 */
#ifndef FEM_SPACE_FIELD_H
#define FEM_SPACE_FIELD_H

#include "space/space.h"

typedef struct fem_field { /* all NULL: there is none */
    fem_forest *forest;    /* this and the following are owned */
    fem_space *space;
    double *value; /* [space->num_nodes] */
} fem_field;

/* The reference point r in [0,1]^3 of a coarse element. */
typedef struct fem_field_point {
    double r[3];
    int32_t tree;
} fem_field_point;

/* value [count] = the field at these points, on whichever ranks they are.  Collective.  Errors: MEMORY. */
yoke_status fem_field_evaluate(const fem_field *field, int64_t count, const fem_field_point *points, double *value);

void fem_field_clear(fem_field *field);

#endif
