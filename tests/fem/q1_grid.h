/*
 * q1_grid.h - an assembler for tests of the coarse problem: trilinear elements on a structured grid of a cuboid, independent of the
 * program's own discretisation.
 */
#ifndef TEST_Q1_GRID_H
#define TEST_Q1_GRID_H

#include <stdint.h>

typedef struct q1_grid_options {
    int components;    /* 3: elasticity with E = 1, nu as below; 1: Poisson with conductivity 1 */
    int elements[3];   /* per direction */
    double length[3];  /* of the cuboid */
    double distortion; /* inner nodes are moved by up to this fraction of an element, pseudo-randomly but repeatably */
    double nu;         /* Poisson's ratio */
    double stiff;      /* modulus of the elements whose centre lies in every second octant; 1: one material */
} q1_grid_options;

typedef struct q1_grid {
    int components;
    int32_t num_nodes;
    int64_t *row_start; /* block CSR as fem_coarse_create takes it: both triangles */
    int32_t *column;
    double *value;
    double *x;           /* [num_nodes][3] */
    uint8_t *prescribed; /* [num_nodes] 0: free */
} q1_grid;

/* Assembles; no node is prescribed yet.  Memory by malloc; exits the test program when there is none. */
void q1_grid_create(const q1_grid_options *options, q1_grid *grid);
void q1_grid_destroy(q1_grid *grid);

/* Prescribes all components of the nodes with x[0] = 0. */
void q1_grid_clamp(q1_grid *grid);

/* y = A x of the problem with prescribed components eliminated: they read as 0 in x and are written as 0 in y. */
void q1_grid_multiply(const q1_grid *grid, const double *x, double *y);

#endif
