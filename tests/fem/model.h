/*
 * model.h - boundary value problems with known solutions for tests: a mapped block of hexahedra, refined and
 * solved, and the true error of what was solved.
 */
#ifndef TEST_MODEL_H
#define TEST_MODEL_H

#include "cube_mesh.h"
#include "manufactured.h"
#include "space/boundary.h"

typedef struct model_options {
    const manufactured *solution;
    fem_element element;
    int elements[3];                     /* coarse elements of the unit cube in each direction */
    int order;                           /* of the geometry: 1, 2 */
    cube_map *map;                       /* from the unit cube to the body; NULL: the cube itself */
    int (*keep)(const double centre[3]); /* which coarse elements there are, by their centre in the unit cube; NULL: all */
    int level;                           /* uniform refinements */
    unsigned prescribed[CUBE_GROUPS];    /* components prescribed on the cube's faces and, CUBE_CUT, on those that `keep` lays bare;
                                          the other components have the exact traction */
} model_options;

typedef struct model {
    yoke_context *context;
    fem_mesh *mesh;
    fem_problem problem;
    fem_forest *forest;
    fem_space *space; /* made anew by model_refine */
    fem_boundary *boundary;
} model;

/* Failures end the test. */
void model_create(const model_options *options, model *m);
void model_destroy(model *m);
/* Refines the marked leaves (NULL: all) and makes the space anew. */
void model_refine(model *m, const uint8_t *mark);
/* Refines every fifth leaf, so that faces and edges hang. */
void model_refine_unevenly(model *m);

/* The exact solution's values at the nodes [num_nodes][components]; freed by the caller. */
double *model_interpolant(const model *m, const manufactured *solution);
/* The finite element solution, by the program's solver to a relative residual of 1e-11; freed by the caller. */
double *model_solve(const model *m);

typedef struct model_errors {
    double energy; /* root of a(u - u_h, u - u_h), sqrt(J) */
    double l2;     /* root of the integral of |u - u_h|^2 */
} model_errors;

/* Error of u against the exact solution, by 5 Gauss points per direction on the leaves' isoparametric geometry; moduli of the problem. */
model_errors model_error(const model *m, const manufactured *solution, const double *u);

#endif
