/*
 * keep.h - the checkpoints of the adaptive loop: they are written after steps and within solves, and read by a run that continues from one.
 *
 * On several ranks all functions are collective (common/ranks/ranks.h).
 */
#ifndef FEM_ADAPT_KEEP_H
#define FEM_ADAPT_KEEP_H

#include "adapt/resume.h"
#include "adapt/step.h"

/* A checkpoint from which a run continues. */
typedef struct fem_restart {
    fem_checkpoint *checkpoint;
    int64_t number;
    const char *path;
    bool begun; /* a step was finished: the files in the directory belong to this run */
} fem_restart;

typedef struct fem_keep {
    yoke_context *context;
    const fem_problem *problem;
    fem_checkpoints *checkpoints; /* owned by the function that created the struct */
    fem_run_state state;          /* the objects of the run, and the present step */
    bool warned;                  /* a warning was printed that a checkpoint could not be written */
} fem_keep;

/* Creates the forest of the checkpoint, which is of this mesh (fem_run_state_check).  Errors: INPUT (it is damaged), MEMORY. */
yoke_status fem_keep_forest(const fem_restart *restart, const fem_problem *problem, fem_forest **forest);

/*
 * Sets the objects and the numbers of keep->state to those of the checkpoint.  argc, argv: the command line.  Errors: INPUT (the checkpoint
 * is damaged), MEMORY.
 */
yoke_status fem_keep_restore(fem_keep *keep, const fem_restart *restart, int argc, char **argv);
/*
 * Continues from the checkpoint on its forest, which may be distributed in any way.  If the checkpoint's step is solved, `now` becomes that
 * step, as far as the next one needs it.  Otherwise *start [num_nodes][components] is the iterate that its iteration had reached; release
 * it with yoke_release.
 * Errors: INPUT (the checkpoint is damaged), SYSTEM, MEMORY.
 */
yoke_status fem_keep_resume(const fem_keep *keep, const fem_restart *restart, const fem_forest *forest, fem_step *now, double **start);

/* Writes a checkpoint of a solved step, if one is due.  If it cannot be written the run continues, with a warning.  Errors: MEMORY. */
yoke_status fem_keep_step(fem_keep *keep, const fem_step *step);
/* The same within a solve; x is the iterate before this iteration.  leaving: the run is about to be interrupted. */
void fem_keep_reached(fem_keep *keep, const fem_space *space, int iteration, const fem_vector *x, int leaving);

#endif
