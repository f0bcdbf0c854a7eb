/*
 * field.h - the scalar field that a run has found, kept to be evaluated elsewhere on the same coarse mesh.
 */
#ifndef FEM_SPACE_FIELD_H
#define FEM_SPACE_FIELD_H

#include "space/space.h"

typedef struct fem_field { /* all NULL: there is none */
    fem_forest *forest;    /* this and the following are owned */
    fem_space *space;
    double *value; /* [space->num_nodes] */
} fem_field;

/* The field at the reference point r in [0,1]^3 of a coarse element.  Safe to call from several threads. */
double fem_field_at(const fem_field *field, int32_t tree, const double r[3]);

void fem_field_clear(fem_field *field);

#endif
