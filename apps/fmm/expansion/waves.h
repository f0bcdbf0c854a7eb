/*
 * waves.h - M2L of all children of a cell at once, by plane waves (H. Cheng, L. Greengard, V. Rokhlin, J. Comput. Phys. 155 (1999) 468).
 *
 * For z > 0
 *
 *     1/r = sum_k w_k / M_k sum_j exp(-lambda_k (z - i (x cos gamma_j + y sin gamma_j))),   gamma_j = 2 pi (j + 1/2) / M_k,
 *
 * with nodes and weights of tools/fit-waves.  A translation multiplies each wave by a number.  Far cells are at least two edges apart along
 * z, or else along y, or else along x.  That axis is z' of their waves, and x' y' z' are -z y x for the axis x, -z -x y for y, x y z for z.
 *
 * The waves of the eight children of a cell, its family, are about the cell's centre.  Waves are therefore exchanged between families: each
 * receives from the nine families on either side along an axis.
 *
 * There are sets of waves, numbered by orders.  For charges that are spread evenly in their cells, the error of a set is near that of
 * fmm_m2l with that order.  For charges in the middle of their cells the error of waves hardly decreases, whereas that of truncation does.
 * The set is therefore chosen separately from the order of the expansions (tune/order/accuracy.h).
 */
#ifndef FMM_EXPANSION_WAVES_H
#define FMM_EXPANSION_WAVES_H

#include "expansion/expansion.h"

enum { FMM_FIRST_WAVE_ORDER = 4, FMM_LAST_WAVE_ORDER = 32, FMM_FIRST_WAVE_SET = 4, FMM_LAST_WAVE_SET = 24, FMM_AXES = 3, FMM_AROUND = 27 };

/* Tables for an order and a set.  Threads may share them. */
typedef struct fmm_waves fmm_waves;

/*
 * Creates tables for expansions that are stored with the orders `held`, which are not below `order`.  `order` may be above the number of
 * the set.
 * Errors: ARGUMENT (order or set outside of the ranges above, an order of `held` below `order`), MEMORY.
 */
yoke_status fmm_waves_create(yoke_context *context, int order, int set, fmm_held held, fmm_waves **waves);
/* NULL is allowed. */
void fmm_waves_destroy(fmm_waves *waves);
/* Doubles of a family's waves for one axis, and of a thread's work array; both are multiples of 8.  These arrays must be aligned to 64
 * bytes. */
size_t fmm_waves_size(const fmm_waves *waves);
size_t fmm_waves_work(const fmm_waves *waves);

/* Converts the multipole expansions of children, by octant (NULL: no child), to the family's waves for an axis (0 x, 1 y, 2 z), which are
 * overwritten. */
void fmm_waves_send(const fmm_waves *waves, int axis, const double *const child[8], double *family, double *work);
/*
 * Adds to the local expansions of children the waves that families around them send along an axis.  around[x + 1 + 3 (y + 1) + 9 (z + 1)]
 * has the waves of the family that is (x, y, z) parents away; NULL: there is none.  The three axes together cover all far pairs of the
 * children.
 */
void fmm_waves_receive(const fmm_waves *waves, int axis, const double *const around[FMM_AROUND], double *const child[8], double *work);

#endif
