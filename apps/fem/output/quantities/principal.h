/*
 * principal.h - quantities derived from a stress tensor: principal values, and the corresponding strain.
 *
 * Tensors are xx, yy, zz, yz, xz, xy.
 */
#ifndef FEM_OUTPUT_QUANTITIES_PRINCIPAL_H
#define FEM_OUTPUT_QUANTITIES_PRINCIPAL_H

#include "space/problem/problem.h"

/*
 * value = the eigenvalues of a symmetric tensor, in descending order, within 1e-13 of the largest one: in closed form, or by Jacobi
 * rotations if two are nearly equal (G. H. Golub, C. F. Van Loan, Matrix Computations, 4th ed., sect. 8.5).  NaN input gives NaN.
 */
void fem_principal(const double tensor[6], double value[3]);

/*
 * The elastic strain of a stress: eps = sigma / (2 mu) - lambda tr(sigma) / (2 mu (3 lambda + 2 mu)) I (the inverse of Hooke's law), shear
 * as components of the tensor (half of the engineering shear strains).
 */
void fem_elastic_strain(const fem_material *material, const double stress[6], double strain[6]);

#endif
