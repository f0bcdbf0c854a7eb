/*
 * step.h - a step of the adaptive loop: one mesh, its results and its output.
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

/* Owns everything to which it points; all zero: no mesh so far. */
typedef struct fem_step {
    fem_space *space;
    fem_boundary *boundary;
    fem_constraints *constraints;
    fem_solution *solution;
    double *with_rigid; /* its displacements including the problem's rigid motions, if there are any */
    fem_stress *stress;
    double *indicator;
    fem_estimate_result estimate;
    fem_step_record record;
} fem_step;

/* Where steps are written, and which results are requested; all borrowed. */
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

/* Releases everything except the space, which must exist.  The members keep their values. */
void fem_step_release_results(fem_step *step);
/* Releases everything; the step is all zero afterwards. */
void fem_step_release(fem_step *step);

/*
 * Fills the record of the step `number` from its results.  The caller sets times outside the solve, and the report of the distribution.
 * Errors: MEMORY.
 */
yoke_status fem_step_fill_record(fem_step *step, int number, const fem_problem *problem, const fem_solver_choice *choice);

/* Writes step-NN.vtu and the series.  Collective.  Errors: MEMORY, SYSTEM. */
yoke_status fem_step_write_fields(const fem_step *step, const fem_step_outputs *to);
/*
 * Writes reactions and probes, and the step's record with them, to the run record, and adds the step to the summary.  Collective.  Errors:
 * MEMORY, SYSTEM.
 */
yoke_status fem_step_write_record(const fem_step *step, const fem_step_outputs *to);

#endif
