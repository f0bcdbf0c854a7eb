/* solve_cut.h - which device gets which elements when not all can have what was asked for. */
#ifndef FEM_SOLVER_SOLVE_CUT_H
#define FEM_SOLVER_SOLVE_CUT_H

#include "solver/solve.h"

/*
 * cut [count + 1]: the elements asked for in `wanted` (which may be cut itself), but nothing for failed devices and no more than most_elements
 * for the others; what is left over goes to the others in proportion to what was asked for them (where that is nothing: in equal parts).
 * Errors: DEVICE (none is left; all reasons), DEVICE_MEMORY (the elements do not fit).
 */
yoke_status fem_solve_cut(const fem_devices *devices, const int32_t *wanted, int32_t *cut);

/*
 * Sets most_elements of each device that was short of memory with the elements of `cut`, after they were released: from its free memory and
 * what a solve needs there, but always fewer than were tried.  Clears short_of_memory; returns how many there were.
 */
int fem_solve_limit(const fem_space *space, const fem_solve_options *options, const int32_t *cut);

#endif
