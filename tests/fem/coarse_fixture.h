/* coarse_fixture.h - a coarse problem on a structured grid, for the tests of coarse.h. */
#ifndef TEST_COARSE_FIXTURE_H
#define TEST_COARSE_FIXTURE_H

#include "q1_grid.h"
#include "solver/coarse/coarse.h"

/* A problem, its solver and vectors of its size. */
typedef struct coarse_fixture {
    yoke_context *context;
    q1_grid grid;
    fem_coarse *coarse;
    int64_t size;
    double *u, *v, *bu, *bv;
} coarse_fixture;

/* Unit cube of n x n x n elements. */
q1_grid_options coarse_cube(int components, int n);

/* Context, grid and vectors; nothing is prescribed, or the nodes with x[0] = 0. */
void coarse_open(coarse_fixture *f, const q1_grid_options *options);
void coarse_open_clamped(coarse_fixture *f, const q1_grid_options *options);
void coarse_shut(coarse_fixture *f);

/* Every third node loses one component, every seventh all of them. */
void coarse_scatter_conditions(q1_grid *grid);

/* fem_coarse_create on the fixture's grid; starts MPI where the method may need it.  coarse_make: the test fails if it fails. */
yoke_status coarse_create(coarse_fixture *f, fem_coarse_method method);
void coarse_make(coarse_fixture *f, fem_coarse_method method);

/* Starts MPI if it has not been; the group teardown ends it. */
void coarse_start_mpi(void);
int coarse_stop_mpi(void **state);

double coarse_dot(int64_t size, const double *a, const double *b);

/* Random numbers in [-1, 1) at free unknowns, 0 at prescribed ones. */
void coarse_fill_random(const q1_grid *grid, uint64_t seed, double *x);

#endif
