/*
 * keep.h - the checkpoints of the adaptive loop: written after steps and within solves, and taken over by a run that goes on.
 *
 * On several ranks all functions are collective (common/ranks/ranks.h).
 */
#ifndef FEM_ADAPT_KEEP_H
#define FEM_ADAPT_KEEP_H

#include "adapt/resume.h"
#include "adapt/step.h"

/* A checkpoint to go on from. */
typedef struct fem_restart {
    fem_checkpoint *checkpoint;
    int64_t number;
    const char *path;
} fem_restart;

typedef struct fem_keep {
    yoke_context *context;
    const fem_problem *problem;
    fem_checkpoints *checkpoints; /* owned by who made the struct */
    fem_run_state state;          /* what it refers to, and the present step */
    bool warned;                  /* that one could not be written */
} fem_keep;

/* The forest of the checkpoint, which is of this mesh (fem_run_state_check).  Errors: INPUT (it is damaged), MEMORY. */
yoke_status fem_keep_forest(const fem_restart *restart, const fem_problem *problem, fem_forest **forest);

/* Sets what keep->state refers to, and its own numbers, to those of the checkpoint.  argc, argv: the command line.  Errors: INPUT (the checkpoint is damaged), MEMORY. */
yoke_status fem_keep_restore(fem_keep *keep, const fem_restart *restart, int argc, char **argv);
/*
 * Then goes on from the checkpoint on its forest, however that is distributed.  Where the checkpoint's step is solved `now` becomes that step, as far as the next one needs it, else
 * *start [num_nodes][components] is what its iteration had reached, to be given back with yoke_release.
 * Errors: INPUT (the checkpoint is damaged), SYSTEM, MEMORY.
 */
yoke_status fem_keep_resume(const fem_keep *keep, const fem_restart *restart, const fem_forest *forest, fem_step *now, double **start);

/* Writes a checkpoint of a solved step, if one is due.  Where it cannot be written the run goes on, with a warning.  Errors: MEMORY. */
yoke_status fem_keep_step(fem_keep *keep, const fem_step *step);
/* The same within a solve, where x was reached before this iteration.  leaving: the run is about to be interrupted. */
void fem_keep_reached(fem_keep *keep, const fem_space *space, int iteration, const fem_vector *x, int leaving);

#endif
