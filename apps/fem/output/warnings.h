/*
 * warnings.h - warnings about a result for the user: on the terminal, and in the record's `warnings`.
 */
#ifndef FEM_OUTPUT_WARNINGS_H
#define FEM_OUTPUT_WARNINGS_H

#include "output/record.h"
#include "solver/solve.h"

/*
 * Warns in the first step if nothing strains the body, and in each step that ended early because of rounding.  Collective.  Errors: MEMORY.
 */
yoke_status fem_warn_of_solution(const fem_space *space, const fem_constraints *constraints, const fem_solution *solution, int step,
                                 fem_record *record);
/* Nearly incompressible materials lock on coarse meshes; the relative error estimate of the last step detects this.  Errors: MEMORY. */
yoke_status fem_warn_of_locking(const fem_problem *problem, double estimate, fem_record *record);

#endif
