/*
 * thin.h - particles that are spread evenly over surfaces or along curves: the operations of deeper uniform trees are estimated from the
 * numbers of their cells.
 */
#ifndef FMM_TUNE_COUNTS_THIN_H
#define FMM_TUNE_COUNTS_THIN_H

#include "tune/counts/analysis.h"

/*
 * Whether the particles look spread evenly over surfaces or along curves, on levels 0 ... level: the level has 1.5 to 5 times as many cells
 * as the one above it, and a particle's cell has at most 1.7 times as many particles as a cell has on average.  For a plane across the box
 * this is about 1.5 on all levels, and 1.2 to 1.4 for curves and the surfaces of bodies; for particles in clusters it grows with the level.
 * counts: with estimates up to `level` (fmm_thin_deepen), or at least as deep.  tree: over the particles; NULL: it was taken, and the
 * result is 0.
 */
int fmm_is_thin(const fmm_analysis *counts, const fmm_tree *tree, int level);

/*
 * Adds estimated counts of the next level to `counts`, a copy of an analysis: on thin sets the near pairs of a cell are proportional to the
 * square of its particles, and a cell has as many far pairs as one on the level above.  It sets what fmm_predict takes.
 * Result: 0 if there is no such level, or the number of its cells is not that of a surface or a curve.
 */
int fmm_thin_deepen(fmm_analysis *counts);

#endif
