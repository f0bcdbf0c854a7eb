/*
 * hanging.h - the decoded face codes of p4est that kernels read.
 */
#ifndef FEM_OPERATOR_HANGING_H
#define FEM_OPERATOR_HANGING_H

#include "operator/kernels/batch.h"

/* Fills table [FEM_FACE_CODES], zero at first, by face code, for elements with n = 2, 3 nodes in each direction. */
void fem_hanging_decode(int n, fem_hanging *table);

#endif
