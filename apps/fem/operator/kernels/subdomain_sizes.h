/*
 * subdomain_sizes.h - constants that the kernels of a device subdomain (subdomain_element.h, subdomain_setup.h, subdomain_values.h) and the
 * program that starts them share.  All four are compiled together for each FEM_N (2, 3 nodes per direction) x FEM_C (1 Poisson, 3
 * elasticity) x FEM_REAL (double, float).
 */
/* clang-format off */
#define FEM_SUBDOMAIN_KERNELS(X)                                                                                       \
    X(product) X(product_stored) X(geometry) X(matrices) X(diagonal) X(invert_blocks)                            \
    X(sum_nodes) X(sum_blocks) X(pack) X(unpack)                                                                  \
    X(mask) X(scale_from_double) X(scale_from_float) X(axpy) X(xpby) X(subtract) X(advance) X(dots)               \
    X(block_solve) X(chebyshev_step) X(rows_add) X(rows_set)
/* clang-format on */

/*
 * Factors stored per quadrature point: 9 of the scaled inverse Jacobian and the weighted determinant (see batch_body.h).  An affine element
 * has them once, the determinant without the point's weight.
 */
#define FEM_SUBDOMAIN_FACTORS 10

/* What happens to the elements' products: stored for sum_nodes; added to y (no two elements of a launch share a node); added by atomics. */
#define FEM_SUBDOMAIN_KEEP 0
#define FEM_SUBDOMAIN_ADD 1
#define FEM_SUBDOMAIN_ADD_ATOMIC 2

/*
 * Number of elements that a group processes at a time and of the group's items, by nodes per direction n and components c: a sweep over the
 * lines of all fields, or a pass over all points, should use nearly all items (7 x 27 of 192, 14 x 9 and 14 x 27 of 128, and so on).
 */
#define FEM_PRODUCT_ELEMENTS(n, c) ((n) == 3 ? ((c) == 3 ? 7 : 14) : ((c) == 3 ? 16 : 32))
#define FEM_PRODUCT_ITEMS(n, c) ((n) == 3 && (c) == 3 ? 192 : 128)
/* The same for the product with stored matrices: one item computes one row. */
#define FEM_STORED_ELEMENTS(n, c) ((n) == 3 ? ((c) == 3 ? 1 : 4) : ((c) == 3 ? 5 : 16))
#define FEM_STORED_ITEMS(n, c) ((n) == 3 && (c) == 3 ? 96 : 128)

/* Number of values that a group processes at a time in loops over whole vectors. */
#define FEM_BLOCK 256

/* Number of sums that one launch of `dots` computes. */
#define FEM_SUBDOMAIN_DOTS 4
