/*
 * body.h - small bodies for tests of what is done with a solution: a block of mapped hexahedra, refined unevenly so that nodes hang.
 */
#ifndef TEST_BODY_H
#define TEST_BODY_H

#include "cube_mesh.h"
#include "manufactured.h"
#include "space/boundary.h"

typedef struct body_options {
    int elements[3]; /* coarse elements in each direction */
    cube_map *map;   /* NULL: the unit cube itself */
    int order;       /* of the geometry: 1, 2 */
    fem_element element;
    int level;                    /* uniform refinements */
    int uneven;                   /* further refinements of every fifth element */
    int materials;                /* 1, or 2: elements alternate along x in two halves, the second with twice the modulus */
    const manufactured *solution; /* components and moduli */
    fem_condition conditions[8];  /* group: of cube_mesh.h, 0 .. 5 */
    int num_conditions;
} body_options;

typedef struct body {
    yoke_context *context;
    int64_t blocks_left; /* the context's memory ends after so many further blocks; at first without end */
    fem_mesh *mesh;
    fem_problem problem;
    fem_forest *forest;
    fem_space *space;
} body;

/* Failures end the test.  b must stay where it is. */
void body_create(const body_options *options, body *b);
void body_destroy(body *b);

/* The solution's values at the nodes, [num_nodes][components]; freed by the caller. */
double *body_values(const body *b, const manufactured *solution);

/* Distorts the inside and bends the surface: no two elements are alike, faces are curved with order 2. */
void body_bend(const double in[3], double out[3]);
/* Distorts the inside only: the faces of the cube and the plane x = 1/2 stay plane. */
void body_distort(const double in[3], double out[3]);

/* Setup and teardown of a test group: MPI. */
int body_start(void **state);
int body_end(void **state);

#endif
