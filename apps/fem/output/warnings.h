/*
 * warnings.h - what a user should know of a result: on the terminal, and in the record's `warnings`.
 */
#ifndef FEM_OUTPUT_WARNINGS_H
#define FEM_OUTPUT_WARNINGS_H

#include "output/record.h"
#include "solver/solve.h"

/* Of the first step where nothing strains the body; of each step that rounding ended early.  Collective.  Errors: MEMORY. */
yoke_status fem_warn_of_solution(const fem_space *space, const fem_constraints *constraints, const fem_solution *solution, int step,
                                 fem_record *record);
/* Nearly incompressible materials lock on coarse meshes, which the relative error estimate of the last step sees.  Errors: MEMORY. */
yoke_status fem_warn_of_locking(const fem_problem *problem, double estimate, fem_record *record);

#endif
