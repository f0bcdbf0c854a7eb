/*
 * rotation.h - matrices that rotate harmonics about the y axis.
 */
#ifndef FMM_EXPANSION_ROTATION_H
#define FMM_EXPANSION_ROTATION_H

#include "expansion/expansion.h"

/*
 * The rotation by beta turns the direction (sin beta, 0, cos beta) to the z axis.  The rotated harmonics are sums over those of the same
 * degree:
 *     R_l^m' = sum d^l_(m' m)(beta) s_(l m) / s_(l m') R_l^m,    S_l^m' = sum d^l_(m' m)(beta) s_(l m') / s_(l m) S_l^m,
 * with Wigner's d and s_(l m) = sqrt((l + m)! (l - m)!).  With the relation of negative orders, real and imaginary parts are rotated by two
 * real matrices for m >= 0.
 */
typedef enum fmm_rotation_kind { FMM_ROTATION_REGULAR, FMM_ROTATION_IRREGULAR } fmm_rotation_kind;

/*
 * back: nonzero: rotates by -beta.  alternate: nonzero: multiplies the result R_l^m' by (-1)^(l + m').
 */
typedef struct fmm_rotation {
    fmm_rotation_kind kind;
    int back, alternate;
} fmm_rotation;

/* Number of values of a table. */
static inline size_t fmm_rotation_size(int order) { return (size_t)(order + 1) * (size_t)(2 * order * order + 4 * order + 3) / 3; }

/*
 * Computes `tables` tables at once, for rotations[i] in table[i].  A table has, for each degree l from 0, the (l + 1) x (l + 1) matrix of
 * real parts with rows m' = 0 .. l and columns m = 0 .. l, and then the l x l matrix of imaginary parts with m' and m = 1 .. l.  beta in 0
 * .. pi is the angle of (sine, 0, cosine) times any positive number.  d is computed by its recurrence in l (D. A. Varshalovich et al.,
 * Quantum Theory of Angular Momentum, 1988, ch. 4), which is stable upwards.
 */
void fmm_rotation_tables(int order, double sine, double cosine, int tables, const fmm_rotation *rotations, double *const *table);

#endif
