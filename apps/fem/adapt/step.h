/*
 * step.h - a step of the adaptive loop: one mesh, what was found on it, and what is written of it.
 */
#ifndef FEM_ADAPT_STEP_H
#define FEM_ADAPT_STEP_H

#include "adapt/distribution/distribution.h"
#include "case/case.h"
#include "estimate/estimate.h"
#include "output/record.h"
#include "output/results.h"
#include "output/summary.h"
#include "solver/choice.h"

/* Owns all that it points to; all zero: no mesh yet. */
typedef struct fem_step {
    fem_space *space;
    fem_boundary *boundary;
    fem_constraints *constraints;
    fem_solution *solution;
    double *with_rigid; /* its displacements with the problem's rigid motions, where there are any */
    fem_stress *stress;
    double *indicator;
    fem_estimate_result estimate;
    fem_step_record record;
} fem_step;

/* Where steps are written to, and what is asked for; all borrowed. */
typedef struct fem_step_outputs {
    const fem_case *input;
    const fem_problem *problem;
    const fem_distribution *distribution;
    fem_results *results;
    fem_summary *summary;
    fem_record *record;
    int num_probes;
    const fem_probe *probes;
} fem_step_outputs;

/* Releases all but the space, which must be there.  The members keep their values. */
void fem_step_release_results(fem_step *step);
/* Releases all; the step is all zero then. */
void fem_step_release(fem_step *step);

/* Fills the record of the step `number` from what was found.  Times outside the solve, and what the distribution reports, are the caller's.  Errors: MEMORY. */
yoke_status fem_step_fill_record(fem_step *step, int number, const fem_problem *problem, const fem_solver_choice *choice);

/* Writes step-NN.vtu and the series.  Collective.  Errors: MEMORY, SYSTEM. */
yoke_status fem_step_write_fields(const fem_step *step, const fem_step_outputs *to);
/* Writes reactions and probes, and with them the step's record, to the run record; the summary takes note of it.  Collective.  Errors: MEMORY, SYSTEM. */
yoke_status fem_step_write_record(const fem_step *step, const fem_step_outputs *to);

#endif
