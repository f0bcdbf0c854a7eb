/*
 * adapt.h - the adaptive loop: solve, estimate, write, mark, refine, and again.
 */
#ifndef FEM_ADAPT_ADAPT_H
#define FEM_ADAPT_ADAPT_H

#include "adapt/distribution/distribution.h"
#include "adapt/keep.h"
#include "case/case.h"
#include "common/console/terminal.h"
#include "space/problem/problem.h"

typedef struct fem_run {
    yoke_context *context;
    app_terminal *terminal;
    int argc; /* for the record */
    char **argv;
    const char *json;                      /* path of a copy of the run record; NULL: none */
    bool check;                            /* end before the first solve: nothing is written */
    bool explain;                          /* print the reason for the distribution of the elements, below each line of the table */
    fem_distribution_options distribution; /* `work` and `rounds` are filled in from the case */
    int num_words;                         /* for checkpoints: case and options by which the run can be started again */
    const char *const *words;              /* [num_words] */
    const fem_restart *restart;            /* NULL: the run begins anew */
    /* Empty at first; gets the field of the last step of a scalar problem (field.h).  NULL: it is not kept. */
    struct fem_field *keep;
} fem_run;

/*
 * Runs a case on its mesh: prints the table, and writes step-NN.vtu, the series and run.json into the case's output directory, which it
 * locks during the run.  MPI must be initialised.  The run ends when one of the case's limits is reached.  If a signal ends it
 * (YOKE_ERROR_INTERRUPTED), the results of the last finished step are on disk.
 * A run that continues from a checkpoint keeps the results of the steps before it; its checkpoint must be of this case and mesh
 * (fem_run_state_check).
 * Errors: INPUT (nothing has been written then), NUMERIC, MEMORY, SYSTEM, INTERRUPTED.
 */
yoke_status fem_adapt(const fem_run *run, const fem_case *input, const fem_problem *problem);

#endif
