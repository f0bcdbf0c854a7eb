/*
 * reference_operator.h - the stiffness product as its formula says it, one element after the other in double precision.  Shares nothing with
 * the program's kernels but the shape functions and the interpolation at hanging nodes, which have tests of their own.
 */
#ifndef TEST_REFERENCE_OPERATOR_H
#define TEST_REFERENCE_OPERATOR_H

#include "space/space.h"

/* y = A u without constraints, [num_nodes][components], with slots_1d Gauss points per direction. */
void reference_product(const fem_space *space, const double *u, double *y);

/* Integral of 1 over the elements. */
double reference_volume(const fem_space *space);

#endif
