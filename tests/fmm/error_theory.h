/*
 * error_theory.h - the error that truncation at order p leaves in the potential of one pair of cells, before anything is computed.
 *
 * About the centres of two cells, a vector d of length D apart, 1/|d + y - x| is a sum of terms T_lk of degree l in x (of the target) and k in y (of
 * the source).  P2M, M2L and L2P keep the terms with l <= p and k <= p, and M2M and L2L lose nothing: the error is the sum of all other terms.
 */
#ifndef FMM_TESTS_ERROR_THEORY_H
#define FMM_TESTS_ERROR_THEORY_H

#include "yoke/yoke.h"

/*
 * Bound of the error, for a unit charge within source_radius of its centre and a point within target_radius of its own.  For several charges: times the
 * sum of their absolute values.  Infinite where the two balls touch; order >= 0, radii >= 0.
 *
 * With alpha = source_radius / D, beta = target_radius / D: |T_lk| <= binomial(l + k, l) alpha^k beta^l / D, because terms of degree n of 1/|d - u|
 * are at most |u|^n / D^(n+1) (Legendre polynomials), and a homogeneous polynomial's polar form has the polynomial's own norm (S. Banach, Studia
 * Mathematica 7 (1938) 36).  Points on the line between the centres, towards each other, attain it; so do terms, one by one: nothing less holds for
 * balls.  The sum over k > p is (alpha / (1 - beta))^(p+1) / (D (1 - alpha - beta)), that over l > p and k <= p is added up.
 */
double fmm_error_bound(int order, double source_radius, double target_radius, double distance);

/*
 * Root mean square of the error of a unit charge over places in the two cells, if directions seen from the centres are distributed evenly.  Of many charges
 * with independent signs: times the root of the sum of their squares.
 *
 * source_moments[k], target_moments[k], 0 <= k < degrees: means of r^(2 k), r the distance from the centre, in the unit of D; target over places,
 * source weighted by charge squared.  Terms of degree `degrees` and above are left out: order + 40 do for neighbours' children.
 *
 * Terms of different (l, k) are uncorrelated; with the mean |R_l^m|^2 = r^(2 l) / ((2 l + 1) (l + m)! (l - m)!) and Vandermonde's identity, the mean
 * square of T_lk is target_moments[l] source_moments[k] binomial(2 l + 2 k, 2 l) / ((2 l + 1) (2 k + 1) D^(2 l + 2 k + 2)).
 *
 * In cubes that are filled evenly, which hold their far places in eight directions only, it is 0.65 to 1.4 times the error up to order 4.  Above, it is too
 * large where cells lie along an axis (direction (2, 0, 0): 2, 4 and about 15 times at orders 8, 12 and 20) and too small where they lie along a
 * diagonal ((2, 2, 2): half, at orders 8 to 20).
 */
double fmm_error_rms(int order, double distance, int degrees, const double *source_moments, const double *target_moments);

/* Moments of a cube that is filled evenly, with edge 1: writes `degrees` <= 170. */
void fmm_error_cube_moments(int degrees, double *moments);

#endif
