/*
 * expansion.h - expansions of the potential of point charges in solid harmonics, and the operators between them.
 *
 * Harmonics of degree l and order m >= 0, without the Condon-Shortley phase:
 *
 *     regular    R_l^m(x) = r^l P_l^m(cos theta) e^(i m phi) / (l + m)!
 *     irregular  S_l^m(x) = (l - m)! P_l^m(cos theta) e^(i m phi) / r^(l + 1)
 *
 * and for negative orders R_l^-m = (-1)^m conj(R_l^m), S_l^-m = (-1)^m conj(S_l^m).  With that, for all degrees and orders (C. A. White and
 * M. Head-Gordon, J. Chem. Phys. 101 (1994) 6593; W. Dehnen, Comput. Astrophys. Cosmol. 1 (2014) 1):
 *
 *     1/|x - y|    = sum conj(R_l^m(y)) S_l^m(x)                       |y| < |x|
 *     R_l^m(x + y) = sum R_k^n(x) R_(l-k)^(m-n)(y)
 *     S_l^m(x - y) = sum conj(R_k^n(y)) S_(l+k)^(m+n)(x)               |y| < |x|
 *     dR_l^m/dz = R_(l-1)^m,    (d/dx + i d/dy) R_l^m = -R_(l-1)^(m+1),  (d/dx - i d/dy) R_l^m = R_(l-1)^(m-1)
 *     dS_l^m/dz = -S_(l+1)^m,   (d/dx + i d/dy) S_l^m = -S_(l+1)^(m+1),  (d/dx - i d/dy) S_l^m = S_(l+1)^(m-1)
 *
 * An expansion of order p has the coefficients of 0 <= l <= p, 0 <= m <= l: fmm_harmonics(p) real parts at l (l + 1) / 2 + m, and then as
 * many imaginary parts.  Lengths are in units of a scale h, the edge of the cell, so that neither factorials nor powers of lengths overflow
 * or underflow up to order 50:
 *
 *     multipole expansion  M_l^m = sum q R_l^m((y - centre)/h),   potential(x) = 1/h sum conj(M_l^m) S_l^m((x - centre)/h)
 *     local expansion      L_l^m = sum q S_l^m((y - centre)/h),   potential(x) = 1/h sum conj(R_l^m((x - centre)/h)) L_l^m
 */
#ifndef FMM_EXPANSION_EXPANSION_H
#define FMM_EXPANSION_EXPANSION_H

#include "particles/points.h"
#include "yoke/yoke.h"

enum { FMM_MAX_ORDER = 50 };

/* Number of harmonics with m >= 0 up to a degree, and the index of one of them. */
static inline int fmm_harmonics(int degree) { return (degree + 1) * (degree + 2) / 2; }
/* Doubles from an expansion of this order to the next: each begins at a cache line. */
static inline int64_t fmm_stride(int order) { return (2 * (int64_t)fmm_harmonics(order) + 7) / 8 * 8; }
static inline int fmm_harmonic(int l, int m) { return l * (l + 1) / 2 + m; }

/* The operators of one order.  They are only tables, so threads may share them. */
typedef struct fmm_operators fmm_operators;

/* Errors: ARGUMENT (order outside 0 .. FMM_MAX_ORDER), MEMORY. */
yoke_status fmm_operators_create(yoke_context *context, int order, fmm_operators **operators);
/* The orders with which expansions are stored. */
typedef struct fmm_held {
    int multipole, local;
} fmm_held;
/*
 * The same for expansions that are stored with higher orders: degrees above `order` are neither read nor written.
 * Errors: ARGUMENT (also: an order of `held` is below `order`), MEMORY.
 */
yoke_status fmm_operators_create_within(yoke_context *context, int order, fmm_held held, fmm_operators **operators);
/* NULL is allowed. */
void fmm_operators_destroy(fmm_operators *operators);
int fmm_operators_order(const fmm_operators *operators);

/*
 * Centre and scale of an expansion, usually those of a cell.  All operators below add to their results.
 * Particles of a cell are at most about one scale away from its centre.  Particles of M2P and P2L are outside of the cell (not at the
 * centre).
 */
typedef struct fmm_frame {
    double centre[3], scale;
} fmm_frame;

void fmm_p2m(const fmm_operators *operators, const fmm_frame *frame, const fmm_sources *sources, double *multipole);
void fmm_p2l(const fmm_operators *operators, const fmm_frame *frame, const fmm_sources *sources, double *local);
void fmm_m2p(const fmm_operators *operators, const fmm_frame *frame, const double *multipole, const fmm_targets *targets);
void fmm_l2p(const fmm_operators *operators, const fmm_frame *frame, const double *local, const fmm_targets *targets);

/*
 * Translations of `pairs` expansions at once, all by the same vector: from[i] to to[i].  Several pairs may have the same source, and
 * several may have the same target.  Sources and targets must not overlap.
 *
 * M2M: from children in `octant` (bit 0: the upper half in x, bit 1 in y, bit 2 in z) to their parents, with twice their scale.  Exact.
 * L2L: from parents to children in `octant`.  Exact.
 * M2L: between cells of equal size.  direction = (centre of source - centre of target) / edge has components in -3 .. 3, one of them
 *      outside of -1 .. 1; the scale of the cells is their edge.  Seen from the target to[i], the source ahead[i] is in this direction,
 *      behind[i] in the opposite one; either may be NULL.  Both together take two thirds of the time of one after the other.  The order,
 *      0 ... that of the operators, is that of the nearest cells: degrees above fmm_m2l_order are omitted, in the multipole expansion and
 *      in the local one (docs/methods/expansions.md).
 *
 * work: fmm_translation_work doubles, aligned to 64 bytes, which no other thread uses.
 */
size_t fmm_translation_work(const fmm_operators *operators);
void fmm_m2m(const fmm_operators *operators, int octant, int64_t pairs, const double *const *from, double *const *to, double *work);
void fmm_l2l(const fmm_operators *operators, int octant, int64_t pairs, const double *const *from, double *const *to, double *work);
void fmm_m2l(const fmm_operators *operators, int order, const int direction[3], int64_t pairs, const double *const *ahead,
             const double *const *behind, double *const *to, double *work);
/*
 * The order of M2L at a distance (in edges), and in a direction.  It is the given order at the least distance, 2, and lower at greater
 * distances, where errors fall faster: for the balls inscribed in the two cells they fall like (2 distance - 1)^-order.
 */
int fmm_order_at(int order, double distance);
int fmm_m2l_order(int order, const int direction[3]);

#endif
