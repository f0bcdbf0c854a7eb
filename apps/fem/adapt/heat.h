/*
 * heat.h - the temperature of a case that is computed by a heat case on the same mesh, which is solved before it.
 */
#ifndef FEM_ADAPT_HEAT_H
#define FEM_ADAPT_HEAT_H

#include "adapt/adapt.h"
#include "space/field.h"

typedef struct fem_heat fem_heat;

/*
 * Reads and checks the heat case that `input` names, on the same mesh; *heat is NULL if it names none.  `input` and `mesh` must outlive the
 * result.
 * Errors: INPUT (as of fem_case_read and fem_problem_create; another mesh, another problem, or the same output directory), MEMORY, SYSTEM.
 */
yoke_status fem_heat_create(const fem_case *input, const fem_mesh *mesh, fem_heat **heat);
void fem_heat_destroy(fem_heat *heat); /* NULL allowed */

/* Where its results go, borrowed. */
const char *fem_heat_directory(const fem_heat *heat);

/*
 * Solves the heat case as a separate run, with the settings of `run`, and sets the problem's temperature to that of its last step, which
 * the heat owns.  With run->check nothing is solved, and the temperature does not include it.  Errors: those of fem_adapt.
 */
yoke_status fem_heat_solve(fem_heat *heat, const fem_run *run, fem_problem *problem);

#endif
