/* solve_cut.h - assigns elements to devices if the requested cut is not possible. */
#ifndef FEM_SOLVER_SOLVE_CUT_H
#define FEM_SOLVER_SOLVE_CUT_H

#include "solver/solve.h"

/*
 * cut [count + 1]: the elements requested in `wanted` (which may be cut itself), but none for failed devices and at most most_elements for
 * the others.  The remaining elements go to the other devices in proportion to the request (if that is zero: in equal parts).
 * Errors: DEVICE (none is left; all reasons), DEVICE_MEMORY (the elements do not fit).
 */
yoke_status fem_solve_cut(const fem_devices *devices, const int32_t *wanted, int32_t *cut);

/*
 * Sets most_elements of each device that was short of memory with the elements of `cut`, after they were released.  The number follows from
 * its free memory and the memory that a solve needs there, but is always smaller than the one that was tried.  Clears short_of_memory;
 * returns the number of such devices.
 */
int fem_solve_limit(const fem_space *space, const fem_solve_options *options, const int32_t *cut);

#endif
