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
    const char *json;                      /* NULL, or where a copy of the run record goes */
    bool check;                            /* end before the first solve: nothing is written */
    bool explain;                          /* print why the elements lie as they do, under each line of the table */
    fem_distribution_options distribution; /* `work` and `rounds` are filled in from the case */
    int num_words;                         /* for checkpoints: case and options with which the run can be started again */
    const char *const *words;              /* [num_words] */
    const fem_restart *restart;            /* NULL: the run begins anew */
    struct fem_field *keep;                /* NULL, or where the last step's field of a scalar problem is kept, empty before; see field.h */
} fem_run;

/*
 * Runs a case on its mesh: prints the table, writes step-NN.vtu, the series and run.json into the case's output directory, which it holds meanwhile.  MPI must be
 * initialised.  Ends when one of the case's limits is reached; where a signal ends it (YOKE_ERROR_INTERRUPTED), the last finished step's
 * results are on disk.
 * A run that goes on from a checkpoint takes over the results of the steps before; its checkpoint is of this case and mesh (fem_run_state_check).
 * Errors: INPUT (nothing has been written then), NUMERIC, MEMORY, SYSTEM, INTERRUPTED.
 */
yoke_status fem_adapt(const fem_run *run, const fem_case *input, const fem_problem *problem);

#endif
