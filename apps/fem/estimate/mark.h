/*
 * mark.h - marks elements for refinement: Doerfler's bulk criterion (W. Doerfler, SIAM J. Numer. Anal. 33 (1996) 1106).
 */
#ifndef FEM_ESTIMATE_MARK_H
#define FEM_ESTIMATE_MARK_H

#include "common/ranks/ranks.h"

/*
 * Marks the smallest set of elements with the largest indicators whose squares add up to at least fraction x the sum of all squares (except
 * for 1e-10 of it, which is rounding).  Then it marks every element whose indicator is at least (1 - 1e-4) x the smallest one of that set.
 * Rounding (another decomposition, another device, other ranks) therefore does not change the mesh, and elements that are equal by symmetry
 * are refined together.
 *
 * indicator [count] >= 0 and finite, any unit; 0 < fraction <= 1, of the squares; mark [count] gets 1 (refine) or 0; *marked is their
 * number.  If all indicators are zero, nothing is marked and *marked is 0: refinement has nothing to gain.
 * Collective over the ranks (NULL: one), each of which has a part of the elements, in their order; the sums and *marked are those of all
 * ranks.
 * Errors: ARGUMENT (fraction, count), NUMERIC (an indicator that is negative or not finite: element number).
 */
yoke_status fem_mark(yoke_context *context, app_ranks *ranks, int64_t count, const double *indicator, double fraction, uint8_t *mark,
                     int64_t *marked);

#endif
